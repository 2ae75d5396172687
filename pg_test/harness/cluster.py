"""A PostgreSQL cluster in a directory of its own, run by an ordinary user also when the tests run as root."""

import os
import pwd
import shutil
import signal
import subprocess
import tempfile
import time
from pathlib import Path

import psycopg

PG_BIN = Path(
    subprocess.check_output([os.environ.get("PG_CONFIG", "pg_config"), "--bindir"], text=True).strip()
)
START_SECONDS = 120


def as_postgres(*command):
    """The command line that runs `command` as the user PostgreSQL runs as (it refuses root)."""
    if os.geteuid() != 0:
        return [str(part) for part in command]
    drop = ["setpriv", "--reuid=postgres", "--regid=postgres", "--init-groups", "--reset-env", "--"]
    return drop + [str(part) for part in command]


def wait_until(condition, seconds, what):
    """Looks until `condition` answers something true, and answers that."""
    deadline = time.monotonic() + seconds
    while True:
        if found := condition():
            return found
        if time.monotonic() > deadline:
            raise RuntimeError(f"not within {seconds} s: {what}")
        time.sleep(0.01)


def _children(pid):
    """The processes whose parent is `pid`."""
    found = []
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            status = _status(int(entry.name))
            if status and status[1] == pid:
                found.append(int(entry.name))
    return found


def _status(pid):
    """State and parent of a process, `None` when there is none."""
    try:
        text = Path(f"/proc/{pid}/stat").read_text(errors="replace")
    except OSError:
        return None
    # The name before them, in parentheses, may hold anything.
    state, parent = text.rpartition(")")[2].split()[:2]
    return state, int(parent)


def _is_gone(pid):
    """Whether it has ended; one that only waits to be reaped holds no memory and no lock."""
    status = _status(pid)
    return status is None or status[0] in "ZX"


class Cluster:
    def __init__(self, settings=()):
        # Under /tmp: the path of a socket is limited to 107 bytes.
        self.directory = Path(tempfile.mkdtemp(prefix="extenddb-test-", dir="/tmp"))
        self.data = self.directory / "data"
        self.log = self.directory / "log"
        self.port = 5432
        self.user = "postgres"
        self._postmaster = None
        if os.geteuid() == 0:
            owner = pwd.getpwnam("postgres")
            os.chown(self.directory, owner.pw_uid, owner.pw_gid)
        self.directory.chmod(0o755)
        self._run(PG_BIN / "initdb", "-D", self.data, "-U", self.user, "-A", "trust", "-E", "UTF8",
                  "--locale=C.UTF-8", "--no-instructions", "--no-sync")
        lines = [
            "listen_addresses = ''",
            f"unix_socket_directories = '{self.directory}'",
            "max_connections = 100",
            "log_min_messages = warning",
            "log_statement = none",
            # The crashes made here end processes; the system's pages outlive them.
            "fsync = off",
            *settings,
        ]
        with open(self.data / "postgresql.conf", "a") as configuration:
            configuration.write("\n".join(lines) + "\n")
        self.start()

    def _run(self, *command):
        done = subprocess.run(as_postgres(*command), capture_output=True, text=True, cwd="/")
        if done.returncode != 0:
            raise RuntimeError(f"{command}: {done.stdout}{done.stderr}")
        return done.stdout

    def start(self):
        """Starts it, and waits until it takes connections (after a crash: until it has recovered)."""
        with open(self.log, "ab") as log:
            # A child of ours, not pg_ctl's: so it can be reaped after a crash, when its number must be free again.
            self._postmaster = subprocess.Popen(
                as_postgres(PG_BIN / "postgres", "-D", self.data), stdin=subprocess.DEVNULL, stdout=log, stderr=log,
                cwd="/", start_new_session=True,
            )
        wait_until(self._is_ready, START_SECONDS, f"PostgreSQL takes connections; see {self.log}")

    def _is_ready(self):
        if self._postmaster.poll() is not None:
            raise RuntimeError(f"PostgreSQL ended with {self._postmaster.returncode}: {self.log.read_text()[-4000:]}")
        try:
            self.connect().close()
        except psycopg.OperationalError:
            return False
        return True

    @property
    def pid(self):
        """The postmaster's process."""
        return self._postmaster.pid

    def stop(self, mode="fast"):
        """Stops it, `smart`, `fast` or `immediate`."""
        if self._postmaster is None or self._postmaster.poll() is not None:
            return
        meaning = {"smart": signal.SIGTERM, "fast": signal.SIGINT, "immediate": signal.SIGQUIT}
        self._postmaster.send_signal(meaning[mode])
        self._postmaster.wait(START_SECONDS)

    def kill(self):
        """A crash: kill -9 of the postmaster. Afterwards all its processes are gone, and `start` recovers."""
        # It is halted first, so that it has no child that we do not know of.
        self._postmaster.send_signal(signal.SIGSTOP)
        children = _children(self.pid)
        self._postmaster.kill()
        self._postmaster.wait(START_SECONDS)
        # They see that it is gone and leave; one that computes sees nothing and is ended.
        try:
            wait_until(lambda: all(map(_is_gone, children)), 1, "the backends leave")
        except RuntimeError:
            for pid in children:
                if not _is_gone(pid):
                    os.kill(pid, signal.SIGKILL)
            wait_until(lambda: all(map(_is_gone, children)), START_SECONDS, "the backends are ended")

    def remove(self):
        self.stop("immediate")
        shutil.rmtree(self.directory, ignore_errors=True)

    def conninfo(self, database="postgres", user=None):
        return f"host={self.directory} port={self.port} dbname={database} user={user or self.user}"

    def connect(self, database="postgres", user=None, autocommit=True):
        return psycopg.connect(self.conninfo(database, user), autocommit=autocommit)

    def create_database(self, name, extension=True):
        with self.connect() as connection:
            connection.execute(f'CREATE DATABASE "{name}"')
        if extension:
            with self.connect(name) as connection:
                connection.execute("CREATE EXTENSION extenddb")

    def tool(self, name, *arguments, input=None, check=True):
        """Runs one of PostgreSQL's programs against this cluster."""
        environment = {"PGHOST": str(self.directory), "PGPORT": str(self.port), "PGUSER": self.user,
                       "PATH": os.environ["PATH"], "LC_ALL": "C.UTF-8"}
        done = subprocess.run([str(PG_BIN / name), *map(str, arguments)], capture_output=True, input=input,
                              env=environment)
        if check and done.returncode != 0:
            raise RuntimeError(f"{name} {arguments}: {done.stderr.decode()}")
        return done
