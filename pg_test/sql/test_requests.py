"""`ddb.requests`: several requests in one call, each as if it had come alone, none waiting for a lock that it was not told to."""

import json
import random
import time

import psycopg
import pytest

from harness.tables import ORDERS, create_table, get, index_faults, items, request, storage

NOT_DONE = 0


@pytest.fixture(scope="module", autouse=True)
def tables(cluster, database):
    with cluster.connect(database) as connection:
        for name in ("Alone", "Together"):
            create_table(connection, name, ORDERS)
        create_table(connection, "Plain")


def requests(connection, members, contexts=None):
    """Rows of status and body."""
    operations = [operation for operation, _ in members]
    bodies = [json.dumps(body) for _, body in members]
    contexts = contexts and [json.dumps(context) for context in contexts]
    return connection.execute(
        "SELECT * FROM ddb.requests(%s, %s::json[], %s::json[])", [operations, bodies, contexts]
    ).fetchall()


def put(pk, table="Plain", **more):
    return "PutItem", {"TableName": table, "Item": {"pk": {"S": pk}}, **more}


def random_member(rng, table):
    """A request on one of few items: good, refused by a condition, or not valid."""
    key = {"pk": {"S": rng.choice("abc")}, "sk": {"S": rng.choice("xy")}}
    capacity = rng.choice([{}, {"ReturnConsumedCapacity": "INDEXES"}])
    g, n = {"S": rng.choice("uvw")}, {"N": str(rng.randrange(3))}
    condition = rng.choice([{}, {"ConditionExpression": "attribute_not_exists(pk)"},
                            {"ConditionExpression": "attribute_exists(g)", "ReturnValuesOnConditionCheckFailure": "ALL_OLD"}])
    kind = rng.randrange(8)
    if kind < 2:
        item = {**key, "g": g, "lk": n} if kind else {**key, "lk": n, "note": {"S": "x" * rng.randrange(3000)}}
        return "PutItem", {"TableName": table, "Item": item, "ReturnValues": "ALL_OLD", **condition, **capacity}
    if kind < 4:
        text, values = rng.choice([("ADD n :n", {":n": n}), ("SET g = :g, r2 = :n REMOVE lk", {":g": g, ":n": n}),
                                   ("SET g = nope", None), ("SET g = :n", {":n": n})])
        values = {"ExpressionAttributeValues": values} if values else {}
        return "UpdateItem", {"TableName": table, "Key": key, "UpdateExpression": text, "ReturnValues": "ALL_NEW",
                              **values, **condition, **capacity}
    if kind == 4:
        return "DeleteItem", {"TableName": table, "Key": key, "ReturnValues": "ALL_OLD", **condition, **capacity}
    if kind == 5:
        return "GetItem", {"TableName": table, "Key": key, "ConsistentRead": True, **capacity}
    if kind == 6:
        return rng.choice(["PutItem", "GetItem", "UpdateItem", "NoSuchOperation"]), {"TableName": table, "Key": {}}
    return rng.choice([("GetItem", {"TableName": "Missing", "Key": key}), ("Query", {
        "TableName": table, "KeyConditionExpression": "pk = :p", "ExpressionAttributeValues": {":p": key["pk"]}})])


def as_of(answer, table):
    """An answer with the table's name taken out."""
    return json.loads(json.dumps(answer).replace(f'"{table}"', '"T"'))


@pytest.mark.parametrize("seed", range(20))
def test_together_they_answer_and_leave_what_they_would_one_by_one(sql, seed):
    for _ in range(5):
        rng = random.Random((seed, _).__repr__())
        shape = rng.getstate()
        alone = [random_member(rng, "Alone") for _ in range(rng.randrange(1, 25))]
        rng.setstate(shape)
        together = [random_member(rng, "Together") for _ in range(rng.randrange(1, 25))]
        one_by_one = [as_of(request(sql, operation, body), "Alone") for operation, body in alone]
        at_once = [as_of(row, "Together") for row in requests(sql, together)]
        for member, wanted, answer in zip(alone, one_by_one, at_once, strict=True):
            assert answer == wanted, member
        def by_key(item):
            return item["pk"]["S"], item["sk"]["S"]

        assert sorted(items(sql, "Together"), key=by_key) == sorted(items(sql, "Alone"), key=by_key)
        assert index_faults(sql, "Together") == []


def test_a_held_key_is_told_and_its_neighbours_are_done(cluster, database, sql):
    with cluster.connect(database) as other:
        other.execute("BEGIN")
        request(other, *put("held"))
        answers = requests(sql, [put("before"), put("held"), put("after"), put("held")])
        assert [status for status, _ in answers] == [200, NOT_DONE, 200, NOT_DONE]
        assert answers[1] == answers[3] and len(answers[1][1]["tag"]) == 16
        assert get(sql, "Plain", {"pk": {"S": "after"}})

        # The same lock by another request; another lock by another key.
        update = "UpdateItem", {"TableName": "Plain", "Key": {"pk": {"S": "held"}}}
        assert requests(sql, [update]) == [answers[1]]
        request(other, *put("held-too"))
        assert requests(sql, [put("held-too")])[0][1] != answers[1][1]

        # One by itself does not wait either, if a context says for which lock it would.
        assert request(sql, *put("held"), {"waitTag": "0" * 16}) == answers[1]
        other.execute("COMMIT")
    assert [status for status, _ in requests(sql, [put("held"), put("held-too")])] == [200, 200]


CONFLICT = (400, "TransactionConflictException")


def exception(answer):
    status, body = answer
    return status, body["__type"].split("#")[1]


@pytest.mark.parametrize("first, second", [("one", "two"), ("two", "one")])
def test_a_call_waits_for_the_lock_that_it_names_and_for_no_other(cluster, database, sql, first, second):
    with cluster.connect(database) as other, cluster.connect(database) as waiter:
        other.execute("BEGIN")
        request(other, *put(first))
        request(other, *put(second))
        ((_, lock), (_, lock_of_second)) = requests(sql, [put(first), put(second)])
        wait = [{"waitTag": lock["tag"]}] * 2
        waiter.execute("SET extenddb.lock_timeout = '2s'")
        began = time.monotonic()
        answers = requests(waiter, [put(first), put(second)], [{**wait[0], "waitMs": 300}, wait[1]])
        # The wait for the first ended without it; the second was not waited for.
        assert 0.3 <= time.monotonic() - began < 1.5
        assert exception(answers[0]) == CONFLICT
        assert answers[1] == (NOT_DONE, {**lock_of_second, "lockTimeoutMs": 2000})
        other.execute("COMMIT")
        assert [status for status, _ in requests(waiter, [put(first), put(second)], wait)] == [200, 200]


def test_each_waits_as_long_as_its_context_says(cluster, database, sql):
    """Together as long as the one that has the least time left; the others are told to come again."""
    with cluster.connect(database) as other:
        other.execute("BEGIN")
        request(other, *put("waited-for"))
        tag = requests(sql, [put("waited-for")])[0][1]["tag"]

        def answers(*waits):
            began = time.monotonic()
            found = requests(sql, [put("waited-for")] * len(waits), [
                {"waitTag": tag} if wait is None else {"waitTag": tag, "waitMs": wait} for wait in waits])
            return found, time.monotonic() - began

        told = NOT_DONE, {"tag": tag, "lockTimeoutMs": 5000}
        (late, short, whole), took = answers(3000, 200, None)
        assert (late, exception(short), whole) == (told, CONFLICT, told) and 0.2 <= took < 2
        # What has no time left is tried once.
        (none, more), took = answers(0, 1000)
        assert (exception(none), more) == (CONFLICT, told) and took < 1
        # So is what waits for nothing.
        (answer,) = requests(sql, [put("waited-for")], [{"waitMs": 0}])
        assert exception(answer) == CONFLICT
        # More than the setting allows is not waited for.
        sql.execute("SET extenddb.lock_timeout = '100ms'")
        (answer,), took = answers(60_000)
        assert exception(answer) == CONFLICT and took < 5
        sql.execute("RESET extenddb.lock_timeout")
        other.execute("COMMIT")
    assert [status for status, _ in answers(0, 0)[0]] == [200, 200]


def test_a_table_that_is_being_changed_is_told_like_a_key(cluster, database, sql):
    with cluster.connect(database) as other:
        other.execute("BEGIN")
        other.execute(f"LOCK TABLE {storage(other, 'Alone')} IN ACCESS EXCLUSIVE MODE")
        key = {"pk": {"S": "a"}, "sk": {"S": "x"}}
        put_there = "PutItem", {"TableName": "Alone", "Item": key}
        get_there = "GetItem", {"TableName": "Alone", "Key": key}
        (held, done), (held_read, done_read) = (
            requests(sql, [put_there, put("elsewhere")]),
            requests(sql, [get_there, ("GetItem", {"TableName": "Plain", "Key": {"pk": {"S": "elsewhere"}}})]),
        )
        assert (held[0], done[0], held_read[0], done_read[0]) == (NOT_DONE, 200, NOT_DONE, 200)
        assert held[1] == held_read[1]
        other.execute("ROLLBACK")


@pytest.mark.parametrize("contexts, text", [
    ([{"waitTag": "0" * 16}, {"waitTag": "f" * 16}], "a call may wait for one lock"),
    ([{"waitTag": "12"}, {}], "context.waitTag must be sixteen hexadecimal digits"),
    ([{"waitTag": "+000000000000001"}, {}], "context.waitTag must be sixteen hexadecimal digits"),
    ([{"waitTag": 1}, {}], "context.waitTag must be a string"),
    ([{"waitMs": "1"}, {}], "context.waitMs must be a whole number of milliseconds"),
    ([{"waitMs": 1.5}, {}], "context.waitMs must be a whole number of milliseconds"),
    ([{"waitMs": -1}, {}], "context.waitMs must be a whole number of milliseconds"),
])
def test_what_says_no_lock_to_wait_for_is_refused(sql, contexts, text):
    with pytest.raises(psycopg.errors.InvalidParameterValue, match=text):
        requests(sql, [put("a"), put("b")], contexts)


def transact(*names):
    return "TransactWriteItems", {"ClientRequestToken": "-".join(names), "TransactItems": [
        {"Put": {"TableName": "Plain", "Item": {"pk": {"S": name}}}} for name in names]}


def batch(*names):
    return "BatchWriteItem", {"RequestItems": {"Plain": [{"PutRequest": {"Item": {"pk": {"S": name}}}} for name in names]}}


def stored(sql, *names):
    return [name for name in names if get(sql, "Plain", {"pk": {"S": name}})]


@pytest.mark.parametrize("several", [transact, batch])
def test_what_writes_several_items_is_told_of_a_held_one_and_writes_none(cluster, database, sql, several):
    free, held, beside = (f"{several.__name__} {what}" for what in ("free", "held", "beside"))
    with cluster.connect(database) as other:
        other.execute("BEGIN")
        request(other, *put(held))
        told = request(sql, *put(held), {"waitTag": "0" * 16})
        tokens = sql.execute("SELECT count(*) FROM ddb_data.t0").fetchone()
        assert request(sql, *several(free, held), {"waitTag": "0" * 16}) == told
        assert stored(sql, free, held) == [] and sql.execute("SELECT count(*) FROM ddb_data.t0").fetchone() == tokens

        # In the caller's transaction too, which keeps what it did before and has no more locks than before.
        sql.execute("BEGIN")
        request(sql, *put(beside))
        locks = "SELECT count(*) FROM pg_locks WHERE locktype = 'advisory' AND pid = pg_backend_pid()"
        before = sql.execute(locks).fetchone()
        assert request(sql, *several(free, held), {"waitTag": "0" * 16}) == told
        assert several is transact or sql.execute(locks).fetchone() == before
        sql.execute("COMMIT")
        assert stored(sql, free, held, beside) == [beside]

        # For another lock it does not wait; for this one as long as it may, and then it has its own answer.
        began = time.monotonic()
        assert request(sql, *several(free, held), {"waitTag": "f" * 16}) == told
        assert time.monotonic() - began < 1
        status, answer = request(sql, *several(free, held), {"waitTag": told[1]["tag"], "waitMs": 200})
        assert 0.2 <= time.monotonic() - began < 3
        if several is transact:
            assert [reason["Code"] for reason in answer["CancellationReasons"]] == ["None", "TransactionConflict"]
            assert stored(sql, free) == []
            # The token remembers.
            assert sql.execute("SELECT count(*) FROM ddb_data.t0").fetchone()[0] == tokens[0] + 1
        else:
            assert status == 200 and answer["UnprocessedItems"]["Plain"] == [{"PutRequest": {"Item": {"pk": {"S": held}}}}]
            assert stored(sql, free) == [free]
        other.execute("ROLLBACK")
    assert request(sql, *several(free, held), {"waitTag": told[1]["tag"]})[0] == 200
    assert stored(sql, free, held) == [free, held]


@pytest.mark.parametrize("read", [
    ("GetItem", {"TableName": "Alone", "Key": {"pk": {"S": "a"}, "sk": {"S": "x"}}}),
    ("Query", {"TableName": "Alone", "KeyConditionExpression": "pk = :p", "ExpressionAttributeValues": {":p": {"S": "a"}}}),
    ("Scan", {"TableName": "Alone"}),
    ("BatchGetItem", {"RequestItems": {"Alone": {"Keys": [{"pk": {"S": "a"}, "sk": {"S": "x"}}]}}}),
    ("TransactGetItems", {"TransactItems": [{"Get": {"TableName": "Alone", "Key": {"pk": {"S": "a"}, "sk": {"S": "x"}}}}]}),
    ("TransactWriteItems", {"TransactItems": [{"Put": {"TableName": "Alone", "Item": {"pk": {"S": "a"}, "sk": {"S": "x"}}}}]}),
    ("DescribeTable", {"TableName": "Alone"}),
], ids=lambda read: read[0])
def test_a_table_that_is_being_changed_is_told_by_every_operation(cluster, database, sql, read):
    with cluster.connect(database) as other:
        other.execute("BEGIN")
        other.execute(f"LOCK TABLE {storage(other, 'Alone')} IN ACCESS EXCLUSIVE MODE")
        status, answer = request(sql, *read, {"waitTag": "0" * 16})
        assert (status, len(answer["tag"])) == (NOT_DONE, 16)
        began = time.monotonic()
        status, _ = request(sql, *read, {"waitTag": answer["tag"], "waitMs": 100})
        assert status == 400 and 0.1 <= time.monotonic() - began < 3
        other.execute("ROLLBACK")
    assert request(sql, *read, {"waitTag": answer["tag"]})[0] == 200


def test_an_error_of_the_server_undoes_the_whole_call(sql):
    sql.execute("""CREATE FUNCTION no_bad() RETURNS trigger LANGUAGE plpgsql AS
                   $$ BEGIN IF NEW.pk = 'bad' THEN RAISE 'no such item'; END IF; RETURN NEW; END $$""")
    sql.execute(f"CREATE TRIGGER no_bad BEFORE INSERT ON {storage(sql, 'Plain')} FOR EACH ROW EXECUTE FUNCTION no_bad()")
    with pytest.raises(psycopg.errors.RaiseException):
        requests(sql, [put("good-1"), put("bad"), put("good-2")])
    assert [get(sql, "Plain", {"pk": {"S": name}}) for name in ("good-1", "good-2")] == [None, None]
    sql.execute(f"DROP TRIGGER no_bad ON {storage(sql, 'Plain')}")
