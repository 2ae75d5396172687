"""Dump and restore into another cluster: every answer stays the same, by SQL and by an SDK; and create, drop, create again."""

import base64
import json

import psycopg
import pytest

from harness import Cluster, Proxy
from harness.tables import ORDERS, call, canonical, create_table, get, index_faults, items, put, request

NUMBERS = {
    "AttributeDefinitions": [{"AttributeName": "pk", "AttributeType": "B"}, {"AttributeName": "sk", "AttributeType": "N"}],
    "KeySchema": [{"AttributeName": "pk", "KeyType": "HASH"}, {"AttributeName": "sk", "KeyType": "RANGE"}],
    "BillingMode": "PROVISIONED",
    "ProvisionedThroughput": {"ReadCapacityUnits": 3, "WriteCapacityUnits": 4},
}
TABLES = {"Orders": ORDERS, "Numbers": NUMBERS, "a.Table-with_every.kind-of_character_" + "x" * 200: ORDERS, "Empty": ORDERS}
LONG = list(TABLES)[2]


def fill(sql):
    for name, shape in TABLES.items():
        create_table(sql, name, shape)
    # An id that is given to no table any more.
    create_table(sql, "Dropped")
    call(sql, "delete_table", {"TableName": "Dropped"})
    for number in range(150):
        put(sql, "Orders", {
            "pk": {"S": f"p{number % 7}"}, "sk": {"S": f"{number:04}"}, "lk": {"N": str(number * 3 % 50 - 25)},
            **({"g": {"S": f"g{number % 3}"}} if number % 5 else {}),
            **({"g2": {"S": "x\0ü𝄞'\"\\\n"}, "r2": {"N": f"-{number}.5e-{number % 100}"}} if number % 4 == 0 else {}),
            "text": {"S": "\\x41 \t\r\n\0 ' \" \\\\ 漢字 " * (number % 3)}, "set": {"NS": ["1", "-2.5", f"{number + 10}e20"]},
            "map": {"M": {"l": {"L": [{"NULL": True}, {"BOOL": False}, {"B": "AAEC"}]}}}})
    put(sql, "Orders", {"pk": {"S": "big"}, "sk": {"S": "s" * 1024}, "g": {"S": "G" * 2048}, "blob": {"S": "z" * 390_000}})
    put(sql, "Orders", {"pk": {"S": "P" * 2048}, "sk": {"S": "long"}, "lk": {"N": "1"}})
    for number in range(40):
        put(sql, "Numbers", {"pk": {"B": base64.b64encode(bytes([0, number % 3, 255])).decode()},
                             "sk": {"N": str((number - 20) * 10 ** (number % 12))}})
    put(sql, LONG, {"pk": {"S": "only"}, "sk": {"S": "one"}, "g": {"S": "g"}})
    call(sql, "describe_table", {"TableName": "Orders"})


@pytest.fixture(scope="module")
def filled(cluster, database):
    with cluster.connect(database) as sql:
        fill(sql)
    return database


@pytest.fixture(scope="module")
def target():
    """A cluster that has never seen the extension."""
    target = Cluster()
    yield target
    target.remove()


def answers(sql):
    """What a user can see of all tables."""
    seen = {"tables": call(sql, "list_tables", {})["TableNames"]}
    for name in seen["tables"]:
        seen[name, "description"] = call(sql, "describe_table", {"TableName": name})
        seen[name, "scan"] = [canonical(item) for item in items(sql, name)]
        for index in seen[name, "description"]["Table"].get("GlobalSecondaryIndexes", []):
            entries = call(sql, "scan", {"TableName": name, "IndexName": index["IndexName"]})["Items"]
            seen[name, index["IndexName"]] = [canonical(item) for item in entries]
    for pk in ("p0", "p3", "P" * 2048):
        for index in ({}, {"IndexName": "by-lk", "ScanIndexForward": False}):
            seen[pk, str(index)] = call(sql, "query", {
                "TableName": "Orders", "KeyConditionExpression": "pk = :p", **index,
                "ExpressionAttributeValues": {":p": {"S": pk}}})
    return seen


def sdk_answers(cluster, database, log):
    proxy = Proxy(cluster.conninfo(database), log)
    try:
        client = proxy.client()
        names = client.list_tables()["TableNames"]
        seen = {"tables": names}
        for name in names:
            description = client.describe_table(TableName=name)
            seen[name, "description"] = description["Table"]
            pages = client.get_paginator("scan").paginate(TableName=name)
            seen[name, "items"] = [item for page in pages for item in page["Items"]]
            seen[name, "got"] = [
                client.get_item(TableName=name, Key={part["AttributeName"]: item[part["AttributeName"]]
                                                     for part in description["Table"]["KeySchema"]})["Item"]
                for item in seen[name, "items"][:20]]
        seen["query"] = client.query(
            TableName="Orders", IndexName="by-g-lk", KeyConditionExpression="g = :g AND lk > :n",
            ExpressionAttributeValues={":g": {"S": "g1"}, ":n": {"N": "-5"}})["Items"]
        client.put_item(TableName="Empty", Item={"pk": {"S": "after"}, "sk": {"S": "restore"}, "g": {"S": "new"}})
        assert client.query(TableName="Empty", IndexName="by-g", KeyConditionExpression="g = :g",
                            ExpressionAttributeValues={":g": {"S": "new"}})["Count"] == 1
        client.delete_item(TableName="Empty", Key={"pk": {"S": "after"}, "sk": {"S": "restore"}})
        return seen
    finally:
        proxy.stop()


def check_restored(cluster, source, target, name):
    with cluster.connect(source) as one, target.connect(name) as other:
        before, after = answers(one), answers(other)
        assert after.keys() == before.keys()
        for what in before:
            assert after[what] == before[what], what
        for table in TABLES:
            assert index_faults(other, table) == []
        # The sequence was kept: a new table gets an id that none had.
        ids = {number for (number,) in other.execute("SELECT id FROM ddb.tables")}
        create_table(other, "New", ORDERS)
        put(other, "New", {"pk": {"S": "a"}, "sk": {"S": "b"}, "g": {"S": "c"}})
        assert index_faults(other, "New") == []
        new = other.execute("SELECT id FROM ddb.tables WHERE name = 'New'").fetchone()[0]
        assert new > max(ids) + 1
        call(other, "delete_table", {"TableName": "New"})
        owners = other.execute("""SELECT DISTINCT relowner::regrole::text FROM pg_class
                                  WHERE relnamespace IN ('ddb'::regnamespace, 'ddb_data'::regnamespace)""").fetchall()
        assert owners == [("ddb_owner",)]
        assert other.execute("SELECT count(*) FROM pg_depend WHERE refclassid = 'pg_extension'::regclass AND deptype = 'e'"
                             ).fetchone() == one.execute("SELECT count(*) FROM pg_depend WHERE refclassid = "
                                                         "'pg_extension'::regclass AND deptype = 'e'").fetchone()


@pytest.fixture(scope="module")
def source_by_sdk(cluster, filled, tmp_path_factory):
    return sdk_answers(cluster, filled, tmp_path_factory.mktemp("proxy") / "log")


def test_custom_format_into_another_cluster(cluster, filled, target, source_by_sdk, tmp_path):
    dump = cluster.tool("pg_dump", "-Fc", filled).stdout
    target.create_database("custom", extension=False)
    done = target.tool("pg_restore", "--exit-on-error", "-d", "custom", input=dump)
    assert done.stderr == b""
    check_restored(cluster, filled, target, "custom")
    assert sdk_answers(target, "custom", tmp_path / "log") == source_by_sdk


def test_plain_sql_into_another_cluster(cluster, filled, target):
    dump = cluster.tool("pg_dump", filled).stdout
    target.create_database("plain", extension=False)
    target.tool("psql", "-X", "-q", "-v", "ON_ERROR_STOP=1", "-d", "plain", input=dump)
    check_restored(cluster, filled, target, "plain")


def test_inserts_into_another_cluster(cluster, filled, target):
    dump = cluster.tool("pg_dump", "--column-inserts", "--quote-all-identifiers", filled).stdout
    target.create_database("inserts", extension=False)
    target.tool("psql", "-X", "-q", "-v", "ON_ERROR_STOP=1", "-d", "inserts", input=dump)
    check_restored(cluster, filled, target, "inserts")


def test_the_product_alone(cluster, filled, target):
    with cluster.connect(filled) as sql:
        sql.execute("CREATE TABLE IF NOT EXISTS public.theirs AS SELECT 1 AS a")
    dump = cluster.tool("pg_dump", "-Fc", "-e", "extenddb", "-n", "ddb", "-n", "ddb_data", filled).stdout
    target.create_database("alone", extension=False)
    target.tool("pg_restore", "--exit-on-error", "-d", "alone", input=dump)
    check_restored(cluster, filled, target, "alone")
    with target.connect("alone") as sql:
        assert sql.execute("SELECT to_regclass('public.theirs')").fetchone() == (None,)


def test_directory_format_in_parallel(cluster, filled, target, tmp_path):
    tmp_path.chmod(0o755)
    cluster.tool("pg_dump", "-Fd", "-j", "2", "-f", tmp_path / "dump", filled)
    target.create_database("parallel", extension=False)
    target.tool("pg_restore", "--exit-on-error", "-j", "2", "-d", "parallel", tmp_path / "dump")
    check_restored(cluster, filled, target, "parallel")


def test_tokens_and_claims_are_dumped(cluster, target):
    cluster.create_database("tokens")
    with cluster.connect("tokens") as sql:
        for number in (0, 1):
            sql.execute(f"""INSERT INTO ddb_data.t{number} VALUES (1, 'p', 's', 99, '{{"a":{{"S":"{number}"}}}}')""")
    dump = cluster.tool("pg_dump", "-Fc", "tokens").stdout
    target.create_database("tokens", extension=False)
    target.tool("pg_restore", "--exit-on-error", "-d", "tokens", input=dump)
    with target.connect("tokens") as sql:
        for number in (0, 1):
            row = sql.execute(f"SELECT bucket, pk, sk, expires, item::json FROM ddb_data.t{number}").fetchall()
            assert row == [(1, b"p", b"s", 99, {"a": {"S": str(number)}})]


def work(sql, name):
    """Every kind of statement that a session keeps a plan of."""
    create_table(sql, name, ORDERS)
    key = {"pk": {"S": "a"}, "sk": {"S": "1"}}
    for number in range(3):
        put(sql, name, {**key, "sk": {"S": str(number)}, "g": {"S": "g"}, "lk": {"N": str(number)}})
    put(sql, name, {**key, "g": {"S": "other"}})
    call(sql, "update_item", {"TableName": name, "Key": key, "UpdateExpression": "SET n = :n, g = :g",
                              "ExpressionAttributeValues": {":n": {"N": "1"}, ":g": {"S": "g"}}})
    assert get(sql, name, key)["n"] == {"N": "1"}
    assert call(sql, "query", {"TableName": name, "IndexName": "by-g", "KeyConditionExpression": "g = :g",
                               "ExpressionAttributeValues": {":g": {"S": "g"}}})["Count"] == 3
    assert call(sql, "query", {"TableName": name, "IndexName": "by-lk", "KeyConditionExpression": "pk = :p",
                               "ExpressionAttributeValues": {":p": {"S": "a"}}, "Select": "ALL_ATTRIBUTES"})["Count"] == 2
    call(sql, "delete_item", {"TableName": name, "Key": {**key, "sk": {"S": "2"}}})
    assert len(items(sql, name)) == 2
    assert call(sql, "describe_table", {"TableName": name})["Table"]["TableStatus"] == "ACTIVE"
    assert sql.execute("SELECT ddb.get(%s, %s) ->> 'n'", [name, json.dumps(key)]).fetchone() == ("1",)
    assert index_faults(sql, name) == []


def test_drop_and_create_in_one_session(cluster):
    """With kept plans of functions, types and tables that are gone."""
    cluster.create_database("recreated")
    with cluster.connect("recreated") as sql:
        for round_ in range(3):
            work(sql, "Work")
            work(sql, f"Work{round_}")
            sql.execute("DROP EXTENSION extenddb CASCADE")
            left = sql.execute("""SELECT count(*) FROM pg_class WHERE relnamespace NOT IN
                (SELECT oid FROM pg_namespace WHERE nspname LIKE 'pg\\_%' OR nspname = 'information_schema')""").fetchone()
            assert left == (0,)
            sql.execute("CREATE EXTENSION extenddb")
            assert call(sql, "list_tables", {}) == {"TableNames": []}
            assert request(sql, "GetItem", {"TableName": "Work", "Key": {"pk": {"S": "a"}, "sk": {"S": "1"}}})[0] == 400
        work(sql, "Work")


def test_drop_and_create_in_one_transaction(cluster):
    cluster.create_database("recreated_at_once")
    with cluster.connect("recreated_at_once") as sql:
        work(sql, "Work")
        sql.execute("BEGIN")
        sql.execute("DROP EXTENSION extenddb CASCADE")
        sql.execute("CREATE EXTENSION extenddb")
        work(sql, "Work")
        sql.execute("ROLLBACK")
        assert get(sql, "Work", {"pk": {"S": "a"}, "sk": {"S": "1"}})["n"] == {"N": "1"}
        sql.execute("BEGIN; DROP EXTENSION extenddb CASCADE; CREATE EXTENSION extenddb")
        work(sql, "Work")
        sql.execute("COMMIT")
        assert get(sql, "Work", {"pk": {"S": "a"}, "sk": {"S": "1"}})["n"] == {"N": "1"}


def test_a_session_whose_extension_was_replaced_by_another(cluster):
    cluster.create_database("replaced")
    with cluster.connect("replaced") as sql, cluster.connect("replaced") as other:
        for _ in range(2):
            work(sql, "Work")
            other.execute("DROP EXTENSION extenddb CASCADE")
            with pytest.raises(psycopg.Error) as raised:
                call(sql, "list_tables", {})
            assert raised.value.sqlstate in ("3F000", "42883")
            other.execute("CREATE EXTENSION extenddb")
            assert call(sql, "list_tables", {}) == {"TableNames": []}


def test_a_proxy_whose_extension_was_replaced(cluster, tmp_path):
    cluster.create_database("replaced_below")
    proxy = Proxy(cluster.conninfo("replaced_below"), tmp_path / "log")
    try:
        client = proxy.client()
        with cluster.connect("replaced_below") as sql:
            create_table(sql, "Work", ORDERS)
            client.put_item(TableName="Work", Item={"pk": {"S": "a"}, "sk": {"S": "b"}})
            sql.execute("DROP EXTENSION extenddb CASCADE")
            sql.execute("CREATE EXTENSION extenddb")
            assert client.list_tables()["TableNames"] == []
            create_table(sql, "Work", ORDERS)
            client.put_item(TableName="Work", Item={"pk": {"S": "a"}, "sk": {"S": "b"}, "n": {"N": "2"}})
            assert get(sql, "Work", {"pk": {"S": "a"}, "sk": {"S": "b"}})["n"] == {"N": "2"}
    finally:
        proxy.stop()
