"""A PostgreSQL of the bench's own: a copy of the installation, so that a release build is measured without replacing
the extension that the system's servers load; and a cluster in it."""

import argparse
import os
import pwd
import re
import shutil
import subprocess
import tempfile
import time
from pathlib import Path
from typing import NamedTuple

from measured import Measured

SETTINGS = """
listen_addresses = ''
max_connections = 200
shared_buffers = 256MB
max_wal_size = 4GB
checkpoint_timeout = 30min
log_min_messages = warning
"""


class Wal(NamedTuple):
    bytes: int
    flushes: int

    def __add__(self, other):
        return Wal(self.bytes + other.bytes, self.flushes + other.flushes)

    def __sub__(self, other):
        return Wal(self.bytes - other.bytes, self.flushes - other.flushes)


class Server:
    def __init__(self, pg_config, target, place=None, settings=""):
        self.place = Path(tempfile.mkdtemp(prefix="extenddb-bench-", dir=place))
        self.place.chmod(0o755)
        self.bin = self._copy_installation(pg_config)
        subprocess.run([target / "xtask", "install", "--no-build", "--release", "--pg-config", self.bin / "pg_config"],
                       check=True, stdout=subprocess.DEVNULL)
        # The path of a socket is limited to 107 bytes.
        self.socket = Path(tempfile.mkdtemp(prefix="extenddb-bench-", dir="/tmp"))
        self.data = self.place / "data"
        self.data.mkdir(mode=0o700)
        if os.geteuid() == 0:
            owner = pwd.getpwnam("postgres")
            for directory in (self.data, self.socket):
                os.chown(directory, owner.pw_uid, owner.pw_gid)
        self.environment = {"PATH": os.environ["PATH"], "LC_ALL": "C.UTF-8", "PGHOST": str(self.socket),
                            "PGPORT": "5432", "PGUSER": "postgres", "PGDATABASE": "postgres"}
        self._as_owner("initdb", "-D", self.data, "-A", "trust", "-U", "postgres", "-E", "UTF8", "--locale=C.UTF-8",
                       "--no-instructions")
        with open(self.data / "postgresql.conf", "a") as configuration:
            configuration.write(f"{SETTINGS}unix_socket_directories = '{self.socket}'\n{settings}")
        self._as_owner("pg_ctl", "-D", self.data, "-l", self.data / "log", "-w", "start")
        self.running = True
        self.postmaster = int((self.data / "postmaster.pid").read_text().split()[0])
        time.sleep(0.5)
        # Checkpointer, writers, launchers; an autovacuum worker comes and goes.
        self.helpers = len(self._children())

    def _copy_installation(self, pg_config):
        """PostgreSQL finds its files relative to its programs when the tree that both lie in is moved as a whole."""
        def asked(what):
            return Path(subprocess.check_output([pg_config, f"--{what}"], text=True).strip())
        copied = []
        for what in ("bindir", "pkglibdir", "sharedir"):
            directory = asked(what)
            if not any(directory.is_relative_to(earlier) for earlier in copied):
                shutil.copytree(directory, self.place / "postgresql" / directory.relative_to("/"), symlinks=False,
                                dirs_exist_ok=True)
                copied.append(directory)
        return self.place / "postgresql" / asked("bindir").relative_to("/")

    def _as_owner(self, program, *arguments):
        done = subprocess.run(self._owned([self.bin / program, *arguments]), stdout=subprocess.DEVNULL,
                              stderr=subprocess.PIPE, text=True, cwd="/")
        if done.returncode != 0:
            raise SystemExit(f"{program}: {done.stderr}")

    def _owned(self, command):
        command = [str(word) for word in command]
        if os.geteuid() == 0:
            command = ["setpriv", "--reuid=postgres", "--regid=postgres", "--init-groups", "--reset-env", "--"] + command
        return command

    def single_user(self, statement, under=()):
        """Runs one statement in a backend without a server around it, under a program; what went to standard error."""
        if self.running:
            self.stop()
        command = self._owned([*under, self.bin / "postgres", "--single", "-D", self.data, "postgres"])
        done = subprocess.run(command, input=statement.replace("\n", " ") + "\n", capture_output=True, text=True, cwd="/")
        if done.returncode != 0 or "ERROR:" in done.stderr:
            raise SystemExit(f"{statement[:200]}: {done.stderr}")
        return done.stderr

    def version(self):
        return self.sql("SHOW server_version")

    def sql(self, text):
        done = subprocess.run([self.bin / "psql", "-XAtq", "-v", "ON_ERROR_STOP=1", "-c", text], env=self.environment,
                              capture_output=True, text=True)
        if done.returncode != 0:
            raise SystemExit(f"{text[:200]}: {done.stderr}")
        return done.stdout.strip()

    def pgbench(self, script, connections, seconds, durable):
        """(calls a second, microseconds of CPU that the server's backends spent on a call)"""
        before_s = self._cpu_s()
        report = self._pgbench(script, connections, seconds, durable)
        rate = float(re.search(r"tps = ([\d.]+)", report).group(1))
        return rate, (self._cpu_s() - before_s) / processed(report) * 1e6

    def pgbench_latencies(self, script, connections, seconds, variables):
        """(what was measured, transactions in all). What counts begins when every session has done a transaction, a second
        after the first at the earliest: new sessions are slow, and pgbench's time begins before they are connected."""
        transactions, before_s = 0, 1 + connections // 100
        while True:
            with tempfile.TemporaryDirectory(dir=self.place) as logs:
                options = ["-l", "--log-prefix", f"{logs}/log"]
                options += [f"-D{name}={value}" for name, value in variables.items()]
                report = self._pgbench(script, connections, before_s + seconds, True, options)
                ended = []  # (when, in how many ms, which session)
                for log in Path(logs).iterdir():
                    for line in log.read_text().splitlines():
                        session, _, latency_us, _, at_s, and_us = line.split()
                        ended.append((int(at_s) + int(and_us) / 1e6, int(latency_us) / 1000, session))
            transactions += processed(report)
            ended.sort()
            firsts = {}
            for at_s, _, session in ended:
                firsts.setdefault(session, at_s)
            begin_s = max(ended[0][0] + 1, *firsts.values())
            if begin_s + seconds <= ended[-1][0] + 0.1:
                latencies_ms = [ms for at_s, ms, _ in ended if begin_s <= at_s < begin_s + seconds]
                return Measured.of(latencies_ms, seconds), transactions
            before_s *= 2

    def _pgbench(self, script, connections, seconds, durable, options=()):
        environment = self.environment | {"PGOPTIONS": f"-c synchronous_commit={'on' if durable else 'off'}"}
        command = [self.bin / "pgbench", "-n", "-M", "prepared", "-T", seconds, "-c", connections,
                   "-j", min(connections, 2), *options, "-f", "-"]
        done = subprocess.run(list(map(str, command)), input=script, env=environment, capture_output=True, text=True)
        if done.returncode != 0 or " failed" in done.stderr:
            raise SystemExit(f"pgbench: {done.stdout}{done.stderr}")
        return done.stdout

    def wal(self):
        """Bytes written to the log and flushes of it, of sessions that have ended: others report late."""
        return Wal(*map(int, self.sql("SELECT wal_bytes, wal_sync FROM pg_stat_wal").split("|")))

    def sessions_ended(self, application="%"):
        while self.sql("SELECT count(*) FROM pg_stat_activity WHERE backend_type = 'client backend' "
                       f"AND pid <> pg_backend_pid() AND application_name LIKE '{application}'") != "0":
            time.sleep(0.01)

    def checkpoints(self):
        return int(self.sql("SELECT checkpoints_timed + checkpoints_req FROM pg_stat_bgwriter"))

    def _cpu_s(self):
        """CPU that the backends which have ended used, once all have."""
        for _ in range(50):
            if len(self._children()) <= self.helpers:
                break
            time.sleep(0.02)
        fields = Path(f"/proc/{self.postmaster}/stat").read_text().rsplit(")", 1)[1].split()
        return (int(fields[13]) + int(fields[14])) / os.sysconf("SC_CLK_TCK")

    def _children(self):
        return Path(f"/proc/{self.postmaster}/task/{self.postmaster}/children").read_text().split()

    def stop(self):
        self._as_owner("pg_ctl", "-D", self.data, "-m", "fast", "-w", "stop")
        self.running = False

    def remove(self):
        if self.running:
            self._as_owner("pg_ctl", "-D", self.data, "-m", "immediate", "-w", "stop")
        shutil.rmtree(self.place, ignore_errors=True)
        shutil.rmtree(self.socket, ignore_errors=True)


def processed(report):
    return int(re.search(r"actually processed: (\d+)", report).group(1))


def add_options(parser):
    """Where the server comes from, in every bench's command line."""
    parser.add_argument("--place", type=Path, help="a directory for the cluster (default: the system's for temporary files)")
    parser.add_argument("--pg-config", type=Path, required=True, help=argparse.SUPPRESS)
    parser.add_argument("--target", type=Path, required=True, help=argparse.SUPPRESS)
