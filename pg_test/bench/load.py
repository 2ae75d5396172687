"""extenddb over PostgreSQL, its SQLite file, another server and plain SQL under the same load: items of 1 KB, each commit
flushed before it is answered, from one connection to hundreds, in turns. Run it by `pg_test/bench/run load`."""

import argparse
import os
import shlex
import signal
import tempfile
import time
from pathlib import Path

import embedded
import operations
import wire
from measured import Targets, machine, middle, ratio, spread
from server import Server, Wal, add_options

OVER_POSTGRESQL = "extenddb, PostgreSQL"
FILE = "extenddb, SQLite file"
PLAIN = "plain SQL"
REFERENCE_CONNECTIONS = 16
REFERENCE = f"plain upserts, {REFERENCE_CONNECTIONS} connections"

# A checkpoint within the run would make whoever comes next log whole pages, and autovacuum writes to the log too.
SETTINGS = """
max_connections = 400
shared_buffers = 1GB
max_wal_size = 16GB
checkpoint_timeout = 1d
autovacuum = off
"""

# Of extenddb's rate with 64 connections, in other servers' and plain SQL's; and of its median latency with one, in that of
# plain SQL and of a request to the proxy that no database is asked for, together.
AT_CONNECTIONS = 64
TIMES_OTHER = {"PutItem": 3.0, "UpdateItem": 3.0, "GetItem": 1.0}
TIMES_REFERENCE = {"PutItem": 1.0, "UpdateItem": 1.0}
TIMES_LATENCY = 1.3


class OverPostgreSQL:
    """A proxy whose sessions end with each group of runs, since only then all they have written is counted."""

    def __init__(self, options, server):
        self.options, self.server = options, server
        self.process = None

    def start(self):
        self.process = wire.Proxy(self.options.target / "extenddb", self.server, "format", True)
        self.port = self.process.port

    def stop(self):
        if self.process:
            self.process.stop()
            self.process = None
            self.server.sessions_ended()


class Traced(embedded.Server):
    """Counts the calls that flush a file; strace stops the server at no others."""

    def __init__(self, command, directory):
        self.calls = directory / "strace"
        super().__init__(command, directory, before=["strace", "-f", "--seccomp-bpf", "-qq", "-e", "trace=fsync,fdatasync",
                                                     "-o", self.calls, "--"])

    def flushes(self):
        return self.calls.read_text().count("sync(")

    def stop(self):
        of_strace = f"/proc/{self.process.pid}/task/{self.process.pid}/children"
        for traced in Path(of_strace).read_text().split():
            os.kill(int(traced), signal.SIGTERM)
        self.process.wait(60)


class Bench:
    def __init__(self, options, server, place):
        self.options, self.server = options, server
        self.operations = [operation for operation in operations.operations(options.items)
                           if not options.only or options.only in operation.title]
        self.scripts = {operation.title: operations.script(operation, place) for operation in self.operations}
        self.root = wire.get_root_script(place / "GET root.lua")
        self.variables = operations.document_variables() | {"first": operations.FIRST}
        self.targets = Targets()

        self.over_postgresql = OverPostgreSQL(options, server)
        ours = f"{options.target / 'extenddb'} serve --auth format --log warn --listen 127.0.0.1:{{port}} --data {{file}}"
        self.commands = {FILE: ours}
        self.other = None
        if options.beside:
            self.other = Path(shlex.split(options.beside)[0]).name
            self.commands[self.other] = options.beside
        self.directories = {name: place / str(number) for number, name in enumerate(self.commands)}
        self.files = {}

    def fill(self):
        self.server.sql("CREATE EXTENSION extenddb")
        operations.fill_plain(self.server.sql, self.options.items)
        for name, command in self.commands.items():
            self.directories[name].mkdir()
            self.files[name] = embedded.Server(command, self.directories[name])
        self.over_postgresql.start()
        requests = operations.filling(self.options.items)
        for name, side in [(OVER_POSTGRESQL, self.over_postgresql), *self.files.items()]:
            started = time.perf_counter()
            operations.fill(side.port, requests)
            print(f"filled {name} in {time.perf_counter() - started:.0f} s", flush=True)
        self.over_postgresql.stop()
        self.server.sql("VACUUM ANALYZE")

    def plain(self, script, last, connections):
        """(what was measured, what it wrote, how many transactions did)"""
        before = self.server.wal()
        measured, transactions = self.server.pgbench_latencies(script, connections, self.options.seconds,
                                                               self.variables | {"last": last})
        self.server.sessions_ended("pgbench")
        return measured, self.server.wal() - before, transactions

    def group(self, operation, connections):
        """One operation with so many connections, on all sides in turns."""
        script = self.scripts[operation.title]
        by_sql = {PLAIN: (operation.plain, connections)}
        if operation.writes and connections > REFERENCE_CONNECTIONS:
            by_sql[REFERENCE] = (operation.reference, REFERENCE_CONNECTIONS)
        runs = {name: [] for name in (OVER_POSTGRESQL, *self.files, *by_sql)}
        root = []
        written = {name: Wal(0, 0) for name in (OVER_POSTGRESQL, *by_sql)}
        requests = dict.fromkeys(written, 0)

        before = self.server.wal()
        self.over_postgresql.start()
        sides = [(OVER_POSTGRESQL, self.over_postgresql.port), *((name, file.port) for name, file in self.files.items())]
        requests[OVER_POSTGRESQL] = wire.wrk(script, self.over_postgresql.port, connections, 1).answers + connections
        for _ in range(self.options.rounds):
            for name, port in sides:
                measured = wire.wrk(script, port, connections, self.options.seconds)
                runs[name].append(measured)
                if name == OVER_POSTGRESQL:
                    # wrk goes when its time is over, and doesn't count what is under way then.
                    requests[name] += measured.answers + connections
            for name, (plain, sql_connections) in by_sql.items():
                measured, wal, transactions = self.plain(plain, operation.last, sql_connections)
                runs[name].append(measured)
                written[name] += wal
                requests[name] += transactions
            if connections == 1:
                root.append(wire.wrk(self.root, self.over_postgresql.port, 1, 1))
        self.over_postgresql.stop()
        written[OVER_POSTGRESQL] = self.server.wal() - before
        for name in by_sql:
            written[OVER_POSTGRESQL] -= written[name]
        per_request = {name: (wal.bytes / requests[name], wal.flushes / requests[name]) for name, wal in written.items()}
        self.print_group(operation, connections, runs, per_request if operation.writes else {}, root)

    def print_group(self, operation, connections, runs, per_request, root):
        for name, of_side in runs.items():
            figures = middle(of_side)
            ratios = [self.ratio(operation, connections, name, measure, runs) for measure in (self.other, PLAIN, REFERENCE)]
            written = "{:9.0f} {:8.3f}".format(*per_request[name]) if name in per_request else ""
            line = (f"{connections:>11}  {name:30} {spread([run.rate for run in of_side]):>24} {figures.p50_ms:>9.2f} "
                    f"{figures.p99_ms:>9.2f} {figures.p999_ms:>9.2f} {''.join(ratios)} {written}")
            print(line.rstrip(), flush=True)
        if root:
            self.check_latency(operation, runs, root)
        print(flush=True)

    def ratio(self, operation, connections, name, measure, runs):
        """The rate in that of another side, marked where more is asked for."""
        if measure not in runs or measure == name or name in (REFERENCE, PLAIN):
            return f"{'':10}"
        value = ratio(runs[name], runs[measure])
        wanted = None
        if connections == AT_CONNECTIONS and measure == self.other and name != self.other:
            wanted = TIMES_OTHER.get(operation.title)
        if connections == AT_CONNECTIONS and measure == REFERENCE and name == OVER_POSTGRESQL:
            wanted = TIMES_REFERENCE.get(operation.title)
        mark = ""
        if wanted is not None:
            # "At least" where several times as much is asked for, else more.
            holds, sign = (value >= wanted, ">=") if wanted > 1 else (value > wanted, ">")
            mark = self.targets.check(f"{operation.title}, {connections} connections: {name} / {measure}", f"{value:.2f}", holds,
                                      f"{sign} {wanted:g}")
        return f"{value:>9.2f}{mark:1}"

    def check_latency(self, operation, runs, root):
        ours, plain, proxy = (middle(of_side).p50_ms for of_side in (runs[OVER_POSTGRESQL], runs[PLAIN], root))
        times = ours / (plain + proxy)
        mark = self.targets.check(f"{operation.title}, one connection: p50 of {OVER_POSTGRESQL} / ({PLAIN} + GET /)",
                                  f"{times:.2f}", times <= TIMES_LATENCY, f"<= {TIMES_LATENCY}")
        print(f"{'':11}  p50 of GET / on the proxy {proxy:.2f} ms; {ours:.2f} / ({plain:.2f} + {proxy:.2f}) = {times:.2f}{mark}")

    def load(self):
        checkpoints = self.server.checkpoints()
        for operation in self.operations:
            self.server.sql("VACUUM")
            print(f"\n{operation.title}\n")
            print(f"{'connections':>11}  {'':30} {'requests/s':>24} {'p50 ms':>9} {'p99 ms':>9} {'p99.9 ms':>9} "
                  f"{'/ other':>9} {'/ plain':>9} {'/ upserts':>9}  {'WAL bytes':>9} {'flushes':>8}")
            for connections in self.options.connections:
                self.group(operation, connections)
        if checkpoints := self.server.checkpoints() - checkpoints:
            print(f"There were {checkpoints} checkpoints in between: pages were logged whole after them")

    def count_flushes(self):
        """Of the files' servers, in a pass of its own."""
        names = list(self.files)
        self.stop_files()
        print("fsync and fdatasync a request, counted by strace in runs of a second of their own\n")
        print(f"{'':30} {'connections':>11} " + " ".join(f"{name:>24}" for name in names))
        for name in names:
            self.files[name] = Traced(self.commands[name], self.directories[name])
        for operation in self.operations:
            if operation.writes:
                for connections in self.options.connections:
                    per_request = []
                    for side in self.files.values():
                        before = side.flushes()
                        answers = wire.wrk(self.scripts[operation.title], side.port, connections, 1).answers
                        per_request.append((side.flushes() - before) / (answers + connections))
                    print(f"{operation.title:30} {connections:>11} " + " ".join(f"{value:>24.3f}" for value in per_request),
                          flush=True)

    def stop_files(self):
        while self.files:
            self.files.popitem()[1].stop()

    def stop(self):
        self.over_postgresql.stop()
        self.stop_files()


def main():
    parser = argparse.ArgumentParser(prog="pg_test/bench/run load", description=__doc__)
    parser.add_argument("--beside", metavar="COMMAND",
                        help="another server, with {port} and {file}: \"dynoxide --port {port} --db-path {file} --log quiet\"")
    parser.add_argument("--connections", type=int, nargs="+", default=[1, 16, 64, 256], help="(default 1 16 64 256)")
    parser.add_argument("--only", metavar="TEXT", help="the operations whose name contains this")
    parser.add_argument("--rounds", type=int, default=3, help="turns of each side (default 3)")
    parser.add_argument("--seconds", type=int, default=2, help="of one run (default 2)")
    parser.add_argument("--items", type=int, default=50_000, help="in the table (default %(default)s)")
    add_options(parser)
    options = parser.parse_args()
    server = Server(options.pg_config, options.target, options.place, SETTINGS)
    try:
        with tempfile.TemporaryDirectory(dir=options.place) as place:
            bench = Bench(options, server, Path(place))
            print(f"PostgreSQL {server.version()}, {machine()}, shared by the servers with wrk and pgbench, which make the load; "
                  f"{options.rounds} rounds of {options.seconds} s in turns; items of {operations.ITEM_BYTES} bytes of JSON, "
                  f"{options.items} in the table; every commit is flushed before its answer", flush=True)
            try:
                bench.fill()
                bench.load()
                bench.count_flushes()
                bench.targets.print()
            finally:
                bench.stop()
    finally:
        server.remove()


if __name__ == "__main__":
    main()
