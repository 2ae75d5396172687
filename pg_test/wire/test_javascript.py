"""The AWS SDK for JavaScript: the tests are in javascript/, one run of Node's test runner a file."""

import subprocess
from pathlib import Path

import pytest

DIRECTORY = Path(__file__).parent / "javascript"


@pytest.mark.parametrize("file", sorted(path.name for path in DIRECTORY.glob("*.test.mjs")))
def test_file(proxy, tmp_path, file):
    assert (DIRECTORY / "node_modules").is_dir(), f"run `npm ci` in {DIRECTORY}"
    environment = {**proxy.sdk_environment(), "HOME": str(tmp_path)}
    done = subprocess.run(["node", "--test", file], cwd=DIRECTORY, env=environment, text=True,
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    assert done.returncode == 0, done.stdout
