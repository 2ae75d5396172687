"""Many clients that count on one item: with requests that travel together, with each by itself, and plain SQL on one row.
Run it by `pg_test/bench/run hot`."""

import argparse
import json
import tempfile
from pathlib import Path

import operations
import wire
from measured import Targets, machine, print_runs, ratio
from server import Server, add_options

TOGETHER = "together (the default)"
ALONE = "each by itself (--batch 1)"
PLAIN = "plain SQL"
TIMES = 3.0

HOT = operations.FIRST
KEY = operations.key(HOT)
COUNT = (f'{{"TableName":"Items","Key":{KEY},"UpdateExpression":"ADD visits :one",'
         '"ExpressionAttributeValues":{":one":{"N":"1"}}}')
PLAIN_COUNT = ("UPDATE plain SET item = jsonb_set(item, '{visits,N}', to_jsonb(((item->'visits'->>'N')::numeric + 1)::text)) "
               f"WHERE pk = 'user#{HOT}';")


def main():
    parser = argparse.ArgumentParser(prog="pg_test/bench/run hot", description=__doc__)
    parser.add_argument("--connections", type=int, default=64, help="(default 64)")
    parser.add_argument("--rounds", type=int, default=5, help="turns of each (default 5)")
    parser.add_argument("--seconds", type=int, default=3, help="of one run (default 3)")
    add_options(parser)
    options = parser.parse_args()
    server = Server(options.pg_config, options.target, options.place)
    proxies = {}
    try:
        server.sql("CREATE EXTENSION extenddb")
        for name, arguments in ((TOGETHER, ()), (ALONE, ("--batch", "1"))):
            proxies[name] = wire.Proxy(options.target / "extenddb", server, "format", True, arguments)
        call = wire.Caller(proxies[TOGETHER].port)
        call("CreateTable", operations.table("Items", sort_key=False))
        item = operations.item_1k(HOT)
        call("PutItem", f'{{"TableName":"Items","Item":{item}}}')
        server.sql("CREATE TABLE plain (pk text PRIMARY KEY, item jsonb NOT NULL)")
        server.sql(f"INSERT INTO plain VALUES ('user#{HOT}', '{item}')")
        print(f"PostgreSQL {server.version()}, {machine()}, shared by the servers with wrk and pgbench; {options.rounds} rounds "
              f"of {options.seconds} s in turns; {options.connections} connections, UpdateItem (ADD visits 1) of one item of "
              f"{len(item)} bytes of JSON", flush=True)

        runs = {name: [] for name in (*proxies, PLAIN)}
        unseen = -int(json.loads(item)["visits"]["N"])
        with tempfile.TemporaryDirectory(dir=options.place) as place:
            script = wire.drawing_script(Path(place) / "ADD.lua", [COUNT], "UpdateItem", 1, 1)
            # What wrk leaves under way when it goes may be counted, or not.
            for process in proxies.values():
                unseen -= wire.wrk(script, process.port, options.connections, 1).answers
            for _ in range(options.rounds):
                for name, process in proxies.items():
                    runs[name].append(wire.wrk(script, process.port, options.connections, options.seconds))
                    unseen -= runs[name][-1].answers
                runs[PLAIN].append(server.pgbench_latencies(PLAIN_COUNT, options.connections, options.seconds, {})[0])
        answer = call("GetItem", f'{{"TableName":"Items","Key":{KEY},"ConsistentRead":true}}')
        unseen += int(answer["Item"]["visits"]["N"])
        if not 0 <= unseen <= options.connections * (options.rounds + 1) * len(proxies):
            raise SystemExit(f"the item counts {unseen} more than there were answers")

        print_runs(runs)
        print("\nThe item has counted every answer")
        targets = Targets()
        times = ratio(runs[TOGETHER], runs[ALONE])
        targets.check("rate of requests together / each by itself", f"{times:.2f}", times >= TIMES, f">= {TIMES:g}")
        targets.print()
    finally:
        for process in proxies.values():
            process.stop()
        server.remove()


if __name__ == "__main__":
    main()
