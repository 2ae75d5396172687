"""How statements run on a large table: by the primary key's index, whatever the statistics say; updates stay in their page."""

import json
import re

import pytest

from harness.tables import ORDERS, PLAIN, call, create_table, index_faults, storage

ROWS = 50_000


@pytest.fixture(scope="module")
def large(cluster, database):
    """The items are written by the function, in one statement; a tenth of them stands in the indexes."""
    with cluster.connect(database) as sql:
        create_table(sql, "Large", ORDERS)
        sql.execute(
            """SELECT count(ddb.put('Large', json_build_object(
                   'pk', json_build_object('S', 'p' || n %% 500), 'sk', json_build_object('S', lpad(n::text, 6, '0')),
                   'text', json_build_object('S', md5(n::text)))::ddb.item)) FROM generate_series(1, %s) AS n""",
            [ROWS])
        sql.execute("""SELECT ddb.put('Large', json_build_object('pk', json_build_object('S', 'g' || n),
                       'sk', json_build_object('S', 'x'), 'g', json_build_object('S', 'g' || n % 20),
                       'lk', json_build_object('N', n::text))::ddb.item) FROM generate_series(1, 500) AS n""")
        return storage(sql, "Large")


def plans(connection, statement, arguments=()):
    """The plans of all statements below this one, as auto_explain logs them."""
    connection.execute("LOAD 'auto_explain'")
    for setting in ("auto_explain.log_min_duration = 0", "auto_explain.log_nested_statements = on",
                    "auto_explain.log_analyze = on", "client_min_messages = log"):
        connection.execute(f"SET {setting}")
    seen = []
    connection.add_notice_handler(lambda notice: seen.append(notice.message_primary))
    connection.execute(statement, arguments).fetchall()
    connection.execute("SET auto_explain.log_min_duration = -1")
    return [text for text in seen if "Query Text" in text and "ddb_data.t" in text]


SHAPES = {
    "Query": ("query", {"KeyConditionExpression": "pk = :p", "ExpressionAttributeValues": {":p": {"S": "p7"}}, "Limit": 10}),
    "Query of a range, backward": ("query", {
        "KeyConditionExpression": "pk = :p AND sk BETWEEN :a AND :b", "ScanIndexForward": False,
        "ExpressionAttributeValues": {":p": {"S": "p7"}, ":a": {"S": "001"}, ":b": {"S": "01"}}}),
    "Query after a key": ("query", {
        "KeyConditionExpression": "pk = :p AND begins_with(sk, :b)", "Limit": 5,
        "ExclusiveStartKey": {"pk": {"S": "p7"}, "sk": {"S": "000507"}},
        "ExpressionAttributeValues": {":p": {"S": "p7"}, ":b": {"S": "0"}}}),
    "Query of an index": ("query", {"IndexName": "by-g", "KeyConditionExpression": "g = :g", "Limit": 3,
                                    "ExpressionAttributeValues": {":g": {"S": "g3"}}}),
    "Scan": ("scan", {"Limit": 10}),
    "Scan after a key": ("scan", {"Limit": 10, "ExclusiveStartKey": {"pk": {"S": "p7"}, "sk": {"S": "000007"}}}),
    "Scan of a segment": ("scan", {"Limit": 10, "Segment": 3, "TotalSegments": 7}),
    "Scan of an index": ("scan", {"IndexName": "by-g", "Limit": 10}),
}


@pytest.mark.parametrize("analyzed", [False, True], ids=["never analyzed", "analyzed"])
@pytest.mark.parametrize("name", SHAPES)
def test_statements_go_by_the_primary_key(cluster, database, large, name, analyzed):
    function, body = SHAPES[name]
    body = {"TableName": "Large", **body}
    with cluster.connect(database) as sql:
        if analyzed:
            sql.execute(f"ANALYZE {large}")
        # Twice: the plan that is kept, too.
        for _ in range(2):
            seen = plans(sql, f"SELECT ddb.{function}(%s)", [json.dumps(body)])
            assert seen
            for plan in seen:
                assert "Seq Scan" not in plan, plan
                assert "Sort" not in plan, plan
                # Nothing that the planner was told not to do: its price would also set off JIT compilation.
                assert max(float(cost) for cost in re.findall(r"cost=[\d.]+\.\.([\d.]+)", plan)) < 1e6, plan
                # No more is read than a page.
                for rows in re.findall(r"actual time=\S+ rows=(\d+)", plan):
                    assert int(rows) <= 100, plan
            assert any(re.search(r"Index Scan (Backward )?using t\d+(_i\d+)?_pkey", plan) for plan in seen), seen


BY_KEY = {
    "get_item": {"TableName": "Large", "Key": {"pk": {"S": "p7"}, "sk": {"S": "000007"}}},
    "batch_get_item": {"RequestItems": {"Large": {"Keys": [
        {"pk": {"S": f"p{n % 500}"}, "sk": {"S": f"{n:06}"}} for n in range(1, 60)]}}},
    "put_item": {"TableName": "Large", "Item": {"pk": {"S": "p7"}, "sk": {"S": "000007"}, "g": {"S": "g7"}}},
    "update_item": {"TableName": "Large", "Key": {"pk": {"S": "p8"}, "sk": {"S": "000008"}},
                    "UpdateExpression": "SET n = if_not_exists(n, :n) + :n, lk = :n", "ExpressionAttributeValues": {":n": {"N": "1"}}},
    "delete_item": {"TableName": "Large", "Key": {"pk": {"S": "p9"}, "sk": {"S": "none"}}, "ReturnValues": "ALL_OLD"},
    "transact_write_items": {"TransactItems": [
        {"Put": {"TableName": "Large", "Item": {"pk": {"S": "p7"}, "sk": {"S": "000007"}}}},
        {"Delete": {"TableName": "Large", "Key": {"pk": {"S": "p8"}, "sk": {"S": "none"}}}}]},
}


@pytest.mark.parametrize("function", BY_KEY)
def test_what_goes_by_key_needs_no_statement(cluster, database, large, function):
    """It goes straight through the index; the server's counters say so below."""
    with cluster.connect(database) as sql:
        call(sql, function, BY_KEY[function])
        assert plans(sql, f"SELECT ddb.{function}(%s)", [json.dumps(BY_KEY[function])]) == []


def test_the_servers_counters_agree(cluster, database, large):
    def counters(sql):
        sql.execute("SELECT pg_stat_force_next_flush()")
        return sql.execute("SELECT seq_scan, idx_scan FROM pg_stat_user_tables WHERE relid = %s::regclass", [large]).fetchone()

    with cluster.connect(database) as sql, cluster.connect(database) as watcher:
        before = counters(sql)
        for number in range(100):
            key = {"pk": {"S": f"p{number}"}, "sk": {"S": f"{number:06}"}}
            call(sql, "get_item", {"TableName": "Large", "Key": key})
            call(sql, "put_item", {"TableName": "Large", "Item": {**key, "again": {"N": str(number)}}})
        sql.execute("SELECT pg_stat_force_next_flush()")
        after = counters(watcher)
        assert after[0] == before[0]
        assert after[1] - before[1] == 200


def test_a_page_that_fills_up_reads_no_further(cluster, database, large):
    """1 MB of some 90 bytes each."""
    with cluster.connect(database) as sql:
        page = call(sql, "scan", {"TableName": "Large", "Select": "COUNT"})
        assert "LastEvaluatedKey" in page
        seen = plans(sql, "SELECT ddb.scan(%s)", [json.dumps({"TableName": "Large", "Select": "COUNT"})])
        read = max(int(rows) for plan in seen for rows in re.findall(r"actual time=\S+ rows=(\d+)", plan))
        assert page["Count"] <= read < page["Count"] + 1_100


def test_updates_stay_in_their_page(cluster, database, large):
    """HOT: no entry of the index is written where the page has room."""
    with cluster.connect(database) as sql:
        for number in range(1, 1_001):
            call(sql, "update_item", {
                "TableName": "Large", "Key": {"pk": {"S": f"p{number * 37 % 500}"}, "sk": {"S": f"{number * 37:06}"}},
                "UpdateExpression": "SET n = if_not_exists(n, :n) + :n", "ExpressionAttributeValues": {":n": {"N": str(number)}}})
        sql.execute("SELECT pg_stat_force_next_flush()")
        updates, hot = sql.execute("SELECT n_tup_upd, n_tup_hot_upd FROM pg_stat_user_tables WHERE relid = %s::regclass",
                                   [large]).fetchone()
        assert updates >= 1_000 and hot > updates * 0.5


@pytest.mark.parametrize("shape", [PLAIN, ORDERS], ids=["no index", "indexes"])
def test_dead_versions_are_passed_by(cluster, database, shape):
    """Items that outgrow their pages leave dead entries in the index, which the writes of one call meet one after the other."""
    with cluster.connect(database) as sql:
        create_table(sql, "Growing", shape)
        for round_ in range(30):
            for first in range(0, 100, 25):
                call(sql, "batch_write_item", {"RequestItems": {"Growing": [
                    {"PutRequest": {"Item": {"pk": {"S": f"p{number}"}, "sk": {"S": f"{number}"}, "g": {"S": f"g{round_ % 3}"},
                                             "text": {"S": "t" * (1 + (round_ * 37 + number) % 400)}}}}
                    for number in range(first, first + 25)]}})
        assert call(sql, "scan", {"TableName": "Growing", "Select": "COUNT"})["Count"] == 100
        assert index_faults(sql, "Growing") == []
        call(sql, "delete_table", {"TableName": "Growing"})
