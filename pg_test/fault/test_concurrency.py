"""Many clients on few keys: one winner, exact sums, indexes that follow from the items, no deadlock that a client sees."""

import json
import random
import threading
import time

import psycopg
import pytest

from clients import Background, Client, at_once, key_locks, until, waiting
from servers import MANY_SESSIONS

from harness import Proxy
from harness.tables import ORDERS, call, create_table, get, index_faults, put, request

CLIENTS = 32


@pytest.fixture(scope="module", autouse=True)
def tables(cluster, database):
    with cluster.connect(database) as connection:
        create_table(connection, "Orders", ORDERS)
        create_table(connection, "Plain")


@pytest.fixture(scope="module")
def open_proxy(cluster, database, tmp_path_factory):
    """One whose requests meet in the server, not in its queues."""
    proxy = Proxy(cluster.conninfo(database), tmp_path_factory.mktemp("proxy") / "log", auth="none", arguments=MANY_SESSIONS)
    yield proxy
    proxy.stop()


def exception(answer):
    return answer["__type"].split("#")[1]


def test_of_many_that_create_a_key_one_wins(open_proxy, sql):
    rounds = 200
    start = threading.Barrier(CLIENTS)

    def creator(number):
        client, won = Client(open_proxy), []
        for round_ in range(rounds):
            start.wait(60)
            status, answer = client.call("PutItem", {
                "TableName": "Plain", "Item": {"pk": {"S": f"round-{round_}"}, "by": {"N": str(number)}},
                "ConditionExpression": "attribute_not_exists(pk)"})
            if status == 200:
                won.append(round_)
            else:
                assert exception(answer) == "ConditionalCheckFailedException", answer
        return won

    winners = {}
    for number, won in enumerate(at_once(CLIENTS, creator)):
        for round_ in won:
            assert round_ not in winners, "two winners"
            winners[round_] = number
    assert len(winners) == rounds
    for round_, number in winners.items():
        assert get(sql, "Plain", {"pk": {"S": f"round-{round_}"}})["by"] == {"N": str(number)}


def test_sums_are_exact(open_proxy, sql):
    per_client = 10_000 // CLIENTS

    def adder(number):
        client, noise = Client(open_proxy), random.Random(number)
        added = [0] * 10
        for _ in range(per_client + (number < 10_000 % CLIENTS)):
            key = noise.randrange(10)
            client.ok("UpdateItem", {
                "TableName": "Plain", "Key": {"pk": {"S": f"sum-{key}"}}, "UpdateExpression": "ADD n :one",
                "ExpressionAttributeValues": {":one": {"N": "1"}}})
            added[key] += 1
        return added

    totals = [sum(column) for column in zip(*at_once(CLIENTS, adder))]
    assert sum(totals) == 10_000
    stored = [int(get(sql, "Plain", {"pk": {"S": f"sum-{key}"}})["n"]["N"]) for key in range(10)]
    assert stored == totals


def random_item(noise, key):
    item = dict(key)
    if noise.random() < 0.7:
        item["g"] = {"S": noise.choice("abc")}
    if noise.random() < 0.7:
        item["lk"] = {"N": str(noise.randrange(5))}
    if noise.random() < 0.5:
        item.update(g2={"S": noise.choice("xy")}, r2={"N": str(noise.randrange(4))})
    item["note"] = {"S": "n" * noise.randrange(40)}
    return item


def random_key(noise):
    return {"pk": {"S": f"p{noise.randrange(5)}"}, "sk": {"S": f"s{noise.randrange(4)}"}}


def random_request(noise):
    key = random_key(noise)
    condition = noise.choice([{}, {}, {"ConditionExpression": "attribute_exists(pk)"},
                              {"ConditionExpression": "attribute_not_exists(pk)"}, {"ConditionExpression": "attribute_exists(g)"}])
    match noise.randrange(6):
        case 0 | 1:
            return "PutItem", {"TableName": "Orders", "Item": random_item(noise, key), **condition}
        case 2:
            return "DeleteItem", {"TableName": "Orders", "Key": key, **condition}
        case 3:
            return "UpdateItem", {"TableName": "Orders", "Key": key, **condition,
                                  "UpdateExpression": noise.choice(["REMOVE g", "REMOVE lk, note", "REMOVE g2, r2 ", "REMOVE r2"])}
        case 4:
            return "UpdateItem", {
                "TableName": "Orders", "Key": key, **condition, "UpdateExpression": "SET g = :g, g2 = :g ADD lk :n, r2 :n",
                "ExpressionAttributeValues": {":g": {"S": noise.choice("abc")}, ":n": {"N": "1"}}}
        case 5:
            members = {}
            for _ in range(noise.randrange(1, 12)):
                member = random_key(noise)
                put_it = noise.random() < 0.7
                members[json.dumps(member)] = ({"PutRequest": {"Item": random_item(noise, member)}} if put_it
                                               else {"DeleteRequest": {"Key": member}})
            return "BatchWriteItem", {"RequestItems": {"Orders": list(members.values())}}


def test_indexes_follow_from_the_items_after_a_random_workload(cluster, database, open_proxy, sql):
    early = []

    def transaction(connection, noise):
        connection.execute("BEGIN")
        for _ in range(noise.randrange(1, 3)):
            request(connection, *random_request(noise))
            if noise.random() < 0.3:
                connection.execute("SAVEPOINT s")
                request(connection, *random_request(noise))
                if noise.random() < 0.5:
                    connection.execute("ROLLBACK TO s")
        connection.execute(noise.choice(["COMMIT", "COMMIT", "ROLLBACK"]))

    def worker(number):
        noise = random.Random(number)
        if number < 12:
            client = Client(open_proxy)
            for _ in range(150):
                operation, body = random_request(noise)
                began = time.monotonic()
                status, answer = client.call(operation, body)
                took = time.monotonic() - began
                if status == 200 or exception(answer) == "ConditionalCheckFailedException":
                    continue
                # A key that is held for so long is a conflict (extenddb.lock_timeout); one that is not, never.
                assert exception(answer) == "TransactionConflictException", answer
                if took < 4.9:
                    early.append((operation, body, took))
            return
        # Sessions with several calls a transaction, a third of which are rolled back whole or to a savepoint.
        with cluster.connect(database) as connection:
            for _ in range(60):
                try:
                    transaction(connection, noise)
                except psycopg.errors.DeadlockDetected:
                    # Two of these sessions hold what the other wants: as with rows.
                    connection.execute("ROLLBACK")

    sql.execute(f"ALTER DATABASE {database} SET deadlock_timeout = '100ms'")
    try:
        at_once(16, worker)
    finally:
        sql.execute(f"ALTER DATABASE {database} RESET deadlock_timeout")
    assert index_faults(sql, "Orders") == []
    assert key_locks(sql) == 0
    assert sql.execute("SELECT count(*) FROM ddb.items('Orders')").fetchone()[0] > 0
    assert early == []


def test_batches_in_opposite_orders_do_not_deadlock(open_proxy, sql):
    def worker(number):
        client, noise = Client(open_proxy), random.Random(number)
        keys = [f"batch-{key}" for key in range(25)]
        for round_ in range(25):
            noise.shuffle(keys)
            answer = client.ok("BatchWriteItem", {"RequestItems": {"Plain": [
                {"PutRequest": {"Item": {"pk": {"S": key}, "by": {"S": f"{number}-{round_}"}}}} for key in keys]}})
            assert answer.get("UnprocessedItems", {}) == {}

    at_once(16, worker)
    assert key_locks(sql) == 0


def test_sessions_that_lock_in_opposite_orders_deadlock_as_rows_do(cluster, database):
    with cluster.connect(database) as one, cluster.connect(database) as two, cluster.connect(database) as watcher:
        for connection in (one, two):
            connection.execute("SET deadlock_timeout = '50ms'")
            connection.execute("BEGIN")
        put(one, "Plain", {"pk": {"S": "dl-1"}, "by": {"S": "one"}})
        put(two, "Plain", {"pk": {"S": "dl-2"}, "by": {"S": "two"}})
        first = Background(lambda: put(one, "Plain", {"pk": {"S": "dl-2"}, "by": {"S": "one"}}))
        until(lambda: waiting(watcher) == 1)
        second = Background(lambda: put(two, "Plain", {"pk": {"S": "dl-1"}, "by": {"S": "two"}}))
        # One is let down, and with its transaction its locks are gone: the other one goes on.
        until(lambda: first.done() and second.done())
        let_down = first.outcome[1] is not None
        lost, loser, going_on, winner = (first, one, second, two) if let_down else (second, two, first, one)
        with pytest.raises(psycopg.errors.DeadlockDetected):
            lost.result()
        loser.execute("ROLLBACK")
        going_on.result()
        winner.execute("COMMIT")
        by = "two" if let_down else "one"
        assert {get(watcher, "Plain", {"pk": {"S": f"dl-{n}"}})["by"]["S"] for n in (1, 2)} == {by}


RR_CALLS = {
    "put": lambda c, key: put(c, "Orders", {**key, "n": {"N": "9"}}),
    "conditional put": lambda c, key: call(c, "put_item", {
        "TableName": "Orders", "Item": {**key, "n": {"N": "9"}}, "ConditionExpression": "attribute_not_exists(pk)"}),
    "update": lambda c, key: call(c, "update_item", {
        "TableName": "Orders", "Key": key, "UpdateExpression": "ADD n :n", "ExpressionAttributeValues": {":n": {"N": "1"}}}),
    "delete": lambda c, key: call(c, "delete_item", {"TableName": "Orders", "Key": key}),
    "batch": lambda c, key: call(c, "batch_write_item", {"RequestItems": {"Orders": [{"PutRequest": {"Item": key}}]}}),
    "request": lambda c, key: request(c, "PutItem", {"TableName": "Orders", "Item": key}),
}
RR_EVENTS = {
    "changed": ({"n": {"N": "1"}}, lambda c, key: put(c, "Orders", {**key, "n": {"N": "2"}, "g": {"S": "x"}})),
    "created": (None, lambda c, key: put(c, "Orders", {**key, "n": {"N": "2"}})),
    "deleted": ({"n": {"N": "1"}}, lambda c, key: call(c, "delete_item", {"TableName": "Orders", "Key": key})),
}


@pytest.mark.parametrize("level", ["REPEATABLE READ", "SERIALIZABLE"])
@pytest.mark.parametrize("event", RR_EVENTS)
@pytest.mark.parametrize("what", RR_CALLS)
def test_above_read_committed_a_changed_item_is_a_serialization_failure(cluster, database, sql, level, event, what):
    before, happen = RR_EVENTS[event]
    key = {"pk": {"S": f"rr {level} {event} {what}"}, "sk": {"S": "a"}}
    calm = {**key, "sk": {"S": "calm"}}
    if before:
        put(sql, "Orders", {**key, **before})
    with cluster.connect(database) as caller:
        caller.execute(f"BEGIN ISOLATION LEVEL {level}")
        caller.execute("SELECT 1")
        get(caller, "Orders", calm)
        happen(sql, key)
        stood = get(sql, "Orders", key)
        # What nobody touched may be written, several times.
        put(caller, "Orders", {**calm, "n": {"N": "1"}})
        RR_CALLS["update"](caller, calm)
        assert get(caller, "Orders", calm)["n"] == {"N": "2"}
        with pytest.raises(psycopg.errors.SerializationFailure):
            RR_CALLS[what](caller, key)
        caller.execute("ROLLBACK")
    assert get(sql, "Orders", key) == stood
    assert index_faults(sql, "Orders") == []


@pytest.mark.parametrize("level", ["REPEATABLE READ", "SERIALIZABLE"])
def test_counters_of_retried_transactions_are_exact(cluster, database, sql, level):
    key = {"pk": {"S": f"count {level}"}, "sk": {"S": "a"}}

    def counter(number):
        failures = 0
        with cluster.connect(database) as connection:
            for _ in range(40):
                while True:
                    try:
                        connection.execute(f"BEGIN ISOLATION LEVEL {level}")
                        seen = int((get(connection, "Orders", key) or {"n": {"N": "0"}})["n"]["N"])
                        call(connection, "update_item", {
                            "TableName": "Orders", "Key": key, "UpdateExpression": "SET n = :n, g = :g",
                            "ExpressionAttributeValues": {":n": {"N": str(seen + 1)}, ":g": {"S": f"g{seen % 3}"}}})
                        connection.execute("COMMIT")
                        break
                    except psycopg.errors.SerializationFailure:
                        failures += 1
                        connection.execute("ROLLBACK")
        return failures

    failures = at_once(4, counter)
    assert get(sql, "Orders", key)["n"] == {"N": "160"}
    assert sum(failures) > 0
    assert index_faults(sql, "Orders") == []


def test_read_committed_callers_decide_on_what_is_committed(cluster, database, sql):
    """A condition is not decided on the image from before the wait."""
    key = {"pk": {"S": "waited"}}
    with cluster.connect(database) as holder, cluster.connect(database) as waiter:
        holder.execute("BEGIN")
        put(holder, "Plain", {**key, "by": {"S": "holder"}})
        late = Background(lambda: request(waiter, "PutItem", {
            "TableName": "Plain", "Item": {**key, "by": {"S": "waiter"}}, "ConditionExpression": "attribute_not_exists(pk)",
            "ReturnValuesOnConditionCheckFailure": "ALL_OLD"}))
        until(lambda: waiting(sql) == 1)
        holder.execute("COMMIT")
        status, answer = late.result()
        assert status == 400 and exception(answer) == "ConditionalCheckFailedException"
        assert answer["Item"]["by"] == {"S": "holder"}
        # And the other way: what was held was rolled back.
        key = {"pk": {"S": "waited in vain"}}
        holder.execute("BEGIN")
        put(holder, "Plain", key)
        late = Background(lambda: request(waiter, "PutItem", {
            "TableName": "Plain", "Item": key, "ConditionExpression": "attribute_not_exists(pk)"}))
        until(lambda: waiting(sql) == 1)
        holder.execute("ROLLBACK")
        assert late.result()[0] == 200


def test_the_applications_advisory_locks_are_its_own(cluster, database, sql):
    """Ours are in another key space: no lock of the application's stops a write."""
    with cluster.connect(database) as holder:
        holder.execute("BEGIN")
        put(holder, "Plain", {"pk": {"S": "advisory"}})
        ours = holder.execute("SELECT classid::bigint, objid::bigint FROM pg_locks WHERE locktype = 'advisory' "
                              "AND pid = pg_backend_pid()").fetchone()
        holder.execute("ROLLBACK")
        holder.execute("SELECT pg_advisory_lock((%s::bit(32) || %s::bit(32))::bit(64)::bigint)",
                       [format(ours[0], "032b"), format(ours[1], "032b")])
        holder.execute("SELECT pg_advisory_lock(%s::bit(32)::int, %s::bit(32)::int)",
                       [format(ours[0], "032b"), format(ours[1], "032b")])
        sql.execute("SET extenddb.lock_timeout = '200ms'")
        put(sql, "Plain", {"pk": {"S": "advisory"}})


def test_readers_of_an_index_never_meet_an_entry_without_its_item(open_proxy, sql):
    """An index page with whole items is read at one moment, while entries move and go."""
    stop = threading.Event()

    def writer(number):
        client, noise = Client(open_proxy), random.Random(number)
        try:
            for turn in range(250):
                key = {"pk": {"S": "moving"}, "sk": {"S": str(noise.randrange(12))}}
                if noise.random() < 0.3:
                    client.ok("DeleteItem", {"TableName": "Orders", "Key": key})
                else:
                    at = str(noise.randrange(6))
                    client.ok("PutItem", {"TableName": "Orders", "Item": {
                        **key, "lk": {"N": at}, "g": {"S": "moving"}, "copy": {"N": at}, "big": {"S": "x" * 3_000}}})
        finally:
            stop.set()

    def reader(number):
        client, pages = Client(open_proxy), 0
        query = {"TableName": "Orders", "IndexName": "by-lk", "Select": "ALL_ATTRIBUTES", "Limit": 5,
                 "KeyConditionExpression": "pk = :p", "ExpressionAttributeValues": {":p": {"S": "moving"}}}
        start = {}
        while not stop.is_set() or pages < 10:
            answer = client.ok("Query", {**query, **start})
            for item in answer["Items"]:
                assert item["copy"] == item["lk"] and len(item["big"]["S"]) == 3_000, item
            start = {"ExclusiveStartKey": answer["LastEvaluatedKey"]} if "LastEvaluatedKey" in answer else {}
            whole = client.ok("Query", {"TableName": "Orders", "IndexName": "by-g", "KeyConditionExpression": "g = :g",
                                        "ExpressionAttributeValues": {":g": {"S": "moving"}}})
            keys = [item["sk"]["S"] for item in whole["Items"]]
            assert len(keys) == len(set(keys))
            pages += 1
        return pages

    at_once(8, lambda number: writer(number) if number < 4 else reader(number))
    assert index_faults(sql, "Orders") == []


def test_a_scan_meets_what_is_there_all_along_once(open_proxy, sql):
    """Pages have no state: what others write between two of them neither doubles nor hides an item."""
    for number in range(200):
        put(sql, "Orders", {"pk": {"S": f"steady-{number}"}, "sk": {"S": "a"}, "n": {"N": "0"}})
    stop = threading.Event()

    def writer(number):
        client, noise = Client(open_proxy), random.Random(number)
        while not stop.is_set():
            client.ok("UpdateItem", {
                "TableName": "Orders", "Key": {"pk": {"S": f"steady-{noise.randrange(200)}"}, "sk": {"S": "a"}},
                "UpdateExpression": "ADD n :one SET filler = :filler",
                "ExpressionAttributeValues": {":one": {"N": "1"}, ":filler": {"S": "x" * noise.randrange(2_000)}}})
            passing = {"pk": {"S": f"passing-{noise.randrange(50)}"}, "sk": {"S": "a"}}
            client.ok("PutItem", {"TableName": "Orders", "Item": passing})
            client.ok("DeleteItem", {"TableName": "Orders", "Key": passing})

    def scanner(number):
        client = Client(open_proxy)
        try:
            for segments in (1, 3):
                seen = []
                for segment in range(segments):
                    scan = {"TableName": "Orders", "Limit": 17, "Segment": segment, "TotalSegments": segments}
                    start = {}
                    while True:
                        page = client.ok("Scan", {**scan, **start})
                        seen += [item["pk"]["S"] for item in page["Items"] if item["pk"]["S"].startswith("steady-")]
                        if "LastEvaluatedKey" not in page:
                            break
                        start = {"ExclusiveStartKey": page["LastEvaluatedKey"]}
                assert sorted(seen) == sorted(f"steady-{number}" for number in range(200))
        finally:
            stop.set()

    at_once(5, lambda number: scanner(number) if number == 0 else writer(number))
