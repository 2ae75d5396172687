"""Two or more transactions at once: what may not both happen does not, what is sent twice with a token is done once."""

import itertools
import random
import threading

import pytest

from clients import Background, at_once
from harness.cluster import wait_until
from harness.tables import ORDERS
from histories.connection import Connection, exception

ROUNDS = 40
PLAIN = {"TableName": "Races", "BillingMode": "PAY_PER_REQUEST",
         "AttributeDefinitions": [{"AttributeName": "pk", "AttributeType": "S"}],
         "KeySchema": [{"AttributeName": "pk", "KeyType": "HASH"}]}
ABSENT = {"ConditionExpression": "attribute_not_exists(pk)"}
_names = itertools.count(1)


@pytest.fixture(scope="module", autouse=True)
def tables(server):
    for table in (PLAIN, {"TableName": "Orders", **ORDERS}):
        server.ok("CreateTable", table)
        wait_until(lambda: server.ok("DescribeTable", {"TableName": table["TableName"]})["Table"]["TableStatus"] == "ACTIVE",
                   30, "the table is there")


def fresh(name):
    return f"{name} {next(_names)}"


def key(name):
    return {"pk": {"S": name}}


def put(name, by, **condition):
    return {"Put": {"TableName": "Races", "Item": {**key(name), "by": {"N": str(by)}}, **condition}}


def check(name, **condition):
    return {"ConditionCheck": {"TableName": "Races", "Key": key(name), **condition}}


def delete(name, **condition):
    return {"Delete": {"TableName": "Races", "Key": key(name), **condition}}


def update(name, by, **condition):
    return {"Update": {"TableName": "Races", "Key": key(name), "UpdateExpression": "SET #by = :by",
                       "ExpressionAttributeNames": {"#by": "by"}, "ExpressionAttributeValues": {":by": {"N": str(by)}},
                       **condition}}


def add(name, one=1):
    return {"Update": {"TableName": "Races", "Key": key(name), "UpdateExpression": "ADD n :one",
                       "ExpressionAttributeValues": {":one": {"N": str(one)}}}}


def get(server, name):
    return server.ok("GetItem", {"TableName": "Races", "Key": key(name), "ConsistentRead": True}).get("Item")


def number(server, name):
    item = get(server, name)
    return 0 if item is None else int(item["n"]["N"])


def codes(answer):
    assert exception(answer) == "TransactionCanceledException", answer
    return [reason["Code"] for reason in answer["CancellationReasons"]]


class Race:
    """Rounds in which all send at one moment, each over a connection of its own."""

    def __init__(self, server, count):
        self.connections = [Connection(server) for _ in range(count)]
        for connection in self.connections:
            connection.call("ListTables", {})

    def run(self, bodies, operation="TransactWriteItems"):
        start = threading.Barrier(len(bodies))

        def send(position):
            start.wait(60)
            return self.connections[position].call(operation, bodies[position])

        return at_once(len(bodies), send)


# The first's members and the second's; who of them may succeed; whose item may be left of x and of y after those winners.
SKEW = {
    "checks": (lambda x, y: [check(y, **ABSENT), put(x, 1)], lambda x, y: [check(x, **ABSENT), put(y, 2)],
               {(1,): (1, None), (2,): (None, 2)}),
    "deletes of nothing": (lambda x, y: [delete(y, **ABSENT), put(x, 1)], lambda x, y: [delete(x, **ABSENT), put(y, 2)],
                           {(1,): (1, None), (2,): (None, 2)}),
    "deletes without condition": (lambda x, y: [delete(y), put(x, 1)], lambda x, y: [delete(x), put(y, 2)],
                                  {(1,): (1, None), (2,): (None, 2), (1, 2): "either"}),
    "updates of nothing": (lambda x, y: [update(x, 1, **ABSENT), put(y, 1)], lambda x, y: [update(y, 2, **ABSENT), put(x, 2)],
                           {(1,): (1, 1), (2,): (2, 2)}),
}


@pytest.mark.parametrize("turned", [False, True])
@pytest.mark.parametrize("name", SKEW)
def test_no_write_skew(server, name, turned):
    first, second, allowed = SKEW[name]
    race, seen = Race(server, 2), set()
    for _ in range(ROUNDS):
        x, y = fresh("x"), fresh("y")
        members = [first(x, y), second(x, y)]
        if turned:
            members = [each[::-1] for each in members]
        answers = race.run([{"TransactItems": each} for each in members])
        for status, answer in answers:
            assert status == 200 or set(codes(answer)) <= {"None", "ConditionalCheckFailed", "TransactionConflict"}, answer
        winners = tuple(position + 1 for position, (status, _) in enumerate(answers) if status == 200)
        left = tuple(item and int(item["by"]["N"]) for item in (get(server, x), get(server, y)))
        assert winners in allowed, (winners, answers)
        assert left == allowed[winners] or (allowed[winners] == "either" and left in ((1, None), (None, 2))), (winners, left)
        seen.add(winners)
    assert seen


@pytest.mark.parametrize("count", [2, 8, 16])
def test_of_many_creators_one_wins_and_indexes_hold_its_row(server, count):
    race = Race(server, count)
    for round_ in range(ROUNDS // 2):
        name = fresh("created")
        # Each with an item of its own besides, which only the winner's commit makes.
        answers = race.run([{"TransactItems": [
            {"Put": {"TableName": "Orders", **ABSENT, "Item": {
                **key(name), "sk": {"S": "a"}, "g": {"S": f"{name} {by}"}, "lk": {"N": str(by)}, "note": {"S": str(by)}}}},
            put(f"{name} {by}", by)][:: 1 if by % 2 else -1]} for by in range(count)])
        winners = [by for by, (status, _) in enumerate(answers) if status == 200]
        assert len(winners) == 1, answers
        for by, (status, answer) in enumerate(answers):
            if status != 200:
                assert codes(answer) in (["ConditionalCheckFailed", "None"][:: 1 if by % 2 else -1],
                                         ["TransactionConflict", "None"][:: 1 if by % 2 else -1]), answer
            assert (get(server, f"{name} {by}") is not None) == (status == 200)
        stored = server.ok("GetItem", {"TableName": "Orders", "Key": {**key(name), "sk": {"S": "a"}}, "ConsistentRead": True})
        assert stored["Item"]["note"] == {"S": str(winners[0])}
        for by in range(count):
            entries = server.ok("Query", {"TableName": "Orders", "IndexName": "by-g", "KeyConditionExpression": "g = :g",
                                          "ExpressionAttributeValues": {":g": {"S": f"{name} {by}"}}})["Items"]
            assert entries == ([stored["Item"]] if by == winners[0] else [])
    assert server.faults("Orders", "Races") == []


def test_unconditional_updates_of_a_missing_item_all_succeed_and_merge(server):
    race = Race(server, 4)
    for _ in range(ROUNDS):
        name = fresh("merged")
        answers = race.run([{"TransactItems": [{"Update": {
            "TableName": "Races", "Key": key(name), "UpdateExpression": f"SET a{by} = :v",
            "ExpressionAttributeValues": {":v": {"N": str(by)}}}}]} for by in range(4)])
        assert [status for status, _ in answers] == [200] * 4, answers
        assert get(server, name) == {**key(name), **{f"a{by}": {"N": str(by)} for by in range(4)}}


# Tokens. That an attempt which was paused cannot go on after another took its token over has no meaning here: a running
# attempt is nothing but the lock on its token's key, held by the database transaction that would commit its writes. It is
# gone when that is gone, and nobody takes it over before.

IN_PROGRESS = "TransactionInProgressException"


def test_one_token_at_once_is_one_write(server):
    race = Race(server, 2)
    name = fresh("once")
    for round_ in range(ROUNDS):
        answers = race.run([{"ClientRequestToken": f"{name} {round_}", "TransactItems": [add(name)]}] * 2)
        assert {200} <= {status for status, _ in answers}
        assert all(status == 200 or exception(answer) == IN_PROGRESS for status, answer in answers), answers
        assert number(server, name) == round_ + 1


def test_one_token_at_once_by_many_is_one_write(server):
    race = Race(server, 16)
    name = fresh("once")
    for round_ in range(ROUNDS // 2):
        answers = race.run([{"ClientRequestToken": f"{name} {round_}", "TransactItems": [add(name), add(f"{name} too")]}] * 16)
        assert all(status == 200 or exception(answer) == IN_PROGRESS for status, answer in answers), answers
        assert (number(server, name), number(server, f"{name} too")) == (round_ + 1, round_ + 1)


def test_one_token_at_once_of_what_is_cancelled(server):
    race = Race(server, 2)
    for _ in range(ROUNDS):
        name = fresh("cancelled")
        body = {"ClientRequestToken": name, "TransactItems": [
            add(name), check(f"{name} guard", ConditionExpression="attribute_exists(pk)")]}
        for status, answer in race.run([body] * 2):
            assert status == 400
            assert exception(answer) == IN_PROGRESS or codes(answer) == ["None", "ConditionalCheckFailed"], answer
        assert get(server, name) is None


def test_two_requests_with_one_token_at_once(server):
    """One of them runs; the other one is a mismatch, whichever is first."""
    race = Race(server, 2)
    for _ in range(ROUNDS):
        name = fresh("rivals")
        answers = race.run([{"ClientRequestToken": name, "TransactItems": [add(name, by)]} for by in (1, 2)])
        winners = [by for by, (status, _) in zip((1, 2), answers) if status == 200]
        assert len(winners) == 1, answers
        (loser,) = [answer for status, answer in answers if status != 200]
        assert exception(loser) == "IdempotentParameterMismatchException"
        assert number(server, name) == winners[0]


def test_one_token_a_moment_later_is_a_replay(server):
    first, second = Connection(server), Connection(server)
    for _ in range(ROUNDS // 2):
        name = fresh("moment")
        body = {"ClientRequestToken": name, "TransactItems": [add(name)]}
        later = Background(lambda: (threading.Event().wait(0.05), second.call("TransactWriteItems", body))[1])
        assert first.call("TransactWriteItems", body) == (200, {})
        assert later.result() == (200, {})
        assert number(server, name) == 1


# Sums and generations.

def test_two_counters_keep_equal_through_a_crash(server, full):
    a, b = fresh("a"), fresh("b")
    committed, lost, stop, up = [0] * 8, [0] * 8, threading.Event(), threading.Event()
    up.set()

    def adder(who):
        chance, connection = random.Random(who), Connection(server)
        while not stop.is_set():
            members = [add(a), add(b)]
            chance.shuffle(members)
            try:
                status, answer = connection.call("TransactWriteItems", {"TransactItems": members})
            except OSError:
                status, answer = 500, None
            if status == 200:
                committed[who] += 1
            else:
                assert status >= 500, answer
                lost[who] += 1
                up.wait(60)

    team = [Background(lambda who=who: adder(who)) for who in range(8)]
    try:
        for name, break_it in list(server.breaks.items()) * (5 if full else 1):
            goal = sum(committed) + 150
            wait_until(lambda: sum(committed) >= goal or any(one.done() for one in team), 60, "more commits")
            # Whoever is answered that it is gone waits for it to come back.
            if name not in server.stays_up:
                up.clear()
            try:
                break_it()
            finally:
                up.set()
    finally:
        stop.set()
    for one in team:
        one.result()
    assert server.faults("Races") == []
    assert number(server, a) == number(server, b)
    assert sum(committed) <= number(server, a) <= sum(committed) + sum(lost)


def test_no_read_is_torn(server):
    a, b, other = fresh("a"), fresh("b"), fresh("other")
    generations, stop = 300, threading.Event()

    def writer():
        connection = Connection(server)
        try:
            for generation in range(1, generations + 1):
                assert connection.call("TransactWriteItems", {"TransactItems": [
                    put(a, generation), put(b, generation)][:: 1 if generation % 2 else -1]}) == (200, {})
        finally:
            stop.set()

    def reader(who):
        connection, seen = Connection(server), [0]
        names = [a, b] if who % 2 else [b, other, a]
        while not stop.is_set():
            status, answer = connection.call("TransactGetItems", {"TransactItems": [
                {"Get": {"TableName": "Races", "Key": key(name)}} for name in names]})
            assert status == 200, answer
            found = {int(response["Item"]["by"]["N"]) if response else 0
                     for name, response in zip(names, answer["Responses"]) if name != other}
            assert len(found) == 1, answer
            seen += found
            assert seen[-2] <= seen[-1]
        return len(set(seen))

    # One moves on, seven look.
    seen = at_once(8, lambda who: writer() if who == 0 else reader(who))
    assert min(seen[1:]) > 2
