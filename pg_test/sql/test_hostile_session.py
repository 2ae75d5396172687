"""Callers that set things: a search path full of traps, and settings that change how SQL is read or planned."""

import psycopg
import pytest

import api
from harness.tables import ORDERS, create_table, index_faults, items, put

TYPES = ["bool", "int2", "int4", "int8", "text", "bytea", "name", "oid", '"char"', "json", "jsonb", "timestamptz",
         "interval", "regclass", "numeric", "varchar", "anyarray", "anyelement", "record", "ddb.item"]
MIXED = [("int4", "int8"), ("int8", "int4"), ("int2", "int4"), ("timestamptz", "interval"), ("name", "text"), ("text", "name"),
         ("ddb.item", "text"), ("json", "text"), ("jsonb", "text")]
OPERATORS = ["=", "<>", "<", ">", "<=", ">=", "+", "-", "||", "->", "->>", "~~", "@>"]
FUNCTIONS = [
    "now()", "clock_timestamp()", "count(anyelement)", "nextval(regclass)", "nextval(text)", "length(bytea)", "length(text)",
    "octet_length(bytea)", "unnest(anyarray)", "unnest(int4[])", "unnest(bytea[])", "sum(bigint)", "sha256(bytea)",
    "current_setting(text)", "set_config(text, text, bool)", "format(text)", "format(text, anyelement)", "lower(text)",
    "json_build_object()", "to_json(anyelement)", "pg_column_size(anyelement)", "generate_series(int4, int4)",
    "coalesce_(int4)", "greatest_(int4)", "row_number()", "get_bit(bytea, int4)", "substring(bytea, int4, int4)",
    "encode(bytea, text)", "decode(text, text)", "array_agg(anyelement)", "item(bytea)", "item_in(cstring)",
    "item_size(ddb.item)", "int4(int8)", "int8(int4)", "text(name)", "bytea(text)", "bytea(ddb.item)", "json(text)",
]
RELATIONS = ["pg_class", "pg_namespace", "pg_settings", "pg_roles", "pg_type", "pg_proc", "tables", "statistics", "t0", "t1",
             *(f"t{number}" for number in range(2, 12)), "table_id_seq", "unnest", "k", "t"]
DOMAINS = ["bool", "int4", "int8", "text", "bytea", "json", "jsonb", "regclass", "item", "interval", "timestamptz", "oid", "numeric"]


@pytest.fixture(scope="module")
def traps(cluster, database):
    """Schema `evil`: everything in it raises when it is touched."""
    with cluster.connect(database) as sql:
        create_table(sql, "Orders", ORDERS)
        create_table(sql, "Plain")
        put(sql, "Plain", {"pk": {"S": "a"}})
        sql.execute("CREATE ROLE victim LOGIN; GRANT ddb_proxy TO victim")
        sql.execute("CREATE SCHEMA evil; GRANT USAGE, CREATE ON SCHEMA evil TO PUBLIC")
        body = "LANGUAGE plpgsql AS $$ BEGIN RAISE EXCEPTION 'trapped as %', current_user USING ERRCODE = 'TR000'; END $$"
        for left, right in [(kind, kind) for kind in TYPES] + MIXED:
            sql.execute(f"CREATE FUNCTION evil.trap(a {left}, b {right}) RETURNS bool {body}")
            for operator in OPERATORS:
                sql.execute(f"CREATE OPERATOR evil.{operator} (FUNCTION = evil.trap, LEFTARG = {left}, RIGHTARG = {right})")
        for function in FUNCTIONS:
            # A polymorphic or unknown type of result is no trap less.
            if "cstring" in function:
                continue
            sql.execute(f"CREATE FUNCTION evil.{function} RETURNS int8 {body}")
        for name in RELATIONS:
            sql.execute(f"CREATE VIEW evil.{name} AS SELECT evil.trap(1, 2) AS id, evil.trap(1, 2) AS name, "
                        "evil.trap(1, 2) AS enumvals, evil.trap(1, 2) AS rolname, evil.trap(1, 2) AS bucket")
        for name in DOMAINS:
            sql.execute(f"CREATE DOMAIN evil.{name} AS pg_catalog.text CHECK (evil.trap(1, 2))")
        sql.execute("GRANT SELECT ON ALL TABLES IN SCHEMA evil TO PUBLIC")
    yield
    with cluster.connect(database) as sql:
        sql.execute("DROP SCHEMA evil CASCADE; DROP OWNED BY victim; DROP ROLE victim")


def run_everything(sql):
    """Every statement of the API; answers those that failed. DynamoDB's own faults are answers too."""
    faults = []
    for statement in api.ADMIN[:1] + api.WRITE + api.READ + api.PROXY + api.EVERYBODY + api.ADMIN[1:]:
        try:
            sql.execute(f"SELECT {statement}").fetchall()
        except psycopg.Error as error:
            if not error.sqlstate.startswith("DD"):
                faults.append((statement, error.sqlstate, str(error)))
    return faults


def test_the_traps_work(cluster, database, traps):
    with cluster.connect(database, user="victim") as sql:
        sql.execute("SET search_path = evil, pg_catalog")
        for statement in ("SELECT 1 = 2", "SELECT 'a'::pg_catalog.text = 'b'::pg_catalog.text", "SELECT now()",
                          "SELECT * FROM pg_class", "SELECT 'a'::text"):
            with pytest.raises(psycopg.Error) as raised:
                sql.execute(statement)
            assert raised.value.sqlstate == "TR000", statement


@pytest.mark.parametrize("path", ["evil, pg_catalog", "evil, pg_catalog, ddb, ddb_data", "evil, pg_temp, pg_catalog", "''", "evil"])
def test_nothing_on_a_hostile_search_path_is_called(cluster, database, traps, path):
    with cluster.connect(database, user="victim") as sql:
        sql.execute(f"SET search_path = {path}")
        assert run_everything(sql) == []
    with cluster.connect(database) as sql:
        assert index_faults(sql, "Orders") == []


def test_nor_when_the_plans_are_older_than_the_path(cluster, database, traps):
    with cluster.connect(database, user="victim") as sql:
        assert run_everything(sql) == []
        sql.execute("SET search_path = evil, pg_catalog")
        assert run_everything(sql) == []
        # A kept plan is made again after this.
        with cluster.connect(database) as superuser:
            superuser.execute("ANALYZE ddb.tables; COMMENT ON SCHEMA evil IS 'changed'")
            for (relation,) in superuser.execute(
                    "SELECT oid::regclass::text FROM pg_class WHERE relnamespace = 'ddb_data'::regnamespace AND relkind = 'r'"):
                superuser.execute(f"ANALYZE {relation}")
        assert run_everything(sql) == []


def test_temporary_relations_are_no_traps_either(cluster, database, traps):
    """pg_temp is searched first for relations and types, whatever the path says."""
    with cluster.connect(database, user="victim") as sql:
        for name in ("tables", "statistics", "pg_settings", "pg_class", "t2", "t3"):
            sql.execute(f"CREATE TEMP VIEW {name} AS SELECT evil.trap(1, 2) AS id, evil.trap(1, 2) AS name")
        sql.execute("CREATE TYPE pg_temp.item AS ENUM ('x'); CREATE DOMAIN pg_temp.bytea AS pg_catalog.int4")
        assert run_everything(sql) == []


def test_create_extension_under_a_hostile_search_path(cluster, database, traps):
    """By a superuser who did not look at the path; the script must not call what is on it."""
    with cluster.connect(database) as sql:
        sql.execute("SET search_path = evil, pg_catalog")
        sql.execute("BEGIN")
        sql.execute("DROP EXTENSION extenddb CASCADE")
        sql.execute("CREATE EXTENSION extenddb")
        sql.execute("SET LOCAL search_path = public")
        create_table(sql, "Orders", ORDERS)
        put(sql, "Orders", {"pk": {"S": "a"}, "sk": {"S": "b"}})
        sql.execute("ROLLBACK")


SETTINGS = [
    "bytea_output = escape", "\"DateStyle\" = 'SQL, DMY'", "\"TimeZone\" = 'Asia/Kathmandu'", "\"IntervalStyle\" = sql_standard",
    "standard_conforming_strings = off", "backslash_quote = off", "escape_string_warning = off", "extra_float_digits = -15",
    "array_nulls = off", "transform_null_equals = on", "quote_all_identifiers = on", "xmloption = document",
    "enable_indexscan = off", "enable_indexonlyscan = off", "enable_bitmapscan = off", "enable_seqscan = off",
    "enable_nestloop = off", "enable_hashjoin = off", "enable_mergejoin = off", "enable_sort = off", "enable_hashagg = off",
    "enable_material = off", "enable_tidscan = off", "plan_cache_mode = force_custom_plan", "force_parallel_mode = regress",
    "parallel_setup_cost = 0", "min_parallel_table_scan_size = 0", "work_mem = '64kB'", "jit = on", "jit_above_cost = 0",
    "default_toast_compression = pglz", "default_transaction_isolation = serializable", "synchronous_commit = off",
    "check_function_bodies = off", "cursor_tuple_fraction = 0.01", "from_collapse_limit = 1", "geqo_threshold = 2",
    "lc_numeric = 'C'", "client_min_messages = error", "row_security = off", "constraint_exclusion = on",
    "client_encoding = 'LATIN1'", "default_transaction_deferrable = on", "lock_timeout = '10s'", "default_tablespace = ''",
    "allow_in_place_tablespaces = on", "session_replication_role = replica", "ignore_system_indexes = on",
    "default_statistics_target = 1", "commit_delay = 0", "wal_compression = on", "exit_on_error = off", "debug_discard_caches = 1",
]


@pytest.mark.parametrize("settings", [[setting] for setting in SETTINGS] + [SETTINGS[:-1]], ids=[*SETTINGS, "all at once"])
def test_settings_change_no_answer(cluster, database, traps, settings):
    with cluster.connect(database) as sql:
        for setting in settings:
            try:
                sql.execute(f"SET {setting}")
            except psycopg.Error as error:
                # A setting of a superuser's or of another version of PostgreSQL, or one for a build for developers.
                assert error.sqlstate in ("42501", "42704", "55P02", "22023"), setting
        faults = run_everything(sql)
        rows = sql.execute("""SELECT i ->> 'pk', i ->> 'sk', i ->> 'n' FROM ddb.items('Orders') AS i
                              WHERE i ->> 'pk' OPERATOR(pg_catalog.=) 'api'""").fetchall()
        assert sorted(rows) == [("api", "1", "1"), ("api", "2", "1"), ("api", "5", "1"), ("api", "6", None)]
    with cluster.connect(database) as sql:
        assert index_faults(sql, "Orders") == []
        assert len(items(sql, "Orders")) == len(rows)
    assert faults == []


def test_default_transaction_read_only_refuses_writes_alone(cluster, database, traps):
    with cluster.connect(database, user="victim") as sql:
        sql.execute("SET default_transaction_read_only = on")
        for statement in api.READ:
            sql.execute(f"SELECT {statement}").fetchall()
        for statement in [api.WRITE[0], api.WRITE[2], api.WRITE[6], api.ADMIN[0], api.WRITE[3]]:
            with pytest.raises(psycopg.errors.ReadOnlySqlTransaction):
                sql.execute(f"SELECT {statement}").fetchall()


def test_text_that_is_not_in_the_clients_encoding(cluster, database, traps):
    """Items hold any character; a client that cannot take it gets PostgreSQL's error, and the item stays."""
    with cluster.connect(database) as sql:
        put(sql, "Plain", {"pk": {"S": "wide"}, "t": {"S": "漢字"}})
        sql.execute("SET client_encoding = 'LATIN1'")
        with pytest.raises(psycopg.errors.UntranslatableCharacter):
            sql.execute("""SELECT ddb.get('Plain', '{"pk":{"S":"wide"}}')::text""").fetchall()
        sql.execute("SELECT ddb.put('Plain', '{\"pk\":{\"S\":\"latin\"},\"t\":{\"S\":\"é\"}}')")
        sql.execute("SET client_encoding = 'UTF8'")
        assert sql.execute("""SELECT ddb.get('Plain', '{"pk":{"S":"latin"}}') ->> 't'""").fetchone() == ("é",)
        sql.execute("""SELECT ddb.delete('Plain', '{"pk":{"S":"wide"}}'), ddb.delete('Plain', '{"pk":{"S":"latin"}}')""")
