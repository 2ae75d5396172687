"""One table, two ways in: what SQL writes the SDK reads, and the other way round."""

import base64
import json
import threading

import psycopg
import pytest

from harness.schema import table, unordered

EVERY_TYPE = {
    "s": {"S": "a\u00e9\U0001f600\"\\"}, "empty": {"S": ""}, "n": {"N": "-12345678901234567890.123456789012345678"},
    "b": {"B": b"\x00\xff"}, "t": {"BOOL": True}, "null": {"NULL": True}, "ss": {"SS": ["a", "b"]},
    "ns": {"NS": ["1", "2.5"]}, "bs": {"BS": [b"1", b"2"]}, "l": {"L": [{"S": "x"}, {"L": []}]},
    "m": {"M": {"a.b": {"M": {}}, "nul\x00": {"S": "\x00"}}},
}


def encode(value):
    """DynamoDB JSON, as it is on the wire, of what boto3's client takes and gives."""
    if isinstance(value, bytes):
        return base64.b64encode(value).decode()
    if isinstance(value, dict):
        return {name: encode(member) for name, member in value.items()}
    if isinstance(value, list):
        return [encode(member) for member in value]
    return value


@pytest.fixture(scope="module")
def client(proxy):
    client = proxy.client()
    client.create_table(**table("Orders", "customer n", "n:N", gsi=[("by_state", "state n", "ALL")]))
    client.create_table(**table("Things", "pk"))
    return client


def test_psql_puts_and_the_sdk_reads(cluster, database, client):
    item = {"pk": {"S": "from psql"}, **EVERY_TYPE}
    cluster.tool("psql", "-X", "-v", "ON_ERROR_STOP=1", "-d", database, "-c",
                 "SELECT ddb.put('Things', $item$" + json.dumps(encode(item)) + "$item$)")
    got = client.get_item(TableName="Things", Key={"pk": item["pk"]}, ConsistentRead=True)["Item"]
    assert unordered(got) == unordered(item)


def test_put_item_by_sql_and_the_sdk_reads(sql, client):
    request = {"TableName": "Things", "Item": {"pk": {"S": "by put_item"}, **EVERY_TYPE}, "ReturnValues": "ALL_OLD"}
    assert sql.execute("SELECT ddb.put_item(%s)", [json.dumps(encode(request))]).fetchone() == ({},)
    got = client.get_item(TableName="Things", Key={"pk": {"S": "by put_item"}})["Item"]
    assert unordered(got) == unordered(request["Item"])
    (again,) = sql.execute("SELECT ddb.put_item(%s)", [json.dumps(encode(request))]).fetchone()
    assert unordered(again) == unordered(encode({"Attributes": request["Item"]}))


def test_the_sdk_puts_and_sql_reads(sql, client):
    item = {"pk": {"S": "from the sdk"}, **EVERY_TYPE}
    client.put_item(TableName="Things", Item=item)
    key = '{"pk":{"S":"from the sdk"}}'
    (got,) = sql.execute("SELECT ddb.get('Things', %s)", [key]).fetchone()
    assert unordered(json.loads(str(got))) == unordered(encode(item))
    (answer,) = sql.execute("SELECT ddb.get_item(%s)", [json.dumps({"TableName": "Things", "Key": json.loads(key)})]).fetchone()
    assert unordered(answer) == unordered(encode({"Item": item}))
    row = sql.execute("SELECT i ->> 's', (i ->> 'n')::numeric::text, i ->> 'absent', (i -> 'ss')::text::json "
                      "FROM ddb.get('Things', %s) i", [key]).fetchone()
    assert row == (item["s"]["S"], item["n"]["N"], None, item["ss"])


def test_items_join_with_rows(sql, client):
    sql.execute("CREATE TABLE customer (id text PRIMARY KEY, name text NOT NULL)")
    sql.execute("INSERT INTO customer VALUES ('c1', 'Ada'), ('c2', 'Grace'), ('c3', 'nobody')")
    for customer, n, state, total in [("c1", 1, "open", "10.5"), ("c1", 2, "paid", "7"), ("c2", 1, "open", "0.25")]:
        client.put_item(TableName="Orders", Item={"customer": {"S": customer}, "n": {"N": str(n)},
                                                  "state": {"S": state}, "total": {"N": total}})
    rows = sql.execute("""
        SELECT c.name, count(*), sum((o ->> 'total')::numeric)::text
        FROM customer c JOIN ddb.items('Orders') o ON o ->> 'customer' = c.id
        GROUP BY c.name ORDER BY c.name
    """).fetchall()
    assert rows == [("Ada", 2, "17.5"), ("Grace", 1, "0.25")]
    rows = sql.execute("""
        SELECT c.name, o ->> 'n'
        FROM ddb.query_items('Orders', '#s = :s', '{"#s":"state"}', '{":s":{"S":"open"}}', 'by_state') o
        JOIN customer c ON c.id = o ->> 'customer' ORDER BY 1
    """).fetchall()
    assert rows == [("Ada", "1"), ("Grace", "1")]
    # Rows become items, and the index of the wire knows them.
    sql.execute("""
        SELECT ddb.put('Orders', json_build_object('customer', json_build_object('S', id), 'n', json_build_object('N', '9'),
                       'state', json_build_object('S', 'new'))::text::ddb.item) FROM customer
    """)
    found = client.query(TableName="Orders", IndexName="by_state", KeyConditionExpression="#s = :s",
                         ExpressionAttributeNames={"#s": "state"}, ExpressionAttributeValues={":s": {"S": "new"}})
    assert sorted(item["customer"]["S"] for item in found["Items"]) == ["c1", "c2", "c3"]


def test_one_transaction_for_rows_and_items(sql, client):
    sql.execute("CREATE TABLE entry (id int PRIMARY KEY)")
    key = {"pk": {"S": "both"}}

    def item():
        return client.get_item(TableName="Things", Key=key, ConsistentRead=True).get("Item")

    with pytest.raises(psycopg.errors.UniqueViolation):
        with sql.transaction():
            sql.execute("""SELECT ddb.put('Things', '{"pk":{"S":"both"}}')""")
            sql.execute("INSERT INTO entry VALUES (1), (1)")
    assert item() is None
    with sql.transaction():
        sql.execute("INSERT INTO entry VALUES (1)")
        sql.execute("""SELECT ddb.put('Things', '{"pk":{"S":"both"}}')""")
        # Nobody else sees it yet.
        assert item() is None
        assert sql.execute("""SELECT ddb.get('Things', '{"pk":{"S":"both"}}') IS NOT NULL""").fetchone() == (True,)
    assert item() == key
    # A condition that fails takes the row with it.
    with pytest.raises(psycopg.Error) as raised:
        with sql.transaction():
            sql.execute("INSERT INTO entry VALUES (2)")
            sql.execute("""SELECT ddb.put('Things', '{"pk":{"S":"both"}}', 'attribute_not_exists(pk)')""")
    assert raised.value.diag.message_primary == "The conditional request failed"
    assert raised.value.sqlstate.startswith("DD")
    assert sql.execute("SELECT array_agg(id) FROM entry").fetchone() == ([1],)


def test_a_write_of_the_wire_waits_for_the_transaction_that_holds_the_key(cluster, database, client):
    client.put_item(TableName="Things", Item={"pk": {"S": "counter"}, "n": {"N": "1"}})
    add = dict(TableName="Things", Key={"pk": {"S": "counter"}}, UpdateExpression="ADD n :one",
               ExpressionAttributeValues={":one": {"N": "1"}}, ReturnValues="ALL_NEW")
    answers = []
    with cluster.connect(database, autocommit=False) as holder, cluster.connect(database) as watcher:
        holder.execute("""SELECT ddb.update('Things', '{"pk":{"S":"counter"}}', 'SET n = n + :ten', NULL, NULL,
                          '{":ten":{"N":"10"}}')""")
        writer = threading.Thread(target=lambda: answers.append(client.update_item(**add)))
        writer.start()
        waiting = "SELECT 1 FROM pg_locks WHERE locktype = 'advisory' AND NOT granted"
        while writer.is_alive() and not watcher.execute(waiting).fetchone():
            pass
        assert not answers
        holder.commit()
        writer.join()
    assert answers[0]["Attributes"]["n"] == {"N": "12"}
