"""DynamoDB tables as SQL sessions see them: calls of the extension's functions, and where the items are."""

import hashlib
import json
from collections import Counter

#: pk and sk of type S, a local index and three global ones, each projection once.
ORDERS = {
    "AttributeDefinitions": [
        {"AttributeName": name, "AttributeType": kind}
        for name, kind in [("pk", "S"), ("sk", "S"), ("lk", "N"), ("g", "S"), ("g2", "S"), ("r2", "N")]
    ],
    "KeySchema": [{"AttributeName": "pk", "KeyType": "HASH"}, {"AttributeName": "sk", "KeyType": "RANGE"}],
    "BillingMode": "PAY_PER_REQUEST",
    "LocalSecondaryIndexes": [
        {
            "IndexName": "by-lk",
            "KeySchema": [{"AttributeName": "pk", "KeyType": "HASH"}, {"AttributeName": "lk", "KeyType": "RANGE"}],
            "Projection": {"ProjectionType": "KEYS_ONLY"},
        }
    ],
    "GlobalSecondaryIndexes": [
        {
            "IndexName": "by-g",
            "KeySchema": [{"AttributeName": "g", "KeyType": "HASH"}],
            "Projection": {"ProjectionType": "ALL"},
        },
        {
            "IndexName": "by-g2",
            "KeySchema": [{"AttributeName": "g2", "KeyType": "HASH"}, {"AttributeName": "r2", "KeyType": "RANGE"}],
            "Projection": {"ProjectionType": "KEYS_ONLY"},
        },
        {
            "IndexName": "by-g-lk",
            "KeySchema": [{"AttributeName": "g", "KeyType": "HASH"}, {"AttributeName": "lk", "KeyType": "RANGE"}],
            "Projection": {"ProjectionType": "INCLUDE", "NonKeyAttributes": ["note", "r2"]},
        },
    ],
}

#: pk of type S, no index.
PLAIN = {
    "AttributeDefinitions": [{"AttributeName": "pk", "AttributeType": "S"}],
    "KeySchema": [{"AttributeName": "pk", "KeyType": "HASH"}],
    "BillingMode": "PAY_PER_REQUEST",
}


def create_table(connection, name, shape=PLAIN):
    return call(connection, "create_table", {"TableName": name, **shape})


def call(connection, function, request):
    """`ddb.<function>(request)`: the answer, or psycopg's error."""
    text = request if isinstance(request, str) else json.dumps(request)
    return connection.execute(f"SELECT ddb.{function}(%s)", [text]).fetchone()[0]


def request(connection, operation, request, context=None):
    """`ddb.request`: status and body."""
    return connection.execute(
        "SELECT * FROM ddb.request(%s, %s, %s)", [operation, json.dumps(request), json.dumps(context or {})]
    ).fetchone()


def put(connection, table, item):
    return call(connection, "put_item", {"TableName": table, "Item": item})


def get(connection, table, key):
    return call(connection, "get_item", {"TableName": table, "Key": key, "ConsistentRead": True}).get("Item")


def items(connection, table):
    """All items of a table, as Scan answers them."""
    found, start = [], {}
    while True:
        page = call(connection, "scan", {"TableName": table, **start})
        found += page["Items"]
        if "LastEvaluatedKey" not in page:
            return found
        start = {"ExclusiveStartKey": page["LastEvaluatedKey"]}


def storage(connection, table):
    """The table of PostgreSQL that holds the items: `ddb_data.t<id>`. For a superuser."""
    found = connection.execute("SELECT id FROM ddb.tables WHERE name = %s", [table]).fetchone()
    return f"ddb_data.t{found[0]}"


def index_faults(connection, table):
    """What in the stored rows of a table and its indexes does not follow from its items. For a superuser.

    Worked out from the items' JSON and the table's description alone."""
    base = storage(connection, table)
    description = call(connection, "describe_table", {"TableName": table})["Table"]
    key = [part["AttributeName"] for part in description["KeySchema"]]
    kinds = {part["AttributeName"]: part["AttributeType"] for part in description["AttributeDefinitions"]}
    rows = connection.execute(f"SELECT bucket, pk, sk, item::json, item FROM {base}").fetchall()
    faults = []
    for bucket, pk, sk, item, _ in rows:
        encoded = _encoded_strings(item, key, kinds)
        if encoded and (pk, sk) != encoded:
            faults.append(f"{base}: {item} stands under {pk}, {sk}")
        if len(pk) <= 64 and bucket != _bucket(pk):
            faults.append(f"{base}: {item} has bucket {bucket}")

    indexes = description.get("LocalSecondaryIndexes", []) + description.get("GlobalSecondaryIndexes", [])
    stored = {}
    for relation, comment in connection.execute(
        """SELECT c.oid::regclass::text, obj_description(c.oid, 'pg_class') FROM pg_class c
           WHERE c.relnamespace = 'ddb_data'::regnamespace AND c.relkind = 'r' AND c.relname LIKE %s""",
        [base.removeprefix("ddb_data.") + r"\_i%"],
    ):
        stored[comment.removeprefix(f"{table} ")] = relation
    if set(stored) != {index["IndexName"] for index in indexes}:
        return faults + [f"indexes {sorted(stored)} are stored"]
    for index in indexes:
        index_key = [part["AttributeName"] for part in index["KeySchema"]]
        projection = index["Projection"]
        kept = {*key, *index_key, *projection.get("NonKeyAttributes", [])}
        implied = Counter()
        for _, pk, sk, item, _ in rows:
            if all(kinds[name] in item.get(name, {}) for name in index_key):
                entry = {n: v for n, v in item.items() if projection["ProjectionType"] == "ALL" or n in kept}
                implied[pk, sk, canonical(entry)] += 1
        found = Counter()
        relation = stored[index["IndexName"]]
        for bucket, ipk, pk, sk, entry in connection.execute(
            f"SELECT bucket, ipk, pk, sk, item::json FROM {relation}"
        ):
            found[pk, sk, canonical(entry)] += 1
            if len(ipk) <= 64 and bucket != _bucket(ipk):
                faults.append(f"{relation}: {entry} has bucket {bucket}")
            hash_value = entry[index_key[0]]
            if "S" in hash_value and len(ipk) <= 64 and ipk != hash_value["S"].encode():
                faults.append(f"{relation}: {entry} stands under {ipk}")
        faults += [f"{relation} lacks {entry}" for entry in implied - found]
        faults += [f"{relation} has too much: {entry}" for entry in found - implied]
    return faults


def index_faults_by_wire(client, table):
    """What the indexes of a table hold that does not follow from its items, or lack, as Scan answers both. `client` has
    `ok(operation, body)`."""
    description = client.ok("DescribeTable", {"TableName": table})["Table"]
    key = [part["AttributeName"] for part in description["KeySchema"]]
    kinds = {part["AttributeName"]: part["AttributeType"] for part in description["AttributeDefinitions"]}
    held = scan_by_wire(client, table)
    faults = []
    for index in description.get("LocalSecondaryIndexes", []) + description.get("GlobalSecondaryIndexes", []):
        index_key = [part["AttributeName"] for part in index["KeySchema"]]
        projection = index["Projection"]
        kept = {*key, *index_key, *projection.get("NonKeyAttributes", [])}
        implied = Counter(
            canonical({n: v for n, v in item.items() if projection["ProjectionType"] == "ALL" or n in kept})
            for item in held
            if all(kinds[name] in item.get(name, {}) for name in index_key)
        )
        found = Counter(canonical(entry) for entry in scan_by_wire(client, table, IndexName=index["IndexName"]))
        faults += [f"{index['IndexName']} lacks {entry}" for entry in implied - found]
        faults += [f"{index['IndexName']} has too much: {entry}" for entry in found - implied]
    return faults


def scan_by_wire(client, table, **more):
    """All items of a table or index."""
    found, start = [], {}
    while True:
        page = client.ok("Scan", {"TableName": table, **more, **start})
        found += page["Items"]
        if "LastEvaluatedKey" not in page:
            return found
        start = {"ExclusiveStartKey": page["LastEvaluatedKey"]}


def canonical(item):
    """A text that is the same for equal items."""

    def value(typed):
        ((kind, inner),) = typed.items()
        if kind in ("SS", "NS", "BS"):
            return {kind: sorted(inner)}
        if kind == "L":
            return {kind: [value(element) for element in inner]}
        if kind == "M":
            return {kind: {name: value(element) for name, element in inner.items()}}
        return typed

    return json.dumps({name: value(typed) for name, typed in item.items()}, sort_keys=True)


def _encoded_strings(item, key, kinds):
    if any(kinds[name] != "S" for name in key):
        return None
    encoded = [item[name]["S"].encode() for name in key] + [b""]
    return (encoded[0], encoded[1]) if len(encoded[0]) <= 64 else None


def _bucket(value):
    first = int.from_bytes(hashlib.sha256(value).digest()[:4], "big") ^ 0x8000_0000
    return first - (1 << 32) if first >= 1 << 31 else first
