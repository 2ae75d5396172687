"""Tables of items that a DBA dropped or wrote to past the functions: said, never silently wrong, and a way out."""

import psycopg
import pytest

from harness.tables import ORDERS, PLAIN, call, create_table, get, index_faults, put, request, storage


def names(sql):
    return call(sql, "list_tables", {})["TableNames"]


def test_a_name_whose_storage_was_dropped_may_be_created_again(sql):
    create_table(sql, "Dropped", ORDERS)
    put(sql, "Dropped", {"pk": {"S": "a"}, "sk": {"S": "b"}})
    sql.execute(f"DROP TABLE {storage(sql, 'Dropped')}")
    with pytest.raises(psycopg.Error) as raised:
        get(sql, "Dropped", {"pk": {"S": "a"}, "sk": {"S": "b"}})
    assert raised.value.sqlstate == "DD005"
    create_table(sql, "Dropped", PLAIN)
    put(sql, "Dropped", {"pk": {"S": "new"}})
    assert get(sql, "Dropped", {"pk": {"S": "new"}}) == {"pk": {"S": "new"}}
    call(sql, "delete_table", {"TableName": "Dropped"})
    assert "Dropped" not in names(sql)


def test_a_table_whose_index_was_dropped_can_be_deleted(sql):
    create_table(sql, "Unindexed", ORDERS)
    sql.execute(f"DROP TABLE {storage(sql, 'Unindexed')}_i1")
    call(sql, "delete_table", {"TableName": "Unindexed"})
    assert "Unindexed" not in names(sql)
    create_table(sql, "Unindexed", ORDERS)
    put(sql, "Unindexed", {"pk": {"S": "a"}, "sk": {"S": "b"}, "g": {"S": "g"}})
    assert index_faults(sql, "Unindexed") == []


def test_a_stored_item_without_its_key_ends_no_scan_early(sql):
    create_table(sql, "Keyless", PLAIN)
    put(sql, "Keyless", {"pk": {"S": "good"}})
    sql.execute(f"""INSERT INTO {storage(sql, 'Keyless')} (bucket, pk, sk, item) VALUES (-2147483648, 'x', '', '{{"a":{{"S":"b"}}}}')""")
    status, answer = request(sql, "Scan", {"TableName": "Keyless", "Limit": 1})
    assert status == 500 and answer["__type"].endswith("#InternalServerError")
    assert call(sql, "scan", {"TableName": "Keyless"})["Count"] == 2
