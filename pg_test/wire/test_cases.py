"""The case tables of core/cases over HTTP: the same rows that core runs on its memory store."""

import http.client
import json
import re
import tomllib
from pathlib import Path

import pytest

CASES = Path(__file__).resolve().parents[2] / "core" / "cases"

STRING, NUMBER = "S", "N"


def _table(name, definitions, key, local=(), global_=()):
    def schema(parts):
        return [{"AttributeName": attribute, "KeyType": role} for attribute, role in parts]

    def index(index_name, parts, projection):
        return {"IndexName": index_name, "KeySchema": schema(parts), "Projection": {"ProjectionType": projection}}

    table = {
        "TableName": name,
        "BillingMode": "PAY_PER_REQUEST",
        "AttributeDefinitions": [{"AttributeName": a, "AttributeType": t} for a, t in definitions],
        "KeySchema": schema(key),
    }
    if local:
        table["LocalSecondaryIndexes"] = [index(*parts) for parts in local]
    if global_:
        table["GlobalSecondaryIndexes"] = [index(*parts) for parts in global_]
    return table


TABLES = [
    _table("Hash1", [("pk", STRING)], [("pk", "HASH")]),
    _table(
        "Range1",
        [("pk", STRING), ("sk", STRING), ("lk", NUMBER), ("g", STRING), ("g2", STRING), ("r2", NUMBER)],
        [("pk", "HASH"), ("sk", "RANGE")],
        local=[("lsi1", [("pk", "HASH"), ("lk", "RANGE")], "KEYS_ONLY")],
        global_=[
            ("gsi1", [("g", "HASH")], "ALL"),
            ("gsi2", [("g2", "HASH"), ("r2", "RANGE")], "KEYS_ONLY"),
        ],
    ),
    _table("Num1", [("pk", STRING), ("sk", NUMBER)], [("pk", "HASH"), ("sk", "RANGE")]),
    _table(
        "Multi1",
        [("pk", STRING), ("h1", STRING), ("h2", NUMBER), ("r1", STRING), ("r2", NUMBER)],
        [("pk", "HASH")],
        global_=[("multi", [("h1", "HASH"), ("h2", "HASH"), ("r1", "RANGE"), ("r2", "RANGE")], "ALL")],
    ),
]
KEYS = {"Hash1": ["pk"], "Range1": ["pk", "sk"], "Num1": ["pk", "sk"], "Multi1": ["pk"]}


def _rows():
    for path in sorted(CASES.glob("*.toml")):
        for case in tomllib.loads(path.read_text()).get("case", []):
            yield pytest.param(case, id=f"{path.stem}:{case['row']}")


#: Rows of these leave a table other than it was.
CHANGE_TABLES = {"TagResource", "UntagResource", "UpdateTable", "UpdateTimeToLive"}


class Wire:
    """One connection, and the tables as they were before each row."""

    def __init__(self, proxy):
        self.proxy = proxy
        self.connection = http.client.HTTPConnection("127.0.0.1", proxy.port, timeout=60)
        #: Whether a row changed one of the tables.
        self.changed = False
        for table in TABLES:
            self.ok("CreateTable", table)

    def call(self, operation, body):
        return self.proxy.call(operation, body, self.connection)

    def ok(self, operation, body):
        status, answer = self.call(operation, body)
        assert status == 200, answer
        return answer

    def drop(self, table):
        name = {"TableName": table}
        if self.call("DeleteTable", name)[0] != 200:
            self.ok("UpdateTable", {**name, "DeletionProtectionEnabled": False})
            self.ok("DeleteTable", name)

    def reset(self):
        """Back to the four tables, empty."""
        for name in self.ok("ListTables", {})["TableNames"]:
            if name not in KEYS:
                self.drop(name)
        if self.changed:
            self.changed = False
            for table in TABLES:
                self.drop(table["TableName"])
                self.ok("CreateTable", table)
            return
        for name, keys in KEYS.items():
            for item in self.ok("Scan", {"TableName": name})["Items"]:
                self.ok("DeleteItem", {"TableName": name, "Key": {key: item[key] for key in keys}})


@pytest.fixture(scope="module")
def wire(open_proxy):
    return Wire(open_proxy)


def _repeated(request):
    """The request with `<x*9>` written out: nine times `x`."""
    return re.sub(r"<([^<>*]*)\*(\d+)>", lambda found: found[1] * int(found[2]), request).encode()


def _unordered(value):
    if isinstance(value, dict):
        return {
            name: sorted(member) if name in ("SS", "NS", "BS") and isinstance(member, list) else _unordered(member)
            for name, member in value.items()
        }
    if isinstance(value, list):
        return [_unordered(member) for member in value]
    return value


def _holds(value, wanted):
    """Whether the value has all that is wanted of it; a `null` is wanted not to be there."""
    if isinstance(value, dict) and isinstance(wanted, dict):
        return all(
            _holds(value[name], inner) if name in value else inner is None for name, inner in wanted.items()
        )
    if isinstance(value, list) and isinstance(wanted, list):
        return len(value) == len(wanted) and all(map(_holds, value, wanted))
    return value == wanted


def _key_of(request):
    if "Key" in request:
        return request["Key"]
    return {key: request["Item"][key] for key in KEYS[request["TableName"]]}


@pytest.mark.parametrize("case", list(_rows()))
def test_row(wire, case):
    wire.reset()
    for table, items in json.loads(case.get("stored", "{}")).items():
        for item in items:
            wire.ok("PutItem", {"TableName": table, "Item": item})
    for operation, request in case.get("before", []):
        wire.changed |= operation in CHANGE_TABLES
        status, body = wire.call(operation, _repeated(request))
        assert status == 200, body
    status, body = wire.call(case["operation"], _repeated(case["request"]))
    wire.changed |= status == 200 and case["operation"] in CHANGE_TABLES
    body = body or {}
    assert status == case["status"], body
    if "type" in case:
        assert body["__type"].rsplit("#")[-1] == case["type"]
    text = body.get("message", body.get("Message", ""))
    if "text" in case:
        assert text == case["text"]
    if "head" in case:
        assert text.startswith(case["head"])
    if "answer" in case:
        assert _unordered(body) == _unordered(json.loads(case["answer"]))
    if "shows" in case:
        assert _holds(_unordered(body), _unordered(json.loads(case["shows"]))), body
    if "after" in case:
        request = json.loads(case["request"])
        get = {"TableName": request["TableName"], "Key": _key_of(request), "ConsistentRead": True}
        found = wire.ok("GetItem", get).get("Item")
        wanted = None if case["after"] == "none" else json.loads(case["after"])
        assert _unordered(found) == _unordered(wanted)
