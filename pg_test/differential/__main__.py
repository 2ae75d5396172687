"""The command line."""

import argparse
import contextlib
import json
import random
import sys
import tempfile
import time
from collections import Counter

from . import known, requests, tables, world
from .servers import Pair
from .shrink import shrink

#: Requests asked of one world.
A_WORLD = 200


@contextlib.contextmanager
def our_server():
    """A cluster and a proxy of this run's own."""
    from harness import Cluster, Proxy

    cluster = Cluster()
    try:
        cluster.create_database("differential")
        with tempfile.TemporaryDirectory() as directory:
            proxy = Proxy(cluster.conninfo("differential"), f"{directory}/log", auth="none")
            try:
                yield proxy.endpoint
            finally:
                proxy.stop()
    finally:
        cluster.remove()


def shown(value):
    text = json.dumps(value, ensure_ascii=False)
    return text if len(text) <= 1500 else f"{text[:1500]}… ({len(text)} characters)"


def parted(one, other):
    """What of `one` is not the same in `other`."""
    if isinstance(one, dict) and isinstance(other, dict):
        return {
            name: parted(inner, other.get(name))
            for name, inner in one.items()
            if name not in other or inner != other[name]
        }
    return one


def run(pair, seed, count, seconds, faults, entries, tables_part, record, only):
    found, decided = {}, Counter()
    deadline = time.monotonic() + seconds
    for number in range(count):
        if time.monotonic() > deadline:
            break
        if number % A_WORLD == 0:
            pair.fill(world.items(random.Random(f"{seed} world {number}")))
        source = random.Random(f"{seed} {number}")
        if source.random() < tables_part:
            operation, body = tables.request(source)
            ask = lambda asked: tables.difference(pair, operation, asked)  # noqa: E731
        else:
            operation, body = requests.request(source, faults, only)
            ask = lambda asked: pair.difference(operation, asked)  # noqa: E731
        difference = ask(body)
        if difference is None:
            continue
        name = difference[0]
        if record:
            print(json.dumps([name, difference[1].text, difference[2].text, body]), file=record, flush=True)
        entry = known.decides(entries, name, difference[1].text, difference[2].text, body)
        if entry:
            decided[entry.rule] += 1
            continue
        if name in found:
            found[name]["times"] += 1
            continue

        def still_differs(candidate):
            again = ask(candidate)
            return again is not None and again[0] == name

        small = body if record else shrink(body, still_differs)
        again = ask(small) or difference
        found[name] = {"times": 1, "number": number, "request": small, "ours": again[1], "oracle": again[2]}
    return found, decided


def main():
    parser = argparse.ArgumentParser(prog="python -m differential", description=__doc__)
    parser.add_argument("--oracle", required=True, help="endpoint of the other server")
    parser.add_argument("--ours", help="endpoint of our server (else: one of this run's own)")
    parser.add_argument("--seed", default="1")
    parser.add_argument("--count", type=int, default=10_000, help="requests")
    parser.add_argument("--seconds", type=float, default=3_600, help="stop after that long")
    parser.add_argument("--faults", type=float, default=0.5, help="part of the requests that are broken")
    parser.add_argument("--tables", type=float, default=0.1, help="part of the requests that are about tables")
    parser.add_argument("--all", action="store_true", help="show decided differences too")
    parser.add_argument("--only", type=lambda names: names.split(","), help="of the operations on items these alone")
    parser.add_argument("--record", help="append every difference to this file, as it came, for `known.py`")
    chosen = parser.parse_args()

    record = open(chosen.record, "a") if chosen.record else None
    with contextlib.nullcontext(chosen.ours) if chosen.ours else our_server() as ours:
        pair = Pair(ours, chosen.oracle)
        tables.prepare(pair)
        entries = [] if chosen.all else known.load()
        found, decided = run(
            pair, chosen.seed, chosen.count, chosen.seconds, chosen.faults, entries, chosen.tables, record, chosen.only
        )

    for name, example in sorted(found.items(), key=lambda entry: len(json.dumps(entry[1]["request"]))):
        operation = name[0]
        print(f"\n== {operation}, {example['times']} times (seed {chosen.seed}, number {example['number']})")
        print(f"   ours:   {name[1]}\n   oracle: {name[2]}")
        print(f"   request: {shown(example['request'])}")
        for who in ("ours", "oracle"):
            answer = example[who]
            print(f"   {who}: {answer.status} {answer.type or ''} {answer.text if answer.text is not None else ''}")
            other = example["oracle" if who == "ours" else "ours"]
            if answer.body != other.body:
                print(f"      {shown(parted(answer.body, other.body))}")
    print(
        f"\n{pair.asked} requests, {len(found)} undecided kinds of difference, {sum(decided.values())} decided differences"
    )
    for rule, times in decided.most_common():
        print(f"   {times} {rule}")
    sys.exit(1 if found else 0)


if __name__ == "__main__":
    main()
