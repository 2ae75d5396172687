"""Servers of a test's own that it may kill. A backend differs in what can be broken, and in how its storage is looked at."""

import os
import random
import signal

import psycopg

from clients import key_locks, until
from harness import Cluster, Proxy, stores
from harness.tables import index_faults, index_faults_by_wire
from histories.connection import Connection


class Server:
    """`port`: where it listens now. `breaks`: ways to break it, each of which leaves it running again."""

    #: Of these, during which its other clients are answered.
    stays_up = frozenset()

    def call(self, operation, body):
        connection = Connection(self)
        try:
            return connection.call(operation, body)
        finally:
            connection.close()

    def ok(self, operation, body):
        status, answer = self.call(operation, body)
        assert status == 200, (operation, status, answer)
        return answer


#: Single items on as many sessions as the pool has: most requests find one of their own, and meet in the server.
MANY_SESSIONS = ("--read-sessions", "16", "--write-sessions", "16")


class Postgres(Server):
    """The proxy in front of PostgreSQL."""

    name = kind = "postgres"

    def __init__(self, directory, arguments=MANY_SESSIONS):
        self.cluster = Cluster()
        try:
            self.cluster.create_database("served")
            self.proxy = Proxy(self.cluster.conninfo("served"), directory / "log", auth="none", arguments=arguments)
        except BaseException:
            self.cluster.remove()
            raise
        self.breaks = {
            "a backend is killed": self.kill_backend,
            "the postmaster and all others are killed": self.kill,
            "an immediate stop": self.stop_immediately,
            "sessions are ended in the middle of their calls": self.end_sessions,
        }
        self.stays_up = {"sessions are ended in the middle of their calls"}

    @property
    def port(self):
        return self.proxy.port

    def connect(self):
        return self.cluster.connect("served")

    def kill_backend(self, chance=random):
        with self.connect() as sql:
            sessions = sql.execute("SELECT pid, state FROM pg_stat_activity WHERE application_name = 'extenddb'").fetchall()
        pids = [pid for pid, _ in sessions]
        if pids:
            # One that is in the middle of a call, if there is one.
            os.kill(chance.choice([pid for pid, state in sessions if state == "active"] or pids), signal.SIGKILL)
            # The postmaster ends all others, recovers, and takes connections again.
            until(lambda: not any(os.path.exists(f"/proc/{pid}") for pid in pids))
            until(self._is_up)

    def end_sessions(self, chance=random):
        """Others go on."""
        ended = 0
        with self.connect() as sql:
            def end_one():
                nonlocal ended
                ended += sql.execute("""SELECT count(pg_terminate_backend(pid)) FROM (SELECT pid FROM pg_stat_activity
                    WHERE application_name = 'extenddb' AND state = 'active' ORDER BY random() LIMIT 1) AS one""").fetchone()[0]
                return ended >= 20
            until(end_one)

    def _is_up(self):
        try:
            self.connect().close()
            return True
        except psycopg.OperationalError:
            return False

    def kill(self, chance=random):
        self.cluster.kill()
        self.cluster.start()

    def stop_immediately(self, chance=random):
        self.cluster.stop("immediate")
        self.cluster.start()

    def faults(self, *tables):
        """What is wrong in the storage, or left behind."""
        with self.connect() as sql:
            until(lambda: sql.execute("SELECT count(*) FROM pg_stat_activity WHERE application_name = 'extenddb' "
                                      "AND state <> 'idle'").fetchone() == (0,))
            found = [fault for table in tables for fault in index_faults(sql, table)]
            return found + ([f"{count} locks of keys are held"] if (count := key_locks(sql)) else [])

    def remove(self):
        self.proxy.stop()
        self.cluster.remove()


class FewSessions(Postgres):
    """The same with fewer sessions than clients: requests on single items wait for one and travel together."""

    name = "postgres with few sessions"

    def __init__(self, directory):
        super().__init__(directory, arguments=["--pool", "4"])


class Batches(Postgres):
    """Single writes and reads go in batches, whatever is free."""

    name = "postgres in batches"

    def __init__(self, directory):
        super().__init__(directory, arguments=["--pool", "4", "--batch-always"])


class Sqlite(Server):
    """The proxy with a file: its own death is the only one."""

    name = kind = "sqlite"

    def __init__(self, directory):
        self.directory = directory
        self.store = stores.Sqlite(directory / "data.sqlite")
        self.breaks = {"the proxy is killed": self.kill}
        self._serve()

    def _serve(self):
        self.proxy = Proxy(self.store, self.directory / "log", auth="none")
        self.port = self.proxy.port

    def kill(self, chance=random):
        self.proxy.kill()
        self._serve()

    def faults(self, *tables):
        return [fault for table in tables for fault in index_faults_by_wire(self, table)]

    def remove(self):
        self.proxy.stop()


#: Every backend of the proxy that keeps the promises of these tests.
BACKENDS = {"postgres": Postgres, "few sessions": FewSessions, "batches": Batches, "sqlite": Sqlite}
