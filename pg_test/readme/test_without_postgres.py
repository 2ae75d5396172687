"""The README's section on SQLite, run as it is printed, but for the build and the port."""

import os
import re
import subprocess
import sys
from pathlib import Path

from harness import wait_until
from harness.proxy import BINARY, free_port

ROOT = Path(__file__).resolve().parents[2]
BLOCK = re.compile(r"^```(\w*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)


def test_a_first_answer(tmp_path):
    (section,) = [part for part in (ROOT / "README.md").read_text().split("\n## ") if part.startswith("Without PostgreSQL")]
    (_, serve), (_, ask), (_, shown) = BLOCK.findall(section)
    build = "cargo run --release -p extenddb-proxy --"
    assert serve.startswith(build) and "127.0.0.1:8000" in ask
    environment = {"PATH": os.environ["PATH"], "HOME": str(tmp_path), "AWS_PAGER": ""}
    address = f"127.0.0.1:{free_port()}"
    log = tmp_path / "log"
    with open(log, "wb") as out:
        server = subprocess.Popen(["sh", "-c", serve.replace(build, f"exec '{BINARY}'", 1)], stdout=out, stderr=out,
                                  env={**environment, "EXTENDDB_LISTEN": address})
    try:
        wait_until(lambda: "extenddb is running" in log.read_text(), 60, f"the server runs; see {log}")
        # Not pip's script: where the clone's path has a space, it cannot be run.
        aws = f"aws() {{ '{sys.executable}' -m awscli \"$@\"; }}\n"
        asked = subprocess.run(["sh", "-ec", aws + ask.replace("127.0.0.1:8000", address)], env=environment,
                               capture_output=True, text=True)
        assert asked.returncode == 0, asked.stderr
        assert asked.stdout == shown
    finally:
        server.terminate()
        server.wait(30)
