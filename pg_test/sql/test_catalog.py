"""What CREATE EXTENSION makes: comments on everything, and the shape of the tables that hold items."""

import pytest

from harness import Cluster, Proxy
from harness.tables import ORDERS, call, create_table, get, index_faults, put, storage


def test_everything_has_a_comment(sql):
    create_table(sql, "Commented", ORDERS)
    without = sql.execute("""
        SELECT pg_describe_object(d.classid, d.objid, 0) FROM pg_depend AS d
        WHERE d.refclassid = 'pg_extension'::regclass AND d.deptype = 'e'
          AND d.refobjid = (SELECT oid FROM pg_extension WHERE extname = 'extenddb')
          -- A cast and a class of operators is described by what it is made of.
          AND d.classid NOT IN ('pg_cast'::regclass, 'pg_opclass'::regclass, 'pg_opfamily'::regclass)
          -- A table's row type and an array are described by what they are of.
          AND NOT (d.classid = 'pg_type'::regclass AND EXISTS (
              SELECT FROM pg_type AS t WHERE t.oid = d.objid AND (t.typrelid <> 0 OR t.typelem <> 0)))
          AND obj_description(d.objid, (SELECT relname FROM pg_class WHERE oid = d.classid)) IS NULL
        UNION ALL
        SELECT 'role ' || rolname FROM pg_roles WHERE rolname LIKE 'ddb\\_%' AND shobj_description(oid, 'pg_authid') IS NULL
        UNION ALL
        SELECT 'column ' || attrelid::regclass || '.' || attname FROM pg_attribute
        WHERE attrelid IN (SELECT oid FROM pg_class WHERE relnamespace = 'ddb'::regnamespace AND relkind = 'r')
          AND attnum > 0 AND NOT attisdropped AND col_description(attrelid, attnum) IS NULL
        UNION ALL
        SELECT c.oid::regclass::text FROM pg_class AS c
        WHERE relnamespace IN ('ddb'::regnamespace, 'ddb_data'::regnamespace) AND relkind IN ('r', 'S', 'v')
          AND obj_description(oid, 'pg_class') IS NULL""").fetchall()
    assert without == []


def test_the_roles_are_all_there(sql):
    assert sql.execute("SELECT array_agg(rolname ORDER BY rolname) FROM pg_roles WHERE rolname LIKE 'ddb\\_%'").fetchone()[0] == [
        "ddb_admin", "ddb_owner", "ddb_proxy", "ddb_read", "ddb_write"]


def test_the_shape_of_a_table(sql):
    create_table(sql, "Shaped", ORDERS)
    base = storage(sql, "Shaped")
    options, owner, comment, acl = sql.execute(
        "SELECT reloptions, relowner::regrole::text, obj_description(oid, 'pg_class'), relacl FROM pg_class "
        "WHERE oid = %s::regclass", [base]).fetchone()
    assert "fillfactor=85" in options
    assert (owner, comment, acl) == ("ddb_owner", "Shaped", None)
    columns = sql.execute(
        """SELECT attname, atttypid::regtype::text, attnotnull, attcompression::text FROM pg_attribute
           WHERE attrelid = %s::regclass AND attnum > 0 ORDER BY attnum""", [base]).fetchall()
    has_lz4 = sql.execute("SELECT 'lz4' = ANY (enumvals) FROM pg_settings WHERE name = 'default_toast_compression'").fetchone()[0]
    assert [(name, kind, notnull) for name, kind, notnull, _ in columns] == [
        ("bucket", "integer", True), ("pk", "bytea", True), ("sk", "bytea", True), ("expires", "bigint", False),
        ("item", "ddb.item", True)]
    assert columns[4][3] == ("l" if has_lz4 else "")
    indexes = [definition for (definition,) in sql.execute(
        "SELECT pg_get_indexdef(indexrelid) FROM pg_index WHERE indrelid = %s::regclass ORDER BY indisprimary DESC", [base])]
    assert indexes[0].endswith("USING btree (bucket, pk, sk)") and indexes[0].startswith("CREATE UNIQUE INDEX")
    assert indexes[1].endswith("USING btree (expires) WHERE (expires IS NOT NULL)") and len(indexes) == 2
    keys = {}
    for relation, comment, owner, options, definition in sql.execute(
            r"""SELECT c.relname, obj_description(c.oid, 'pg_class'), relowner::regrole::text, reloptions,
                       pg_get_indexdef((SELECT indexrelid FROM pg_index WHERE indrelid = c.oid AND indisprimary))
                FROM pg_class AS c WHERE relnamespace = 'ddb_data'::regnamespace AND relkind = 'r' AND relname LIKE %s""",
            [base.removeprefix("ddb_data.") + r"\_i%"]):
        assert owner == "ddb_owner" and "fillfactor=85" in options
        keys[comment] = definition.split("btree ")[1]
    assert keys == {
        "Shaped by-lk": "(bucket, ipk, isk1, pk, sk)", "Shaped by-g": "(bucket, ipk, pk, sk)",
        "Shaped by-g2": "(bucket, ipk, isk1, pk, sk)", "Shaped by-g-lk": "(bucket, ipk, isk1, pk, sk)"}


def test_tables_of_items_are_no_members(sql):
    """Else pg_dump would leave them out."""
    create_table(sql, "Dumped", ORDERS)
    assert sql.execute("SELECT count(*) FROM pg_depend WHERE objid = %s::regclass AND deptype = 'e'",
                       [storage(sql, "Dumped")]).fetchone() == (0,)


def test_deleting_a_table_leaves_nothing(sql):
    before = sql.execute("SELECT count(*) FROM pg_class").fetchone()
    create_table(sql, "Gone", ORDERS)
    put(sql, "Gone", {"pk": {"S": "a"}, "sk": {"S": "b"}})
    number = sql.execute("SELECT id FROM ddb.tables WHERE name = 'Gone'").fetchone()[0]
    call(sql, "describe_table", {"TableName": "Gone"})
    call(sql, "delete_table", {"TableName": "Gone"})
    assert sql.execute("SELECT count(*) FROM pg_class").fetchone() == before
    assert sql.execute("SELECT count(*) FROM ddb.tables WHERE name = 'Gone'").fetchone() == (0,)
    assert sql.execute("SELECT count(*) FROM ddb.statistics WHERE table_id = %s", [number]).fetchone() == (0,)


@pytest.fixture(scope="module")
def preloaded():
    cluster = Cluster(settings=["shared_preload_libraries = 'extenddb'", "extenddb.region = 'eu-central-1'",
                                "extenddb.lock_timeout = '2500ms'"])
    yield cluster
    cluster.remove()


def test_with_shared_preload_libraries(preloaded, tmp_path):
    with preloaded.connect() as sql:
        # Before the extension is created anywhere, the settings are there.
        assert sql.execute("SHOW extenddb.region").fetchone() == ("eu-central-1",)
        assert sql.execute("SHOW extenddb.lock_timeout").fetchone() == ("2500ms",)
    preloaded.create_database("loaded")
    with preloaded.connect("loaded") as sql:
        table = create_table(sql, "Tab", ORDERS)["TableDescription"]
        assert table["TableArn"] == "arn:aws:dynamodb:eu-central-1:000000000000:table/Tab"
        put(sql, "Tab", {"pk": {"S": "a"}, "sk": {"S": "b"}})
    proxy = Proxy(preloaded.conninfo("loaded"), tmp_path / "log")
    try:
        assert proxy.client().scan(TableName="Tab")["Count"] == 1
    finally:
        proxy.stop()
    preloaded.stop()
    preloaded.start()
    with preloaded.connect("loaded") as sql:
        assert get(sql, "Tab", {"pk": {"S": "a"}, "sk": {"S": "b"}})
    # Nothing of ours keeps a database from being dropped.
    with preloaded.connect() as sql:
        sql.execute("DROP DATABASE loaded")


def test_without_shared_preload_libraries(cluster, sql):
    assert "extenddb" not in sql.execute("SHOW shared_preload_libraries").fetchone()[0]
    create_table(sql, "Tab")
    put(sql, "Tab", {"pk": {"S": "a"}})
    assert get(sql, "Tab", {"pk": {"S": "a"}})


def test_a_reload_changes_settings_of_running_sessions(preloaded):
    preloaded.create_database("reloaded")
    with preloaded.connect("reloaded") as sql:
        call(sql, "list_tables", {})
        sql.execute("ALTER SYSTEM SET extenddb.lock_timeout = '1234ms'")
        sql.execute("SELECT pg_reload_conf()")
        for _ in range(1_000):
            if sql.execute("SHOW extenddb.lock_timeout").fetchone() == ("1234ms",):
                break
        else:
            raise AssertionError("the setting did not arrive")
        sql.execute("ALTER SYSTEM RESET extenddb.lock_timeout")


def test_the_check_of_indexes_sees_what_is_wrong(sql):
    """The other tests trust `index_faults`: each kind of damage must show."""
    create_table(sql, "Damaged", ORDERS)
    for number in range(4):
        put(sql, "Damaged", {"pk": {"S": "a"}, "sk": {"S": str(number)}, "g": {"S": "g"}, "lk": {"N": "1"}, "note": {"S": "n"}})
    base = storage(sql, "Damaged")
    assert index_faults(sql, "Damaged") == []
    for relation in [base, *(f"{base}_i{number}" for number in (1, 2, 4))]:
        for damage in ("DELETE FROM {} WHERE sk = '1'", "UPDATE {} SET bucket = bucket + 1 WHERE sk = '1'",
                       "UPDATE {} SET item = ddb.apply_update(item, 'SET extra = pk') WHERE sk = '1'",
                       "UPDATE {} SET sk = '9' WHERE sk = '1'"):
            sql.execute("BEGIN")
            assert sql.execute(damage.format(relation)).rowcount == 1
            assert index_faults(sql, "Damaged") != [], (relation, damage)
            sql.execute("ROLLBACK")
    assert index_faults(sql, "Damaged") == []
