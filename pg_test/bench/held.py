"""A key that an SQL session holds, in an open transaction that wrote it, and clients that wait for it: what the others pay
who write other keys. Run it by `pg_test/bench/run held`."""

import argparse
import subprocess
import tempfile
import threading
import time
from pathlib import Path

import operations
import wire
from measured import Targets, machine, print_runs, ratio, spread
from server import Server, add_options

HELD = operations.FIRST - 1  # no request for other keys draws it
ITEMS = 20_000
RATE = 0.9
P99 = 1.5


def put_held():
    return f'{{"TableName":"Items","Item":{operations.item_1k(HELD)}}}'


class Holder:
    """An SQL session whose transaction has written the key."""

    def __init__(self, server):
        self.session = subprocess.Popen([server.bin / "psql", "-XAtq", "-v", "ON_ERROR_STOP=1"], env=server.environment,
                                        stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        self._send(f"BEGIN; SELECT status FROM ddb.request('PutItem', '{put_held()}');")
        if (status := self.session.stdout.readline().strip()) != "200":
            raise SystemExit(f"the holder's PutItem: {status}")

    def commit(self):
        self._send("COMMIT;")
        self.session.stdin.close()
        if self.session.wait(10) != 0:
            raise SystemExit("the holder could not commit")

    def _send(self, text):
        self.session.stdin.write(text + "\n")
        self.session.stdin.flush()


class Waiter(threading.Thread):
    """A client that puts the held key."""

    def __init__(self, port):
        super().__init__(daemon=True)
        self.port = port
        self.ended_s = None

    def run(self):
        self.status, self.body = wire.Caller(self.port).answer("PutItem", put_held())
        self.ended_s = time.perf_counter()


def held_turn(options, server, process, script):
    """(what was measured, how long after the commit the last of those who waited had its answer)"""
    holder = Holder(server)
    waiters = [Waiter(process.port) for _ in range(options.waiting)]
    for waiter in waiters:
        waiter.start()
    while server.sql("SELECT count(*) FROM pg_locks WHERE NOT granted") == "0":
        time.sleep(0.01)
    measured = wire.wrk(script, process.port, options.connections, options.seconds)
    if early := [waiter for waiter in waiters if not waiter.is_alive()]:
        raise SystemExit(f"{len(early)} of the waiting were answered while the key was held: {early[0].status} {early[0].body}")
    committed_s = time.perf_counter()
    holder.commit()
    for waiter in waiters:
        waiter.join(30)
        if waiter.ended_s is None or waiter.status != 200:
            raise SystemExit("one of the waiting " + ("has no answer" if waiter.ended_s is None else f"got {waiter.body}"))
    return measured, max(waiter.ended_s for waiter in waiters) - committed_s


def main():
    parser = argparse.ArgumentParser(prog="pg_test/bench/run held", description=__doc__)
    parser.add_argument("--connections", type=int, default=64, help="that put other keys (default 64)")
    parser.add_argument("--waiting", type=int, default=8, help="clients that put the held key (default 8)")
    parser.add_argument("--rounds", type=int, default=7, help="turns with and without the held key (default 7)")
    parser.add_argument("--seconds", type=int, default=3, help="of one run, less than extenddb.lock_timeout, 5 (default 3)")
    add_options(parser)
    options = parser.parse_args()
    server = Server(options.pg_config, options.target, options.place)
    process = None
    try:
        server.sql("CREATE EXTENSION extenddb")
        process = wire.Proxy(options.target / "extenddb", server, "format", True)
        with tempfile.TemporaryDirectory(dir=options.place) as place:
            script = operations.script(operations.operations(ITEMS)[0], Path(place))
            print(f"PostgreSQL {server.version()}, {machine()}, shared by the servers with wrk; {options.rounds} rounds of "
                  f"{options.seconds} s in turns; PutItem of {operations.ITEM_BYTES} bytes of JSON on {options.connections} "
                  f"connections, beside {options.waiting} that wait for the held key", flush=True)
            operations.fill(process.port, operations.filling(ITEMS))
            wire.wrk(script, process.port, options.connections, 1)
            free, held, released_ms = [], [], []
            for _ in range(options.rounds):
                free.append(wire.wrk(script, process.port, options.connections, options.seconds))
                measured, after_s = held_turn(options, server, process, script)
                held.append(measured)
                released_ms.append(after_s * 1000)
        print_runs({"no key held": free, "a key held": held})
        print(f"\nThe last of the waiting had its answer {spread(released_ms, 1)} ms after the holder's COMMIT; all were 200")
        targets = Targets()
        rate, p99 = ratio(held, free), ratio(held, free, "p99_ms")
        targets.check("rate with a held key / without", f"{rate:.2f}", rate >= RATE, f">= {RATE}")
        targets.check("p99 with a held key / without", f"{p99:.2f}", p99 <= P99, f"<= {P99}")
        targets.print()
    finally:
        if process:
            process.stop()
        server.remove()


if __name__ == "__main__":
    main()
