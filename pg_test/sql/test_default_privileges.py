"""What whoever installs grants or revokes by default neither breaks the extension nor gives its tables away."""

import pytest

from harness.tables import ORDERS, call, create_table, get, put

TIGHT = ["REVOKE EXECUTE ON FUNCTIONS FROM PUBLIC", "REVOKE USAGE ON TYPES FROM PUBLIC"]
LOOSE = ["GRANT ALL ON TABLES TO privileged_by_default", "GRANT ALL ON TABLES TO PUBLIC",
         "GRANT ALL ON SEQUENCES TO privileged_by_default", "GRANT ALL ON SCHEMAS TO privileged_by_default"]


@pytest.fixture
def installed(cluster, request):
    """A database whose installer had these default privileges."""
    name = f"defaults_{len(request.param)}"
    cluster.create_database(name, extension=False)
    with cluster.connect(name) as sql:
        sql.execute("DROP ROLE IF EXISTS privileged_by_default")
        sql.execute("CREATE ROLE privileged_by_default LOGIN")
        for privilege in request.param:
            sql.execute(f"ALTER DEFAULT PRIVILEGES {privilege}")
        sql.execute("CREATE EXTENSION extenddb")
    yield name
    with cluster.connect() as sql:
        sql.execute(f"DROP DATABASE {name}")


@pytest.mark.parametrize("installed", [TIGHT], indirect=True)
def test_what_is_revoked_by_default_is_granted_here(cluster, installed):
    with cluster.connect(installed) as sql:
        sql.execute("GRANT ddb_admin TO privileged_by_default")
    with cluster.connect(installed, user="privileged_by_default") as sql:
        create_table(sql, "Orders", ORDERS)
        put(sql, "Orders", {"pk": {"S": "a"}, "sk": {"S": "b"}, "g": {"S": "c"}})
        assert get(sql, "Orders", {"pk": {"S": "a"}, "sk": {"S": "b"}})["g"] == {"S": "c"}
        # Measures with a function of the extension's, as its owner.
        assert call(sql, "describe_table", {"TableName": "Orders"})["Table"]["ItemCount"] == 1
        assert sql.execute("""SELECT '{"a":{"S":"b"}}'::ddb.item ->> 'a'""").fetchone() == ("b",)
        sql.execute("CREATE TEMPORARY TABLE kept (item ddb.item)")


@pytest.mark.parametrize("installed", [LOOSE], indirect=True)
def test_what_is_granted_by_default_is_revoked_here(cluster, installed):
    with cluster.connect(installed) as sql:
        create_table(sql, "Orders", ORDERS)
        given_away = sql.execute("""
            SELECT c.oid::regclass, acl.grantee::regrole, acl.privilege_type FROM pg_class c, aclexplode(c.relacl) acl
            WHERE c.relnamespace IN ('ddb'::regnamespace, 'ddb_data'::regnamespace) AND acl.grantee <> c.relowner
            """).fetchall()
        assert given_away == []
        assert sql.execute("""SELECT count(*) FROM pg_namespace, unnest(ARRAY['public', 'privileged_by_default']) AS someone
            WHERE nspname IN ('ddb', 'ddb_data') AND has_schema_privilege(someone, oid, 'CREATE')""").fetchone() == (0,)
