"""The extension as a whole: what it makes, who may do what, dump and restore, errors."""

import json

import psycopg
import pytest

MUSIC = json.dumps({
    "TableName": "Music", "BillingMode": "PAY_PER_REQUEST",
    "AttributeDefinitions": [{"AttributeName": "pk", "AttributeType": "S"}, {"AttributeName": "sk", "AttributeType": "N"}],
    "KeySchema": [{"AttributeName": "pk", "KeyType": "HASH"}, {"AttributeName": "sk", "KeyType": "RANGE"}],
})
KEY = '{"pk":{"S":"a"},"sk":{"N":"1"}}'


def one(sql, statement, *arguments):
    return sql.execute(statement, arguments).fetchone()[0]


@pytest.fixture(scope="module")
def music(cluster, database):
    with cluster.connect(database) as sql:
        sql.execute("SELECT ddb.create_table(%s)", [MUSIC])
        for role in ("read", "write", "admin", "proxy"):
            sql.execute(f"CREATE ROLE test_{role} LOGIN; GRANT ddb_{role} TO test_{role}")
        sql.execute("CREATE ROLE test_nobody LOGIN")
    yield database
    with cluster.connect(database) as sql:
        sql.execute("DROP ROLE test_read, test_write, test_admin, test_proxy, test_nobody")


def test_everything_public_has_a_comment(sql):
    assert sql.execute("""
        SELECT p.oid::regprocedure::text FROM pg_proc p
        WHERE pronamespace = 'ddb'::regnamespace AND obj_description(p.oid, 'pg_proc') IS NULL
        UNION ALL
        SELECT c.oid::regclass::text FROM pg_class c
        WHERE relnamespace IN ('ddb'::regnamespace, 'ddb_data'::regnamespace) AND relkind IN ('r', 'S', 'v')
          AND obj_description(c.oid, 'pg_class') IS NULL""").fetchall() == []


def test_functions_for_people(cluster, music):
    with cluster.connect(music, user="test_write") as sql:
        put = "SELECT ddb.put('Music', %s, %s, NULL, %s)::json"
        first = {**json.loads(KEY), "n": {"N": "5"}}
        assert one(sql, put, json.dumps(first), None, None) is None
        assert one(sql, put, json.dumps(first), "n = :v", '{":v":{"N":"5"}}') == first
        assert one(sql, "SELECT ddb.get('Music', %s)::json", KEY) == first
        updated = one(sql, """SELECT ddb.update('Music', %s, 'ADD n :i', expression_values => '{":i":{"N":"2"}}')::json""", KEY)
        assert updated == {**first, "n": {"N": "7"}}
        assert one(sql, "SELECT ddb.delete('Music', %s)::json", KEY) == updated
        assert one(sql, "SELECT ddb.get('Music', %s)", KEY) is None


def test_sets_go_through_pages(cluster, music):
    with cluster.connect(music, user="test_write") as sql:
        # 3,000 items of about 1 KB: three pages.
        sql.execute("""SELECT count(ddb.put('Music', format('{"pk":{"S":"p%s"},"sk":{"N":"%s"},"v":{"S":"%s"}}',
                                            n % 2, n, repeat('v', 1000))::ddb.item)) FROM generate_series(1, 3000) AS n""")
        assert one(sql, "SELECT count(DISTINCT i ->> 'sk') FROM ddb.items('Music') AS i WHERE i ->> 'pk' <> 'a'") == 3000
        query = "SELECT (i ->> 'sk')::int FROM ddb.query_items('Music', 'pk = :p', NULL, %s, forward => %s) AS i"
        forward = [row[0] for row in sql.execute(query, ['{":p":{"S":"p1"}}', True])]
        assert forward == list(range(1, 3000, 2))
        assert [row[0] for row in sql.execute(query, ['{":p":{"S":"p1"}}', False])] == forward[::-1]
        # Stopped early, the scan lets go of what it held.
        assert len(sql.execute("SELECT ddb.items('Music') LIMIT 5").fetchall()) == 5


def test_requests_answer_faults_as_data(sql, music):
    unknown = {"__type": "com.amazon.coral.service#UnknownOperationException"}
    assert sql.execute("SELECT status, body FROM ddb.request('Nope', '{}')").fetchone() == (400, unknown)
    rows = sql.execute("SELECT * FROM ddb.requests(%s, %s::json[])", [
        ["PutItem", "Nope", "GetItem"],
        [f'{{"TableName":"Music","Item":{KEY}}}', "{}", f'{{"TableName":"Music","Key":{KEY},"ConsistentRead":true}}'],
    ]).fetchall()
    assert rows == [(200, {}), (400, unknown), (200, {"Item": json.loads(KEY)})]
    with pytest.raises(psycopg.errors.InvalidParameterValue):
        sql.execute("SELECT ddb.requests(ARRAY['GetItem'], ARRAY[]::json[])")


def test_faults_are_errors_with_their_own_sqlstates(sql, music):
    with pytest.raises(psycopg.Error) as caught:
        sql.execute("SELECT ddb.put('Music', %s, 'attribute_exists(zz)')", [KEY])
    assert (caught.value.sqlstate, caught.value.diag.message_primary) == ("DD008", "The conditional request failed")
    assert json.loads(caught.value.diag.message_detail) == {
        "__type": "com.amazonaws.dynamodb.v20120810#ConditionalCheckFailedException",
        "message": "The conditional request failed"}
    with pytest.raises(psycopg.Error) as caught:
        sql.execute("""SELECT ddb.get_item('{"TableName":"Nope","Key":{"pk":{"S":"a"}}}')""")
    assert (caught.value.sqlstate, caught.value.diag.message_primary) == ("DD005", "Requested resource not found")
    # PL/pgSQL can tell them apart, and goes on.
    sql.execute(f"""DO $$ BEGIN PERFORM ddb.put('Music', '{KEY}', 'attribute_exists(zz)'); RAISE 'not refused';
                    EXCEPTION WHEN SQLSTATE 'DD008' THEN NULL; END $$""")


@pytest.mark.parametrize("user, statement, role", [
    ("nobody", f"ddb.get('Music', '{KEY}')", "ddb_read"),
    ("nobody", "ddb.list_tables('{}')", "ddb_read"),
    ("nobody", "ddb.request('PutItem', '{}')", "ddb_write"),
    ("read", f"ddb.put('Music', '{KEY}')", "ddb_write"),
    ("read", f"ddb.update('Music', '{KEY}', 'REMOVE a')", "ddb_write"),
    ("read", f"ddb.delete('Music', '{KEY}')", "ddb_write"),
    ("read", "ddb.batch_write_item('{}')", "ddb_write"),
    ("write", "ddb.create_table('{}')", "ddb_admin"),
    ("write", """ddb.delete_table('{"TableName":"Music"}')""", "ddb_admin"),
    ("admin", """ddb.request('ListTables', '{}', '{"account":"111111111111"}')""", "ddb_proxy"),
    ("admin", """ddb.request('ListTables', '{}', '{"principal":"x"}')""", "ddb_proxy"),
])
def test_each_operation_asks_for_a_role(cluster, music, user, statement, role):
    with cluster.connect(music, user=f"test_{user}") as sql:
        with pytest.raises(psycopg.errors.InsufficientPrivilege) as caught:
            sql.execute(f"SELECT {statement}")
        assert caught.value.diag.message_detail == f"It needs the rights of role {role}."
        assert one(sql, "SELECT current_user") == f"test_{user}"


def test_each_role_may_what_the_one_before_may(cluster, music):
    with cluster.connect(music, user="test_proxy") as sql:
        sql.execute("SELECT ddb.put('Music', %s)", [KEY])
        assert one(sql, "SELECT current_user") == "test_proxy"
        other = """SELECT body FROM ddb.request('ListTables', '{}', '{"account":"111111111111","principal":"x","later":[1]}')"""
        assert one(sql, other) == {"TableNames": []}
        own = """SELECT body FROM ddb.request('ListTables', '{}', '{"account":"000000000000"}')"""
        assert one(sql, own) == {"TableNames": ["Music"]}
        sql.execute("SELECT ddb.create_table(%s)", [MUSIC.replace("Music", "Other")])
        sql.execute("""SELECT ddb.delete_table('{"TableName":"Other"}')""")
    with cluster.connect(music, user="test_read") as sql:
        assert one(sql, "SELECT ddb.get('Music', %s) IS NOT NULL", KEY)


@pytest.mark.parametrize("relation", ["ddb.tables", "ddb.statistics", "ddb_data.t0", "ddb_data.t1", "ddb_data.t2"])
def test_storage_is_for_functions_alone(cluster, music, relation):
    with cluster.connect(music, user="test_proxy") as sql:
        with pytest.raises(psycopg.errors.InsufficientPrivilege):
            sql.execute(f"SELECT * FROM {relation}")


def test_the_caller_is_back_after_an_error(cluster, music):
    with cluster.connect(music, user="test_write", autocommit=False) as sql:
        sql.execute("SAVEPOINT before")
        with pytest.raises(psycopg.Error):
            sql.execute("SELECT ddb.put('Music', %s, 'attribute_exists(zz)')", [KEY])
        sql.execute("ROLLBACK TO before")
        assert one(sql, "SELECT current_user") == "test_write"
        with pytest.raises(psycopg.errors.InsufficientPrivilege):
            sql.execute("SELECT * FROM ddb_data.t2")


def test_a_hostile_search_path_changes_nothing(cluster, music):
    with cluster.connect(music) as sql:
        sql.execute("CREATE SCHEMA evil")
        for left in ("int4", "int8", "text", "bytea", "name", "oid"):
            for operator in ("=", "<", ">", "<=", ">=", "<>"):
                name = f"f_{left}_{abs(hash(operator))}"
                sql.execute(f"""CREATE FUNCTION evil.{name}(a {left}, b {left}) RETURNS bool LANGUAGE plpgsql
                                AS $$ BEGIN RAISE 'hijacked as %', current_user; END $$""")
                sql.execute(f"CREATE OPERATOR evil.{operator} (FUNCTION = evil.{name}, LEFTARG = {left}, RIGHTARG = {left})")
        for function in ("now()", "clock_timestamp()", "count()", "nextval(c text)", "length(b bytea)", "octet_length(b bytea)"):
            sql.execute(f"""CREATE FUNCTION evil.{function} RETURNS int8 LANGUAGE plpgsql
                            AS $$ BEGIN RAISE 'hijacked as %', current_user; END $$""")
        for name in ("int4", "int8", "text", "bytea", "bool", "json", "timestamptz", "oid"):
            sql.execute(f"CREATE TYPE evil.{name} AS ENUM ('a')")
        sql.execute("GRANT USAGE ON SCHEMA evil TO PUBLIC")
    # A new session: no plan was made under another path.
    with cluster.connect(music, user="test_admin") as sql:
        sql.execute("SET search_path TO evil, pg_catalog")
        sql.execute("SELECT ddb.create_table(%s)", [MUSIC.replace("Music", "Path")])
        for statement in ("ddb.describe_table('{\"TableName\":\"Path\"}')", "ddb.list_tables('{}')",
                          f"ddb.put('Path', '{KEY}')", f"ddb.put('Path', '{KEY}', 'attribute_exists(pk)')",
                          f"ddb.update('Path', '{KEY}', 'SET a = sk')", f"ddb.get('Path', '{KEY}')",
                          "ddb.items('Path')", "ddb.query_items('Path', 'pk = :p', NULL, '{\":p\":{\"S\":\"a\"}}')",
                          f"ddb.delete('Path', '{KEY}')", "ddb.delete_table('{\"TableName\":\"Path\"}')"):
            sql.execute(f"SELECT {statement}")
    with cluster.connect(music) as sql:
        sql.execute("DROP SCHEMA evil CASCADE")


def test_drop_and_create_again_in_one_session(cluster):
    cluster.create_database("again")
    with cluster.connect("again") as sql:
        for _ in range(2):
            sql.execute("SELECT ddb.create_table(%s)", [MUSIC])
            sql.execute("SELECT ddb.put('Music', %s)", [KEY])
            assert one(sql, "SELECT ddb.get('Music', %s)::json", KEY) == json.loads(KEY)
            with pytest.raises(psycopg.errors.DependentObjectsStillExist):
                sql.execute("DROP EXTENSION extenddb")
            sql.execute("DROP EXTENSION extenddb CASCADE")
            assert one(sql, "SELECT count(*) FROM pg_namespace WHERE nspname IN ('ddb', 'ddb_data')") == 0
            sql.execute("CREATE EXTENSION extenddb")
        assert one(sql, "SELECT ddb.list_tables('{}')") == {"TableNames": []}


def test_dump_and_restore(cluster):
    cluster.create_database("full")
    with cluster.connect("full") as sql:
        sql.execute("SELECT ddb.create_table(%s)", [MUSIC])
        sql.execute("SELECT ddb.put('Music', %s)", [KEY])
    for name, options in (("copy_whole", []), ("copy_alone", ["-e", "extenddb", "-n", "ddb", "-n", "ddb_data"])):
        dump = cluster.tool("pg_dump", "-Fc", *options, "full").stdout
        cluster.create_database(name, extension=False)
        cluster.tool("pg_restore", "--exit-on-error", "-d", name, input=dump)
        with cluster.connect(name) as sql:
            assert one(sql, "SELECT ddb.get('Music', %s)::json", KEY) == json.loads(KEY)
            # A new table gets an id that none had.
            sql.execute("SELECT ddb.create_table(%s)", [MUSIC.replace("Music", "New")])
            assert one(sql, "SELECT count(DISTINCT id) FROM ddb.tables") == 2
    empty = "copy_empty"
    cluster.create_database("empty")
    cluster.create_database(empty, extension=False)
    cluster.tool("pg_restore", "--exit-on-error", "-d", empty, input=cluster.tool("pg_dump", "-Fc", "empty").stdout)


def test_another_encoding_is_refused_with_a_hint(cluster):
    with cluster.connect() as sql:
        sql.execute("CREATE DATABASE latin ENCODING 'LATIN1' LOCALE 'C' TEMPLATE template0")
    with cluster.connect("latin") as sql:
        with pytest.raises(psycopg.errors.FeatureNotSupported) as caught:
            sql.execute("CREATE EXTENSION extenddb")
        assert caught.value.diag.message_primary == "extenddb needs a database with encoding UTF8, this one has LATIN1"


def test_settings(cluster, music):
    with cluster.connect(music, user="test_write") as sql:
        sql.execute("SELECT ddb.list_tables('{}')")
        shown = [one(sql, f"SHOW extenddb.{name}") for name in ("region", "lock_timeout", "lock_escalation")]
        assert shown == ["us-east-1", "5s", "1000"]
        sql.execute("SET extenddb.lock_timeout = '200ms'")
        for statement in ("SET extenddb.region = 'x'", "SET extenddb.lock_escalation = 5"):
            with pytest.raises(psycopg.errors.InsufficientPrivilege):
                sql.execute(statement)
        with pytest.raises(psycopg.errors.InvalidName):
            sql.execute("SET extenddb.unknown = 1")
    with cluster.connect(music) as sql:
        sql.execute("SELECT ddb.list_tables('{}')")
        sql.execute("SET extenddb.region = 'eu-west-2'")
        described = one(sql, """SELECT ddb.describe_table('{"TableName":"Music"}')""")
        assert described["Table"]["TableArn"] == "arn:aws:dynamodb:eu-west-2:000000000000:table/Music"
