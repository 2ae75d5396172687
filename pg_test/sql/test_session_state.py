"""What a call leaves in its session: settings, user, caches, also when it ended in the middle."""

import json

import psycopg
import pytest

from harness.tables import ORDERS, PLAIN, call, create_table, get, index_faults, items, put, request, storage


@pytest.fixture(scope="module", autouse=True)
def tables(cluster, database):
    with cluster.connect(database) as connection:
        create_table(connection, "Orders", ORDERS)
        create_table(connection, "Plain")


SETTINGS = ["lock_timeout", "deadlock_timeout", "enable_seqscan", "enable_bitmapscan", "enable_sort", "enable_hashjoin",
            "enable_mergejoin", "search_path", "role", "transaction_isolation"]


def state(connection):
    shown = {name: connection.execute(f"SHOW {name}").fetchone()[0] for name in SETTINGS}
    return shown, connection.execute("SELECT current_user, session_user").fetchone()


def test_settings_are_back_after_every_kind_of_end(cluster, database, sql):
    key = {"pk": {"S": "held"}}
    with cluster.connect(database) as holder, cluster.connect(database) as caller:
        caller.execute("SET extenddb.lock_timeout = '60ms'")
        before = state(caller)
        holder.execute("BEGIN")
        put(holder, "Plain", key)
        assert request(caller, "PutItem", {"TableName": "Plain", "Item": key})[0] == 400
        assert state(caller) == before, "after a conflict"
        caller.execute("SET extenddb.lock_timeout = '10s'; SET statement_timeout = '60ms'")
        with pytest.raises(psycopg.errors.QueryCanceled):
            put(caller, "Plain", key)
        caller.execute("SET statement_timeout = 0")
        assert state(caller) == before, "after a cancelled wait"
        holder.execute("ROLLBACK")
        for statement in ["ddb.get('Absent', '{}')", "ddb.put('Plain', '{}')", "ddb.create_table('{}')",
                          """ddb.put('Plain', '{"pk":{"S":"a"}}', 'attribute_exists(zz)')"""]:
            with pytest.raises(psycopg.Error):
                caller.execute(f"SELECT {statement}")
            assert state(caller) == before, statement
        caller.execute("SET extenddb.lock_escalation = 3")
        caller.execute("BEGIN")
        for number in range(6):
            put(caller, "Plain", {"pk": {"S": f"escalated-{number}"}})
        assert state(caller) == before, "after an escalation"
        caller.execute("COMMIT")
        assert state(caller) == before


def test_corrupt_storage_is_an_error_and_nothing_more(cluster, database, open_proxy):
    """As a failing disk would leave it: never an answer made of it, never a crash."""
    with cluster.connect(database) as sql:
        create_table(sql, "Corrupt", ORDERS)
        for number in range(3):
            put(sql, "Corrupt", {"pk": {"S": "a"}, "sk": {"S": str(number)}, "g": {"S": "g"}})
        base = storage(sql, "Corrupt")
        before = state(sql)
        for relation in (base, f"{base}_i2"):
            for junk in ("", "\\x00", "\\xffffffffffffffffffffffffffffffff"):
                sql.execute("BEGIN")
                sql.execute(f"UPDATE {relation} SET item = %s::bytea::ddb.item WHERE sk = '1'", [bytes.fromhex(junk[2:])])
                for function, body in [
                        ("get_item", {"Key": {"pk": {"S": "a"}, "sk": {"S": "1"}}}), ("scan", {}),
                        ("query", {"KeyConditionExpression": "pk = :p", "ExpressionAttributeValues": {":p": {"S": "a"}}}),
                        ("delete_item", {"Key": {"pk": {"S": "a"}, "sk": {"S": "1"}}}),
                        ("put_item", {"Item": {"pk": {"S": "a"}, "sk": {"S": "1"}}})]:
                    if relation != base:
                        function, body = "scan", {"IndexName": sql.execute(
                            "SELECT obj_description(%s::regclass, 'pg_class')", [relation]).fetchone()[0].split(" ")[1]}
                    with pytest.raises(psycopg.Error) as raised:
                        with sql.transaction():
                            call(sql, function, {"TableName": "Corrupt", **body})
                    assert raised.value.sqlstate == "XX001", (function, raised.value)
                    assert state(sql) == before
                sql.execute("ROLLBACK")
        sql.execute(f"UPDATE {base} SET item = '\\x00'::bytea::ddb.item WHERE sk = '1'")
        status, answer = open_proxy.call("GetItem", {"TableName": "Corrupt", "Key": {"pk": {"S": "a"}, "sk": {"S": "1"}}})
        assert (status, answer["__type"].split("#")[1]) == (500, "InternalServerError")
        assert base not in json.dumps(answer)
        status, _ = open_proxy.call("GetItem", {"TableName": "Corrupt", "Key": {"pk": {"S": "a"}, "sk": {"S": "2"}}})
        assert status == 200


def test_a_savepoint_takes_back_a_table_and_what_the_session_knows_of_it(sql):
    sql.execute("BEGIN")
    sql.execute("SAVEPOINT s")
    create_table(sql, "Saved", ORDERS)
    put(sql, "Saved", {"pk": {"S": "a"}, "sk": {"S": "b"}, "g": {"S": "g"}})
    sql.execute("ROLLBACK TO s")
    assert request(sql, "DescribeTable", {"TableName": "Saved"})[0] == 400
    create_table(sql, "Saved", PLAIN)
    put(sql, "Saved", {"pk": {"S": "only"}})
    sql.execute("SAVEPOINT s2")
    call(sql, "delete_table", {"TableName": "Saved"})
    create_table(sql, "Saved", ORDERS)
    sql.execute("ROLLBACK TO s2")
    assert get(sql, "Saved", {"pk": {"S": "only"}}) == {"pk": {"S": "only"}}
    sql.execute("COMMIT")
    assert items(sql, "Saved") == [{"pk": {"S": "only"}}]
    call(sql, "delete_table", {"TableName": "Saved"})


@pytest.mark.parametrize("level", ["REPEATABLE READ", "SERIALIZABLE"])
def test_changes_of_tables_above_read_committed(cluster, database, sql, level):
    """What the snapshot cannot see is a serialization failure, as with items."""
    with cluster.connect(database) as caller:
        name = f"Late-{level.split()[0]}"
        caller.execute(f"BEGIN ISOLATION LEVEL {level}")
        caller.execute("SELECT 1")
        create_table(sql, name, ORDERS)
        with pytest.raises(psycopg.errors.SerializationFailure):
            call(caller, "delete_table", {"TableName": name})
        caller.execute("ROLLBACK")
        caller.execute(f"BEGIN ISOLATION LEVEL {level}")
        caller.execute("SELECT 1")
        with pytest.raises(psycopg.Error) as raised:
            create_table(caller, name)
        assert raised.value.sqlstate in ("DD006", "40001")
        caller.execute("ROLLBACK")
        call(sql, "delete_table", {"TableName": name})
        # One of its own comes and goes within the transaction.
        caller.execute(f"BEGIN ISOLATION LEVEL {level}")
        create_table(caller, name, ORDERS)
        put(caller, name, {"pk": {"S": "a"}, "sk": {"S": "b"}, "g": {"S": "g"}})
        assert len(items(caller, name)) == 1
        call(caller, "describe_table", {"TableName": name})
        call(caller, "delete_table", {"TableName": name})
        caller.execute("COMMIT")


def test_calls_from_triggers(sql):
    """Rows copied into items by triggers, at once and at commit."""
    sql.execute("""
        CREATE TABLE source (id int PRIMARY KEY, note text);
        CREATE FUNCTION copy_to_items() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
            IF TG_OP = 'DELETE' THEN
                PERFORM ddb.delete('Plain', json_build_object('pk', json_build_object('S', 'row ' || OLD.id))::ddb.item);
            ELSE
                PERFORM ddb.put('Plain', json_build_object('pk', json_build_object('S', 'row ' || NEW.id),
                                'note', json_build_object('S', NEW.note), 'by', json_build_object('S', TG_NAME))::ddb.item);
            END IF;
            RETURN NULL; END $$;
        CREATE TRIGGER now_ AFTER INSERT OR UPDATE OR DELETE ON source FOR EACH ROW EXECUTE FUNCTION copy_to_items();
        CREATE CONSTRAINT TRIGGER zz_late AFTER INSERT ON source DEFERRABLE INITIALLY DEFERRED
            FOR EACH ROW EXECUTE FUNCTION copy_to_items()""")
    sql.execute("INSERT INTO source SELECT n, 'note ' || n FROM generate_series(1, 50) AS n")
    assert get(sql, "Plain", {"pk": {"S": "row 7"}}) == {
        "pk": {"S": "row 7"}, "note": {"S": "note 7"}, "by": {"S": "zz_late"}}
    sql.execute("UPDATE source SET note = 'new' WHERE id = 7; DELETE FROM source WHERE id = 8")
    assert get(sql, "Plain", {"pk": {"S": "row 7"}})["note"] == {"S": "new"}
    assert get(sql, "Plain", {"pk": {"S": "row 8"}}) is None
    with pytest.raises(psycopg.errors.UniqueViolation):
        sql.execute("INSERT INTO source VALUES (100, 'x'), (7, 'again')")
    assert get(sql, "Plain", {"pk": {"S": "row 100"}}) is None
    sql.execute("DROP TABLE source")


def test_cursors_over_sets(sql):
    for number in range(100):
        put(sql, "Orders", {"pk": {"S": "cursor"}, "sk": {"S": f"{number:03}"}, "pad": {"S": "x" * 20_000}})
    query = """SELECT ddb.query_items('Orders', 'pk = :p', expression_values => '{":p":{"S":"cursor"}}') ->> 'sk'"""
    sql.execute("BEGIN")
    sql.execute(f"DECLARE held CURSOR WITH HOLD FOR {query}")
    sql.execute(f"DECLARE c CURSOR FOR {query}")
    assert sql.execute("FETCH 3 FROM c").fetchall() == [("000",), ("001",), ("002",)]
    # Other calls between two fetches, an error and a savepoint among them.
    put(sql, "Orders", {"pk": {"S": "cursor"}, "sk": {"S": "050a"}})
    with pytest.raises(psycopg.Error):
        with sql.transaction():
            call(sql, "get_item", {})
    assert len(sql.execute("FETCH ALL FROM c").fetchall()) >= 97
    sql.execute("COMMIT")
    assert len(sql.execute("FETCH ALL FROM held").fetchall()) in (100, 101)
    # Two sets of one function in one statement, taken in turns.
    rows = sql.execute(f"SELECT count(*) FROM ({query}) AS a, LATERAL ({query}) AS b").fetchone()
    assert rows == (101 * 101,)


def test_null_arguments_of_requests_are_named(sql):
    for statement in ("ddb.request(NULL, '{}')", "ddb.request('GetItem', NULL)", "ddb.get_item(NULL)"):
        with pytest.raises(psycopg.Error) as raised:
            sql.execute(f"SELECT {statement}")
        assert raised.value.sqlstate == "22004", statement
    assert sql.execute("SELECT status FROM ddb.request('ListTables', '{}', NULL)").fetchone() == (200,)


def test_a_session_with_many_tables_keeps_its_plans_in_bounds(cluster, database, sql):
    """More statements than plans are kept: those that are let go are made again."""
    with cluster.connect(database) as worker:
        for number in range(60):
            create_table(worker, f"Many-{number}", ORDERS)
        for _ in range(2):
            for number in range(60):
                name, key = f"Many-{number}", {"pk": {"S": "a"}, "sk": {"S": "b"}}
                put(worker, name, {**key, "g": {"S": "g"}, "lk": {"N": "1"}, "g2": {"S": "x"}, "r2": {"N": "1"}})
                call(worker, "update_item", {"TableName": name, "Key": key, "UpdateExpression": "SET g = :g REMOVE lk",
                                             "ExpressionAttributeValues": {":g": {"S": "h"}}})
                assert len(items(worker, name)) == 1
                for index in ("by-g", "by-g2", "by-lk", "by-g-lk"):
                    call(worker, "scan", {"TableName": name, "IndexName": index})
                call(worker, "delete_item", {"TableName": name, "Key": key})
        for number in range(60):
            assert index_faults(sql, f"Many-{number}") == []
            call(worker, "delete_table", {"TableName": f"Many-{number}"})
