"""Members of batches are good, refused, in conflict, broken, too large, or make the server raise an error. Each gets the answer that
it gets by itself, what is stored in the end is the same, and none touches its neighbours.

`--full`: ten times as many."""

import json
import random

import psycopg
import pytest
from clients import Client, at_once

from harness import Proxy
from harness.tables import ORDERS, create_table, index_faults, items, request, storage

NO_LOCK = {"waitTag": "0" * 16}
CONFLICT_AFTER_MS = 100
ITEM_MAX_BYTES = 409_600
TABLES = ("Alone", "Together")
NOT_DONE = 0
ERROR = "an error of the server"


@pytest.fixture(scope="module", autouse=True)
def trigger(cluster, database):
    with cluster.connect(database) as admin:
        admin.execute(f"ALTER DATABASE {database} SET extenddb.lock_timeout = '{CONFLICT_AFTER_MS}ms'")
        admin.execute("""CREATE FUNCTION public.no_raise() RETURNS trigger LANGUAGE plpgsql AS $$
            BEGIN
                IF NEW.pk = 'raise' THEN RAISE 'no such item'; END IF;
                IF NEW.pk = 'check' THEN RAISE check_violation; END IF;
                RETURN NEW;
            END $$""")


@pytest.fixture
def tables(cluster, database):
    """Two tables that are the same, new, with items that another session holds in both."""
    with cluster.connect(database) as admin, cluster.connect(database) as holder:
        for name in TABLES:
            create_table(admin, name, ORDERS)
            admin.execute(f"CREATE TRIGGER no_raise BEFORE INSERT OR UPDATE ON {storage(admin, name)} "
                          "FOR EACH ROW EXECUTE FUNCTION public.no_raise()")
        holder.execute("BEGIN")
        for name in TABLES:
            request(holder, "PutItem", {"TableName": name, "Item": {**key("held", "a"), "g": {"S": "g"}}})
        yield
        holder.execute("ROLLBACK")
        for name in TABLES:
            admin.execute("SELECT ddb.delete_table(%s)", [json.dumps({"TableName": name})])


def key(pk, sk):
    return {"pk": {"S": pk}, "sk": {"S": sk}}


class Members:
    """Requests on the items of one owner. `T` is the table's name."""

    def __init__(self, seed, owner):
        self.chance = random.Random(f"{seed} {owner}")
        self.owner, self.numbers = owner, 0

    def member(self):
        kinds = {self.good: 40, self.refused: 12, self.read: 12, self.broken: 14, self.held: 3, self.raises: 3,
                 self.too_large: 4, self.large: 2, self.elsewhere: 4}
        (kind,) = self.chance.choices(list(kinds), list(kinds.values()))
        operation, body = kind()
        return operation, json.dumps({"TableName": "T", **body}) if isinstance(body, dict) else body

    def key(self):
        return key(f"{self.owner}-{self.chance.choice('abc')}", self.chance.choice("xy"))

    def more(self):
        return {**self.chance.choice([{}, {"ReturnConsumedCapacity": "INDEXES"}, {"ReturnItemCollectionMetrics": "SIZE"}]),
                **self.chance.choice([{}, {"ReturnValuesOnConditionCheckFailure": "ALL_OLD"}])}

    def values(self):
        return {"g": {"S": self.chance.choice("uvw")}, "lk": {"N": str(self.chance.randrange(5))}}

    def good(self, **more):
        more = {**self.more(), **more}
        kind = self.chance.randrange(5)
        if kind < 2:
            item = {**self.key(), **self.values(), "note": {"S": "n" * self.chance.randrange(3000)}}
            return "PutItem", {"Item": item, "ReturnValues": self.chance.choice(["NONE", "ALL_OLD"]), **more}
        if kind < 4:
            text, values = self.chance.choice([
                ("ADD n :n SET g = :g", {":n": {"N": "1"}, ":g": self.values()["g"]}),
                ("SET r2 = if_not_exists(r2, :n) + :n, g2 = :g REMOVE lk", {":n": {"N": "2"}, ":g": {"S": "z"}}),
                ("SET tags = list_append(if_not_exists(tags, :none), :one)", {":none": {"L": []}, ":one": {"L": [{"S": "t"}]}})])
            returned = self.chance.choice(["NONE", "ALL_OLD", "UPDATED_OLD", "ALL_NEW", "UPDATED_NEW"])
            values = {**values, **more.pop("ExpressionAttributeValues", {})}
            return "UpdateItem", {"Key": self.key(), "UpdateExpression": text, "ExpressionAttributeValues": values,
                                  "ReturnValues": returned, **more}
        return "DeleteItem", {"Key": self.key(), "ReturnValues": self.chance.choice(["NONE", "ALL_OLD"]), **more}

    def refused(self):
        """Or not: it depends on what is stored."""
        return self.good(**self.chance.choice([
            {"ConditionExpression": "attribute_not_exists(pk)"}, {"ConditionExpression": "attribute_exists(g)"},
            {"ConditionExpression": "lk > :l", "ExpressionAttributeValues": {":l": {"N": "2"}}}]))

    def read(self):
        return "GetItem", {"Key": self.key(), "ConsistentRead": True, **self.chance.choice([
            {}, {"ProjectionExpression": "g, tags[0], n"}, {"ReturnConsumedCapacity": "TOTAL"}])}

    def broken(self):
        good_key = self.key()
        return self.chance.choice([
            ("PutItem", {"Item": {"pk": {"S": "a"}}}),
            ("PutItem", {"Item": {**good_key, "n": {"N": "1e999"}}}),
            ("PutItem", {"Item": {**good_key, "n": {"N": "one"}}}),
            ("PutItem", {"Item": {**good_key, "s": {"SS": ["a", "a"]}}}),
            ("PutItem", {"Item": {**good_key, "s": {"SS": []}}}),
            ("PutItem", {"Item": {**good_key, "b": {"B": "no base64!"}}}),
            ("PutItem", {"Item": {**good_key, "b": {"BOOL": "yes"}}}),
            ("PutItem", {"Item": {**good_key, "x": {"X": "a"}}}),
            ("PutItem", {"Item": {**good_key, "x": {"S": "a", "N": "1"}}}),
            ("PutItem", {"Item": {**good_key, "x": {}}}),
            ("PutItem", {"Item": {**good_key, "g": {"N": "1"}}}),
            ("PutItem", {"Item": {**good_key, "g": {"S": ""}}}),
            ("PutItem", {"Item": "none"}),
            ("PutItem", {"Item": {**good_key}, "ConditionExpression": "a = "}),
            ("PutItem", {"Item": {**good_key}, "ConditionExpression": "a = :a"}),
            ("PutItem", {"Item": {**good_key}, "ReturnValues": "ALL_NEW"}),
            ("PutItem", '{"TableName":"T","Item":{"pk":{"S":"\\ud800"},"sk":{"S":"a"}}}'),
            ("PutItem", '{"TableName":"T","Item":{"pk":{"S":"a"},"sk":{"S":"a"}},"Item":7}'),
            ("UpdateItem", {"Key": good_key, "UpdateExpression": "SET pk = :a", "ExpressionAttributeValues": {":a": {"S": "a"}}}),
            ("UpdateItem", {"Key": good_key, "UpdateExpression": "SET n = missing"}),
            ("UpdateItem", {"Key": good_key, "UpdateExpression": "ADD g :n", "ExpressionAttributeValues": {":n": {"N": "1"}}}),
            ("UpdateItem", {"Key": good_key, "UpdateExpression": "SET g = :n", "ExpressionAttributeValues": {":n": {"N": "1"}}}),
            ("UpdateItem", {"Key": {**good_key, "z": {"S": "z"}}}),
            ("DeleteItem", {"Key": {"pk": {"S": "a"}, "sk": {"N": "1"}}}),
            ("DeleteItem", {}),
            ("GetItem", {"Key": {}}),
            ("GetItem", {"Key": {"pk": {"S": ""}, "sk": {"S": "a"}}}),
            ("GetItem", {"Key": good_key, "ProjectionExpression": "g, g"}),
        ])

    def elsewhere(self):
        operation, body = self.good()
        return operation, {**body, "TableName": self.chance.choice(["Missing", "x", ""])}

    def held(self):
        return self.chance.choice([
            ("PutItem", {"Item": key("held", "a")}), ("DeleteItem", {"Key": key("held", "a")}),
            ("UpdateItem", {"Key": key("held", "a"), "UpdateExpression": "REMOVE g",
                            "ConditionExpression": "attribute_exists(pk)"})])

    def raises(self):
        """Each key once: several changes of one in a batch may be one change of its row."""
        self.numbers += 1
        item = key(self.chance.choice(["raise", "check"]), f"{self.owner}-{self.numbers}")
        return self.chance.choice([
            ("PutItem", {"Item": item}), ("PutItem", {"Item": item, "ReturnValues": "ALL_OLD"}),
            # Refused, it does not come to that.
            ("PutItem", {"Item": item, "ConditionExpression": "attribute_exists(pk)"}),
            ("UpdateItem", {"Key": item})])

    def too_large(self):
        return self.chance.choice([
            ("PutItem", {"Item": {**self.key(), "note": {"S": "n" * ITEM_MAX_BYTES}}}),
            ("UpdateItem", {"Key": self.key(), "UpdateExpression": "SET a = :a, b = :a", "ExpressionAttributeValues": {
                ":a": {"S": "n" * (ITEM_MAX_BYTES // 2)}}}),
            ("DeleteItem", {"Key": {**self.key(), "pk": {"S": "k" * 2049}}}),
            ("GetItem", {"Key": {**self.key(), "sk": {"S": "k" * 1025}}}),
            ("PutItem", {"Item": self.key(), "ConditionExpression": "a = :a OR " * 700 + "a = :a",
                         "ExpressionAttributeValues": {":a": {"S": "a"}}})])

    def large(self):
        return "PutItem", {"Item": {**self.key(), "note": {"S": "n" * (ITEM_MAX_BYTES - 1000)}}}


def of(table, member):
    operation, body = member
    return operation, body.replace('"TableName":"T"', f'"TableName":"{table}"').replace('"TableName": "T"', f'"TableName":"{table}"')


def as_of(table, answer):
    """An answer with the table's name taken out."""
    return json.loads(json.dumps(answer).replace(table, "T"))


def shown(member):
    operation, body = member
    return operation, body[:500]


def check_stored(sql):
    stored = [sorted(items(sql, name), key=lambda item: (item["pk"]["S"], item["sk"]["S"])) for name in TABLES]
    assert stored[0] == stored[1]
    assert [index_faults(sql, name) for name in TABLES] == [[], []]


def by_itself(sql, member):
    operation, body = of("Alone", member)
    try:
        status, answer = sql.execute("SELECT * FROM ddb.request(%s, %s, %s)", [operation, body, json.dumps(NO_LOCK)]).fetchone()
    except (psycopg.errors.RaiseException, psycopg.errors.CheckViolation):
        return ERROR
    return NOT_DONE if status == NOT_DONE else as_of("Alone", (status, answer))


def at_one_go(sql, members):
    sent = [of("Together", member) for member in members]
    rows = sql.execute("SELECT * FROM ddb.requests(%s, %s::json[], %s::json[])", [
        [operation for operation, _ in sent], [body for _, body in sent], [json.dumps(NO_LOCK)] * len(sent)]).fetchall()
    return [NOT_DONE if status == NOT_DONE else as_of("Together", (status, answer)) for status, answer in rows]


@pytest.mark.parametrize("seed", range(3))
def test_members_of_a_call_are_as_by_themselves(sql, tables, seed, full):
    print(f"seed {seed}")
    source = Members(seed, "sql")
    answered = set()
    for turn in range(200 if full else 20):
        members = [source.member() for _ in range(source.chance.randint(1, 32))]
        wanted = [by_itself(sql, member) for member in members]
        if ERROR in wanted:
            before = items(sql, "Together")
            with pytest.raises((psycopg.errors.RaiseException, psycopg.errors.CheckViolation)):
                at_one_go(sql, members)
            assert items(sql, "Together") == before
        # Those that raise an error have left nothing in either table.
        rest = [(member, answer) for member, answer in zip(members, wanted, strict=True) if answer != ERROR]
        answers = at_one_go(sql, [member for member, _ in rest])
        for (member, answer), found in zip(rest, answers, strict=True):
            assert found == answer, (seed, turn, shown(member))
        answered |= {answer if isinstance(answer, (str, int)) else answer[0] for answer in wanted}
    assert answered == {200, 400, NOT_DONE, ERROR}
    check_stored(sql)


@pytest.mark.parametrize("seed", range(2))
def test_members_of_a_batch_are_as_by_themselves(cluster, database, sql, tables, seed, full, tmp_path):
    """Each client has items of its own, so that nothing but its neighbours in the batches could make a difference."""
    print(f"seed {seed}")
    clients, turns = 16, 200 if full else 25

    def send(proxy, table, number):
        client, source = Client(proxy), Members(seed, number)
        members = [source.member() for _ in range(turns)]
        return [(member, as_of(table, client.call(*of(table, member)))) for member in members]

    answers = {}
    for table, manner in [("Alone", ["--batch", "1"]), ("Together", ["--pool", "2", "--batch-always"])]:
        proxy = Proxy(cluster.conninfo(database), tmp_path / table, auth="none", arguments=manner)
        try:
            answers[table] = at_once(clients, lambda number: send(proxy, table, number))
        finally:
            proxy.stop()
    for alone, together in zip(answers["Alone"], answers["Together"], strict=True):
        for (member, wanted), (_, found) in zip(alone, together, strict=True):
            assert found == wanted, (seed, shown(member))
    counted = {status for alone in answers["Alone"] for _, (status, _) in alone}
    assert counted == {200, 400, 500}
    check_stored(sql)
