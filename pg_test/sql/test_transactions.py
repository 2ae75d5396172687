"""Calls inside the caller's transaction: one commit with relational rows, own changes seen, errors that roll back."""

import json

import psycopg
import pytest

from harness.tables import ORDERS, call, create_table, get, index_faults, put, request


@pytest.fixture(scope="module", autouse=True)
def tables(cluster, database):
    with cluster.connect(database) as connection:
        connection.execute("CREATE TABLE orders (id int PRIMARY KEY)")
        create_table(connection, "Orders", ORDERS)
        create_table(connection, "Plain")


def key(name, sort="a"):
    return {"pk": {"S": name}, "sk": {"S": sort}}


def order_ids(connection):
    return [number for (number,) in connection.execute("SELECT id FROM orders ORDER BY id")]


def test_rollback_leaves_neither_row_nor_item(sql):
    sql.execute("BEGIN")
    sql.execute("INSERT INTO orders VALUES (1)")
    put(sql, "Orders", {**key("rolled"), "g": {"S": "x"}, "lk": {"N": "1"}})
    assert get(sql, "Orders", key("rolled")) is not None
    sql.execute("ROLLBACK")
    assert 1 not in order_ids(sql)
    assert get(sql, "Orders", key("rolled")) is None
    assert index_faults(sql, "Orders") == []


def test_commit_leaves_both(cluster, database, sql):
    sql.execute("BEGIN")
    sql.execute("INSERT INTO orders VALUES (2)")
    put(sql, "Orders", key("kept"))
    with cluster.connect(database) as other:
        assert get(other, "Orders", key("kept")) is None
        sql.execute("COMMIT")
        assert get(other, "Orders", key("kept")) == key("kept")
        assert 2 in order_ids(other)


def test_a_savepoint_takes_back_what_came_after_it(sql):
    sql.execute("BEGIN")
    put(sql, "Orders", {**key("sp"), "n": {"N": "1"}, "g": {"S": "one"}})
    sql.execute("SAVEPOINT s")
    put(sql, "Orders", {**key("sp"), "n": {"N": "2"}, "g": {"S": "two"}})
    put(sql, "Orders", key("sp", "after"))
    sql.execute("ROLLBACK TO s")
    assert get(sql, "Orders", key("sp"))["n"] == {"N": "1"}
    # The lock that went with the savepoint is taken again.
    put(sql, "Orders", {**key("sp", "after"), "n": {"N": "3"}})
    sql.execute("COMMIT")
    assert get(sql, "Orders", key("sp"))["n"] == {"N": "1"}
    assert get(sql, "Orders", key("sp", "after"))["n"] == {"N": "3"}
    assert index_faults(sql, "Orders") == []


def test_a_lock_lost_with_a_savepoint_is_free_for_others(cluster, database, sql):
    sql.execute("BEGIN")
    sql.execute("SAVEPOINT s")
    put(sql, "Plain", {"pk": {"S": "freed"}})
    sql.execute("ROLLBACK TO s")
    with cluster.connect(database) as other:
        other.execute("SET extenddb.lock_timeout = '100ms'")
        put(other, "Plain", {"pk": {"S": "freed"}, "by": {"S": "other"}})
        call(sql, "update_item", {
            "TableName": "Plain", "Key": {"pk": {"S": "freed"}}, "UpdateExpression": "SET n = :n",
            "ConditionExpression": "#by = :other", "ExpressionAttributeNames": {"#by": "by"},
            "ExpressionAttributeValues": {":n": {"N": "1"}, ":other": {"S": "other"}}})
        sql.execute("COMMIT")
        assert get(other, "Plain", {"pk": {"S": "freed"}}) == {
            "pk": {"S": "freed"}, "by": {"S": "other"}, "n": {"N": "1"}}


def test_calls_see_the_changes_of_calls_before_them(sql):
    sql.execute("BEGIN")
    put(sql, "Orders", {**key("own"), "n": {"N": "1"}, "g": {"S": "own-g"}})
    for _ in range(5):
        call(sql, "update_item", {
            "TableName": "Orders", "Key": key("own"), "UpdateExpression": "ADD n :one",
            "ExpressionAttributeValues": {":one": {"N": "1"}}})
    answer = call(sql, "query", {
        "TableName": "Orders", "IndexName": "by-g", "KeyConditionExpression": "g = :g",
        "ExpressionAttributeValues": {":g": {"S": "own-g"}}})
    assert [item["n"] for item in answer["Items"]] == [{"N": "6"}]
    old = call(sql, "delete_item", {"TableName": "Orders", "Key": key("own"), "ReturnValues": "ALL_OLD"})
    assert old["Attributes"]["n"] == {"N": "6"}
    assert get(sql, "Orders", key("own")) is None
    sql.execute("COMMIT")


def test_one_statement_of_many_calls(sql):
    """Each call of one SELECT sees those before it, though the statement has one snapshot."""
    sql.execute("BEGIN")
    put(sql, "Plain", {"pk": {"S": "many"}, "n": {"N": "0"}})
    sql.execute(
        "SELECT ddb.update_item(%s) FROM generate_series(1, 100)",
        [json.dumps({"TableName": "Plain", "Key": {"pk": {"S": "many"}}, "UpdateExpression": "SET n = n + :one",
                     "ExpressionAttributeValues": {":one": {"N": "1"}}})])
    sql.execute("COMMIT")
    assert get(sql, "Plain", {"pk": {"S": "many"}})["n"] == {"N": "100"}


def test_creating_and_dropping_a_table_is_transactional(sql):
    sql.execute("BEGIN")
    create_table(sql, "Passing", ORDERS)
    put(sql, "Passing", {**key("p"), "g": {"S": "g"}})
    assert index_faults(sql, "Passing") == []
    sql.execute("ROLLBACK")
    assert request(sql, "DescribeTable", {"TableName": "Passing"})[0] == 400
    create_table(sql, "Passing", ORDERS)
    put(sql, "Passing", key("p"))
    sql.execute("BEGIN")
    call(sql, "delete_table", {"TableName": "Passing"})
    assert request(sql, "GetItem", {"TableName": "Passing", "Key": key("p")})[0] == 400
    create_table(sql, "Passing")
    put(sql, "Passing", {"pk": {"S": "new shape"}})
    sql.execute("ROLLBACK")
    assert get(sql, "Passing", key("p")) == key("p")
    call(sql, "delete_table", {"TableName": "Passing"})


FAULTS = [
    # operation, request, SQLSTATE, exception, text
    ("put_item", {"TableName": "Absent", "Item": {"pk": {"S": "a"}}}, "DD005",
     "com.amazonaws.dynamodb.v20120810#ResourceNotFoundException", "Requested resource not found"),
    ("put_item", {"TableName": "Plain", "Item": {"pk": {"S": "known"}}, "ConditionExpression": "attribute_not_exists(pk)"},
     "DD008", "com.amazonaws.dynamodb.v20120810#ConditionalCheckFailedException", "The conditional request failed"),
    ("put_item", {"TableName": "Plain", "Item": {"x": {"S": "a"}}}, "DD001",
     "com.amazon.coral.validate#ValidationException",
     "One or more parameter values were invalid: Missing the key pk in the item"),
    ("create_table", {"TableName": "Plain", "AttributeDefinitions": [{"AttributeName": "pk", "AttributeType": "S"}],
                      "KeySchema": [{"AttributeName": "pk", "KeyType": "HASH"}], "BillingMode": "PAY_PER_REQUEST"},
     "DD006", "com.amazonaws.dynamodb.v20120810#ResourceInUseException", "Table already exists: Plain"),
]


@pytest.mark.parametrize("function, body, sqlstate, exception, text", FAULTS, ids=[case[2] for case in FAULTS])
def test_a_fault_is_an_error_that_rolls_the_caller_back(sql, function, body, sqlstate, exception, text):
    put(sql, "Plain", {"pk": {"S": "known"}})
    sql.execute("BEGIN")
    put(sql, "Plain", {"pk": {"S": "before"}})
    with pytest.raises(psycopg.Error) as raised:
        call(sql, function, body)
    diagnosis = raised.value.diag
    assert diagnosis.sqlstate == sqlstate
    assert diagnosis.message_primary == text
    detail = json.loads(diagnosis.message_detail)
    assert detail["__type"] == exception
    assert text in (detail.get("message"), detail.get("Message"))
    sql.execute("ROLLBACK")
    assert get(sql, "Plain", {"pk": {"S": "before"}}) is None


def test_the_detail_has_the_item_of_a_failed_condition(sql):
    put(sql, "Plain", {"pk": {"S": "held"}, "n": {"N": "5"}})
    with pytest.raises(psycopg.Error) as raised:
        call(sql, "put_item", {
            "TableName": "Plain", "Item": {"pk": {"S": "held"}}, "ConditionExpression": "attribute_not_exists(pk)",
            "ReturnValuesOnConditionCheckFailure": "ALL_OLD"})
    assert json.loads(raised.value.diag.message_detail)["Item"] == {"pk": {"S": "held"}, "n": {"N": "5"}}


def test_plpgsql_can_catch_a_fault_by_its_sqlstate(sql):
    put(sql, "Plain", {"pk": {"S": "caught"}})
    sql.execute("CREATE TEMP TABLE seen (sqlstate text, message text)")
    sql.execute("""
        DO $$ BEGIN
            PERFORM ddb.put_item('{"TableName":"Plain","Item":{"pk":{"S":"in the block"}}}');
            PERFORM ddb.put_item('{"TableName":"Plain","Item":{"pk":{"S":"caught"}},
                                   "ConditionExpression":"attribute_not_exists(pk)"}');
        EXCEPTION WHEN SQLSTATE 'DD008' THEN INSERT INTO seen VALUES (SQLSTATE, SQLERRM);
        END $$""")
    assert sql.execute("SELECT * FROM seen").fetchall() == [("DD008", "The conditional request failed")]
    assert get(sql, "Plain", {"pk": {"S": "in the block"}}) is None


def test_request_answers_faults_as_data(sql):
    sql.execute("BEGIN")
    status, body = request(sql, "GetItem", {"TableName": "Absent", "Key": {"pk": {"S": "a"}}})
    assert (status, body["__type"]) == (400, "com.amazonaws.dynamodb.v20120810#ResourceNotFoundException")
    assert request(sql, "PutItem", {"TableName": "Plain", "Item": {"pk": {"S": "as data"}}}) == (200, {})
    sql.execute("COMMIT")
    assert get(sql, "Plain", {"pk": {"S": "as data"}})


def test_requests_answers_in_order_each_over_what_those_before_left(sql):
    key_json = {"TableName": "Plain", "Key": {"pk": {"S": "rq"}}}
    add = {**key_json, "UpdateExpression": "ADD n :one", "ExpressionAttributeValues": {":one": {"N": "1"}}}
    refused = {**add, "ConditionExpression": "n = :one"}
    calls = [("UpdateItem", add), ("UpdateItem", refused), ("UpdateItem", refused), ("GetItem", key_json)]
    answers = sql.execute(
        "SELECT status, body FROM ddb.requests(%s::text[], %s::json[])",
        [[name for name, _ in calls], [json.dumps(body) for _, body in calls]]).fetchall()
    assert [status for status, _ in answers] == [200, 200, 400, 200]
    assert answers[3][1]["Item"]["n"] == {"N": "2"}


@pytest.mark.parametrize("arguments, sqlstate", [
    ("ARRAY['GetItem'], ARRAY[]::json[]", "22023"),
    ("ARRAY['GetItem', NULL], ARRAY['{}', '{}']::json[]", "22023"),
    ("ARRAY['GetItem'], ARRAY['{}']::json[], ARRAY['{}', '{}']::json[]", "22023"),
])
def test_requests_of_unequal_lengths_are_refused(sql, arguments, sqlstate):
    with pytest.raises(psycopg.Error) as raised:
        sql.execute(f"SELECT * FROM ddb.requests({arguments})")
    assert raised.value.sqlstate == sqlstate


def test_broken_json_is_postgresqls_to_refuse(sql):
    with pytest.raises(psycopg.errors.InvalidTextRepresentation):
        sql.execute("""SELECT ddb.put_item('{"TableName":')""")


def test_an_unknown_operation_is_answered(sql):
    status, body = request(sql, "Frobnicate", {})
    assert (status, body) == (400, {"__type": "com.amazon.coral.service#UnknownOperationException"})


def test_nothing_is_written_in_a_read_only_transaction(sql):
    put(sql, "Plain", {"pk": {"S": "ro"}})
    sql.execute("BEGIN READ ONLY")
    assert get(sql, "Plain", {"pk": {"S": "ro"}})
    assert call(sql, "describe_table", {"TableName": "Plain"})["Table"]["TableStatus"] == "ACTIVE"
    with pytest.raises(psycopg.errors.ReadOnlySqlTransaction):
        put(sql, "Plain", {"pk": {"S": "ro2"}})
    sql.execute("ROLLBACK")
    sql.execute("BEGIN READ ONLY")
    with pytest.raises(psycopg.errors.ReadOnlySqlTransaction):
        create_table(sql, "ReadOnly")
    sql.execute("ROLLBACK")


def test_reads_assign_no_transaction_id(sql):
    put(sql, "Plain", {"pk": {"S": "xid"}})
    sql.execute("BEGIN")
    get(sql, "Plain", {"pk": {"S": "xid"}})
    call(sql, "scan", {"TableName": "Plain"})
    call(sql, "list_tables", {})
    sql.execute("SELECT ddb.items('Plain')").fetchall()
    assert sql.execute("SELECT pg_current_xact_id_if_assigned()").fetchone() == (None,)
    sql.execute("COMMIT")


def test_list_tables_then_describe_table(sql):
    """Statements of the catalog in every order: each keeps a plan of its own."""
    for number in range(3):
        create_table(sql, f"Described-{number}", ORDERS)
        assert f"Described-{number}" in call(sql, "list_tables", {})["TableNames"]
        table = call(sql, "describe_table", {"TableName": f"Described-{number}"})["Table"]
        assert (table["ItemCount"], table["TableSizeBytes"]) == (0, 0)
        call(sql, "delete_table", {"TableName": f"Described-{number}"})
    assert not any(name.startswith("Described") for name in call(sql, "list_tables", {})["TableNames"])
