"""`ddb.idempotency_*`: claims of several sessions, in and out of transactions; what is kept; who may; the sweep."""

import hashlib
import json
import re
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from threading import Barrier

import psycopg
import pytest

from harness.cluster import wait_until
from harness.tables import call, create_table, get, request

REFERENCE = Path(__file__).resolve().parents[2] / "docs" / "sql-reference.md"
FINGERPRINT = hashlib.sha256(b"request").digest()
OTHER = hashlib.sha256(b"another").digest()
CLAIM = """SELECT outcome, claim, status, headers::text, body, content_digest
           FROM ddb.idempotency_claim(%s, %s, %s, %s, %s, %s)"""


class Key:
    """One idempotency key, by the calls that name it. Claims go stale after an hour: no test takes that long."""

    def __init__(self, name):
        self.parts = ["tenant", "POST", "/orders", name]

    def row(self, connection, fingerprint=FINGERPRINT, stale_after="1 hour"):
        return connection.execute(CLAIM, [*self.parts, fingerprint, stale_after]).fetchone()

    def outcome(self, connection, fingerprint=FINGERPRINT):
        return self.row(connection, fingerprint)[0]

    def go(self, connection, **arguments):
        """The claim token."""
        outcome, token, *response = self.row(connection, **arguments)
        assert outcome == "go" and re.fullmatch("[0-9a-f]{32}", token) and response == [None] * 4
        return token

    def complete(self, connection, token, body=b"made", status=201, headers="{}", keep_for="24 hours", digest=None):
        return connection.execute("SELECT ddb.idempotency_complete(%s, %s, %s, %s, %s, %s, %s, %s, %s, %s)", [
            *self.parts, token, status, headers, body, keep_for, digest]).fetchone()[0]

    def release(self, connection, token):
        return connection.execute("SELECT ddb.idempotency_release(%s, %s, %s, %s, %s)", [*self.parts, token]).fetchone()[0]

    def age(self, connection, by_ms):
        """Sets back when the row's state began: as if that time had passed. For a superuser."""
        row = connection.execute("SELECT item::json FROM ddb_data.t1 WHERE item ->> 'key' = %s", self.parts[3:]).fetchone()[0]
        row["at"] = {"N": str(int(row["at"]["N"]) - by_ms)}
        connection.execute("""UPDATE ddb_data.t1 SET item = %s::json::ddb.item, expires = expires - %s
                              WHERE item ->> 'key' = %s""", [json.dumps(row), by_ms // 1000, self.parts[3]])


@pytest.fixture
def key(request):
    return Key(re.sub(r"\W", "-", request.node.name))


@pytest.fixture
def sessions(cluster, database):
    with cluster.connect(database) as one, cluster.connect(database) as two:
        two.execute("SET extenddb.lock_timeout = '10s'")
        yield one, two


@pytest.fixture
def pool():
    with ThreadPoolExecutor(16) as pool:
        yield pool


def waits_for_a_lock(watcher, connection):
    pid = connection.info.backend_pid
    waits = "SELECT wait_event_type = 'Lock' FROM pg_stat_activity WHERE pid = %s"
    return lambda: watcher.execute(waits, [pid]).fetchone()[0]


def test_claimed_in_flight_completed_replayed(sql, key):
    token = key.go(sql)
    assert key.row(sql) == ("in_flight",) + (None,) * 5
    assert key.row(sql, OTHER) == ("reused",) + (None,) * 5
    assert key.complete(sql, token) is True
    assert key.row(sql) == ("replay", None, 201, "{}", b"made", None)
    assert key.outcome(sql, OTHER) == "reused"
    assert key.complete(sql, token) is False and key.release(sql, token) is False
    assert key.complete(sql, "nobody's") is False


def test_a_replay_is_exact_to_the_byte(cluster, database, sql, key):
    headers = '{"b" : 1,\n\t"a":[ "ü𝄞\\u0000" ],  "b":1.50}'
    body, digest = bytes(range(256)) * 1000, bytes(range(64))
    assert key.complete(sql, key.go(sql), body, 599, headers, "1 hour", digest)
    with cluster.connect(database) as other:
        assert key.row(other) == ("replay", None, 599, headers, body, digest)
    empty = Key("empty")
    assert empty.complete(sql, empty.go(sql), b"", 204, "[]")
    assert empty.row(sql) == ("replay", None, 204, "[]", b"", None)


def test_the_row_tells_what_it_is_of(sql, key):
    key.go(sql)
    row = sql.execute("SELECT item::json FROM ddb_data.t1 WHERE item ->> 'key' = %s", key.parts[3:]).fetchone()[0]
    assert {name: row[name]["S"] for name in ("pk", "sk", "method", "path", "state")} == {
        "pk": "tenant", "sk": f"POST {hashlib.sha256(b'/orders').hexdigest()} {key.parts[3]}",
        "method": "POST", "path": "/orders", "state": "running"}


@pytest.mark.parametrize("rounds", range(5))
def test_of_many_that_claim_at_once_one_goes(cluster, database, key, pool, rounds):
    many = 8
    barrier = Barrier(many)

    def claim(_):
        with cluster.connect(database) as connection:
            connection.execute("SELECT ddb.item_size('{}')")
            barrier.wait()
            outcome, token, *_ = key.row(connection)
            return outcome, token

    answers = list(pool.map(claim, range(many)))
    assert sorted(outcome for outcome, _ in answers) == ["go"] + ["in_flight"] * (many - 1)
    assert len({token for _, token in answers}) == 2


def test_of_many_that_do_all_of_it_in_one_transaction_one_acts_and_all_answer_the_same(cluster, database, sql, key, pool):
    sql.execute("CREATE TABLE acted (n integer)")
    many = 8
    barrier = Barrier(many)

    def serve(number):
        with cluster.connect(database) as connection, connection.transaction():
            barrier.wait()
            outcome, token, status, _, body, _ = key.row(connection)
            if outcome == "go":
                connection.execute("INSERT INTO acted VALUES (%s)", [number])
                status, body = 200, str(number).encode()
                assert key.complete(connection, token, body, status)
            return status, body

    answers = set(pool.map(serve, range(many)))
    (number,) = sql.execute("SELECT n FROM acted").fetchone()
    assert answers == {(200, str(number).encode())}
    assert sql.execute("SELECT count(*) FROM acted").fetchone() == (1,)


def test_a_rolled_back_claim_never_was(sessions, key, pool):
    one, two = sessions
    one.execute("BEGIN")
    key.go(one)
    second = pool.submit(key.row, two, OTHER)
    wait_until(waits_for_a_lock(one, two), 20, "the second claim waits")
    one.execute("ROLLBACK")
    assert second.result(20)[0] == "go", "for any request"


def test_a_committed_claim_is_seen_by_who_waited_for_it(sessions, key, pool):
    one, two = sessions
    for fingerprint, outcome in [(FINGERPRINT, "in_flight"), (OTHER, "reused")]:
        one.execute("BEGIN")
        token = key.go(one)
        second = pool.submit(key.row, two, fingerprint)
        wait_until(waits_for_a_lock(one, two), 20, "the second claim waits")
        one.execute("COMMIT")
        assert second.result(20)[0] == outcome
        assert key.release(one, token)


def test_a_savepoint_takes_a_claim_back(sessions, key):
    one, two = sessions
    one.execute("BEGIN; SAVEPOINT s")
    key.go(one)
    one.execute("ROLLBACK TO s")
    key.go(two)
    assert key.outcome(one) == "in_flight"
    one.execute("ROLLBACK")


def test_an_open_claim_is_in_flight_after_the_lock_timeout(sessions, key):
    one, two = sessions
    two.execute("SET extenddb.lock_timeout = '50ms'")
    one.execute("BEGIN")
    token = key.go(one)
    assert key.outcome(two) == "in_flight"
    assert key.outcome(two, OTHER) == "in_flight", "nobody can know with which request"
    assert key.complete(one, token)
    one.execute("COMMIT")
    assert key.outcome(two) == "replay"


def test_a_replay_waits_for_nobody_and_locks_nothing(sessions, key):
    one, two = sessions
    key.complete(one, key.go(one))
    two.execute("SET extenddb.lock_timeout = '1ms'")
    one.execute("BEGIN")
    assert key.outcome(one, OTHER) == "reused"
    two.execute("BEGIN")
    assert key.outcome(two) == "replay"
    pid = two.info.backend_pid
    locks = one.execute("SELECT mode FROM pg_locks WHERE pid = %s AND (locktype = 'advisory' OR mode <> 'AccessShareLock')"
                        " AND locktype <> 'virtualxid'", [pid]).fetchall()
    assert locks == []
    one.execute("ROLLBACK")
    two.execute("ROLLBACK")


def test_who_cannot_know_whether_the_claim_is_held_gets_an_error(sessions, key):
    one, two = sessions
    token = key.go(one)
    two.execute("BEGIN")
    assert key.outcome(two) == "in_flight"
    one.execute("SET extenddb.lock_timeout = '50ms'")
    for ending in (lambda: key.complete(one, token), lambda: key.release(one, token)):
        with pytest.raises(psycopg.errors.LockNotAvailable) as raised:
            ending()
        assert raised.value.diag.message_hint.startswith("Try again.")
    two.execute("ROLLBACK")
    assert key.complete(one, token)


def test_a_stale_claim_is_taken_over_and_its_holder_is_fenced(sessions, sql, key):
    one, two = sessions
    first = key.go(one)
    key.age(sql, 1_800_000)
    assert key.outcome(two) == "in_flight"
    key.age(sql, 1_800_000)
    assert key.outcome(two, OTHER) == "reused"
    second = key.go(two)
    assert second != first
    assert key.complete(one, first) is False and key.release(one, first) is False
    assert key.complete(two, second, b"second")
    assert key.complete(one, first, b"first") is False
    assert key.row(one)[4] == b"second"


def test_a_takeover_while_the_holder_is_in_its_transaction(sessions, sql, key, pool):
    """The holder's own work and its completion are one transaction: false means roll back."""
    one, two = sessions
    sql.execute("CREATE TABLE IF NOT EXISTS worked (by text)")
    first = key.go(one)
    key.age(sql, 3_600_000)
    second = key.go(two)
    one.execute("BEGIN; INSERT INTO worked VALUES ('first')")
    assert key.complete(one, first) is False
    one.execute("ROLLBACK")
    two.execute("BEGIN; INSERT INTO worked VALUES ('second')")
    assert key.complete(two, second) is True
    two.execute("COMMIT")
    assert sql.execute("SELECT by FROM worked").fetchall() == [("second",)]


def test_the_time_that_a_response_is_kept(sql, key):
    assert key.complete(sql, key.go(sql), keep_for="1 month 2 days")
    key.age(sql, 32 * 86_400_000 - 3_600_000)
    assert key.outcome(sql) == "replay" and key.outcome(sql, OTHER) == "reused"
    key.age(sql, 3_600_000)
    key.go(sql, fingerprint=OTHER)


@pytest.mark.parametrize("level", ["REPEATABLE READ", "SERIALIZABLE"])
def test_above_read_committed_an_old_snapshot_is_a_serialization_failure(sessions, key, level):
    one, two = sessions

    def after(change, attempt):
        """`change` by the other session after this one's snapshot is taken."""
        one.execute(f"BEGIN ISOLATION LEVEL {level}")
        one.execute("SELECT 1 FROM pg_class LIMIT 1")
        change()
        with pytest.raises(psycopg.errors.SerializationFailure):
            attempt()
        one.execute("ROLLBACK")

    tokens = []
    after(lambda: tokens.append(key.go(two)), lambda: key.row(one))
    after(lambda: key.complete(two, tokens[0]), lambda: key.row(one))
    assert key.outcome(one) == "replay"
    released = Key(f"released {level}")
    tokens.append(released.go(two))
    after(lambda: released.release(two, tokens[1]), lambda: released.complete(one, tokens[1]))
    # Nothing changed meanwhile: everything works.
    one.execute(f"BEGIN ISOLATION LEVEL {level}")
    assert key.outcome(one) == "replay" and key.outcome(one, OTHER) == "reused"
    token = released.go(one)
    assert released.complete(one, token) and released.outcome(one) == "replay"
    one.execute("COMMIT")
    assert released.outcome(two) == "replay"


def test_beside_rows_and_items_in_one_transaction(sessions, sql, key):
    one, two = sessions
    create_table(sql, "Beside")
    sql.execute("CREATE TABLE beside (n integer)")
    for ending in ("ROLLBACK", "COMMIT"):
        one.execute("BEGIN; INSERT INTO beside VALUES (1)")
        token = key.go(one)
        call(one, "transact_write", {"TransactItems": [{"Put": {"TableName": "Beside", "Item": {"pk": {"S": "a"}}}}]})
        assert key.complete(one, token)
        one.execute(ending)
        committed = ending == "COMMIT"
        assert sql.execute("SELECT count(*) FROM beside").fetchone() == (int(committed),)
        assert (get(sql, "Beside", {"pk": {"S": "a"}}) is not None) == committed
        if committed:
            assert key.outcome(two) == "replay"


def test_null_arguments_are_refused_with_a_hint(sql):
    claim = ["'s'", "'POST'", "'/p'", "'k'", "'\\x01'", "'1 minute'"]
    complete = ["'s'", "'POST'", "'/p'", "'k'", "'c'", "200", "'{}'", "''", "'1 hour'"]
    for function, arguments in [("claim", claim), ("complete", complete), ("release", complete[:5]), ("sweep", ["1"])]:
        for place in range(len(arguments)):
            given = ", ".join([*arguments[:place], "NULL", *arguments[place + 1:]])
            with pytest.raises(psycopg.errors.NullValueNotAllowed) as raised:
                sql.execute(f"SELECT ddb.idempotency_{function}({given})")
            assert raised.value.diag.message_hint, (function, place)
    assert sql.execute(f"SELECT ddb.idempotency_complete({', '.join(complete)}, NULL)").fetchone() == (False,)


@pytest.mark.parametrize("statement, message", [
    ("claim('', 'POST', '/p', 'k', '\\x01')", "owner_scope must have 1 to 1024 bytes, this one has 0"),
    ("claim('s', 'PO ST', '/p', 'k', '\\x01')", "method must be an HTTP method of 1 to 32 characters"),
    ("claim('s', 'POST', repeat('p', 8193), 'k', '\\x01')", "path must have 1 to 8192 bytes, this one has 8193"),
    ("claim('s', 'POST', '/p', repeat('ü', 128), '\\x01')", "key must have 1 to 255 bytes, this one has 256"),
    ("claim('s', 'POST', '/p', 'k', '')", "fingerprint must have 1 to 1024 bytes, this one has 0"),
    ("claim('s', 'POST', '/p', 'k', '\\x01', '0')", "stale_after must be from 1 millisecond to 1 day"),
    ("claim('s', 'POST', '/p', 'k', '\\x01', '-1 hour')", "stale_after must be from 1 millisecond to 1 day"),
    ("claim('s', 'POST', '/p', 'k', '\\x01', '1 month')", "stale_after must be from 1 millisecond to 1 day"),
    ("claim('s', 'POST', '/p', 'k', '\\x01', '178000000 years')", "stale_after must be from 1 millisecond to 1 day"),
    ("complete('s', 'POST', '/p', 'k', 'c', 99, '{}', '')", "status must be an HTTP status from 100 to 599, not 99"),
    ("complete('s', 'POST', '/p', 'k', 'c', 200, '1', '')", "headers must be a JSON object or array"),
    ("complete('s', 'POST', '/p', 'k', 'c', 200, '{}', '', '367 days')", "keep_for must be from 1 millisecond to 366 days"),
    ("complete('s', 'POST', '/p', 'k', 'c', 200, '{}', '', '1 day -24 hours')", "keep_for must be from 1 millisecond to 366 days"),
    ("complete('s', 'POST', '/p', 'k', 'c', 200, '{}', '', '1 day', '')", "content_digest must have 1 to 1024 bytes, this one has 0"),
    ("sweep(0)", "max must be from 1 to 10000"),
    ("sweep(10001)", "max must be from 1 to 10000"),
])
def test_arguments_out_of_bounds_are_refused(sql, statement, message):
    with pytest.raises(psycopg.errors.InvalidParameterValue) as raised:
        sql.execute(f"SELECT ddb.idempotency_{statement}")
    assert raised.value.diag.message_primary == message


def test_a_response_too_large_to_keep_is_refused_with_a_hint(sql, key):
    token = key.go(sql)
    for body_bytes in (409_600, 20_000_000):
        with pytest.raises(psycopg.errors.ProgramLimitExceeded) as raised:
            key.complete(sql, token, b"x" * body_bytes)
        assert "it may have 409600 bytes" in raised.value.diag.message_primary
        assert "release the claim" in raised.value.diag.message_hint
    body = bytes(range(256)) * 1590
    assert key.complete(sql, token, body), "the claim is held still"
    assert key.row(sql)[4] == body


def test_the_longest_key_of_all_is_a_key(sql):
    longest = Key("")
    longest.parts = ["s" * 1024, "M" * 32, "/" + "p" * 8191, "k" * 255]
    token = longest.go(sql, fingerprint=b"f" * 1024)
    assert longest.complete(sql, token)
    assert longest.outcome(sql, b"f" * 1024) == "replay"


def test_roles(cluster, database, sql, key):
    sql.execute("CREATE ROLE claimant LOGIN; GRANT ddb_write TO claimant; CREATE ROLE reader LOGIN; GRANT ddb_read TO reader")
    create_table(sql, "Readable")
    explained = json.dumps({"TransactItems": [{"Put": {"TableName": "Readable", "Item": {"pk": {"S": "a"}}}}]})
    try:
        with cluster.connect(database, user="claimant") as claimant, cluster.connect(database, user="reader") as reader:
            assert key.complete(claimant, key.go(claimant))
            assert claimant.execute("SELECT ddb.idempotency_sweep()").fetchone() == (0,)
            for refused in (lambda: key.row(reader), lambda: key.complete(reader, "x"), lambda: key.release(reader, "x"),
                            lambda: reader.execute("SELECT ddb.idempotency_sweep()")):
                with pytest.raises(psycopg.errors.InsufficientPrivilege):
                    refused()
            for connection in (claimant, reader):
                assert connection.execute("SELECT ddb.transact_explain(%s)", [explained]).fetchone()[0]["Answer"]["Status"] == 200
                with pytest.raises(psycopg.errors.InsufficientPrivilege):
                    connection.execute("SELECT * FROM ddb_data.t1")
    finally:
        sql.execute("DROP ROLE claimant; DROP ROLE reader")


def test_the_sweep_bounds_the_store(sessions, sql):
    """Rounds of work, each forgotten before the next: what is stored does not grow with the rounds."""
    one, two = sessions
    create_table(sql, "Swept")
    sizes = []
    for round_ in range(4):
        for number in range(30):
            key = Key(f"sweep {round_} {number}")
            key.complete(one, key.go(one), b"x" * 500, keep_for="1 hour")
            call(one, "transact_write", {"ClientRequestToken": f"{round_}-{number}", "TransactItems": [
                {"Put": {"TableName": "Swept", "Item": {"pk": {"S": "a"}}}}]})
        assert one.execute("SELECT ddb.idempotency_sweep()").fetchone() == (0,), "nothing is over"
        for table in (0, 1):
            for pk, sk, row in sql.execute(f"SELECT pk, sk, item::json FROM ddb_data.t{table} WHERE item ->> 'sk' ~ 'sweep|-'"
                                           ).fetchall():
                if table == 1 and "sweep" not in row["sk"]["S"]:
                    continue
                row["at"]["N"] = str(int(row["at"]["N"]) - 3_600_000)
                sql.execute(f"""UPDATE ddb_data.t{table} SET item = %s::json::ddb.item, expires = expires - 3600
                                WHERE pk = %s AND sk = %s""", [json.dumps(row), pk, sk])
        assert one.execute("SELECT ddb.idempotency_sweep(20)").fetchone() == (20,)
        assert two.execute("SELECT ddb.idempotency_sweep()").fetchone() == (40,)
        sql.execute("VACUUM ddb_data.t0, ddb_data.t1")
        sizes.append(sql.execute("SELECT pg_relation_size('ddb_data.t0') + pg_relation_size('ddb_data.t1')").fetchone()[0])
    assert max(sizes[2:]) <= sizes[1], sizes


def test_the_sweep_waits_for_nobody_and_takes_nothing_that_is_held(sessions, sql, key):
    one, two = sessions
    key.complete(sql, key.go(sql), keep_for="1 hour")
    key.age(sql, 3_600_000)
    one.execute("BEGIN")
    key.go(one)
    two.execute("SET statement_timeout = '10s'")
    assert two.execute("SELECT ddb.idempotency_sweep()").fetchone() == (0,)
    one.execute("ROLLBACK")
    assert two.execute("SELECT ddb.idempotency_sweep()").fetchone() == (1,)


def test_a_sweep_that_is_not_committed_yet_makes_the_key_wait_and_changes_no_answer(sessions, sql, key, pool):
    one, two = sessions
    key.complete(sql, key.go(sql), keep_for="1 hour")
    key.age(sql, 3_600_000)
    one.execute("BEGIN")
    assert one.execute("SELECT ddb.idempotency_sweep()").fetchone() == (1,)
    claimed = pool.submit(key.row, two)
    wait_until(waits_for_a_lock(sql, two), 20, "the claim waits for the sweep")
    one.execute("ROLLBACK")
    assert claimed.result(20)[0] == "go"


def test_corrupt_rows_are_an_error(sql, key):
    key.go(sql)
    sql.execute("UPDATE ddb_data.t1 SET item = '{\"state\":{\"S\":\"?\"}}' WHERE item ->> 'key' = %s", key.parts[3:])
    for attempt in (lambda: key.row(sql), lambda: key.complete(sql, "x"), lambda: key.release(sql, "x")):
        with pytest.raises(psycopg.errors.DataCorrupted):
            attempt()
    sql.execute("DELETE FROM ddb_data.t1 WHERE item ->> 'state' = '?'")


def test_claims_survive_dump_and_restore(cluster, sql, key):
    cluster.create_database("claims")
    running, done = Key("running"), Key("done")
    with cluster.connect("claims") as source:
        token = running.go(source)
        done.complete(source, done.go(source), b"\x00kept", 200, '{"a": 1}', digest=b"\x01")
    dump = cluster.tool("pg_dump", "-Fc", "claims").stdout
    cluster.create_database("claims_restored", extension=False)
    cluster.tool("pg_restore", "--exit-on-error", "-d", "claims_restored", input=dump)
    with cluster.connect("claims_restored") as restored:
        assert done.row(restored) == ("replay", None, 200, '{"a": 1}', b"\x00kept", b"\x01")
        assert running.outcome(restored) == "in_flight" and running.outcome(restored, OTHER) == "reused"
        assert running.complete(restored, token)


def blocks(section):
    """The code blocks of a section of the SQL reference: (language, text)."""
    text = REFERENCE.read_text().split(f"\n## {section}\n")[1].split("\n## ")[0]
    return re.findall(r"^```(\w*)\n(.*?)^```$", text, re.MULTILINE | re.DOTALL)


def test_the_references_handler_works_as_it_says(sql):
    ((language, text),) = blocks("Idempotency keys")
    assert language == "sql"
    definitions, *calls = re.split(r"(?=^SELECT status)", text, flags=re.MULTILINE)
    sql.execute(definitions)
    assert len(calls) == 3
    for printed in calls:
        statement, shown = printed.split("\n--")
        answer = sql.execute(statement).fetchone()
        assert " | ".join(map(str, answer)) == shown.strip()
    assert sql.execute("SELECT tenant, seat FROM bookings").fetchall() == [("tenant-1", "12A")]


def test_the_references_transaction_and_its_explanation(sql):
    (_, order), (_, explain), (_, explained) = blocks("Transactions")
    for statement in re.split(r";\n", order):
        sql.execute(statement)
    assert sql.execute("SELECT id, sku FROM orders").fetchall() == [(1, "chair")]
    assert get(sql, "Stock", {"sku": {"S": "chair"}})["n"] == {"N": "0"}
    assert get(sql, "Stock", {"sku": {"S": "order-1"}}) is not None
    assert sql.execute(explain).fetchone()[0] == json.loads(explained)


ONE_MORE = {"TransactItems": [
    {"Update": {"TableName": "Counted", "Key": {"pk": {"S": "a"}}, "UpdateExpression": "SET n = n + :one",
                "ConditionExpression": "n < :two", "ExpressionAttributeValues": {":one": {"N": "1"}, ":two": {"N": "2"}},
                "ReturnValuesOnConditionCheckFailure": "ALL_OLD"}},
    {"ConditionCheck": {"TableName": "Counted", "Key": {"pk": {"S": "b"}}, "ConditionExpression": "attribute_not_exists(pk)"}}]}


def test_transact_write_faults_are_errors_with_their_own_sqlstate(cluster, database, sql):
    create_table(sql, "Counted")
    sql.execute("CREATE TABLE counted (n integer)")
    sql.execute("""SELECT ddb.put('Counted', '{"pk":{"S":"a"},"n":{"N":"1"}}')""")
    token = {"ClientRequestToken": "counted"}

    def attempt(body, connection=sql):
        """In a transaction with a row; the error, or the answer."""
        try:
            with connection.transaction():
                connection.execute("INSERT INTO counted VALUES (1)")
                return call(connection, "transact_write", body)
        except psycopg.Error as error:
            return error

    assert attempt({**ONE_MORE, **token}) == {}
    assert sql.execute("SELECT count(*) FROM counted").fetchone() == (1,)
    # Sent again: replayed, the item stays.
    assert attempt({**ONE_MORE, **token}) == {}
    assert get(sql, "Counted", {"pk": {"S": "a"}})["n"] == {"N": "2"}

    cancelled = attempt(ONE_MORE)
    assert cancelled.sqlstate == "DD009"
    text = ("Transaction cancelled, please refer cancellation reasons for specific reasons "
            "[ConditionalCheckFailed, None]")
    assert cancelled.diag.message_primary == text
    assert json.loads(cancelled.diag.message_detail) == {
        "__type": "com.amazonaws.dynamodb.v20120810#TransactionCanceledException", "Message": text,
        "CancellationReasons": [{"Code": "ConditionalCheckFailed", "Message": "The conditional request failed",
                                 "Item": {"pk": {"S": "a"}, "n": {"N": "2"}}}, {"Code": "None"}]}
    mismatch = attempt({"TransactItems": ONE_MORE["TransactItems"][1:], **token})
    assert mismatch.sqlstate == "DD012"
    assert json.loads(mismatch.diag.message_detail) == {
        "__type": "com.amazonaws.dynamodb.v20120810#IdempotentParameterMismatchException",
        "Message": "Specified idempotent token was used with different request parameters within the idempotency window"}
    # Rows went with each ERROR.
    assert sql.execute("SELECT count(*) FROM counted").fetchone() == (2,)

    with cluster.connect(database) as other:
        other.execute("SET extenddb.lock_timeout = '50ms'")
        sql.execute("BEGIN")
        call(sql, "transact_write", {"TransactItems": ONE_MORE["TransactItems"][1:], "ClientRequestToken": "open"})
        running = attempt({"TransactItems": ONE_MORE["TransactItems"][1:], "ClientRequestToken": "open"}, other)
        assert running.sqlstate == "DD011"
        assert running.diag.message_primary == "Transaction from previous request is still in progress"
        conflict = attempt({"TransactItems": [{"Put": {"TableName": "Counted", "Item": {"pk": {"S": "b"}}}}]}, other)
        assert conflict.sqlstate == "DD009"
        assert json.loads(conflict.diag.message_detail)["CancellationReasons"] == [
            {"Code": "TransactionConflict", "Message": "Transaction is ongoing for the item"}]
        with pytest.raises(psycopg.Error) as single:
            other.execute("""SELECT ddb.put('Counted', '{"pk":{"S":"b"}}')""")
        assert single.value.sqlstate == "DD010"
        sql.execute("ROLLBACK")


def test_a_cancelled_token_is_remembered_by_request_alone(sql):
    create_table(sql, "Remembered")
    refused = {"ClientRequestToken": "remembered", "TransactItems": [
        {"ConditionCheck": {"TableName": "Remembered", "Key": {"pk": {"S": "a"}}, "ConditionExpression": "attribute_exists(pk)"}}]}
    put = {"ClientRequestToken": "remembered", "TransactItems": [{"Put": {"TableName": "Remembered", "Item": {"pk": {"S": "b"}}}}]}
    with pytest.raises(psycopg.Error) as raised:
        call(sql, "transact_write", refused)
    assert raised.value.sqlstate == "DD009"
    assert call(sql, "transact_write", put) == {}, "as if it had never been used"
    refused["ClientRequestToken"] = put["ClientRequestToken"] = "by request"
    assert request(sql, "TransactWriteItems", refused)[0] == 400
    status, body = request(sql, "TransactWriteItems", put)
    assert (status, body["__type"].split("#")[1]) == (400, "IdempotentParameterMismatchException")


def test_explain_writes_and_locks_nothing(sessions, sql):
    one, two = sessions
    create_table(sql, "Explained")
    sql.execute("""SELECT ddb.put('Explained', '{"pk":{"S":"a"},"n":{"N":"1"}}')""")
    body = {"ClientRequestToken": "explained", "TransactItems": [
        {"Put": {"TableName": "Explained", "Item": {"pk": {"S": "a"}}, "ConditionExpression": "n = :one",
                 "ExpressionAttributeValues": {":one": {"N": "1"}}}},
        {"Put": {"TableName": "Explained", "Item": {"pk": {"S": "new"}}}}]}
    # Another session is at both keys and at the token, and has not committed.
    one.execute("BEGIN")
    call(one, "transact_write", body)
    two.execute("SET extenddb.lock_timeout = '1ms'")
    two.execute("BEGIN READ ONLY")
    explained = call(two, "transact_explain", body)
    assert explained["Answer"] == {"Status": 200, "Body": {}}
    assert explained["Token"] == {"State": "Unused"}
    assert [member["Effect"] for member in explained["Members"]] == ["Put", "Put"]
    locks = sql.execute("SELECT DISTINCT locktype, mode FROM pg_locks WHERE pid = %s AND locktype <> 'virtualxid'",
                        [two.info.backend_pid]).fetchall()
    assert locks == [("relation", "AccessShareLock")]
    two.execute("COMMIT")
    one.execute("COMMIT")
    explained = call(two, "transact_explain", body)
    assert explained["Answer"] == {"Status": 200, "Body": {}} and explained["DecidedBy"] == {"Step": "Token"}
    assert explained["Token"]["State"] == "Committed"
    assert explained["Members"][0]["Code"] == "ConditionalCheckFailed" and explained["Members"][0]["HiddenBy"] == {"Step": "Token"}
    assert call(two, "transact_explain", {**body, "TransactItems": body["TransactItems"][1:]})["Token"]["State"] == "OfAnotherRequest"
    assert get(sql, "Explained", {"pk": {"S": "a"}}) == {"pk": {"S": "a"}}
    assert sql.execute("SELECT pg_current_xact_id_if_assigned()").fetchone() == (None,)
