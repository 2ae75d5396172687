"""Two sessions at once: whoever writes an item has its lock, and nobody decides on what is over."""

import json
import re
import threading
import time

import psycopg
import pytest

from harness.cluster import wait_until

CONFLICT = (400, "TransactionConflictException")
CONDITION_FAILED = (400, "ConditionalCheckFailedException")
NOT_FOUND = (400, "ResourceNotFoundException")


class Session:
    """A connection whose statements can be left waiting."""

    def __init__(self, connection):
        self.connection = connection

    def sql(self, statement):
        cursor = self.connection.execute(statement)
        return cursor.fetchall() if cursor.description else None

    def request(self, operation, **body):
        row = self.connection.execute("SELECT status, body FROM ddb.request(%s, %s)", [operation, json.dumps(body)])
        status, answer = row.fetchone()
        return (status, answer) if status == 200 else (status, answer["__type"].split("#")[1])

    def create(self, table):
        return self.request("CreateTable", TableName=table, BillingMode="PAY_PER_REQUEST",
                            KeySchema=[{"AttributeName": "pk", "KeyType": "HASH"}],
                            AttributeDefinitions=[{"AttributeName": "pk", "AttributeType": "S"}])

    def drop(self, table):
        return self.request("DeleteTable", TableName=table)

    def put(self, table, pk, n=0, condition=None):
        conditional = {} if condition is None else {"ConditionExpression": condition}
        return self.request("PutItem", TableName=table, Item={"pk": {"S": pk}, "n": {"N": str(n)}}, **conditional)

    def add(self, table, pk):
        return self.request("UpdateItem", TableName=table, Key={"pk": {"S": pk}}, UpdateExpression="ADD n :one",
                            ExpressionAttributeValues={":one": {"N": "1"}})

    def n(self, table, pk):
        status, answer = self.request("GetItem", TableName=table, Key={"pk": {"S": pk}})
        if status != 200:
            return answer
        return int(answer["Item"]["n"]["N"]) if "Item" in answer else None

    def waiting(self, call, *arguments):
        """Starts a call that must wait; answers a function that waits for its result."""
        result = []

        def run():
            try:
                result.append(call(*arguments))
            except psycopg.Error as error:
                result.append(error)

        thread = threading.Thread(target=run)
        thread.start()
        with psycopg.connect(self.connection.info.dsn, autocommit=True) as watcher:
            waits = "SELECT wait_event_type = 'Lock' FROM pg_stat_activity WHERE pid = %s"
            pid = self.connection.info.backend_pid
            wait_until(lambda: result or watcher.execute(waits, [pid]).fetchone()[0], 20, "the call waits for a lock")
        assert not result, f"did not wait: {result}"

        def finish():
            thread.join(20)
            assert result, "waits for ever"
            return result[0]

        return finish


@pytest.fixture
def sessions(cluster, database):
    with cluster.connect(database) as one, cluster.connect(database) as two:
        yield Session(one), Session(two)


@pytest.fixture
def table(sessions, request):
    name = re.sub("[^A-Za-z0-9_.-]", "-", request.node.name)
    assert sessions[0].create(name)[0] == 200
    return name


def test_a_condition_on_an_absent_item_waits_for_its_creator(sessions, table):
    one, two = sessions
    one.sql("BEGIN")
    assert one.put(table, "a", 1, "attribute_not_exists(pk)")[0] == 200
    second = two.waiting(two.put, table, "a", 2, "attribute_not_exists(pk)")
    one.sql("COMMIT")
    assert second() == CONDITION_FAILED
    assert two.n(table, "a") == 1


def test_a_rollback_lets_the_other_decide_on_what_was_before(sessions, table):
    one, two = sessions
    one.sql("BEGIN")
    one.put(table, "a", 1, "attribute_not_exists(pk)")
    second = two.waiting(two.put, table, "a", 2, "attribute_not_exists(pk)")
    one.sql("ROLLBACK")
    assert second()[0] == 200
    assert one.n(table, "a") == 2


def test_a_wait_ends_with_the_budget_and_leaves_the_transaction_usable(sessions, table):
    one, two = sessions
    one.put(table, "a", 1)
    one.sql("BEGIN")
    one.add(table, "a")
    two.sql("SET extenddb.lock_timeout = '200ms'")
    two.sql("BEGIN")
    assert two.put(table, "other", 7)[0] == 200
    started = time.monotonic()
    assert two.add(table, "a") == CONFLICT
    assert 0.2 <= time.monotonic() - started < 2
    two.sql("COMMIT")
    one.sql("COMMIT")
    assert (one.n(table, "a"), one.n(table, "other")) == (2, 7)


def test_a_savepoint_gives_back_item_and_lock(sessions, table):
    one, two = sessions
    one.sql("BEGIN")
    one.put(table, "kept", 1)
    one.sql("SAVEPOINT before")
    one.add(table, "kept")
    one.add(table, "given-back")
    assert (one.n(table, "kept"), one.n(table, "given-back")) == (2, 1)
    one.sql("ROLLBACK TO before")
    assert (one.n(table, "kept"), one.n(table, "given-back")) == (1, None)
    assert two.add(table, "given-back")[0] == 200
    # The lock is not remembered: it is taken again, and the other's write is seen.
    assert one.add(table, "given-back")[0] == 200
    one.sql("COMMIT")
    assert (two.n(table, "kept"), two.n(table, "given-back")) == (1, 2)


def test_opposite_orders_across_calls_are_a_deadlock_as_with_rows(sessions, table):
    one, two = sessions
    one.sql("BEGIN")
    two.sql("BEGIN")
    one.add(table, "a")
    two.add(table, "b")
    first = one.waiting(one.add, table, "b")
    second = two.waiting(two.add, table, "a")
    # An answer as data would leave the victim's locks in the other's way: it is an ERROR, which lets them go.
    answers = [first()]
    one.sql("COMMIT" if answers[0] == (200, {}) else "ROLLBACK")
    answers.append(second())
    two.sql("COMMIT" if answers[1] == (200, {}) else "ROLLBACK")
    assert sorted(type(answer) is tuple for answer in answers) == [False, True]
    victim = next(answer for answer in answers if type(answer) is not tuple)
    assert isinstance(victim, psycopg.errors.DeadlockDetected)
    assert (one.n(table, "a"), one.n(table, "b")) == (1, 1)


@pytest.mark.parametrize("level", ["REPEATABLE READ", "SERIALIZABLE"])
@pytest.mark.parametrize("write", ["add", "put", "conditional put"])
def test_an_old_snapshot_never_overwrites_what_it_cannot_see(sessions, table, level, write):
    one, two = sessions
    writes = {"add": lambda: one.add(table, "a"), "put": lambda: one.put(table, "a", 9),
              "conditional put": lambda: one.put(table, "a", 9, "attribute_not_exists(pk)")}
    one.sql(f"BEGIN ISOLATION LEVEL {level}")
    assert one.n(table, "a") is None
    assert two.put(table, "a", 1)[0] == 200
    assert one.n(table, "a") is None
    with pytest.raises(psycopg.errors.SerializationFailure):
        writes[write]()
    one.sql("ROLLBACK")
    assert one.n(table, "a") == 1


def test_an_old_snapshot_writes_what_nobody_touched_and_sees_it(sessions, table):
    one, two = sessions
    one.put(table, "a", 1)
    one.sql("BEGIN ISOLATION LEVEL REPEATABLE READ")
    one.n(table, "a")
    two.put(table, "b", 1)
    assert one.add(table, "a")[0] == 200
    assert one.add(table, "a")[0] == 200
    assert one.n(table, "a") == 3
    one.sql("COMMIT")


def test_of_two_that_create_a_table_one_wins(sessions):
    one, two = sessions
    one.sql("BEGIN")
    assert one.create("Wanted-by-two")[0] == 200
    second = two.waiting(two.create, "Wanted-by-two")
    one.sql("COMMIT")
    assert second() == (400, "ResourceInUseException")


def test_a_table_whose_creation_is_rolled_back_was_never_there(sessions):
    one, two = sessions
    one.sql("BEGIN")
    one.create("Rolled-back")
    assert one.put("Rolled-back", "a")[0] == 200
    second = two.waiting(two.create, "Rolled-back")
    one.sql("ROLLBACK")
    assert second()[0] == 200
    assert one.n("Rolled-back", "a") is None


def test_a_name_created_again_is_another_table_to_everybody(sessions, table):
    one, two = sessions
    one.put(table, "a", 1)
    assert two.n(table, "a") == 1
    one.drop(table)
    assert two.put(table, "a") == NOT_FOUND
    one.create(table)
    assert two.n(table, "a") is None
    one.sql("BEGIN")
    one.drop(table)
    write = two.waiting(two.put, table, "b", 5)
    one.create(table)
    one.sql("COMMIT")
    assert write()[0] == 200
    assert one.n(table, "b") == 5


def test_a_drop_in_the_queue_does_not_hold_up_writers(sessions, cluster, database, table):
    one, two = sessions
    one.sql("BEGIN")
    one.put(table, "a", 1)
    drop = two.waiting(two.drop, table)
    with cluster.connect(database) as connection:
        started = time.monotonic()
        assert Session(connection).put(table, "b", 1)[0] == 200
        assert time.monotonic() - started < 2
    one.sql("COMMIT")
    assert drop()[0] == 200


def test_many_locks_become_one_on_the_table(sessions, table):
    one, two = sessions
    one.sql("SET extenddb.lock_escalation = 10")
    one.sql("BEGIN")
    for number in range(30):
        assert one.put(table, f"k{number}")[0] == 200
    held = one.sql("SELECT count(*) FROM pg_locks WHERE pid = pg_backend_pid() AND locktype = 'advisory'")
    assert held == [(10,)]
    two.sql("SET extenddb.lock_timeout = '200ms'")
    assert two.put(table, "elsewhere") == CONFLICT
    assert two.n(table, "elsewhere") is None
    one.sql("COMMIT")
    assert two.put(table, "elsewhere")[0] == 200
    assert one.sql("SHOW deadlock_timeout") == [("1s",)]


def test_reads_and_refusals_take_no_transaction_id(sessions, table):
    one, _ = sessions
    one.put(table, "a", 1)
    one.sql("BEGIN")
    assert one.n(table, "a") == 1
    assert one.put(table, "a", 2, "attribute_not_exists(pk)") == CONDITION_FAILED
    assert one.sql("SELECT pg_current_xact_id_if_assigned()") == [(None,)]
    one.sql("COMMIT")
    one.sql("BEGIN READ ONLY")
    assert one.n(table, "a") == 1
    with pytest.raises(psycopg.errors.ReadOnlySqlTransaction):
        one.put(table, "a", 2)
    one.sql("ROLLBACK")


def test_a_session_outlives_its_extension(cluster):
    cluster.create_database("outlived")
    with cluster.connect("outlived") as connection:
        one = Session(connection)
        for _ in range(2):
            one.create("Again")
            assert one.put("Again", "a", 1)[0] == 200
            assert one.put("Again", "a", 2, "attribute_exists(pk)")[0] == 200
            assert one.n("Again", "a") == 2
            one.sql("DROP EXTENSION extenddb CASCADE")
            one.sql("CREATE EXTENSION extenddb")


def test_corrupt_bytes_are_reported_with_their_table(sessions, table):
    one, _ = sessions
    one.put(table, "a", 1)
    [(storage,)] = one.sql(f"SELECT 'ddb_data.t' || id FROM ddb.tables WHERE name = '{table}'")
    one.sql(f"UPDATE {storage} SET item = '\\x01020304'::bytea::ddb.item")
    with pytest.raises(psycopg.errors.DataCorrupted, match=storage):
        one.n(table, "a")
    assert one.put(table, "a", 2)[0] == 200
    assert one.n(table, "a") == 2
