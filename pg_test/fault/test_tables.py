"""Tables that come and go under their clients."""

import threading
import time

import psycopg
import pytest

from clients import Background, Client, at_once, until, waiting
from harness.tables import ORDERS, PLAIN, call, create_table, get, index_faults, put, request


def exception(answer):
    return answer["__type"].split("#")[1]


def test_of_many_that_create_a_table_one_does(open_proxy, sql):
    for round_ in range(5):
        name = f"Race{round_}"
        start = threading.Barrier(8)

        def creator(number):
            client = Client(open_proxy)
            start.wait(30)
            return client.call("CreateTable", {"TableName": name, **ORDERS})

        answers = at_once(8, creator)
        assert sorted(status for status, _ in answers) == [200] + [400] * 7
        for status, answer in answers:
            if status == 400:
                assert (exception(answer), answer["message"]) == ("ResourceInUseException", f"Table already exists: {name}")
        put(sql, name, {"pk": {"S": "a"}, "sk": {"S": "b"}, "g": {"S": "g"}})
        assert index_faults(sql, name) == []


def test_of_many_that_delete_a_table_one_does(open_proxy, sql):
    """And none of them waits for the others' locks until its timeout."""
    for round_ in range(5):
        name = f"Delete{round_}"
        create_table(sql, name, ORDERS)
        start = threading.Barrier(6)

        def deleter(number):
            client = Client(open_proxy)
            start.wait(30)
            began = time.monotonic()
            return (*client.call("DeleteTable", {"TableName": name}), time.monotonic() - began)

        answers = at_once(6, deleter)
        assert [status for status, _, _ in answers].count(200) == 1, answers
        for status, answer, _ in answers:
            assert status == 200 or exception(answer) in ("ResourceNotFoundException", "ResourceInUseException"), answer
        assert max(took for _, _, took in answers) < 3
        assert request(sql, "DescribeTable", {"TableName": name})[0] == 400


@pytest.mark.parametrize("end, outcome", [("COMMIT", "DD006"), ("ROLLBACK", None)])
def test_a_creator_waits_for_another_sessions_decision(cluster, database, sql, end, outcome):
    name = f"Waits-{end}"
    with cluster.connect(database) as one, cluster.connect(database) as two:
        one.execute("BEGIN")
        create_table(one, name, ORDERS)
        late = Background(lambda: create_table(two, name))
        until(lambda: waiting(sql) == 1)
        one.execute(end)
        if outcome:
            with pytest.raises(psycopg.Error) as raised:
                late.result()
            assert raised.value.sqlstate == outcome
        else:
            late.result()
        expected = 2 if outcome else 1
        assert len(call(sql, "describe_table", {"TableName": name})["Table"]["KeySchema"]) == expected


def test_writers_of_a_table_that_is_deleted_hear_that_it_is_gone(open_proxy, sql):
    create_table(sql, "Vanishing", ORDERS)
    stop, faults, counts = threading.Event(), [], {"gone": 0, "written": 0}

    def writer(number):
        client, sent = Client(open_proxy), 0
        while not stop.is_set():
            key = {"pk": {"S": f"w{number}"}, "sk": {"S": str(sent % 10)}}
            sent += 1
            for operation, body in [
                    ("PutItem", {"Item": {**key, "g": {"S": f"g{sent % 3}"}, "lk": {"N": str(sent)}}}),
                    ("UpdateItem", {"Key": key, "UpdateExpression": "SET g = :g", "ExpressionAttributeValues": {":g": {"S": "u"}}}),
                    ("Query", {"IndexName": "by-g", "KeyConditionExpression": "g = :g",
                               "ExpressionAttributeValues": {":g": {"S": "u"}}}),
                    ("GetItem", {"Key": key}),
                    ("BatchWriteItem", {"RequestItems": {"Vanishing": [{"PutRequest": {"Item": {**key, "g": {"S": "b"}}}}]}})]:
                if operation != "BatchWriteItem":
                    body = {"TableName": "Vanishing", **body}
                status, answer = client.call(operation, body)
                if status == 200:
                    counts["written"] += 1
                elif status == 400 and exception(answer) == "ResourceNotFoundException":
                    counts["gone"] += 1
                else:
                    faults.append((operation, status, answer))

    def tables(number):
        client = Client(open_proxy)
        try:
            for _ in range(12):
                before = dict(counts)
                until(lambda: faults or counts["written"] >= before["written"] + 60)
                status, answer = client.call("DeleteTable", {"TableName": "Vanishing"})
                if status != 200:
                    faults.append(("DeleteTable", status, answer))
                before = dict(counts)
                until(lambda: faults or counts["gone"] >= before["gone"] + 20)
                status, answer = client.call("CreateTable", {"TableName": "Vanishing", **ORDERS})
                if status != 200:
                    faults.append(("CreateTable", status, answer))
        finally:
            stop.set()

    at_once(7, lambda number: tables(number) if number == 6 else writer(number), within_seconds=150)
    assert faults == []
    assert index_faults(sql, "Vanishing") == []


def test_a_cached_description_gives_way_to_the_new_table(cluster, database, sql):
    key = {"pk": {"S": "a"}, "sk": {"S": "b"}}
    create_table(sql, "Cached", ORDERS)
    with cluster.connect(database) as other:
        put(other, "Cached", {**key, "g": {"S": "old"}})
        assert get(other, "Cached", key)
        call(sql, "delete_table", {"TableName": "Cached"})
        status, answer = request(other, "PutItem", {"TableName": "Cached", "Item": key})
        assert exception(answer) == "ResourceNotFoundException"
        create_table(sql, "Cached", PLAIN)
        # The old key does not fit any more, the new one does; no old item and no old index is there.
        status, answer = request(other, "GetItem", {"TableName": "Cached", "Key": key})
        assert (status, exception(answer)) == (400, "ValidationException")
        assert get(other, "Cached", {"pk": {"S": "a"}}) is None
        put(other, "Cached", {"pk": {"S": "a"}})
        assert get(sql, "Cached", {"pk": {"S": "a"}}) == {"pk": {"S": "a"}}
        status, answer = request(other, "Query", {
            "TableName": "Cached", "IndexName": "by-g", "KeyConditionExpression": "g = :g",
            "ExpressionAttributeValues": {":g": {"S": "old"}}})
        assert exception(answer) == "ValidationException"


@pytest.mark.parametrize("level", ["READ COMMITTED", "REPEATABLE READ"])
def test_a_transaction_that_is_older_than_the_new_table(cluster, database, sql, level):
    """It began before the table was made again, and has used it in an earlier transaction."""
    name = f"Older-{level.split()[0]}"
    create_table(sql, name, PLAIN)
    with cluster.connect(database) as other:
        put(other, name, {"pk": {"S": "cached"}})
        other.execute(f"BEGIN ISOLATION LEVEL {level}")
        other.execute("SELECT 1")
        call(sql, "delete_table", {"TableName": name})
        create_table(sql, name, PLAIN)
        put(sql, name, {"pk": {"S": "new"}})
        status, answer = request(other, "GetItem", {"TableName": name, "Key": {"pk": {"S": "cached"}}})
        assert (status, answer) == (200, {})
        put(other, name, {"pk": {"S": "mine"}})
        other.execute("COMMIT")
    assert get(sql, name, {"pk": {"S": "mine"}}) and get(sql, name, {"pk": {"S": "new"}})


def test_a_reader_in_a_transaction_holds_up_the_deletion(cluster, database, sql):
    create_table(sql, "Read", PLAIN)
    put(sql, "Read", {"pk": {"S": "a"}})
    with cluster.connect(database) as reader, cluster.connect(database) as deleter:
        deleter.execute("SET extenddb.lock_timeout = '500ms'")
        reader.execute("BEGIN")
        assert get(reader, "Read", {"pk": {"S": "a"}})
        status, answer = request(deleter, "DeleteTable", {"TableName": "Read"})
        # behaviour/tables: somebody else holds the table for too long.
        assert (status, exception(answer)) == (400, "ResourceInUseException")
        # Meanwhile and afterwards everybody else goes on.
        put(sql, "Read", {"pk": {"S": "b"}})
        assert get(reader, "Read", {"pk": {"S": "a"}})
        reader.execute("COMMIT")
        call(deleter, "delete_table", {"TableName": "Read"})


def test_one_transaction_that_uses_a_table_and_deletes_it(sql):
    create_table(sql, "Own", ORDERS)
    sql.execute("BEGIN")
    put(sql, "Own", {"pk": {"S": "a"}, "sk": {"S": "b"}, "g": {"S": "g"}})
    call(sql, "delete_table", {"TableName": "Own"})
    create_table(sql, "Own", ORDERS)
    put(sql, "Own", {"pk": {"S": "c"}, "sk": {"S": "d"}, "g": {"S": "g"}})
    sql.execute("COMMIT")
    assert sql.execute("SELECT i ->> 'pk' FROM ddb.items('Own') AS i").fetchall() == [("c",)]
    assert index_faults(sql, "Own") == []
