"""Many sessions write the same few items, in every isolation level, with savepoints and rollbacks. Afterwards every
acknowledged addition is there exactly once, and each index holds exactly what the items say."""

import json
import random
import threading
import time

import psycopg
import pytest

TABLE = json.dumps({
    "TableName": "History", "BillingMode": "PAY_PER_REQUEST",
    "AttributeDefinitions": [{"AttributeName": name, "AttributeType": kind} for name, kind in
                             [("pk", "S"), ("sk", "N"), ("g", "S"), ("n", "N")]],
    "KeySchema": [{"AttributeName": "pk", "KeyType": "HASH"}, {"AttributeName": "sk", "KeyType": "RANGE"}],
    "LocalSecondaryIndexes": [{"IndexName": "by-n", "Projection": {"ProjectionType": "KEYS_ONLY"}, "KeySchema": [
        {"AttributeName": "pk", "KeyType": "HASH"}, {"AttributeName": "n", "KeyType": "RANGE"}]}],
    "GlobalSecondaryIndexes": [{"IndexName": "by-g", "Projection": {"ProjectionType": "ALL"}, "KeySchema": [
        {"AttributeName": "g", "KeyType": "HASH"}]}],
})
SECONDS = 6
SESSIONS = 8
LEVELS = ["READ COMMITTED", "READ COMMITTED", "REPEATABLE READ", "SERIALIZABLE"]


def addition(chance):
    """Adds one, moves the item in the index; answers its key and the request."""
    key = (f"p{chance.randrange(2)}", chance.randrange(4))
    return key, json.dumps({
        "TableName": "History", "Key": {"pk": {"S": key[0]}, "sk": {"N": str(key[1])}},
        "UpdateExpression": "ADD n :one SET g = :g",
        "ExpressionAttributeValues": {":one": {"N": "1"}, ":g": {"S": f"g{chance.randrange(3)}"}}})


def add_one(connection, chance):
    """Answers its key, or nothing where another had it."""
    key, body = addition(chance)
    status, answer = connection.execute("SELECT status, body FROM ddb.request('UpdateItem', %s)", [body]).fetchone()
    if status == 200:
        return [key]
    assert answer["__type"].endswith("#TransactionConflictException"), answer
    return []


def add_together(connection, chance):
    """Several in one call, those of one key too; answers the keys of those that were done."""
    keys, bodies = zip(*[addition(chance) for _ in range(chance.randint(1, 6))], strict=True)
    answers = connection.execute("SELECT status, body FROM ddb.requests(%s, %s::json[])",
                                 [["UpdateItem"] * len(bodies), list(bodies)]).fetchall()
    assert {status for status, _ in answers} <= {200, 0}, answers
    return [key for key, (status, _) in zip(keys, answers, strict=True) if status == 200]


def transaction(connection, chance, add):
    """One transaction of one to four calls; answers what they added once it is committed."""
    added = []
    connection.execute(f"BEGIN ISOLATION LEVEL {chance.choice(LEVELS)}")
    try:
        for _ in range(chance.randint(1, 4)):
            undone = chance.random() < 0.25
            connection.execute("SAVEPOINT s")
            keys = add(connection, chance)
            if undone:
                connection.execute("ROLLBACK TO s")
            else:
                added += keys
        if chance.random() < 0.15:
            connection.execute("ROLLBACK")
            return []
        connection.execute("COMMIT")
        return added
    except (psycopg.errors.SerializationFailure, psycopg.errors.DeadlockDetected):
        connection.execute("ROLLBACK")
        return []


@pytest.mark.parametrize("add", [add_one, add_together])
def test_nothing_is_lost_and_indexes_agree(cluster, add):
    database = f"history_{add.__name__}"
    cluster.create_database(database)
    with cluster.connect(database) as sql:
        sql.execute("SELECT ddb.create_table(%s)", [TABLE])
    acknowledged, faults = [], []
    until = time.monotonic() + SECONDS

    def work(seed):
        chance = random.Random(seed)
        try:
            with cluster.connect(database) as connection:
                connection.execute("SET extenddb.lock_timeout = '500ms'; SET deadlock_timeout = '50ms'")
                while time.monotonic() < until:
                    acknowledged.extend(transaction(connection, chance, add))
        except Exception as fault:  # noqa: BLE001 - reported by the test itself
            faults.append(fault)

    threads = [threading.Thread(target=work, args=[seed]) for seed in range(SESSIONS)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert faults == []
    assert len(acknowledged) > 50

    with cluster.connect(database) as sql:
        [(storage,)] = sql.execute("SELECT 'ddb_data.t' || id FROM ddb.tables WHERE name = 'History'").fetchall()
        items = sql.execute(f"SELECT item::json FROM {storage}").fetchall()
        items = {(item["pk"]["S"], int(item["sk"]["N"])): item for (item,) in items}
        assert {key: int(item["n"]["N"]) for key, item in items.items()} == \
            {key: acknowledged.count(key) for key in set(acknowledged)}
        for number, names in [(1, {"pk", "sk", "n"}), (2, {"pk", "sk", "n", "g"})]:
            entries = [entry for (entry,) in sql.execute(f"SELECT item::json FROM {storage}_i{number}")]
            assert len(entries) == len(items)
            for entry in entries:
                item = items[entry["pk"]["S"], int(entry["sk"]["N"])]
                assert entry == {name: value for name, value in item.items() if name in names}
