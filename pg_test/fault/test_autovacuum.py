"""An autovacuum of a table of items stands in nobody's way: PostgreSQL sends it away for whoever waits for it."""

import pytest

from harness import Cluster
from harness.cluster import wait_until
from harness.tables import PLAIN, call, create_table, put, storage


@pytest.fixture(scope="module")
def vacuuming():
    cluster = Cluster(settings=["autovacuum_naptime = 1s"])
    cluster.create_database("vacuumed")
    yield cluster
    cluster.remove()


@pytest.fixture
def vacuumed(vacuuming):
    """A session, and a table in which an autovacuum is at work for minutes."""
    with vacuuming.connect("vacuumed") as sql:
        create_table(sql, "Vacuumed", PLAIN)
        table = storage(sql, "Vacuumed")
        sql.execute(f"""ALTER TABLE {table} SET (autovacuum_vacuum_threshold = 1, autovacuum_vacuum_scale_factor = 0,
            autovacuum_vacuum_cost_delay = 100, autovacuum_vacuum_cost_limit = 1)""")
        sql.execute("""SELECT count(ddb.put('Vacuumed', ('{"pk":{"S":"' || n || '"},"a":{"S":"' || repeat('x', 1000) || '"}}')::ddb.item))
            FROM generate_series(1, 2000) AS n""")
        sql.execute(f"UPDATE {table} SET expires = NULL")
        at_work = "SELECT count(*) FROM pg_stat_progress_vacuum WHERE relid = %s::regclass"
        wait_until(lambda: sql.execute(at_work, [table]).fetchone() == (1,), 60, "an autovacuum is at work")
        yield sql
        sql.execute("ROLLBACK")
        if "Vacuumed" in call(sql, "list_tables", {})["TableNames"]:
            call(sql, "delete_table", {"TableName": "Vacuumed"})


def test_a_table_can_be_deleted(vacuumed):
    assert call(vacuumed, "delete_table", {"TableName": "Vacuumed"})["TableDescription"]["TableStatus"] == "DELETING"


def test_a_transaction_with_many_items_gets_the_table(vacuumed):
    vacuumed.execute("SET extenddb.lock_escalation = 2")
    vacuumed.execute("BEGIN")
    for number in range(4):
        put(vacuumed, "Vacuumed", {"pk": {"S": str(number)}})
    vacuumed.execute("COMMIT")
