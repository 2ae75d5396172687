"""Settings of locks at their ends."""

import threading

import pytest

from harness.tables import PLAIN, create_table, put

LONGEST_MS = 2**31 - 1


@pytest.fixture(scope="module")
def plain(cluster, database):
    with cluster.connect(database) as sql:
        create_table(sql, "Plain", PLAIN)


def test_the_longest_timeout_may_be_waited_for(cluster, database, plain):
    """The wait for a whole table raises `deadlock_timeout` above it, where there is no longer one."""
    with cluster.connect(database) as holder, cluster.connect(database) as bulk:
        holder.execute("BEGIN")
        put(holder, "Plain", {"pk": {"S": "held"}})
        bulk.execute(f"SET extenddb.lock_timeout = {LONGEST_MS}")
        bulk.execute("SET extenddb.lock_escalation = 1")
        bulk.execute("BEGIN")
        put(bulk, "Plain", {"pk": {"S": "first"}})
        release = threading.Timer(0.3, holder.execute, ["COMMIT"])
        release.start()
        put(bulk, "Plain", {"pk": {"S": "second"}})
        release.join()
        bulk.execute("COMMIT")
        assert bulk.execute("SELECT current_setting('deadlock_timeout')").fetchone() == ("1s",)
