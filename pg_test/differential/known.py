"""The differences that are decided.

`python -m differential.known FILE…` decides over what `--record` has written, and counts what each entry decided."""

import json
import re
import sys
import tomllib
from collections import Counter
from pathlib import Path

FILE = Path(__file__).with_name("known.toml")


class Known:
    """One difference: it is met when each of its patterns is found, in the templates or the texts."""

    def __init__(self, entry):
        self.rule = entry["rule"]
        self.name = f"{entry.get('operation', '')} {entry.get('ours', '')} | {entry.get('oracle', '')}"
        self.operation = re.compile(f"(?:{entry.get('operation', '.*')})$")
        self.ours = re.compile(entry.get("ours", ""), re.DOTALL)
        self.oracle = re.compile(entry.get("oracle", ""), re.DOTALL)
        self.request = re.compile(entry.get("request", ""), re.DOTALL)

    def fits(self, signature, ours, oracle, request_text):
        operation, *shapes = signature
        return bool(
            self.operation.match(operation)
            and found(self.ours, shapes[0], ours)
            and found(self.oracle, shapes[1], oracle)
            and self.request.search(request_text)
        )


class Order:
    """Checks in their order: both servers refuse, and ours by an earlier one."""

    def __init__(self, entry):
        self.rule = entry["rule"]
        self.name = f"{entry.get('operation', '')} in order"
        self.operation = re.compile(f"(?:{entry.get('operation', '.*')})$")
        self.stages = [re.compile(stage, re.DOTALL) for stage in entry["stages"]]

    def fits(self, signature, ours, oracle, request_text):
        operation, *shapes = signature
        if not self.operation.match(operation) or "ok" in (shapes[0], shapes[1][:2]):
            return False
        first, second = (self._stage(*one) for one in zip(shapes, (ours, oracle)))
        return first is not None and second is not None and first < second

    def _stage(self, shape, text):
        return next((number for number, stage in enumerate(self.stages) if found(stage, shape, text)), None)


def found(pattern, shape, text):
    return pattern.search(shape) or pattern.search(text or "")


def load(path=FILE):
    file = tomllib.loads(path.read_text())
    return [Order(entry) for entry in file.get("order", [])] + [Known(entry) for entry in file.get("known", [])]


def decides(entries, signature, ours, oracle, request):
    """The first entry that a difference fits, if any."""
    text = json.dumps(request, ensure_ascii=False)
    return next((entry for entry in entries if entry.fits(signature, ours, oracle, text)), None)


def main():
    entries = load()
    uses, open_ones = Counter(), {}
    for line in (line for path in sys.argv[1:] for line in open(path)):
        signature, ours, oracle, request = json.loads(line)
        entry = decides(entries, signature, ours, oracle, request)
        if entry:
            uses[entry] += 1
        else:
            open_ones.setdefault(tuple(signature), []).append(request)
    for entry in entries:
        print(f"{uses[entry]:6} {entry.rule}: {entry.name}")
    for (operation, ours, oracle), requests in sorted(open_ones.items()):
        example = min((json.dumps(request, ensure_ascii=False) for request in requests), key=len)
        print(f"\n== {operation}, {len(requests)} times\n   ours:   {ours}\n   oracle: {oracle}\n   request: {example[:1500]}")
    print(f"\n{sum(uses.values())} decided, {sum(map(len, open_ones.values()))} not, of {len(open_ones)} kinds")


if __name__ == "__main__":
    main()
