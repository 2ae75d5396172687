"""Waits end: lock_timeout, a clean queue afterwards, and escalation to the whole table."""

import time

import psycopg
import pytest

from clients import Background, Client, at_once, key_locks, until, waiting
from harness import Proxy
from harness.tables import ORDERS, call, create_table, get, index_faults, items, put, request, storage

TIMEOUT_MS = 300


@pytest.fixture(scope="module", autouse=True)
def tables(cluster, database):
    with cluster.connect(database) as connection:
        create_table(connection, "Orders", ORDERS)
        create_table(connection, "Plain")
        connection.execute(f"ALTER DATABASE {database} SET extenddb.lock_timeout = '{TIMEOUT_MS}ms'")


def exception(answer):
    return answer["__type"].split("#")[1], answer.get("message")


CONFLICT = ("TransactionConflictException", "Transaction is ongoing for the item")


@pytest.mark.parametrize("operation, body", [
    ("PutItem", {"Item": {"pk": {"S": "held"}, "by": {"S": "proxy"}}}),
    ("UpdateItem", {"Key": {"pk": {"S": "held"}}, "UpdateExpression": "SET a = :a", "ExpressionAttributeValues": {":a": {"N": "1"}}}),
    ("DeleteItem", {"Key": {"pk": {"S": "held"}}}),
])
def test_a_held_key_is_a_conflict_after_the_timeout(cluster, database, open_proxy, sql, operation, body):
    put(sql, "Plain", {"pk": {"S": "held"}, "by": {"S": "before"}})
    client = Client(open_proxy)
    with cluster.connect(database) as holder:
        holder.execute("BEGIN")
        put(holder, "Plain", {"pk": {"S": "held"}, "by": {"S": "holder"}})
        began = time.monotonic()
        status, answer = client.call(operation, {"TableName": "Plain", **body})
        took = time.monotonic() - began
        assert (status, exception(answer)) == (400, CONFLICT)
        assert TIMEOUT_MS / 1000 <= took < 10 * TIMEOUT_MS / 1000
        # Reads and other keys do not wait.
        assert client.ok("GetItem", {"TableName": "Plain", "Key": {"pk": {"S": "held"}}, "ConsistentRead": True}
                         )["Item"]["by"] == {"S": "before"}
        client.ok("PutItem", {"TableName": "Plain", "Item": {"pk": {"S": "free"}}})
        assert waiting(sql) == 0 and key_locks(sql) == 1
        holder.execute("ROLLBACK")
    assert key_locks(sql) == 0
    assert get(sql, "Plain", {"pk": {"S": "held"}}) == {"pk": {"S": "held"}, "by": {"S": "before"}}
    client.ok(operation, {"TableName": "Plain", **body})


def test_on_the_face_for_people_the_conflict_is_an_error(cluster, database, sql):
    with cluster.connect(database) as holder:
        holder.execute("BEGIN")
        put(holder, "Plain", {"pk": {"S": "held-sql"}})
        with pytest.raises(psycopg.Error) as raised:
            put(sql, "Plain", {"pk": {"S": "held-sql"}})
        assert (raised.value.sqlstate, raised.value.diag.message_primary) == ("DD010", CONFLICT[1])
        holder.execute("ROLLBACK")


def test_of_a_batch_the_held_member_is_unprocessed(cluster, database, open_proxy, sql):
    with cluster.connect(database) as holder:
        holder.execute("BEGIN")
        put(holder, "Plain", {"pk": {"S": "b-3"}, "by": {"S": "holder"}})
        put(holder, "Plain", {"pk": {"S": "b-7"}, "by": {"S": "holder"}})
        began = time.monotonic()
        answer = Client(open_proxy).ok("BatchWriteItem", {"RequestItems": {"Plain": [
            {"PutRequest": {"Item": {"pk": {"S": f"b-{number}"}}}} for number in range(10)]}})
        # One budget for both.
        assert time.monotonic() - began < 10 * TIMEOUT_MS / 1000
        left = answer["UnprocessedItems"]["Plain"]
        assert sorted(member["PutRequest"]["Item"]["pk"]["S"] for member in left) == ["b-3", "b-7"]
        holder.execute("ROLLBACK")
    assert [number for number in range(10) if get(sql, "Plain", {"pk": {"S": f"b-{number}"}})] == [0, 1, 2, 4, 5, 6, 8, 9]


def test_many_waiters_all_get_an_answer(cluster, database, open_proxy, sql):
    """More than the proxy has sessions; whoever comes while the key is held waits its turn and its timeout."""
    with cluster.connect(database) as holder:
        holder.execute("BEGIN")
        put(holder, "Plain", {"pk": {"S": "queue"}})
        answers = at_once(24, lambda number: Client(open_proxy).call(
            "UpdateItem", {"TableName": "Plain", "Key": {"pk": {"S": "queue"}}, "UpdateExpression": "ADD n :one",
                           "ExpressionAttributeValues": {":one": {"N": "1"}}}))
        assert {(status, exception(answer)) for status, answer in answers} == {(400, CONFLICT)}
        holder.execute("ROLLBACK")
    assert get(sql, "Plain", {"pk": {"S": "queue"}}) is None
    assert key_locks(sql) == 0 and waiting(sql) == 0


def test_a_lock_on_the_table_is_a_conflict_too(cluster, database, open_proxy, sql):
    client = Client(open_proxy)
    with cluster.connect(database) as holder:
        holder.execute("BEGIN")
        holder.execute(f"LOCK {storage(sql, 'Plain')} IN SHARE ROW EXCLUSIVE MODE")
        status, answer = client.call("PutItem", {"TableName": "Plain", "Item": {"pk": {"S": "locked"}}})
        assert (status, exception(answer)) == (400, CONFLICT)
        client.ok("Scan", {"TableName": "Plain"})
        holder.execute("ROLLBACK")
    client.ok("PutItem", {"TableName": "Plain", "Item": {"pk": {"S": "locked"}}})


def test_a_waiter_goes_on_when_the_holder_ends(cluster, database, sql):
    holder = cluster.connect(database)
    with cluster.connect(database) as waiter:
        waiter.execute("SET extenddb.lock_timeout = '30s'")
        holder.execute("BEGIN")
        put(holder, "Plain", {"pk": {"S": "passed on"}, "n": {"N": "1"}})
        late = Background(lambda: call(waiter, "update_item", {
            "TableName": "Plain", "Key": {"pk": {"S": "passed on"}}, "UpdateExpression": "ADD n :one",
            "ExpressionAttributeValues": {":one": {"N": "1"}}, "ReturnValues": "ALL_NEW"}))
        until(lambda: waiting(sql) == 1)
        # A session that dies lets go as well.
        sql.execute("SELECT pg_terminate_backend(%s)", [holder.info.backend_pid])
        holder.close()
        assert late.result()["Attributes"]["n"] == {"N": "1"}


def test_a_waiting_call_can_be_cancelled(cluster, database, sql):
    with cluster.connect(database) as holder, cluster.connect(database) as waiter:
        waiter.execute("SET extenddb.lock_timeout = '30s'")
        holder.execute("BEGIN")
        put(holder, "Plain", {"pk": {"S": "cancel"}})
        late = Background(lambda: put(waiter, "Plain", {"pk": {"S": "cancel"}}))
        until(lambda: waiting(sql) == 1)
        sql.execute("SELECT pg_cancel_backend(%s)", [waiter.info.backend_pid])
        with pytest.raises(psycopg.errors.QueryCanceled):
            late.result()
        assert key_locks(sql) == 1
        holder.execute("ROLLBACK")
        put(waiter, "Plain", {"pk": {"S": "cancel"}})


def test_a_transaction_with_many_items_locks_the_table_instead(cluster, database, open_proxy, sql):
    client = Client(open_proxy)
    with cluster.connect(database) as bulk:
        bulk.execute("BEGIN")
        bulk.execute("""SELECT count(ddb.put('Orders', json_build_object('pk', json_build_object('S', 'bulk'), 'sk',
            json_build_object('S', n::text), 'g', json_build_object('S', 'g' || n % 3))::ddb.item)) FROM generate_series(1, 1500) AS n""")
        assert 1_000 <= key_locks(sql) <= 1_001
        assert bulk.execute("""SELECT count(*) FROM pg_locks WHERE relation = %s::regclass AND mode = 'ShareRowExclusiveLock'
                               AND pid = pg_backend_pid()""", [storage(sql, "Orders")]).fetchone() == (1,)
        status, answer = client.call("PutItem", {"TableName": "Orders", "Item": {"pk": {"S": "other"}, "sk": {"S": "x"}}})
        assert (status, exception(answer)) == (400, CONFLICT)
        client.ok("PutItem", {"TableName": "Plain", "Item": {"pk": {"S": "other table"}}})
        assert client.ok("Query", {"TableName": "Orders", "KeyConditionExpression": "pk = :p",
                                   "ExpressionAttributeValues": {":p": {"S": "bulk"}}})["Count"] == 0
        bulk.execute("COMMIT")
    assert key_locks(sql) == 0
    assert len(items(sql, "Orders")) == 1_500
    assert index_faults(sql, "Orders") == []
    client.ok("PutItem", {"TableName": "Orders", "Item": {"pk": {"S": "other"}, "sk": {"S": "x"}}})
    # The next transaction of the same session begins anew.
    with cluster.connect(database) as bulk:
        for _ in range(2):
            bulk.execute("BEGIN")
            bulk.execute("""SELECT count(ddb.put('Plain', json_build_object('pk', json_build_object('S', n::text))::ddb.item))
                            FROM generate_series(1, 600) AS n""")
            assert key_locks(sql) == 600
            bulk.execute("COMMIT")


def test_escalation_waits_for_a_writer_no_longer_than_the_timeout(cluster, database, sql):
    with cluster.connect(database) as holder, cluster.connect(database) as bulk:
        holder.execute("BEGIN")
        put(holder, "Orders", {"pk": {"S": "holds"}, "sk": {"S": "x"}})
        bulk.execute("SET extenddb.lock_escalation = 10")
        bulk.execute("BEGIN")
        statuses = [request(bulk, "PutItem", {"TableName": "Orders", "Item": {"pk": {"S": "few"}, "sk": {"S": str(n)}}})[0]
                    for n in range(11)]
        assert statuses == [200] * 10 + [400]
        holder.execute("COMMIT")
        assert request(bulk, "PutItem", {"TableName": "Orders", "Item": {"pk": {"S": "few"}, "sk": {"S": "10"}}})[0] == 200
        bulk.execute("COMMIT")
    assert index_faults(sql, "Orders") == []


def test_a_wait_ends_at_the_proxys_deadline(cluster, database, sql, tmp_path):
    """The lock timeout is longer than the deadline: what is waited for until then is in conflict, and nothing is left behind."""
    sql.execute(f"ALTER DATABASE {database} SET extenddb.lock_timeout = '60s'")
    proxy = Proxy(cluster.conninfo(database), tmp_path / "log", auth="none", arguments=["--request-timeout", "500ms"])
    try:
        with cluster.connect(database) as holder:
            holder.execute("BEGIN")
            put(holder, "Plain", {"pk": {"S": "slow"}})
            status, answer = Client(proxy).call("PutItem", {"TableName": "Plain", "Item": {"pk": {"S": "slow"}}})
            assert status == 400 and answer["__type"].endswith("#TransactionConflictException")
            until(lambda: waiting(sql) == 0)
            assert key_locks(sql) == 1
            holder.execute("ROLLBACK")
        Client(proxy).ok("PutItem", {"TableName": "Plain", "Item": {"pk": {"S": "slow"}}})
    finally:
        proxy.stop()
        sql.execute(f"ALTER DATABASE {database} SET extenddb.lock_timeout = '{TIMEOUT_MS}ms'")
