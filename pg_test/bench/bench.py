"""Compares extenddb with plain SQL on the same server, in pairs of runs that alternate, so that what else the machine
does meets both alike. Run it by `pg_test/bench/run`, which builds first."""

import argparse
import resource
import statistics
import threading
import time
from pathlib import Path

import instructions
import wire
import workload
from measured import machine, spread
from server import Server, add_options
from workload import (
    GET, GET_ITEM, PLAIN_GET, PLAIN_PUT, PLAIN_QUERY, PLAIN_UPDATE, PUT, PUT_ITEM, QUERY, UPDATE, plain_transaction, puts,
    transaction,
)

PARTS = ("sql", "builds", "proxy", "memory", "instructions")

# name, the measured, the measure, the budget of the ratio of their rates (measured / measure), connections
SQL_PAIRS = [
    ("PutItem / upsert", PUT, PLAIN_PUT, 0.7),
    ("GetItem / SELECT", GET, PLAIN_GET, 0.7),
    ("ddb.put / upsert", PUT_ITEM, PLAIN_PUT, None),
    ("ddb.get / SELECT", GET_ITEM, PLAIN_GET, None),
    ("conditional UpdateItem / PutItem", UPDATE, PUT, 1 / 1.5),
    ("conditional UpdateItem / UPDATE", UPDATE, PLAIN_UPDATE, None),
    ("Query of 100 items / SELECT", QUERY, PLAIN_QUERY, None),
    ("TransactWriteItems of 10 / BEGIN, 10 upserts, COMMIT", transaction(10), plain_transaction(10), None),
    ("TransactWriteItems of 25 / BEGIN, 25 upserts, COMMIT", transaction(25), plain_transaction(25), None),
    ("TransactWriteItems of 10 / 10 PutItems", transaction(10), puts(10), None),
    ("TransactWriteItems of 25 / 25 PutItems", transaction(25), puts(25), None),
    ("TransactWriteItems of 25 / PutItem", transaction(25), PUT, 1 / 12),
    ("TransactWriteItems of 25 without token / PutItem", transaction(25, token=False), PUT, 1 / 12),
]
READS = {GET, PLAIN_GET, GET_ITEM, QUERY, PLAIN_QUERY}
# name, request, the measure, the budget with one connection, with 64
PROXY_PAIRS = [
    ("GetItem / SELECT", wire.get, PLAIN_GET, 0.6, None),
    ("PutItem / upsert", wire.put, PLAIN_PUT, 0.6, 1.0),
]


class Table:
    """Prints a line for each pair: medians, extremes, the median of the pairs' ratios, the budget."""

    def __init__(self, title):
        print(f"\n{title}\n")
        print(f"{'measured / measure':52} {'connections':>11} {'measured/s':>24} {'measure/s':>24} {'ratio':>18} "
              f"{'budget':>6} {'CPU':>10}")

    def line(self, name, connections, pairs, budget, cpu=""):
        measured, measure = [list(rates) for rates in zip(*pairs)]
        ratios = [a / b for a, b in pairs]
        verdict = "" if budget is None else f"{budget:.2f}{' ' if statistics.median(ratios) >= budget else '!'}"
        print(f"{name:52} {connections:>11} {spread(measured):>24} {spread(measure):>24} {spread(ratios, 2):>18} "
              f"{verdict:>6} {cpu:>10}", flush=True)


def sql(options, server):
    for durable in (True, False):
        table = Table(f"SQL, synchronous_commit = {'on' if durable else 'off'}")
        for name, measured, measure, budget in SQL_PAIRS:
            if options.only and options.only not in name:
                continue
            if durable and measured in READS and measure in READS:
                continue  # a read commits nothing: once is enough
            for connections in options.connections:
                pairs, cpu = [], []
                for turn in range(options.rounds):
                    ours, cpu_ours = server.pgbench(measured, connections, options.seconds, durable)
                    theirs, cpu_theirs = server.pgbench(measure, connections, options.seconds, durable)
                    pairs.append((ours, theirs))
                    cpu.append((cpu_ours, cpu_theirs))
                cpu_us = [statistics.median(side) for side in zip(*cpu)]
                table.line(name, connections, pairs, budget, f"{cpu_us[0]:.0f}/{cpu_us[1]:.0f} us")


# What another build is compared by, and how much of its rate is asked for.
BUILD_SCRIPTS = [("PutItem", PUT), ("GetItem", GET), ("ddb.put", PUT_ITEM), ("ddb.get", GET_ITEM),
                 ("conditional UpdateItem", UPDATE), ("Query of 100 items", QUERY)]
BUILD_BUDGET = 0.95


def builds(options, server):
    """This build and another, each on a cluster of its own."""
    if options.other is None:
        return
    other = Server(options.pg_config, options.other, options.place)
    try:
        workload.load(other.sql)
        for durable in (True, False):
            table = Table(f"This build / the one in {options.other}, synchronous_commit = {'on' if durable else 'off'}")
            for name, script in BUILD_SCRIPTS:
                if (options.only and options.only not in name) or (durable and script in READS):
                    continue
                for connections in options.connections:
                    sides = [], []
                    for turn in range(options.rounds):
                        for side, of in zip(sides, (server, other)):
                            side.append(of.pgbench(script, connections, options.seconds, durable))
                    cpu_us = [statistics.median(cpu for _, cpu in side) for side in sides]
                    pairs = [(ours, theirs) for (ours, _), (theirs, _) in zip(*sides)]
                    table.line(name, connections, pairs, BUILD_BUDGET, f"{cpu_us[0]:.0f}/{cpu_us[1]:.0f} us")
    finally:
        other.remove()


def proxy(options, server):
    for auth, durable in (("none", True), ("none", False), ("strict", False)):
        table = Table(f"Through the proxy, --auth {auth}, synchronous_commit = {'on' if durable else 'off'}")
        process = wire.Proxy(options.target / "extenddb", server, auth, durable)
        for name, make, measure, budget, budget_64 in PROXY_PAIRS:
            if (options.only and options.only not in name) or (durable and measure in READS):
                continue
            load = wire.Load(make, process.port, server.place)
            load.run(1, 1)
            for connections, budget in ((1, budget), (64, budget_64)):
                pairs = []
                for turn in range(options.rounds):
                    ours = load.run(connections, options.seconds)
                    theirs, _ = server.pgbench(measure, connections, options.seconds, durable)
                    pairs.append((ours, theirs))
                table.line(name, connections, pairs, budget)
        process.stop()


def memory(options, server):
    print("\nMemory of the proxy (resident)\n")
    resource.setrlimit(resource.RLIMIT_NOFILE, (8192, resource.getrlimit(resource.RLIMIT_NOFILE)[1]))
    process = wire.Proxy(options.target / "extenddb", server, "none", False)
    print(f"{'started':40} {process.resident_mb():6.1f} MB")
    idle = wire.idle_connections(process.port, 1000)
    print(f"{'1,000 idle connections':40} {process.resident_mb():6.1f} MB")
    load = wire.Load(wire.put, process.port, server.place)
    busy = threading.Thread(target=load.run, args=(64, options.seconds))
    busy.start()
    most = 0.0
    while busy.is_alive():
        most = max(most, process.resident_mb())
        time.sleep(0.05)
    print(f"{'1,000 idle and 64 busy ones, at most':40} {most:6.1f} MB  budget 100{' ' if most < 100 else '!'}")
    for connection in idle:
        connection.close()
    process.stop()


def main():
    parser = argparse.ArgumentParser(
        prog="pg_test/bench/run", description="Measures extenddb against plain SQL on one server. A `!` behind a budget "
        "says that it is missed.", epilog="Other commands: `run load` (beside another server and plain SQL, from one connection to "
        "hundreds), `run held` (a key that somebody else holds), `run hot` (one item that all write), `run flood` (thousands of "
        "requests in flight). `run load --help` says more, and so on.")
    parser.add_argument("parts", nargs="*", metavar="PART", help=f"what to measure: {', '.join(PARTS)} (default: all)")
    parser.add_argument("--rounds", type=int, default=5, help="pairs of runs (default 5)")
    parser.add_argument("--seconds", type=int, default=5, help="of one run (default 5)")
    parser.add_argument("--connections", type=int, nargs="+", default=[1, 4], help="for SQL (default 1 4)")
    parser.add_argument("--only", metavar="TEXT", help="the pairs whose name contains this")
    parser.add_argument("--profile", action="store_true", help="of instructions: by function, too")
    parser.add_argument("--other", type=Path, metavar="TARGET",
                        help="another build to compare with: its target/release, with its extension and its xtask")
    add_options(parser)
    options = parser.parse_args()
    if unknown := set(options.parts) - set(PARTS):
        parser.error(f"no part is called {unknown.pop()}")

    server = Server(options.pg_config, options.target, options.place)
    try:
        print(f"PostgreSQL {server.version()}, {machine()}; {options.rounds} pairs of runs of {options.seconds} s; "
              f"items of {len(workload.item('12345', '500'))} bytes of JSON", flush=True)
        workload.load(server.sql)
        # The last one stops the server.
        for part in sorted(options.parts or PARTS, key=PARTS.index):
            {"sql": sql, "builds": builds, "proxy": proxy, "memory": memory,
             "instructions": instructions.measure}[part](options, server)
    finally:
        server.remove()


if __name__ == "__main__":
    main()
