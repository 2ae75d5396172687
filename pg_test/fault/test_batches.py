"""Many clients on few sessions: their requests travel together, and nobody notices but for the speed."""

import json
import random

import pytest
from clients import Background, Client, at_once, until

from harness import Proxy
from harness.tables import create_table, get, request, storage

CLIENTS = 24
#: How requests travel: with others where they wait for a session, as nearly all do; always with others; never.
MANNERS = {"together": [], "always together": ["--batch-always"], "by itself": ["--batch", "1"]}


@pytest.fixture(scope="module", autouse=True)
def tables(cluster, database):
    with cluster.connect(database) as connection:
        create_table(connection, "Plain")


@pytest.fixture(scope="module", params=MANNERS)
def manner(request):
    return MANNERS[request.param]


@pytest.fixture(scope="module")
def narrow_proxy(cluster, database, manner, tmp_path_factory):
    """Two sessions."""
    proxy = Proxy(cluster.conninfo(database), tmp_path_factory.mktemp("proxy") / "log", auth="none",
                  arguments=["--pool", "2", *manner])
    yield proxy
    proxy.stop()


@pytest.fixture(autouse=True)
def emptied(sql):
    """Each manner begins with nothing."""
    sql.execute("SELECT ddb.delete('Plain', ddb.project(i, 'pk')) FROM ddb.items('Plain') AS i")


def key(name):
    return {"pk": {"S": name}}


def put(client, name, **more):
    return client.call("PutItem", {"TableName": "Plain", "Item": {**key(name), **more}})


def add_one(client, name):
    return client.call("UpdateItem", {
        "TableName": "Plain", "Key": key(name), "UpdateExpression": "ADD n :one",
        "ExpressionAttributeValues": {":one": {"N": "1"}}, "ReturnValues": "UPDATED_NEW"})


def test_a_request_travels_as_it_is_told(narrow_proxy, sql, manner):
    """One client: no request waits for a session."""
    calls = {"ddb.request($1": 0, "ddb.requests($1": 0}
    for name in range(3):
        assert put(Client(narrow_proxy), f"one-{name}") == (200, {})
        assert Client(narrow_proxy).call("GetItem", {"TableName": "Plain", "Key": key(f"one-{name}")})[0] == 200
        (statement,) = sql.execute("SELECT query FROM pg_stat_activity WHERE datname = current_database() "
                                   "AND application_name = 'extenddb' ORDER BY query_start DESC LIMIT 1").fetchone()
        for call in calls:
            calls[call] += call in statement
    assert calls == {"ddb.request($1": 0 if "--batch-always" in manner else 3,
                     "ddb.requests($1": 3 if "--batch-always" in manner else 0}


def test_a_hot_key_counts_every_update_once(narrow_proxy, sql):
    def work(_):
        client = Client(narrow_proxy)
        return [int(client_answer["Attributes"]["n"]["N"]) for _ in range(25)
                for status, client_answer in [add_one(client, "hot")] if status == 200]

    seen = at_once(CLIENTS, work)
    numbers = sorted(number for of_client in seen for number in of_client)
    assert numbers == list(range(1, CLIENTS * 25 + 1))
    # One client's own updates come in its order.
    assert all(of_client == sorted(of_client) for of_client in seen)
    assert get(sql, "Plain", key("hot"))["n"] == {"N": str(CLIENTS * 25)}


def test_each_gets_its_own_answer(narrow_proxy):
    """Good, refused and broken requests side by side."""

    def work(number):
        client, rng = Client(narrow_proxy), random.Random(number)
        for step in range(30):
            name = f"own-{number}"
            kind = rng.randrange(5)
            if kind == 0:
                status, answer = put(client, name, step={"N": str(step)})
                assert (status, answer) == (200, {})
                status, answer = client.call("GetItem", {"TableName": "Plain", "Key": key(name), "ConsistentRead": True})
                assert answer["Item"] == {**key(name), "step": {"N": str(step)}}
            elif kind == 1:
                status, answer = client.call("PutItem", {"TableName": "Plain", "Item": key(name), "ConditionExpression": "a ="})
                assert status == 400 and "Invalid ConditionExpression" in answer["message"]
            elif kind == 2:
                status, answer = client.call("UpdateItem", {
                    "TableName": "Plain", "Key": key(f"none-{number}"), "UpdateExpression": "SET a = :a",
                    "ConditionExpression": "attribute_exists(pk)", "ExpressionAttributeValues": {":a": {"S": name}}})
                assert (status, answer["message"]) == (400, "The conditional request failed")
            elif kind == 3:
                status, answer = client.call("GetItem", {"TableName": f"Missing{number}", "Key": key("a")})
                assert (status, answer["message"]) == (400, "Requested resource not found")
            else:
                status, answer = client.call("DeleteItem", {"TableName": "Plain", "Key": {**key("a"), "b": {"S": "c"}}})
                assert (status, answer["message"]) == (400, "The provided key element does not match the schema")

    at_once(CLIENTS, work)


def test_what_the_server_cannot_do_fails_alone(cluster, database, narrow_proxy):
    with cluster.connect(database) as admin:
        admin.execute("""CREATE OR REPLACE FUNCTION no_bad() RETURNS trigger LANGUAGE plpgsql AS
                         $$ BEGIN IF NEW.pk = 'bad' THEN RAISE 'no such item'; END IF; RETURN NEW; END $$""")
        admin.execute(f"CREATE TRIGGER no_bad BEFORE INSERT ON {storage(admin, 'Plain')} "
                      "FOR EACH ROW EXECUTE FUNCTION no_bad()")

        def work(number):
            client = Client(narrow_proxy)
            for step in range(10):
                if number % 6 == 0:
                    status, answer = put(client, "bad")
                    assert status == 500, answer
                else:
                    assert put(client, f"beside-{number}-{step}") == (200, {})

        at_once(CLIENTS, work)
        admin.execute(f"DROP TRIGGER no_bad ON {storage(admin, 'Plain')}")
        written = [get(admin, "Plain", key(f"beside-{number}-{step}"))
                   for number in range(CLIENTS) for step in range(10) if number % 6]
        assert None not in written and get(admin, "Plain", key("bad")) is None


def test_a_held_key_holds_up_its_own_requests_only(cluster, database, narrow_proxy):
    with cluster.connect(database) as holder:
        holder.execute("BEGIN")
        request(holder, "PutItem", {"TableName": "Plain", "Item": key("held")})
        waiting = [Background(lambda: add_one(Client(narrow_proxy), "held")) for _ in range(12)]
        # All sessions would be taken, if each that waits took one.
        for step in range(50):
            assert put(Client(narrow_proxy), f"free-{step}") == (200, {})
        assert not any(call.done() for call in waiting)
        holder.execute("COMMIT")
    assert sorted(int(call.result()[1]["Attributes"]["n"]["N"]) for call in waiting) == list(range(1, 13))


def test_a_key_that_stays_held_is_a_conflict(cluster, database, manner, tmp_path):
    with cluster.connect(database) as holder:
        holder.execute(f"ALTER DATABASE {database} SET extenddb.lock_timeout = '300ms'")
        proxy = Proxy(cluster.conninfo(database), tmp_path / "log", auth="none",
                      arguments=["--pool", "2", *manner])
        try:
            holder.execute("BEGIN")
            request(holder, "PutItem", {"TableName": "Plain", "Item": key("stays")})

            def work(_):
                status, answer = put(Client(proxy), "stays")
                return status, answer["__type"].split("#")[1], answer["message"]

            conflict = (400, "TransactionConflictException", "Transaction is ongoing for the item")
            assert set(at_once(8, work)) == {conflict}
            holder.execute("ROLLBACK")
            assert put(Client(proxy), "stays") == (200, {})
        finally:
            proxy.stop()
            holder.execute("ROLLBACK")
            holder.execute(f"ALTER DATABASE {database} RESET extenddb.lock_timeout")


def test_killed_sessions_lose_and_double_nothing(cluster, database, narrow_proxy):
    """Each update that was answered with success counts; one whose outcome is unknown may."""

    def work(number):
        client, done, unknown = Client(narrow_proxy), 0, 0
        for _ in range(25):
            status, _answer = add_one(client, f"shot-{number % 3}")
            done += status == 200
            unknown += status == 500
        return done, unknown

    with cluster.connect(database) as admin:
        def shoot():
            # Whoever talks to this database through the proxy, again and again.
            victims = admin.execute("""SELECT pid FROM pg_stat_activity
                WHERE datname = current_database() AND application_name = 'extenddb' AND state = 'active'""").fetchall()
            return [admin.execute("SELECT pg_terminate_backend(%s)", victim) for victim in victims]

        clients = Background(lambda: at_once(CLIENTS, work))
        shots = 0
        while not clients.done():
            shots += len(shoot())
        outcomes = clients.result()
        assert shots > 0
        done, unknown = (sum(column) for column in zip(*outcomes, strict=True))
        counted = sum(int(get(admin, "Plain", key(f"shot-{n}"))["n"]["N"]) for n in range(3))
        assert done <= counted <= done + unknown
        assert until(lambda: put(Client(narrow_proxy), "afterwards")[0] == 200)


def test_a_client_that_goes_takes_nobody_with_it(narrow_proxy):
    def work(number):
        for step in range(10):
            client = Client(narrow_proxy)
            if number % 2:
                body = json.dumps({"TableName": "Plain", "Item": key(f"goes-{number}-{step}")})
                client.connection.request("POST", "/", body, {
                    "X-Amz-Target": "DynamoDB_20120810.PutItem", "Content-Type": "application/x-amz-json-1.0"})
                client.connection.close()
            else:
                assert put(client, f"stays-{number}-{step}") == (200, {})

    at_once(CLIENTS, work)
    assert narrow_proxy.process.poll() is None
