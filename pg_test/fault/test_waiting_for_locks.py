"""Requests on items that somebody holds: each waits as long as `extenddb.lock_timeout` in all, whomever it waits behind, and half of
the sessions stay free for others, whatever operation it is."""

import itertools
import json
import time
from contextlib import contextmanager

import pytest
from clients import Background, Client, at_once, key_locks, until, waiting

from harness import Proxy
from harness.tables import create_table, get, storage
from histories.connection import exception

TIMEOUT_S = 1.0
#: What a request may take beside, on a machine that is busy; what a second wait would take is more.
SLACK_S = 0.8
#: Patience that ends this soon after somebody else's ends with it.
SOON_S = 0.1
MANNERS = {"together": [], "always together": ["--batch-always"], "by itself": ["--batch", "1"]}


@pytest.fixture(scope="module", autouse=True)
def table(cluster, database):
    with cluster.connect(database) as connection:
        create_table(connection, "Plain")
        create_table(connection, "Other")


@pytest.fixture(autouse=True)
def emptied(sql):
    for table in ("Plain", "Other"):
        sql.execute("SELECT ddb.delete(%s, ddb.project(i, 'pk')) FROM ddb.items(%s) AS i", [table, table])


@contextmanager
def serving(cluster, database, tmp_path, timeout_s, *arguments):
    with cluster.connect(database) as admin:
        admin.execute(f"ALTER DATABASE {database} SET extenddb.lock_timeout = '{int(timeout_s * 1000)}ms'")
    proxy = Proxy(cluster.conninfo(database), tmp_path / "log", auth="none", arguments=arguments)
    try:
        yield proxy
    finally:
        proxy.stop()


@pytest.fixture
def impatient(cluster, database, tmp_path, request):
    """A proxy whose sessions wait for a second. How single requests travel is of no matter to others."""
    manner = MANNERS[getattr(request, "param", "together")]
    with serving(cluster, database, tmp_path, TIMEOUT_S, "--pool", "4", *manner) as proxy:
        yield proxy


in_each_manner = pytest.mark.parametrize("impatient", MANNERS, indirect=True)


@pytest.fixture
def patient(cluster, database, tmp_path):
    """One whose sessions would wait for longer than any test."""
    with serving(cluster, database, tmp_path, 60, "--pool", "4", "--request-timeout", "60s") as proxy:
        yield proxy


@pytest.fixture
def holder(cluster, database):
    with cluster.connect(database) as connection:
        connection.execute("BEGIN")
        yield connection
        connection.execute("ROLLBACK")


def hold(connection, name):
    connection.execute("SELECT ddb.put('Plain', %s)", ['{"pk": {"S": "%s"}, "n": {"N": "0"}}' % name])


def key(name):
    return {"pk": {"S": name}}


def add(name):
    return {"TableName": "Plain", "Key": key(name), "UpdateExpression": "ADD n :one",
            "ExpressionAttributeValues": {":one": {"N": "1"}}}


def timed(proxy, operation, body):
    """Status, the exception, and how long it took."""
    began = time.monotonic()
    status, answer = Client(proxy).call(operation, body)
    return (status, exception(answer) if status != 200 else None), time.monotonic() - began


_tokens = itertools.count(1)


def transact(*names):
    return "TransactWriteItems", {"TransactItems": [{"Update": add(name)} for name in names],
                                  "ClientRequestToken": f"token {next(_tokens)}"}


def pass_by(seconds):
    began = time.monotonic()
    until(lambda: time.monotonic() - began >= seconds)


CONFLICTS = {"UpdateItem": (400, "TransactionConflictException"), "TransactWriteItems": (400, "TransactionCanceledException")}


@pytest.mark.parametrize("impatient, operation", [
    *[(manner, "UpdateItem") for manner in MANNERS], ("together", "TransactWriteItems")], indirect=["impatient"])
def test_whoever_comes_late_waits_no_longer_than_others(impatient, holder, operation):
    hold(holder, "late")
    body = add("late") if operation == "UpdateItem" else {"TransactItems": [{"Update": add("late")}]}
    requests = []
    # Each of these would wait for the end of the first wait, and then for as long again.
    for _ in range(4):
        requests += [Background(lambda: timed(impatient, operation, body)) for _ in range(3)]
        pass_by(TIMEOUT_S / 4)
    for request in requests:
        answer, took = request.result()
        assert answer == CONFLICTS[operation]
        assert TIMEOUT_S - SOON_S <= took < TIMEOUT_S + SLACK_S
    holder.execute("ROLLBACK")
    assert timed(impatient, operation, body)[0] == (200, None)


def test_a_wait_for_the_table_and_one_for_the_item_are_one(cluster, database, impatient, holder):
    """A transaction waits for the one, then for the other: behind somebody who has only begun to."""
    hold(holder, "both")
    members = [{"Update": {**add("x"), "TableName": "Other"}}, {"Update": add("both")}]
    with cluster.connect(database) as changer:
        changer.execute("BEGIN")
        changer.execute(f"LOCK TABLE {storage(changer, 'Other')} IN ACCESS EXCLUSIVE MODE")
        first = Background(lambda: timed(impatient, "TransactWriteItems", {"TransactItems": members}))
        pass_by(TIMEOUT_S * 0.6)
        second = Background(lambda: timed(impatient, "TransactWriteItems", {"TransactItems": members[1:]}))
        pass_by(TIMEOUT_S * 0.2)
        changer.execute("ROLLBACK")
    for request in (first, second):
        answer, took = request.result()
        assert answer == CONFLICTS["TransactWriteItems"]
        assert TIMEOUT_S - SOON_S <= took < TIMEOUT_S + SLACK_S
    holder.execute("ROLLBACK")
    assert timed(impatient, "TransactWriteItems", {"TransactItems": members})[0] == (200, None)


@in_each_manner
def test_many_held_items_are_not_waited_for_one_after_the_other(impatient, holder):
    """Half of the four sessions may wait. Those whose time is up get their answer although it was never their turn."""
    names = [f"many-{number}" for number in range(8)]
    for name in names:
        hold(holder, name)
    requests = [Background(lambda name=name: timed(impatient, "UpdateItem", add(name))) for name in names]
    requests += [Background(lambda name=name: timed(impatient, *transact(name))) for name in names]
    for number, request in enumerate(requests):
        answer, took = request.result()
        assert answer == CONFLICTS["UpdateItem" if number < len(names) else "TransactWriteItems"]
        assert TIMEOUT_S - SOON_S <= took < TIMEOUT_S + SLACK_S


def test_a_cancelled_transaction_that_waited_behind_others_has_used_its_token(impatient, holder, sql):
    hold(holder, "token")
    sent = [transact("token", f"beside-{number}") for number in range(8)]
    answers = at_once(8, lambda number: timed(impatient, *sent[number]))
    assert {answer for answer, _ in answers} == {CONFLICTS["TransactWriteItems"]}
    assert max(took for _, took in answers) < TIMEOUT_S + SLACK_S
    holder.execute("ROLLBACK")
    for number, (operation, body) in enumerate(sent):
        assert get(sql, "Plain", key(f"beside-{number}")) is None
        other = {**body, "TransactItems": body["TransactItems"][:1]}
        assert timed(impatient, operation, other)[0] == (400, "IdempotentParameterMismatchException")
        assert timed(impatient, operation, body)[0] == (200, None)
        assert timed(impatient, operation, body)[0] == (200, None)
    assert get(sql, "Plain", key("token"))["n"] == {"N": "8"}


@in_each_manner
def test_one_at_which_the_server_raises_an_error_spoils_no_wait(impatient, holder, sql):
    """Those that waited with it have nothing to do with it."""
    sql.execute("""CREATE OR REPLACE FUNCTION public.no_bad() RETURNS trigger LANGUAGE plpgsql AS
                   $$ BEGIN IF NEW.item::text LIKE '%bad%' THEN RAISE 'no such item'; END IF; RETURN NEW; END $$""")
    sql.execute(f"CREATE OR REPLACE TRIGGER no_bad BEFORE INSERT OR UPDATE ON {storage(sql, 'Plain')} "
                "FOR EACH ROW EXECUTE FUNCTION public.no_bad()")
    hold(holder, "spoilt")
    bad = {"TableName": "Plain", "Item": {**key("spoilt"), "bad": {"S": "bad"}}}
    good = [Background(lambda: timed(impatient, "UpdateItem", add("spoilt"))) for _ in range(8)]
    wrong = [Background(lambda: timed(impatient, "PutItem", bad)) for _ in range(2)]
    until(lambda: waiting(sql) == 1)
    holder.execute("COMMIT")
    assert [request.result()[0] for request in good] == [(200, None)] * 8
    assert [request.result()[0] for request in wrong] == [(500, "InternalServerError")] * 2
    assert get(sql, "Plain", key("spoilt")) == {**key("spoilt"), "n": {"N": "8"}}
    sql.execute(f"DROP TRIGGER no_bad ON {storage(sql, 'Plain')}")


OPERATIONS = {
    "UpdateItem": lambda number: ("UpdateItem", add("wanted")),
    "TransactWriteItems": lambda number: transact("wanted", f"own-{number}"),
    "BatchWriteItem": lambda number: ("BatchWriteItem", {"RequestItems": {"Plain": [
        {"PutRequest": {"Item": key(name)}} for name in ("wanted", f"own-{number}")]}}),
}


@pytest.mark.parametrize("operation", OPERATIONS)
def test_who_waits_for_a_held_item_leaves_sessions_to_others(patient, holder, sql, operation):
    hold(holder, "wanted")
    late = [Background(lambda number=number: timed(patient, *OPERATIONS[operation](number))) for number in range(16)]
    until(lambda: waiting(sql) >= 1)
    for step in range(20):
        assert timed(patient, "UpdateItem", add(f"free-{step}"))[0] == (200, None)
        assert timed(patient, *transact(f"free-{step}", "free"))[0] == (200, None)
        assert timed(patient, "Scan", {"TableName": "Plain", "Limit": 3})[0] == (200, None)
        assert waiting(sql) <= 2
    assert not any(request.done() for request in late)
    # Nothing of what waits is done in part.
    assert [get(sql, "Plain", key(f"own-{number}")) for number in range(16)] == [None] * 16
    holder.execute("ROLLBACK")
    assert [request.result()[0] for request in late] == [(200, None)] * 16
    if operation != "BatchWriteItem":
        assert get(sql, "Plain", key("wanted"))["n"] == {"N": "16"}
    assert key_locks(sql) == 0


def test_other_held_items_are_not_waited_for_in_the_sessions_that_are_left(patient, holder, sql):
    names = [f"item-{number}" for number in range(8)]
    for name in names:
        hold(holder, name)
    late = [Background(lambda pair=pair: timed(patient, *transact(*pair))) for pair in itertools.permutations(names[:4], 2)]
    late += [Background(lambda name=name: timed(patient, "UpdateItem", add(name))) for name in names]
    until(lambda: waiting(sql) == 2)
    for step in range(20):
        assert timed(patient, *transact(f"free-{step}", "free"))[0] == (200, None)
        assert waiting(sql) <= 2
    holder.execute("ROLLBACK")
    assert [request.result()[0] for request in late] == [(200, None)] * len(late)
    assert [get(sql, "Plain", key(name))["n"]["N"] for name in names] == ["7"] * 4 + ["1"] * 4


def test_a_table_that_is_locked_leaves_sessions_to_others(patient, holder, sql):
    holder.execute(f"LOCK TABLE {storage(holder, 'Other')} IN ACCESS EXCLUSIVE MODE")
    reads = [("GetItem", {"TableName": "Other", "Key": key("a"), "ConsistentRead": True}), ("Scan", {"TableName": "Other"}),
             ("Query", {"TableName": "Other", "KeyConditionExpression": "pk = :p",
                        "ExpressionAttributeValues": {":p": {"S": "a"}}}),
             ("UpdateItem", {**add("a"), "TableName": "Other"}), ("DescribeTable", {"TableName": "Other"}),
             ("UpdateTable", {"TableName": "Other", "DeletionProtectionEnabled": False})]
    late = [Background(lambda read=read: timed(patient, *read)) for read in reads for _ in range(4)]
    until(lambda: waiting(sql) >= 1)
    for step in range(20):
        assert timed(patient, "UpdateItem", add(f"free-{step}"))[0] == (200, None)
        assert timed(patient, "Scan", {"TableName": "Plain", "Limit": 3})[0] == (200, None)
        assert waiting(sql) <= 2
    holder.execute("ROLLBACK")
    assert [request.result()[0] for request in late] == [(200, None)] * len(late)


def test_transactions_in_each_others_way_all_come_through(patient, sql):
    """In every order over four items: none is in conflict, and none waits for ever."""
    orders = list(itertools.permutations([f"crossed-{number}" for number in range(4)], 3))

    def work(number):
        client = Client(patient)
        return [client.call(*transact(*orders[(number * 7 + step) % len(orders)]))[0] for step in range(12)]

    assert {status for of_client in at_once(16, work) for status in of_client} == {200}
    counted = sum(int(get(sql, "Plain", key(f"crossed-{number}"))["n"]["N"]) for number in range(4))
    assert counted == 16 * 12 * 3


@pytest.mark.parametrize("operation", ["UpdateItem", "TransactWriteItems"])
def test_whoever_leaves_while_it_waits_is_not_served(patient, holder, sql, operation):
    hold(holder, "left")
    body = {"UpdateItem": add("left"), "TransactWriteItems": {"TransactItems": [{"Update": add("left")}]}}[operation]
    leavers = [Client(patient) for _ in range(6)]
    for client in leavers:
        client.connection.request("POST", "/", json.dumps(body), {
            "X-Amz-Target": f"DynamoDB_20120810.{operation}", "Content-Type": "application/x-amz-json-1.0"})
    until(lambda: waiting(sql) >= 1)
    for client in leavers:
        client.connection.close()
    until(lambda: waiting(sql) == 0)
    holder.execute("ROLLBACK")
    assert timed(patient, operation, body)[0] == (200, None)
    assert get(sql, "Plain", key("left"))["n"] == {"N": "1"}
