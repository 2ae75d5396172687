"""The tables of cases of transactions: how they are written, and run over HTTP. Core runs the same rows on its memory store."""

import itertools
import json
import re
import tomllib
from pathlib import Path

from .schema import unordered

CASES = Path(__file__).resolve().parents[2] / "core" / "cases"
RANKING = tomllib.loads((CASES / "transactions-ranking.toml").read_text())
TOKENS = tomllib.loads((CASES / "transactions-tokens.toml").read_text())

CODES = {"-": "None", "C": "ConditionalCheckFailed", "X": "TransactionConflict"}
MESSAGES = {"C": "The conditional request failed", "X": "Transaction is ongoing for the item"}
MISMATCH = "Specified idempotent token was used with different request parameters within the idempotency window"


def expanded(text):
    return re.sub(r"@x(\d+)@", lambda found: "x" * int(found[1]), text)


class Tables:
    """The tables of a file of cases, with its items."""

    def __init__(self, proxy, table):
        self.proxy = proxy
        self.connection = proxy.connect()
        self.texts = table["texts"]
        self.tables = [json.loads(request) for request in table["tables"]]
        self.fixture = {name: [json.loads(item) for item in items] for name, items in table["fixture"].items()}

    def call(self, operation, body):
        return self.proxy.call(operation, body, self.connection)

    def ok(self, operation, body):
        status, answer = self.call(operation, body)
        assert status == 200, answer
        return answer

    def scan(self, name):
        """All items of a table, page by page."""
        request = {"TableName": name, "ConsistentRead": True}
        while True:
            page = self.ok("Scan", request)
            yield from page["Items"]
            if "LastEvaluatedKey" not in page:
                return
            request["ExclusiveStartKey"] = page["LastEvaluatedKey"]

    def items(self):
        names = [table["TableName"] for table in self.tables]
        return {name: sorted((unordered(item) for item in self.scan(name)), key=str) for name in names}

    def reset(self):
        """The tables with their items, and nothing else in them."""
        known = self.ok("ListTables", {})["TableNames"]
        for table in self.tables:
            name = table["TableName"]
            keys = [key["AttributeName"] for key in table["KeySchema"]]
            if name not in known:
                self.ok("CreateTable", table)
            for item in list(self.scan(name)):
                self.ok("DeleteItem", {"TableName": name, "Key": {key: item[key] for key in keys}})
            for item in self.fixture.get(name, []):
                self.ok("PutItem", {"TableName": name, "Item": item})

    def is_text(self, names, text):
        wanted = [self.texts[name] for name in names.split("|")]
        return any(text.startswith(one[:-1]) if one.endswith("…") else text == one for one in wanted)

    def check(self, wanted, status, body):
        """Whether this is the answer that a table writes so."""
        exception = body.get("__type", "").rsplit("#")[-1]
        if wanted.startswith("200"):
            assert status == 200, body
            assert wanted == "200" or body == json.loads(wanted[3:])
        elif wanted == "OK":
            assert (status, body) == (200, {})
        elif wanted.startswith("VE("):
            assert (status, exception) == (400, "ValidationException"), body
            assert "Message" not in body and self.is_text(wanted[3:-1], body["message"]), body
        elif wanted.startswith("TC["):
            assert (status, exception) == (400, "TransactionCanceledException"), body
            self.check_reasons(wanted[3:-1].split(", "), body)
        elif wanted == "CCF":
            assert (status, exception) == (400, "ConditionalCheckFailedException"), body
        elif wanted == "RNF":
            assert (status, exception) == (400, "ResourceNotFoundException"), body
            assert body["message"] == "Requested resource not found"
        else:
            assert wanted == "mismatch"
            assert (status, exception) == (400, "IdempotentParameterMismatchException"), body
            assert body["Message"] == MISMATCH and "message" not in body

    def check_reasons(self, wanted, body):
        codes = [CODES.get(reason, "ValidationError") for reason in wanted]
        head = "Transaction cancelled, please refer cancellation reasons for specific reasons"
        assert body["Message"] == f"{head} [{', '.join(codes)}]" and "message" not in body
        assert [reason["Code"] for reason in body["CancellationReasons"]] == codes
        for reason, one in zip(body["CancellationReasons"], wanted):
            assert "Item" not in reason
            if one.startswith("V("):
                assert self.is_text(one[2:-1], reason["Message"]), body
            else:
                assert reason.get("Message") == MESSAGES.get(one), body


class Sequences(Tables):
    """The tables of the cases of tokens, and the steps that need nothing but requests."""

    #: What the tests on a database of their own do besides.
    elsewhere = ("back ", "hold ", "release ")
    _runs = itertools.count(1)

    def __init__(self, proxy):
        super().__init__(proxy, TOKENS)
        self.run = 0

    def reset(self):
        """Tokens are remembered, so each sequence has its own."""
        super().reset()
        self.run = next(self._runs)

    def token(self, written):
        token = expanded(written)
        return token if len(token) > 30 else f"{token}-{self.run}"

    def step(self, step):
        if " -> " in step:
            request, wanted = step.split(" -> ", 1)
            self.check(wanted, *self.send(*request.split(" ")))
            return
        verb, rest = step.split(" ", 1)
        if verb == "put":
            self.ok("PutItem", {"TableName": "Main", "Item": json.loads(expanded(rest))})
        elif verb == "drop":
            self.ok("DeleteTable", {"TableName": rest})
        else:
            assert verb == "item"
            pk, wanted = rest.split(" is ", 1)
            found = self.ok("GetItem", {"TableName": "Main", "Key": {"pk": {"S": pk}}, "ConsistentRead": True})
            assert unordered(found.get("Item")) == (None if wanted == "none" else unordered(json.loads(expanded(wanted))))

    def send(self, name, token=None):
        return self.call("TransactWriteItems", self.request(name, token and self.token(token)))

    def request(self, name, token=None):
        """Its numbers and the order of its members as they are written."""
        text = expanded(TOKENS["requests"][name])
        text = f'{{"TransactItems":{text}}}' if text.startswith("[") else text
        return f'{{"ClientRequestToken":"{token}",{text[1:]}' if token else text
