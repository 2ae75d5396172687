"""The README's first screen, run as it is printed: `./run`, then each block, whose output must be the one that is shown."""

import os
import re
import shutil
import signal
import socket
import subprocess
import sys
import time
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
BLOCK = re.compile(r"^```(\w*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)


def free_port():
    """One that nothing listens on now. `./run` wants to be told, for it writes the port into the environment."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def blocks():
    """The code blocks of the first screen: (language, text)."""
    screen = (ROOT / "README.md").read_text().split("\n## ")[0]
    return BLOCK.findall(screen)


def block(language, number=0):
    return [text for name, text in blocks() if name == language][number]


@pytest.fixture(scope="module")
def fresh():
    """This clone without what an earlier ./run left in it, which is put back afterwards."""
    state, aside = ROOT / ".extenddb", ROOT / ".extenddb.aside"
    assert not aside.exists(), f"{aside} is left from a test that was killed: put it back, or remove it"
    if state.exists():
        state.rename(aside)
    yield
    shutil.rmtree((state / "data").resolve(), ignore_errors=True)
    shutil.rmtree(state, ignore_errors=True)
    if aside.exists():
        aside.rename(state)


@pytest.fixture(scope="module")
def running(fresh, tmp_path_factory):
    """`./run`, built as the other tests are; answers what .extenddb/env sets."""
    log = tmp_path_factory.mktemp("run") / "log"
    command = [*block("sh").split(), "--debug", "--listen", f"127.0.0.1:{free_port()}"]
    with open(log, "wb") as out:
        # A session of its own, as a terminal gives one, so that Ctrl-C can be sent to all of it; and not deaf to it, as
        # what a script starts in the background is.
        process = subprocess.Popen(command, cwd=ROOT, stdout=out, stderr=out, start_new_session=True,
                                   preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL))
    try:
        deadline = time.monotonic() + 900
        while "extenddb is running" not in log.read_text():
            assert process.poll() is None and time.monotonic() < deadline, log.read_text()
        shell = subprocess.run(["bash", "-c", f"{block('sh', 1)}\nenv -0"], cwd=ROOT, capture_output=True, check=True)
        pairs = (line.split("=", 1) for line in shell.stdout.decode().split("\0") if "=" in line)
        assert (ROOT / ".extenddb" / "env").stat().st_mode & 0o077 == 0, "the file holds a secret"
        yield dict(pairs)
    finally:
        if process.poll() is None:
            os.killpg(process.pid, signal.SIGINT)
        process.wait(60)
    assert "Stopping" in log.read_text()


def squeezed(text):
    """Without what only aligns columns."""
    lines = (re.sub(r"\s+", " ", line).strip() for line in text.splitlines())
    return [re.sub(r"-+", "-", line) for line in lines if line]


def test_the_first_screen(running):
    psql = subprocess.run(
        ["psql", "-X", "-v", "ON_ERROR_STOP=1"], input=block("sql"), env=running, capture_output=True, text=True
    )
    assert psql.returncode == 0, psql.stderr
    printed = squeezed(psql.stdout)
    shown = squeezed(block("", 0))
    at = 0
    for line in shown:
        assert line in printed[at:], f"{line!r} is not in the output: {psql.stdout}"
        at = printed.index(line, at) + 1
    python = subprocess.run([sys.executable, "-c", block("python")], env=running, capture_output=True, text=True)
    assert python.returncode == 0, python.stderr
    assert python.stdout == block("", 1)


def test_the_aws_cli_needs_nothing_else(running):
    aws = subprocess.run(["aws", "dynamodb", "list-tables", "--output", "text"], env=running, capture_output=True,
                         text=True)
    assert aws.returncode == 0, aws.stderr
    assert "orders" in aws.stdout
