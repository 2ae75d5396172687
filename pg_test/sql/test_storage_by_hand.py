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


@pytest.fixture
def watched(sql):
    """An item table with a log that triggers of every kind write to."""
    create_table(sql, "Watched", ORDERS)
    storage_ = storage(sql, "Watched")
    sql.execute("""
        CREATE TABLE public.log (n serial, what text);
        GRANT ALL ON public.log, public.log_n_seq TO PUBLIC;
        CREATE FUNCTION public.note() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
            INSERT INTO public.log (what) VALUES (concat_ws(' ', TG_WHEN, TG_OP, TG_LEVEL));
            RETURN CASE TG_OP WHEN 'DELETE' THEN OLD ELSE NEW END;
        END $$""")
    for when in ("BEFORE", "AFTER"):
        for level in ("ROW", "STATEMENT"):
            sql.execute(f"CREATE TRIGGER {when}_{level} {when} INSERT OR UPDATE OR DELETE ON {storage_} "
                        f"FOR EACH {level} EXECUTE FUNCTION public.note()")
    yield storage_
    sql.execute("DROP FUNCTION public.note CASCADE")
    sql.execute("DROP TABLE public.log")
    call(sql, "delete_table", {"TableName": "Watched"})


KEY = {"pk": {"S": "a"}, "sk": {"S": "b"}}


@pytest.mark.parametrize("operation", ["INSERT", "UPDATE", "DELETE"])
@pytest.mark.parametrize("read", [False, True], ids=["unread", "read"])
def test_triggers_of_an_item_table_fire_as_for_a_statement(sql, watched, operation, read):
    if operation != "INSERT":
        put(sql, "Watched", KEY)
    sql.execute("TRUNCATE public.log")
    condition = {"ConditionExpression": "attribute_exists(pk)" if operation != "INSERT" else "attribute_not_exists(pk)"}
    if operation == "DELETE":
        call(sql, "delete_item", {"TableName": "Watched", "Key": KEY, **(condition if read else {})})
    else:
        call(sql, "put_item", {"TableName": "Watched", "Item": {**KEY, "a": {"S": "b"}}, **(condition if read else {})})
    log = [what for what, in sql.execute("SELECT what FROM public.log ORDER BY n")]
    assert log == [f"BEFORE {operation} STATEMENT", f"BEFORE {operation} ROW", f"AFTER {operation} ROW",
                   f"AFTER {operation} STATEMENT"]


def test_what_a_trigger_suppresses_is_never_acknowledged(sql, watched):
    put(sql, "Watched", {**KEY, "g": {"S": "kept"}})
    sql.execute(f"""CREATE FUNCTION public.suppress() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RETURN NULL; END $$;
                    CREATE TRIGGER zz BEFORE INSERT OR UPDATE OR DELETE ON {watched}
                    FOR EACH ROW EXECUTE FUNCTION public.suppress()""")
    requests = [
        ("put_item", {"Item": {**KEY, "g": {"S": "lost"}}}),
        ("put_item", {"Item": {"pk": {"S": "new"}, "sk": {"S": "b"}, "g": {"S": "lost"}}}),
        ("update_item", {"Key": KEY, "UpdateExpression": "REMOVE g"}),
        ("delete_item", {"Key": KEY}),
    ]
    for function, body in requests:
        with pytest.raises(psycopg.Error) as raised:
            call(sql, function, {"TableName": "Watched", **body})
        assert raised.value.sqlstate == "XX000", function
    sql.execute("DROP FUNCTION public.suppress CASCADE")
    assert call(sql, "scan", {"TableName": "Watched"})["Items"] == [{**KEY, "g": {"S": "kept"}}]
    assert index_faults(sql, "Watched") == []


def test_a_column_that_was_added_keeps_its_value(sql):
    create_table(sql, "Wider", PLAIN)
    put(sql, "Wider", {"pk": {"S": "a"}})
    table = storage(sql, "Wider")
    sql.execute(f"ALTER TABLE {table} ADD COLUMN note text, ADD COLUMN gone int")
    sql.execute(f"ALTER TABLE {table} DROP COLUMN gone")
    sql.execute(f"UPDATE {table} SET note = 'mine'")
    put(sql, "Wider", {"pk": {"S": "a"}, "n": {"N": "1"}})
    call(sql, "update_item", {"TableName": "Wider", "Key": {"pk": {"S": "a"}}, "UpdateExpression": "SET n = n + :one",
                              "ExpressionAttributeValues": {":one": {"N": "1"}}})
    put(sql, "Wider", {"pk": {"S": "b"}})
    assert get(sql, "Wider", {"pk": {"S": "a"}}) == {"pk": {"S": "a"}, "n": {"N": "2"}}
    assert sql.execute(f"SELECT note FROM {table} ORDER BY note").fetchall() == [("mine",), (None,)]


def test_what_a_foreign_key_refers_to_stays(sql):
    create_table(sql, "Referred", PLAIN)
    put(sql, "Referred", {"pk": {"S": "a"}})
    table = storage(sql, "Referred")
    sql.execute(f"CREATE TABLE public.refers (bucket int, pk bytea, sk bytea, FOREIGN KEY (bucket, pk, sk) REFERENCES {table})")
    sql.execute(f"INSERT INTO public.refers SELECT bucket, pk, sk FROM {table}")
    put(sql, "Referred", {"pk": {"S": "a"}, "n": {"N": "1"}})
    with pytest.raises(psycopg.errors.ForeignKeyViolation):
        call(sql, "delete_item", {"TableName": "Referred", "Key": {"pk": {"S": "a"}}})
    sql.execute("DROP TABLE public.refers")
    call(sql, "delete_item", {"TableName": "Referred", "Key": {"pk": {"S": "a"}}})
    assert get(sql, "Referred", {"pk": {"S": "a"}}) is None
