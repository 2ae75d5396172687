"""Keys that somebody else holds, and tokens of transactions that meet them; and a server that dies between the claim of a
token and the commit."""

import os
import signal
import time

import psycopg
import pytest

from clients import Background, Client, key_locks, until, waiting
from harness import Proxy
from harness.tables import create_table, get, put
from histories.connection import Connection
from servers import Postgres

TIMEOUT_MS = 300
CONFLICT = {"Code": "TransactionConflict", "Message": "Transaction is ongoing for the item"}
NONE = {"Code": "None"}
FAILED = {"Code": "ConditionalCheckFailed", "Message": "The conditional request failed"}
MISMATCH = {
    "__type": "com.amazonaws.dynamodb.v20120810#IdempotentParameterMismatchException",
    "Message": "Specified idempotent token was used with different request parameters within the idempotency window",
}
IN_PROGRESS = {
    "__type": "com.amazonaws.dynamodb.v20120810#TransactionInProgressException",
    "Message": "Transaction from previous request is still in progress",
}


@pytest.fixture(scope="module", autouse=True)
def tables(cluster, database):
    with cluster.connect(database) as connection:
        create_table(connection, "Plain")
        connection.execute(f"ALTER DATABASE {database} SET extenddb.lock_timeout = '{TIMEOUT_MS}ms'")


@pytest.fixture
def client(open_proxy):
    return Client(open_proxy)


@pytest.fixture
def holder(cluster, database):
    """A session whose transaction is open; what it puts, it holds."""
    with cluster.connect(database) as connection:
        connection.execute("BEGIN")
        yield connection


def key(name):
    return {"pk": {"S": name}}


def add(name, **condition):
    return {"Update": {"TableName": "Plain", "Key": key(name), "UpdateExpression": "ADD n :one",
                       "ExpressionAttributeValues": {":one": {"N": "1"}}, **condition}}


def hold(connection, name):
    connection.execute("SELECT ddb.put('Plain', %s)", ['{"pk": {"S": "%s"}, "by": {"S": "holder"}}' % name])


def cancelled(*reasons):
    codes = ", ".join(reason["Code"] for reason in reasons)
    return {"__type": "com.amazonaws.dynamodb.v20120810#TransactionCanceledException",
            "Message": f"Transaction cancelled, please refer cancellation reasons for specific reasons [{codes}]",
            "CancellationReasons": list(reasons)}


def transact(client, *members, **parameters):
    return client.call("TransactWriteItems", {"TransactItems": list(members), **parameters})


def test_a_held_key_is_a_conflict_at_its_member(client, holder, sql):
    hold(holder, "held-1")
    began = time.monotonic()
    assert transact(client, add("free-1"), add("held-1"), add("free-2")) == (400, cancelled(NONE, CONFLICT, NONE))
    assert TIMEOUT_MS / 1000 <= time.monotonic() - began < 10 * TIMEOUT_MS / 1000
    # Nothing was written, and no lock is left behind but the holder's.
    assert get(sql, "Plain", key("free-1")) is None and get(sql, "Plain", key("free-2")) is None
    assert key_locks(sql) == 1 and waiting(sql) == 0
    holder.execute("ROLLBACK")
    assert transact(client, add("free-1"), add("held-1"), add("free-2")) == (200, {})
    assert [get(sql, "Plain", key(name))["n"] for name in ("free-1", "held-1", "free-2")] == [{"N": "1"}] * 3


@pytest.mark.parametrize("action", ["ConditionCheck", "Put", "Delete", "Update"])
def test_every_kind_of_member_meets_it(client, holder, sql, action):
    name = f"held {action}"
    hold(holder, name)
    member = {
        "ConditionCheck": {"Key": key(name), "ConditionExpression": "attribute_not_exists(pk)"},
        "Put": {"Item": key(name)},
        "Delete": {"Key": key(name)},
        "Update": {"Key": key(name), "UpdateExpression": "SET a = :a", "ExpressionAttributeValues": {":a": {"N": "1"}}},
    }[action]
    members = [{action: {"TableName": "Plain", **member}}, add(f"{name} beside")]
    assert transact(client, *members) == (400, cancelled(CONFLICT, NONE))
    assert get(sql, "Plain", key(f"{name} beside")) is None
    holder.execute("ROLLBACK")
    assert transact(client, *members) == (200, {})


def test_several_held_keys_share_one_wait(client, holder, sql):
    for number in (0, 2, 3):
        hold(holder, f"several-{number}")
    began = time.monotonic()
    status, answer = transact(client, *[add(f"several-{number}") for number in range(5)])
    assert time.monotonic() - began < 10 * TIMEOUT_MS / 1000
    assert (status, answer) == (400, cancelled(CONFLICT, NONE, CONFLICT, CONFLICT, NONE))


def test_a_failed_condition_beside_a_conflict_is_listed_too(client, holder, sql):
    hold(holder, "held-beside")
    exists = {"ConditionExpression": "attribute_exists(pk)"}
    answer = transact(client, add("missing-beside", **exists), add("held-beside"), add("fine-beside"))
    assert answer == (400, cancelled(FAILED, CONFLICT, NONE))


def test_a_token_cancelled_by_a_conflict_is_its_requests_own(client, holder, sql):
    hold(holder, "token-held")
    send = {"ClientRequestToken": "by conflict"}
    members = [add("token-free"), add("token-held")]
    assert transact(client, *members, **send) == (400, cancelled(NONE, CONFLICT))
    # Another request is a mismatch at once, without waiting for the key, also where it wants the held one.
    for others in ([add("token-other")], [add("token-held")], members[::-1]):
        began = time.monotonic()
        assert transact(client, *others, **send) == (400, MISMATCH)
        assert time.monotonic() - began < 5
    # The same is run again, and meets the same.
    assert transact(client, *members, **send) == (400, cancelled(NONE, CONFLICT))
    holder.execute("ROLLBACK")
    assert transact(client, *members, **send) == (200, {})
    assert transact(client, *members, **send) == (200, {})
    assert transact(client, add("token-other"), **send) == (400, MISMATCH)
    assert [get(sql, "Plain", key(name)) for name in ("token-free", "token-held")] == [
        {**key(name), "n": {"N": "1"}} for name in ("token-free", "token-held")]
    assert get(sql, "Plain", key("token-other")) is None


def test_a_replay_does_not_wait_for_the_members(client, holder, sql):
    send = {"ClientRequestToken": "replayed past a holder"}
    assert transact(client, add("replayed"), **send) == (200, {})
    hold(holder, "replayed")
    # Had it waited, it would have met a conflict.
    assert transact(client, add("replayed"), **send) == (200, {})


def test_the_same_token_while_the_first_send_waits(client, open_proxy, holder, sql):
    """The second waits for the first one's end, or says that it is in progress: never a second write."""
    hold(holder, "in progress")
    send = {"ClientRequestToken": "twice while held"}
    first = Background(lambda: transact(client, add("in progress"), **send))
    until(lambda: waiting(sql) >= 1)
    second = transact(Client(open_proxy), add("in progress"), **send)
    assert second in ((400, IN_PROGRESS), (400, cancelled(CONFLICT)))
    assert first.result() == (400, cancelled(CONFLICT))
    holder.execute("ROLLBACK")
    assert transact(client, add("in progress"), **send) == (200, {})
    assert get(sql, "Plain", key("in progress"))["n"] == {"N": "1"}


def test_a_read_of_a_transaction_meets_no_conflict(client, holder, sql):
    """It is of one moment, and waits for nobody."""
    put(sql, "Plain", {**key("read-held"), "by": {"S": "before"}})
    hold(holder, "read-held")
    assert client.ok("TransactGetItems", {"TransactItems": [
        {"Get": {"TableName": "Plain", "Key": key("read-held")}}, {"Get": {"TableName": "Plain", "Key": key("no such")}}]}
    ) == {"Responses": [{"Item": {**key("read-held"), "by": {"S": "before"}}}, {}]}


@pytest.fixture(params=[[], ["--batch-always"]], ids=["as they come", "in batches"])
def client_in_each_manner(cluster, database, tmp_path, request):
    proxy = Proxy(cluster.conninfo(database), tmp_path / "log", auth="none", arguments=request.param)
    yield Client(proxy)
    proxy.stop()


def test_single_writes_and_batches_meet_a_transaction(client_in_each_manner, holder, sql):
    """A transaction in an SQL session holds every member: single writes are in conflict, a batch's request is unprocessed."""
    client = client_in_each_manner
    members = [{"Put": {"TableName": "Plain", "Item": {**key(f"member-{number}"), "by": {"S": "transaction"}}}} for number in range(3)]
    members.append({"ConditionCheck": {"TableName": "Plain", "Key": key("member-3"), "ConditionExpression": "attribute_not_exists(pk)"}})
    members.append({"Delete": {"TableName": "Plain", "Key": key("member-4")}})
    holder.execute("SELECT ddb.transact_write_items(%s)", [psycopg.types.json.Json({"TransactItems": members})])
    for number in range(5):
        status, answer = client.call("PutItem", {"TableName": "Plain", "Item": key(f"member-{number}")})
        assert (status, answer["__type"].split("#")[1], answer["message"]) == (
            400, "TransactionConflictException", "Transaction is ongoing for the item")
    answer = client.ok("BatchWriteItem", {"RequestItems": {"Plain": [
        {"PutRequest": {"Item": key("member-3")}}, {"PutRequest": {"Item": key("beside-3")}},
        {"DeleteRequest": {"Key": key("member-0")}}]}})
    assert sorted(map(str, answer["UnprocessedItems"]["Plain"])) == sorted(map(str, [
        {"PutRequest": {"Item": key("member-3")}}, {"DeleteRequest": {"Key": key("member-0")}}]))
    assert get(sql, "Plain", key("beside-3")) == key("beside-3")
    holder.execute("COMMIT")
    assert [get(sql, "Plain", key(f"member-{number}")) is not None for number in range(5)] == [True] * 3 + [False] * 2


@pytest.fixture(scope="module")
def mortal(tmp_path_factory):
    """A server that may be killed."""
    server = Postgres(tmp_path_factory.mktemp("mortal"), arguments=["--request-timeout", "60s"])
    with server.connect() as connection:
        connection.execute("ALTER DATABASE served SET extenddb.lock_timeout = '60s'")
        create_table(connection, "Plain")
        # The sessions begun before know nothing of it.
        connection.execute("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'extenddb'")
    yield server
    server.remove()


@pytest.mark.parametrize("death", ["the backend", "the postmaster", "the session", "the client"])
def test_a_death_between_the_claim_and_the_commit(mortal, death):
    """The token is as before; the same request runs, once."""
    body = {"ClientRequestToken": f"death of {death}", "TransactItems": [add(f"{death} a"), add(f"{death} b")]}
    holder = mortal.connect()
    with mortal.connect() as sql:
        holder.execute("BEGIN")
        hold(holder, f"{death} b")
        # It has its token's lock, and waits for the second or both of the items.
        first = Connection(mortal)
        first.send("TransactWriteItems", body)
        until(lambda: waiting(sql) == 1)
        pid = sql.execute("SELECT DISTINCT pid FROM pg_locks WHERE NOT granted").fetchone()[0]
        match death:
            case "the backend":
                os.kill(pid, signal.SIGKILL)
                until(lambda: not os.path.exists(f"/proc/{pid}"))
            case "the session":
                sql.execute("SELECT pg_terminate_backend(%s)", [pid])
            case "the client":
                first.close()
    if death == "the postmaster":
        mortal.kill()
    if death == "the client":
        second = Background(lambda: mortal.call("TransactWriteItems", body))
        with mortal.connect() as sql:
            # Behind the first send, or in its place where that was given up.
            until(lambda: sql.execute("SELECT count(*) FROM pg_locks WHERE NOT granted AND pid <> %s", [pid]).fetchone() != (0,))
        holder.execute("ROLLBACK")
        assert second.result() == (200, {})
    else:
        status, answer = first.receive()
        assert status >= 500, answer
    holder.close()
    until(lambda: mortal.call("ListTables", {})[0] == 200)
    assert mortal.call("TransactWriteItems", body) == (200, {})
    assert mortal.call("TransactWriteItems", body) == (200, {})
    with mortal.connect() as sql:
        for name in ("a", "b"):
            assert get(sql, "Plain", key(f"{death} {name}"))["n"] == {"N": "1"}
        assert key_locks(sql) == 0


def test_a_deadlock_with_a_session_of_sql_is_a_conflict(mortal):
    """A session whose transaction goes on from key to key can close a circle with a request. The one whose turn it is to look
    finds it; where that is the request, it lets go and is cancelled, and its token remembers."""
    others = [f"circle {number}" for number in range(8)]
    body = {"ClientRequestToken": "circle", "TransactItems": [add("circle held"), *map(add, others)]}
    with mortal.connect() as holder, mortal.connect() as sql:
        holder.execute("SET deadlock_timeout = '60s'")
        holder.execute("BEGIN")
        hold(holder, "circle held")
        late = Background(lambda: mortal.call("TransactWriteItems", body))
        # It has those that come before the held one.
        until(lambda: waiting(sql) == 1)
        for name in others:
            hold(holder, name)
        status, answer = late.result()
        assert (status, answer) == (400, cancelled(*[
            CONFLICT if reason["Code"] == "TransactionConflict" else NONE for reason in answer["CancellationReasons"]]))
        assert answer["CancellationReasons"][0] == CONFLICT
        holder.execute("COMMIT")
        assert mortal.call("TransactWriteItems", {**body, "TransactItems": [add("circle held")]}) == (400, MISMATCH)
        assert mortal.call("TransactWriteItems", body) == (200, {})
        for name in ("circle held", *others):
            assert get(sql, "Plain", key(name)) == {**key(name), "by": {"S": "holder"}, "n": {"N": "1"}}
        assert key_locks(sql) == 0
