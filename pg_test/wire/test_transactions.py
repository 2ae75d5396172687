"""The tables of cases of transactions over HTTP: the same rows that core runs on its memory store."""

import json
import re
import tomllib
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import psycopg
import pytest

from harness.cluster import wait_until
from harness.schema import unordered

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

    def items(self):
        return {
            table["TableName"]: sorted(
                (unordered(item) for item in self.ok("Scan", {"TableName": table["TableName"]})["Items"]), key=str
            )
            for table in self.tables
        }

    def reset(self):
        """The tables with their items, and nothing else in them."""
        known = self.ok("ListTables", {})["TableNames"]
        for table in self.tables:
            name = table["TableName"]
            keys = [key["AttributeName"] for key in table["KeySchema"]]
            if name not in known:
                self.ok("CreateTable", table)
            for item in self.ok("Scan", {"TableName": name})["Items"]:
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


def _rows(table):
    return [pytest.param(row, id=row["row"]) for row in table["row"]]


@pytest.fixture(scope="module")
def ranking(open_proxy):
    tables = Tables(open_proxy, RANKING)
    tables.reset()
    tables.before = tables.items()
    return tables


@pytest.mark.parametrize("row", _rows(RANKING))
def test_ranking(ranking, row):
    """Twice, and nothing is changed unless it succeeds."""
    operation = row.get("operation", "TransactWriteItems")
    request = row.get("request")
    if request is None:
        request = '{"TransactItems":[' + ",".join(RANKING["members"][code] for code in row["members"]) + "]}"
    for _ in range(2):
        status, body = ranking.call(operation, expanded(request))
        ranking.check(row["answer"], status, body)
        if row["answer"] == "OK":
            ranking.reset()
        else:
            assert ranking.items() == ranking.before


class World(Tables):
    """The tables, and steps on them. Time passes by setting back what tokens remember."""

    def __init__(self, proxy, cluster, database):
        super().__init__(proxy, TOKENS)
        self.cluster = cluster
        self.database = database
        self.sql = cluster.connect(database)
        self.holders = {}

    def reset(self):
        for holder in self.holders.values():
            holder.close()
        self.holders.clear()
        super().reset()
        self.sql.execute("DELETE FROM ddb_data.t0")

    def step(self, step):
        if " -> " in step:
            request, wanted = step.split(" -> ", 1)
            self.check(wanted, *self.send(*request.split(" ")))
            return
        verb, rest = step.split(" ", 1)
        if verb == "back":
            self.back(int(rest) * 1000)
        elif verb == "put":
            self.ok("PutItem", {"TableName": "Main", "Item": json.loads(expanded(rest))})
        elif verb == "drop":
            self.ok("DeleteTable", {"TableName": rest})
        elif verb == "hold":
            # A write that is not committed.
            holder = self.holders[rest] = self.cluster.connect(self.database)
            update = {"TableName": "Main", "Key": {"pk": {"S": rest}}, "UpdateExpression": "SET held = :v",
                      "ExpressionAttributeValues": {":v": {"S": "held"}}}
            holder.execute("BEGIN")
            holder.execute("SELECT ddb.update_item(%s)", [json.dumps(update)])
        elif verb == "release":
            self.holders.pop(rest).close()
        else:
            assert verb == "item"
            pk, wanted = rest.split(" is ", 1)
            found = self.ok("GetItem", {"TableName": "Main", "Key": {"pk": {"S": pk}}, "ConsistentRead": True})
            assert found.get("Item") == (None if wanted == "none" else json.loads(expanded(wanted)))

    def send(self, name, token=None):
        text = expanded(TOKENS["requests"][name])
        request = {"TransactItems": json.loads(text)} if text.startswith("[") else json.loads(text)
        token, _, account = expanded(token or "").partition("@")
        if token:
            request["ClientRequestToken"] = token
        if account:
            return self.as_account(account, request)
        # Its numbers and the order of its members as they are written.
        if text.startswith("[") and token:
            return self.call("TransactWriteItems", f'{{"ClientRequestToken":"{token}","TransactItems":{text}}}')
        return self.call("TransactWriteItems", request)

    def as_account(self, account, request):
        context = json.dumps({"account": account})
        call = "SELECT status, body FROM ddb.request(%s, %s, %s)"
        for table in self.tables:
            # It may be there.
            self.sql.execute(call, ["CreateTable", json.dumps(table), context])
        return self.sql.execute(call, ["TransactWriteItems", json.dumps(request), context]).fetchone()

    def back(self, milliseconds):
        """What every token remembers of its time is set back. The item is read as text, and written as one."""
        for place, item in self.sql.execute("SELECT ctid::text, item::text FROM ddb_data.t0").fetchall():
            claim = json.loads(item)
            claim["at"]["N"] = str(int(claim["at"]["N"]) - milliseconds)
            self.sql.execute("UPDATE ddb_data.t0 SET item = %s::ddb.item WHERE ctid = %s::tid",
                             [json.dumps(claim), place])


@pytest.fixture(scope="module")
def world(cluster, database, open_proxy):
    # Whoever waits for an item that is held does not wait long; the proxy's sessions begin with this.
    with cluster.connect(database) as sql:
        sql.execute(psycopg.sql.SQL("ALTER DATABASE {} SET extenddb.lock_timeout = '300ms'").format(
            psycopg.sql.Identifier(database)))
        sql.execute("SELECT pg_terminate_backend(pid) FROM pg_stat_activity"
                    " WHERE datname = current_database() AND pid <> pg_backend_pid()")
    world = World(open_proxy, cluster, database)
    yield world
    world.reset()


@pytest.mark.parametrize("row", _rows(TOKENS))
def test_tokens(world, row):
    world.reset()
    for step in row["steps"]:
        world.step(step)


REQUEST = "SELECT status, body FROM ddb.request('TransactWriteItems', %s)"


@pytest.fixture
def once(world):
    """The tables, and a request under a token that adds one."""
    world.reset()
    return json.dumps({"ClientRequestToken": "k", "TransactItems": json.loads(TOKENS["requests"]["W"])})


def test_a_session_that_ends_before_its_commit_leaves_the_token_unused(world, once):
    with world.cluster.connect(world.database) as doomed:
        doomed.execute("BEGIN")
        assert doomed.execute(REQUEST, [once]).fetchone() == (200, {})
        world.sql.execute("SELECT pg_terminate_backend(%s)", [doomed.info.backend_pid])
        with pytest.raises(psycopg.OperationalError):
            doomed.execute("COMMIT")
    for step in ("W k -> 200", "W k -> 200", 'item cnt is {"pk":{"S":"cnt"},"n":{"N":"1"}}'):
        world.step(step)


def test_a_session_that_ends_while_it_waits_for_an_item_leaves_the_token_unused(world, once):
    world.step("hold cnt")
    with world.cluster.connect(world.database) as doomed, ThreadPoolExecutor() as pool:
        doomed.execute("SET extenddb.lock_timeout = '60s'")
        pid = doomed.info.backend_pid
        sent = pool.submit(doomed.execute, REQUEST, [once])
        waits = "SELECT FROM pg_locks WHERE pid = %s AND NOT granted"
        wait_until(lambda: world.sql.execute(waits, [pid]).fetchall(), 60, "the request waits for its item")
        # Its token is locked: nobody knows yet what becomes of it.
        status, body = world.send("W", "k")
        assert (status, body["__type"]) == (400, "com.amazonaws.dynamodb.v20120810#TransactionInProgressException")
        assert body["Message"] == "Transaction from previous request is still in progress" and "message" not in body
        world.sql.execute("SELECT pg_terminate_backend(%s)", [pid])
        with pytest.raises(psycopg.OperationalError):
            sent.result()
    world.step("release cnt")
    for step in ("W2 k -> 200", "W k -> mismatch", 'item cnt is {"pk":{"S":"cnt"},"n":{"N":"2"}}'):
        world.step(step)
