"""Tokens on PostgreSQL: the whole table of cases, with time that passes and items that others hold, and sessions that end."""

import json
from concurrent.futures import ThreadPoolExecutor

import psycopg
import pytest

from harness.cluster import wait_until
from harness.transactions import TOKENS, Sequences


class World(Sequences):
    """Time passes by setting back what tokens remember of it."""

    def __init__(self, proxy, cluster, database):
        super().__init__(proxy)
        self.cluster = cluster
        self.database = database
        self.sql = cluster.connect(database)
        self.holders = {}

    def reset(self):
        for holder in self.holders.values():
            holder.close()
        self.holders.clear()
        super().reset()

    def step(self, step):
        verb, _, rest = step.partition(" ")
        if verb == "back":
            self.back(int(rest) * 1000)
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
            super().step(step)

    def send(self, name, token=None):
        written, _, account = (token or "").partition("@1")
        if not account:
            return super().send(name, token)
        context = json.dumps({"account": f"1{account}"})
        call = "SELECT status, body FROM ddb.request(%s, %s, %s)"
        for table in self.tables:
            # It may be there.
            self.sql.execute(call, ["CreateTable", json.dumps(table), context])
        request = self.request(name, self.token(written))
        return self.sql.execute(call, ["TransactWriteItems", request, context]).fetchone()

    def back(self, milliseconds):
        """Every token is read as text, and written as one."""
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


@pytest.mark.parametrize("row", [pytest.param(row, id=row["row"]) for row in TOKENS["row"]])
def test_tokens(world, row):
    world.reset()
    for step in row["steps"]:
        world.step(step)


REQUEST = "SELECT status, body FROM ddb.request('TransactWriteItems', %s)"


@pytest.fixture
def once(world):
    """The tables, and a request under a token that adds one."""
    world.reset()
    return world.request("W", world.token("k"))


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
