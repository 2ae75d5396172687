"""Roles: each may do what it is for, and nothing else."""

import re

import psycopg
import pytest

import api
from harness.tables import ORDERS, create_table, put, storage

RANKS = ["nobody", "read", "write", "admin", "proxy"]
WHAT = {"nobody": api.EVERYBODY, "read": api.READ, "write": api.WRITE, "admin": api.ADMIN, "proxy": api.PROXY}


@pytest.fixture(scope="module")
def users(cluster, database):
    with cluster.connect(database) as connection:
        create_table(connection, "Orders", ORDERS)
        create_table(connection, "Plain")
        put(connection, "Orders", {"pk": {"S": "kept"}, "sk": {"S": "a"}, "g": {"S": "x"}})
        for rank in RANKS:
            connection.execute(f"CREATE ROLE user_{rank} LOGIN")
            if rank != "nobody":
                connection.execute(f"GRANT ddb_{rank} TO user_{rank}")
        connection.execute(f"GRANT CREATE ON DATABASE {database} TO user_proxy")
        connection.execute("GRANT CREATE ON SCHEMA public TO user_proxy, user_write")
    yield
    with cluster.connect(database) as connection:
        for rank in RANKS:
            connection.execute(f"DROP OWNED BY user_{rank}; DROP ROLE user_{rank}")


def test_the_list_of_functions_is_whole(sql):
    called = set()
    for statements in WHAT.values():
        for statement in statements:
            called |= set(re.findall(r"ddb\.(\w+)\(", statement))
    exist = {name for (name,) in sql.execute(
        "SELECT DISTINCT proname FROM pg_proc WHERE pronamespace = 'ddb'::regnamespace")}
    assert exist - api.NOT_CALLED == called


@pytest.mark.parametrize("rank", RANKS)
def test_each_role_may_what_it_is_for(cluster, database, users, rank):
    faults = []
    with cluster.connect(database, user=f"user_{rank}") as connection:
        for allowed in RANKS[:RANKS.index(rank) + 1]:
            for statement in WHAT[allowed]:
                try:
                    connection.execute(f"SELECT {statement}").fetchall()
                except psycopg.Error as error:
                    # A fault of DynamoDB's comes after the check of the role.
                    if not error.sqlstate.startswith("DD"):
                        faults.append((statement, error.sqlstate, str(error)))
        assert connection.execute("SELECT current_user, session_user").fetchone() == (f"user_{rank}",) * 2
    assert faults == []


@pytest.mark.parametrize("rank", RANKS[:-1])
def test_and_nothing_else(cluster, database, users, rank):
    with cluster.connect(database, user=f"user_{rank}") as connection:
        for refused in RANKS[RANKS.index(rank) + 1:]:
            for statement in WHAT[refused]:
                with pytest.raises(psycopg.errors.InsufficientPrivilege) as raised:
                    connection.execute(f"SELECT {statement}").fetchall()
                assert raised.value.diag.message_hint, statement
        assert connection.execute("SELECT current_user").fetchone() == (f"user_{rank}",)


@pytest.mark.parametrize("rank", RANKS)
def test_nobody_reaches_the_tables_directly(cluster, database, users, sql, rank):
    items = storage(sql, "Orders")
    relations = [name for (name,) in sql.execute(
        """SELECT c.oid::regclass::text FROM pg_class AS c WHERE relkind IN ('r', 'S')
           AND relnamespace IN ('ddb'::regnamespace, 'ddb_data'::regnamespace)""")]
    assert {items, "ddb_data.t0", "ddb.tables", "ddb.table_id_seq"} <= set(relations)
    attempts = [f"SELECT * FROM {relation}" for relation in relations]
    attempts += [f"DELETE FROM {items}", f"UPDATE {items} SET item = '{{}}'", f"TRUNCATE {items}", f"DROP TABLE {items}",
                 f"DO $$ BEGIN LOCK {items}; END $$", f"CREATE INDEX ON {items} (pk)", f"ALTER TABLE {items} OWNER TO CURRENT_USER",
                 f"CREATE TABLE public.copy (LIKE {items})", f"CREATE TRIGGER t BEFORE INSERT ON {items} "
                 "FOR EACH ROW EXECUTE FUNCTION suppress_redundant_updates_trigger()",
                 "INSERT INTO ddb.tables VALUES (9, 'a', 'b', 1, '{}')", "SELECT nextval('ddb.table_id_seq')",
                 "CREATE TABLE ddb.mine (a int)", "CREATE TABLE ddb_data.mine (a int)",
                 "CREATE FUNCTION ddb.get(text) RETURNS int LANGUAGE sql AS 'SELECT 1'", "DROP SCHEMA ddb_data CASCADE",
                 "CREATE OR REPLACE FUNCTION ddb.list_tables(request json) RETURNS json LANGUAGE sql AS 'SELECT request'",
                 "SET ROLE ddb_owner", "SET SESSION AUTHORIZATION ddb_owner", "GRANT ddb_owner TO CURRENT_USER",
                 "DROP EXTENSION extenddb CASCADE", "ALTER EXTENSION extenddb DROP TABLE ddb.tables",
                 "SET extenddb.region = 'eu-west-1'", "SET extenddb.lock_escalation = 5",
                 "SELECT ddb.get_item('{}'); SELECT * FROM ddb_data.t0"]
    with cluster.connect(database, user=f"user_{rank}") as connection:
        # The library is there: before that, a setting's name is anybody's to set, and dropped when it comes.
        connection.execute("SELECT ddb.item_size('{}')")
        let_through = []
        for attempt in attempts:
            try:
                connection.execute(attempt)
                let_through.append(attempt)
            except psycopg.Error as error:
                if error.sqlstate != "42501" and not error.sqlstate.startswith("DD"):
                    let_through.append((attempt, str(error)))
        assert let_through == []


def test_settings_made_before_the_library_is_loaded_need_the_same_rights(cluster, database, users):
    with cluster.connect(database, user="user_admin") as connection:
        connection.execute("SET extenddb.region = 'eu-west-1'; SET extenddb.lock_escalation = 7; SET extenddb.lock_timeout = '3s'")
        table = connection.execute("""SELECT ddb.describe_table('{"TableName":"Orders"}')""").fetchone()[0]["Table"]
        assert ":us-east-1:" in table["TableArn"]
        assert connection.execute("SHOW extenddb.lock_escalation").fetchone() == ("1000",)
        assert connection.execute("SHOW extenddb.lock_timeout").fetchone() == ("3s",)


def test_the_owner_has_no_way_in_and_no_power(sql):
    assert sql.execute("""SELECT rolcanlogin, rolsuper, rolcreaterole, rolcreatedb, rolreplication, rolbypassrls
                          FROM pg_roles WHERE rolname = 'ddb_owner'""").fetchone() == (False,) * 6
    assert sql.execute("""SELECT count(*) FROM pg_auth_members WHERE 'ddb_owner'::regrole IN (roleid, member)""").fetchone() == (0,)
    assert sql.execute("SELECT bool_or(prosecdef) FROM pg_proc WHERE pronamespace = 'ddb'::regnamespace").fetchone() == (False,)


def test_another_accounts_tables_are_not_there(cluster, database, users):
    """An account has tables of its own under the same names."""
    with cluster.connect(database, user="user_proxy") as connection:
        def ask(operation, body, account):
            return connection.execute("SELECT status, body FROM ddb.request(%s, %s, %s)",
                                      [operation, body, f'{{"account":"{account}"}}']).fetchone()
        create = ('{"TableName":"Orders","BillingMode":"PAY_PER_REQUEST","AttributeDefinitions":[{"AttributeName":"pk",'
                  '"AttributeType":"S"}],"KeySchema":[{"AttributeName":"pk","KeyType":"HASH"}]}')
        status, body = ask("CreateTable", create, "222222222222")
        assert status == 200 and ":222222222222:" in body["TableDescription"]["TableArn"]
        assert ask("Scan", '{"TableName":"Orders"}', "222222222222")[1]["Items"] == []
        assert ask("ListTables", "{}", "333333333333")[1]["TableNames"] == []
        assert ask("Scan", '{"TableName":"Orders"}', "000000000000")[1]["Count"] > 0
        for body in ('{"account":"12"}', '{"account":5}', '[]', '{"account":"00000000000x"}'):
            with pytest.raises(psycopg.errors.InvalidParameterValue):
                connection.execute("SELECT ddb.request('ListTables', '{}', %s)", [body])


def test_the_role_of_a_security_definer_function_counts(cluster, database, users):
    with cluster.connect(database, user="user_write") as connection:
        connection.execute("""CREATE FUNCTION public.count_visit() RETURNS ddb.item LANGUAGE sql SECURITY DEFINER AS
            $$ SELECT ddb.update('Plain', '{"pk":{"S":"visits"}}', 'ADD n :one', expression_values => '{":one":{"N":"1"}}') $$""")
    with cluster.connect(database, user="user_nobody") as connection:
        assert connection.execute("SELECT public.count_visit() ->> 'n'").fetchone() == ("1",)
        with pytest.raises(psycopg.errors.InsufficientPrivilege):
            connection.execute("""SELECT ddb.delete('Plain', '{"pk":{"S":"visits"}}')""")


def test_a_caller_is_itself_again_after_every_kind_of_error(cluster, database, users):
    with cluster.connect(database, user="user_write") as connection:
        for statement in ["ddb.get('Absent', '{}')", "ddb.put('Orders', '{\"pk\":{\"S\":\"a\"}}')",
                          f"ddb.put('Orders', '{api.ITEM}', 'attribute_exists(zz)')", "ddb.items('Absent')",
                          "ddb.query_items('Orders', 'nonsense')", "ddb.create_table('{}')"]:
            with pytest.raises(psycopg.Error):
                connection.execute(f"SELECT {statement}").fetchall()
            assert connection.execute("SELECT current_user").fetchone() == ("user_write",)
            with pytest.raises(psycopg.errors.InsufficientPrivilege):
                connection.execute("SELECT count(*) FROM ddb_data.t0")
        # While a set is half read, the session is not the owner.
        connection.execute("BEGIN")
        connection.execute("DECLARE c CURSOR FOR SELECT ddb.items('Orders')")
        connection.execute("FETCH 1 FROM c")
        assert connection.execute("SELECT current_user").fetchone() == ("user_write",)
        connection.execute("ROLLBACK")
