"""The differences that are decided."""

import re
import tomllib
from pathlib import Path

FILE = Path(__file__).with_name("known.toml")


class Known:
    """One entry: it fits a difference when each of its patterns is found, in the templates or the texts."""

    def __init__(self, entry):
        self.rule = entry["rule"]
        self.operation = re.compile(f"(?:{entry.get('operation', '.*')})$")
        self.ours = re.compile(entry.get("ours", ""), re.DOTALL)
        self.oracle = re.compile(entry.get("oracle", ""), re.DOTALL)
        self.request = re.compile(entry.get("request", ""), re.DOTALL)

    def fits(self, signature, ours, oracle, request_text):
        operation, *shapes = signature
        return bool(
            self.operation.match(operation)
            and (self.ours.search(shapes[0]) or self.ours.search(ours.text or ""))
            and (self.oracle.search(shapes[1]) or self.oracle.search(oracle.text or ""))
            and self.request.search(request_text)
        )


def load(path=FILE):
    return [Known(entry) for entry in tomllib.loads(path.read_text()).get("known", [])]
