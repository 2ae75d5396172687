"""Changes of tables: an index on a table with items, beside writers and readers; time to live; tags."""

import json
import threading

import psycopg
import pytest

from harness.tables import ORDERS, call, create_table, get, index_faults, items, put, storage

ADD_INDEX = {
    "AttributeDefinitions": [{"AttributeName": "note", "AttributeType": "S"}],
    "GlobalSecondaryIndexUpdates": [{"Create": {
        "IndexName": "by-note", "KeySchema": [{"AttributeName": "note", "KeyType": "HASH"}],
        "Projection": {"ProjectionType": "ALL"}}}],
}
DROP_INDEX = {"GlobalSecondaryIndexUpdates": [{"Delete": {"IndexName": "by-note"}}]}


def item(number):
    attributes = {"pk": {"S": f"p{number % 37}"}, "sk": {"S": str(number)}, "g": {"S": "g"}}
    note = [{"S": f"n{number % 5}"}, {"N": "1"}, None][number % 3]
    return {**attributes, "note": note} if note else attributes


def fill(connection, table, count=350):
    create_table(connection, table, ORDERS)
    with connection.transaction():
        for number in range(count):
            put(connection, table, item(number))


def count_of(connection, table, note):
    page = call(connection, "query", {
        "TableName": table, "IndexName": "by-note", "KeyConditionExpression": "note = :n", "Select": "COUNT",
        "ExpressionAttributeValues": {":n": {"S": note}}})
    return page["Count"]


def test_an_index_on_a_filled_table(cluster, database, sql):
    fill(sql, "Filled")
    with cluster.connect(database) as other:
        # Keeps its plans of the table through all of this.
        put(other, "Filled", item(0))
        created = call(sql, "update_table", {"TableName": "Filled", **ADD_INDEX})["TableDescription"]
        assert created["TableStatus"] == "UPDATING"
        index = created["GlobalSecondaryIndexes"][-1]
        assert (index["IndexName"], index["IndexStatus"], index["Backfilling"]) == ("by-note", "CREATING", False)
        described = call(other, "describe_table", {"TableName": "Filled"})["Table"]
        index = described["GlobalSecondaryIndexes"][-1]
        assert index["IndexStatus"] == "ACTIVE" and "Backfilling" not in index
        wanted = sum(1 for number in range(350) if item(number).get("note") == {"S": "n0"})
        assert count_of(other, "Filled", "n0") == wanted
        assert index_faults(sql, "Filled") == []

        put(other, "Filled", {**item(0), "note": {"S": "n9"}})
        assert (count_of(sql, "Filled", "n0"), count_of(sql, "Filled", "n9")) == (wanted - 1, 1)
        with pytest.raises(psycopg.errors.DatabaseError, match="Type mismatch for Index Key note"):
            put(other, "Filled", {**item(0), "note": {"N": "1"}})

        call(sql, "update_table", {"TableName": "Filled", **DROP_INDEX})
        with pytest.raises(psycopg.errors.DatabaseError, match="does not have the specified index: by-note"):
            count_of(other, "Filled", "n0")
        put(other, "Filled", {**item(0), "note": {"N": "1"}})
        assert index_faults(sql, "Filled") == []
        # Under its name again.
        call(other, "update_table", {"TableName": "Filled", **ADD_INDEX})
        assert count_of(sql, "Filled", "n0") == wanted - 1
        assert index_faults(sql, "Filled") == []


def test_writers_wait_and_readers_do_not(cluster, database, sql):
    fill(sql, "Busy", 120)
    with cluster.connect(database) as writer, cluster.connect(database) as reader:
        sql.execute("BEGIN")
        call(sql, "update_table", {"TableName": "Busy", **ADD_INDEX})
        # Whoever reads sees the table as it is committed.
        assert len(items(reader, "Busy")) == 120
        described = call(reader, "describe_table", {"TableName": "Busy"})["Table"]
        assert "by-note" not in [index["IndexName"] for index in described["GlobalSecondaryIndexes"]]
        # Whoever writes waits, then maintains the index.
        writing = threading.Thread(target=put, args=(writer, "Busy", {**item(0), "note": {"S": "late"}}))
        writing.start()
        writing.join(0.3)
        assert writing.is_alive()
        sql.execute("COMMIT")
        writing.join(10)
        assert not writing.is_alive()
        assert count_of(reader, "Busy", "late") == 1
    assert index_faults(sql, "Busy") == []


def test_a_rollback_leaves_nothing_of_an_index(sql):
    fill(sql, "Undone", 50)
    before = call(sql, "describe_table", {"TableName": "Undone"})
    sql.execute("BEGIN")
    call(sql, "update_table", {"TableName": "Undone", **ADD_INDEX})
    call(sql, "update_table", {"TableName": "Undone", "DeletionProtectionEnabled": True})
    sql.execute("ROLLBACK")
    assert call(sql, "describe_table", {"TableName": "Undone"}) == before
    put(sql, "Undone", {**item(0), "note": {"N": "1"}})
    assert index_faults(sql, "Undone") == []


@pytest.mark.parametrize("level", ["REPEATABLE READ", "SERIALIZABLE"])
def test_an_index_needs_read_committed(sql, level):
    table = "Level-" + level.split()[0]
    fill(sql, table, 5)
    sql.execute(f"BEGIN ISOLATION LEVEL {level}")
    with pytest.raises(psycopg.errors.FeatureNotSupported, match="only at isolation level READ COMMITTED"):
        call(sql, "update_table", {"TableName": table, **ADD_INDEX})
    sql.execute("ROLLBACK")
    assert index_faults(sql, table) == []


def test_a_request_answers_its_fault_as_data(sql):
    fill(sql, "Faulty", 5)
    for _ in range(2):
        status, body = sql.execute("SELECT * FROM ddb.request('UpdateTable', %s)", [json.dumps(
            {"TableName": "Faulty", "GlobalSecondaryIndexUpdates": [{"Delete": {"IndexName": "none"}}]})]).fetchone()
        assert (status, body["message"]) == (400, "Requested resource not found: Index none for table Faulty")


def test_time_to_live_is_taken_down(sql):
    create_table(sql, "Timed")
    expires = lambda: dict(sql.execute(  # noqa: E731
        f"SELECT convert_from(pk, 'UTF8'), expires FROM {storage(sql, 'Timed')}").fetchall())
    put(sql, "Timed", {"pk": {"S": "before"}, "until": {"N": "1800000000"}})
    specification = {"TimeToLiveSpecification": {"Enabled": True, "AttributeName": "until"}}
    assert call(sql, "update_time_to_live", {"TableName": "Timed", **specification}) == specification
    assert call(sql, "describe_time_to_live", {"TableName": "Timed"}) == {
        "TimeToLiveDescription": {"TimeToLiveStatus": "ENABLED", "AttributeName": "until"}}
    put(sql, "Timed", {"pk": {"S": "number"}, "until": {"N": "1800000000"}})
    put(sql, "Timed", {"pk": {"S": "string"}, "until": {"S": "1800000000"}})
    assert expires() == {"before": None, "number": 1800000000, "string": None}
    call(sql, "update_item", {
        "TableName": "Timed", "Key": {"pk": {"S": "number"}}, "UpdateExpression": "SET v = :v",
        "ExpressionAttributeValues": {":v": {"S": "x"}}})
    assert expires()["number"] == 1800000000
    call(sql, "update_item", {
        "TableName": "Timed", "Key": {"pk": {"S": "number"}}, "UpdateExpression": "REMOVE #u",
        "ExpressionAttributeNames": {"#u": "until"}})
    assert expires()["number"] is None
    assert get(sql, "Timed", {"pk": {"S": "number"}}) == {"pk": {"S": "number"}, "v": {"S": "x"}}


def test_an_empty_answer_is_null(sql):
    create_table(sql, "Tagged")
    arn = "arn:aws:dynamodb:us-east-1:000000000000:table/Tagged"
    tags = [{"Key": "team", "Value": "blue"}]
    assert call(sql, "tag_resource", {"ResourceArn": arn, "Tags": tags}) is None
    assert call(sql, "list_tags_of_resource", {"ResourceArn": arn}) == {"Tags": tags}
    answer = sql.execute("SELECT * FROM ddb.request('UntagResource', %s)", [json.dumps(
        {"ResourceArn": arn, "TagKeys": ["team"]})]).fetchone()
    assert answer == (200, None)
    assert call(sql, "list_tags_of_resource", {"ResourceArn": arn}) == {"Tags": []}
