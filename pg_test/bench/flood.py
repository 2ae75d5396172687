"""Thousands of requests in flight at a time, far more than the proxy takes: what it holds in memory, what it answers, and
whether it is there again when they are gone. Run it by `pg_test/bench/run flood`."""

import argparse
import asyncio
import collections
import json
import random
import resource
import time

import http2
import operations
import wire
from measured import Measured, Targets, machine
from server import Server, add_options

RESIDENT_MB = 300
AT_ONCE_MS = 100
ABANDONED_MS = 1000  # the proxy may need a second to see that a client has gone
THROTTLED = "ThrottlingException"
PUT = 200


class Load:
    """PutItems of keys drawn at random. A client that is refused asks for the next item at once, which no SDK does."""

    def __init__(self, port, items):
        self.last = operations.FIRST + items - 1
        self.goes_on = True
        self.counts = collections.Counter()
        self.latencies_ms = []
        self.requests = []
        host = f"127.0.0.1:{port}"
        for _ in range(operations.TEMPLATES):
            head, _, body = wire.signed(host, "PutItem", operations.put()).partition("\r\n\r\n")
            headers = [line.split(": ", 1) for line in head.split("\r\n")[1:]]
            block = http2.header_block(host, [header for header in headers if header[0] != "host"])
            self.requests.append((block, *(part.encode() for part in wire.DRAWN.split(body))))

    def request(self):
        head, before, behind = random.choice(self.requests)
        return head, b"%b%06d%b" % (before, random.randint(operations.FIRST, self.last), behind)

    def answered(self, sent_s, status, body):
        if status == PUT:
            self.counts[PUT] += 1
            self.latencies_ms.append((time.perf_counter() - sent_s) * 1000)
        else:
            self.counts[f"{status} {fault(body)}"] += 1

    def failed(self, how):
        self.counts[how] += 1


def fault(body):
    try:
        return json.loads(body)["__type"].rpartition("#")[2]
    except (ValueError, KeyError):
        return body[:80]


class Flood:
    def __init__(self, options, process):
        self.options, self.process = options, process

    async def open(self, load):
        self.connections = []
        for _ in range(self.options.connections):
            _, connection = await asyncio.get_running_loop().create_connection(
                lambda: http2.Connection(load, self.options.streams), "127.0.0.1", self.process.port)
            self.connections.append(connection)

    def in_flight(self):
        return sum(len(connection.open) for connection in self.connections)

    def report(self, moment, load):
        refused = sum(load.counts.values()) - load.counts[PUT]
        print(f"{moment:36} {self.process.resident_mb():11.1f} {self.in_flight():>9} {load.counts[PUT]:>9} {refused:>9}",
              flush=True)

    async def run(self, load):
        await self.open(load)
        self.report("connected", load)
        started = time.perf_counter()
        for connection in self.connections:
            connection.start()
        for quarter in range(1, 5):
            await asyncio.sleep(max(started + self.options.seconds * quarter / 4 - time.perf_counter(), 0))
            self.report(f"{time.perf_counter() - started:.1f} s", load)
        elapsed_s = time.perf_counter() - started
        measured = Measured.of(load.latencies_ms, elapsed_s)
        load.goes_on = False
        while self.in_flight():
            if time.perf_counter() > started + elapsed_s + 60:
                raise SystemExit(f"{self.in_flight()} requests were not answered within 60 s")
            await asyncio.sleep(0.01)
        self.report(f"all answered, {time.perf_counter() - started - elapsed_s:.1f} s later", load)
        self.close()
        return measured

    async def abandon(self, load):
        """As many requests again, whose clients go as soon as the proxy has them."""
        await self.open(load)
        for connection in self.connections:
            connection.start()
        while not load.latencies_ms:
            await asyncio.sleep(0.01)
        self.report("as many again", load)
        self.close()

    def close(self):
        for connection in self.connections:
            connection.open.clear()
            connection.transport.abort()

    def single_ms(self):
        """One request on a new connection, sent again while it is throttled."""
        body = f'{{"TableName":"Items","Item":{operations.item_1k(operations.FIRST)}}}'
        call = wire.Caller(self.process.port)
        started = time.perf_counter()
        while True:
            status, answer = call.answer("PutItem", body)
            if status == PUT:
                return (time.perf_counter() - started) * 1000
            if fault(answer) != THROTTLED:
                raise SystemExit(f"a single request: {status} {answer}")


def main():
    parser = argparse.ArgumentParser(prog="pg_test/bench/run flood", description=__doc__)
    parser.add_argument("--connections", type=int, default=1000, help="of HTTP/2 (default 1000)")
    parser.add_argument("--streams", type=int, default=10, help="requests in flight on each (default 10)")
    parser.add_argument("--seconds", type=int, default=20, help="(default 20)")
    parser.add_argument("--items", type=int, default=100_000, help="keys that are written (default %(default)s)")
    add_options(parser)
    options = parser.parse_args()
    most = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))
    server = Server(options.pg_config, options.target, options.place)
    process = None
    try:
        server.sql("CREATE EXTENSION extenddb")
        process = wire.Proxy(options.target / "extenddb", server, "format", True)
        wire.Caller(process.port)("CreateTable", operations.table("Items", sort_key=False))
        flood = Flood(options, process)
        print(f"PostgreSQL {server.version()}, {machine()}, shared by the servers with the client; PutItem of "
              f"{operations.ITEM_BYTES} bytes of JSON, {options.connections} connections of HTTP/2 with {options.streams} "
              f"requests in flight on each, for {options.seconds} s\n", flush=True)
        print(f"{'':36} {'resident MB':>11} {'in flight':>9} {'200':>9} {'other':>9}")
        load = Load(process.port, options.items)
        measured = asyncio.run(flood.run(load))
        after_ms = flood.single_ms()
        abandoned = Load(process.port, options.items)
        asyncio.run(flood.abandon(abandoned))
        abandoned_ms = flood.single_ms()

        print(f"\n200: {measured.rate:.0f} a second, p50 {measured.p50_ms:.0f} ms, p99 {measured.p99_ms:.0f} ms")
        for answer, count in load.counts.items():
            print(f"{answer}: {count}")
        targets = Targets()
        peak_mb = process.peak_resident_mb()
        targets.check("most memory of the proxy, MB", f"{peak_mb:.1f}", peak_mb < RESIDENT_MB, f"< {RESIDENT_MB}")
        others = sum(count for answer, count in (load.counts + abandoned.counts).items()
                     if answer not in (PUT, f"400 {THROTTLED}"))
        targets.check(f"answers that are neither 200 nor {THROTTLED}", str(others), others == 0, "0")
        targets.check("a single request when all are answered, ms", f"{after_ms:.1f}", after_ms < AT_ONCE_MS, f"< {AT_ONCE_MS}")
        targets.check("a single request when the clients of as many have gone, ms", f"{abandoned_ms:.1f}",
                      abandoned_ms < ABANDONED_MS, f"< {ABANDONED_MS}")
        targets.print()
    finally:
        if process:
            process.stop()
        server.remove()


if __name__ == "__main__":
    main()
