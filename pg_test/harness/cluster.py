"""A PostgreSQL cluster in a directory of its own, run by an ordinary user also when the tests run as root."""

import os
import pwd
import shutil
import signal
import subprocess
import tempfile
from pathlib import Path

import psycopg

PG_BIN = Path(
    subprocess.check_output([os.environ.get("PG_CONFIG", "pg_config"), "--bindir"], text=True).strip()
)


def as_postgres(*command):
    """The command line that runs `command` as the user PostgreSQL runs as (it refuses root)."""
    if os.geteuid() != 0:
        return [str(part) for part in command]
    drop = ["setpriv", "--reuid=postgres", "--regid=postgres", "--init-groups", "--reset-env", "--"]
    return drop + [str(part) for part in command]


class Cluster:
    def __init__(self, settings=()):
        # Under /tmp: the path of a socket is limited to 107 bytes.
        self.directory = Path(tempfile.mkdtemp(prefix="extenddb-test-", dir="/tmp"))
        self.data = self.directory / "data"
        self.log = self.directory / "log"
        self.port = 5432
        self.user = "postgres"
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
            *settings,
        ]
        self._run("sh", "-c", f"cat >> {self.data}/postgresql.conf <<'END'\n" + "\n".join(lines) + "\nEND\n")
        self.start()

    def _run(self, *command):
        done = subprocess.run(as_postgres(*command), capture_output=True, text=True, cwd="/")
        if done.returncode != 0:
            raise RuntimeError(f"{command}: {done.stdout}{done.stderr}")
        return done.stdout

    def start(self):
        self._run(PG_BIN / "pg_ctl", "-D", self.data, "-l", self.log, "-w", "start")

    def stop(self, mode="fast"):
        self._run(PG_BIN / "pg_ctl", "-D", self.data, "-m", mode, "-w", "stop")

    def kill(self):
        """kill -9 of the postmaster: a crash. Waits until its backends are gone too, so that it can start again."""
        pid = int(self._run("head", "-n1", self.data / "postmaster.pid"))
        self.stop("immediate") if pid <= 0 else os.kill(pid, signal.SIGKILL)
        subprocess.run(["sh", "-c", f"while pgrep -f '^postgres: .*|{self.data}' -s {pid} >/dev/null; do :; done"])

    def remove(self):
        try:
            self.stop("immediate")
        except RuntimeError:
            pass
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
