"""Kills: what was acknowledged is there, once; what was not is there whole or not at all."""

import http.client
import os
import signal
import threading

import psycopg
import pytest

from clients import Background, Client, key_locks, until, waiting
from load import Load
from harness import Cluster, Proxy
from harness.tables import ORDERS, create_table, get, index_faults, items, put


#: How the requests of the tests with load travel: as they come, and two or more together on few sessions.
MANNERS = {"as they come": [], "in batches": ["--pool", "2", "--batch-always"]}


@pytest.fixture(params=MANNERS)
def manner(request):
    return MANNERS[request.param]


@pytest.fixture
def fragile():
    """A cluster of the test's own, with a table; durable, unlike the others."""
    cluster = Cluster(settings=["fsync = on"])
    cluster.create_database("fragile")
    with cluster.connect("fragile") as sql:
        create_table(sql, "Orders", ORDERS)
    yield cluster
    cluster.remove()


def check(load, sql):
    load.check(items(sql, "Orders"))
    assert index_faults(sql, "Orders") == []


def test_kill_of_the_postmaster_under_load(fragile, tmp_path):
    proxy = Proxy(fragile.conninfo("fragile"), tmp_path / "log", auth="none")
    try:
        for round_ in range(2):
            load = Load(proxy)
            until(lambda: load.written() >= 300 or load.odd)
            fragile.kill()
            load.join()
            # Without a server there is an answer all the same.
            status, answer = Client(proxy).call("GetItem", {
                "TableName": "Orders", "Key": {"pk": {"S": "counter"}, "sk": {"S": "0"}}})
            assert status in (500, 503) and answer["__type"].split("#")[1] in ("InternalServerError", "ServiceUnavailable")
            fragile.start()
            with fragile.connect("fragile") as sql:
                check(load, sql)
                assert key_locks(sql) == 0
                # The proxy finds the new server by itself.
                until(lambda: Client(proxy).call("PutItem", {
                    "TableName": "Orders", "Item": {"pk": {"S": "after"}, "sk": {"S": str(round_)}}})[0] == 200)
                assert get(sql, "Orders", {"pk": {"S": "after"}, "sk": {"S": str(round_)}})
                # The next round counts from nothing.
                sql.execute("SELECT ddb.delete('Orders', ddb.project(i, 'pk, sk')) FROM ddb.items('Orders') AS i")
                assert items(sql, "Orders") == []
    finally:
        proxy.stop()


def test_kill_of_a_backend_under_load(fragile, tmp_path, manner):
    """The server restarts all sessions; the proxy comes back."""
    proxy = Proxy(fragile.conninfo("fragile"), tmp_path / "log", auth="none", arguments=manner)
    try:
        load = Load(proxy)
        until(lambda: load.written() >= 200 or load.odd)
        with fragile.connect("fragile") as sql:
            victim = sql.execute("""SELECT pid FROM pg_stat_activity WHERE application_name = 'extenddb'
                                    ORDER BY state = 'active' DESC LIMIT 1""").fetchone()[0]
        os.kill(victim, signal.SIGKILL)
        # Who had nothing under way finds the new server, and would go on for ever.
        until(lambda: any(load.unknown))
        load.stop.set()
        load.join()

        def connected():
            try:
                return fragile.connect("fragile")
            except psycopg.OperationalError:
                return None

        with until(connected) as sql:
            check(load, sql)
            until(lambda: Client(proxy).call("PutItem", {
                "TableName": "Orders", "Item": {"pk": {"S": "after"}, "sk": {"S": "kill"}}})[0] == 200)
    finally:
        proxy.stop()


def test_terminated_sessions_are_replaced(fragile, tmp_path):
    proxy = Proxy(fragile.conninfo("fragile"), tmp_path / "log", auth="none")
    try:
        client = Client(proxy)
        with fragile.connect("fragile") as sql:
            for round_ in range(10):
                client.ok("PutItem", {"TableName": "Orders", "Item": {"pk": {"S": "t"}, "sk": {"S": str(round_)}}})
                sql.execute("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'extenddb'")
                until(lambda: sql.execute(
                    "SELECT count(*) FROM pg_stat_activity WHERE application_name = 'extenddb'").fetchone() == (0,))
                # Reading twice harms nobody, so a read is answered although its session was gone.
                client.ok("GetItem", {"TableName": "Orders", "Key": {"pk": {"S": "t"}, "sk": {"S": str(round_)}}})
    finally:
        proxy.stop()


def test_kill_of_the_proxy_leaves_no_open_transaction(fragile, tmp_path, manner):
    proxy = Proxy(fragile.conninfo("fragile"), tmp_path / "log", auth="none", arguments=manner)
    load = Load(proxy)
    try:
        until(lambda: load.written() >= 200 or load.odd)
    finally:
        proxy.kill()
    load.join()
    with fragile.connect("fragile") as sql:
        until(lambda: sql.execute(
            "SELECT count(*) FROM pg_stat_activity WHERE application_name = 'extenddb'").fetchone() == (0,))
        assert key_locks(sql) == 0
        check(load, sql)


def test_a_proxy_killed_while_its_request_waits_leaves_nothing(fragile, tmp_path):
    """The server notices only when it would answer: the wait ends at the lock timeout or with the lock."""
    proxy = Proxy(fragile.conninfo("fragile"), tmp_path / "log", auth="none")
    with fragile.connect("fragile") as holder, fragile.connect("fragile") as sql:
        holder.execute("BEGIN")
        put(holder, "Orders", {"pk": {"S": "held"}, "sk": {"S": "a"}})
        late = Background(lambda: Client(proxy).call("PutItem", {
            "TableName": "Orders", "Item": {"pk": {"S": "held"}, "sk": {"S": "a"}, "by": {"S": "proxy"}}}))
        until(lambda: waiting(sql) == 1)
        proxy.kill()
        with pytest.raises((OSError, http.client.HTTPException)):
            late.result()
        holder.execute("COMMIT")
        until(lambda: sql.execute(
            "SELECT count(*) FROM pg_stat_activity WHERE application_name = 'extenddb'").fetchone() == (0,))
        assert key_locks(sql) == 0
        assert index_faults(sql, "Orders") == []


def test_sigterm_finishes_requests_in_flight(fragile, tmp_path, manner):
    proxy = Proxy(fragile.conninfo("fragile"), tmp_path / "log", auth="none", arguments=manner)
    try:
        with fragile.connect("fragile") as holder, fragile.connect("fragile") as sql:
            holder.execute("BEGIN")
            for number in range(3):
                put(holder, "Orders", {"pk": {"S": "drain"}, "sk": {"S": str(number)}})
            late = [Background(lambda number=number: Client(proxy).call("PutItem", {
                "TableName": "Orders", "Item": {"pk": {"S": "drain"}, "sk": {"S": str(number)}, "by": {"S": "proxy"}}}))
                for number in range(3)]
            # Half of the sessions may wait.
            until(lambda: waiting(sql) == (1 if manner else 3))
            proxy.process.send_signal(signal.SIGTERM)

            until(proxy.refuses)
            assert proxy.process.poll() is None and not any(one.done() for one in late)
            holder.execute("COMMIT")
            assert [one.result() for one in late] == [(200, {})] * 3
            assert proxy.process.wait(30) == 0
            for number in range(3):
                assert get(sql, "Orders", {"pk": {"S": "drain"}, "sk": {"S": str(number)}})["by"] == {"S": "proxy"}
            # A session that nobody said goodbye to sees for itself that its client is gone.
            until(lambda: sql.execute(
                "SELECT count(*) FROM pg_stat_activity WHERE application_name = 'extenddb'").fetchone() == (0,))
    finally:
        proxy.stop()


def test_sigterm_under_load_loses_nothing(fragile, tmp_path, manner):
    proxy = Proxy(fragile.conninfo("fragile"), tmp_path / "log", auth="none", arguments=manner)
    load = Load(proxy)
    try:
        until(lambda: load.written() >= 200 or load.odd)
        proxy.process.send_signal(signal.SIGTERM)
        assert proxy.process.wait(30) == 0
        load.join()
        with fragile.connect("fragile") as sql:
            check(load, sql)
    finally:
        proxy.stop()


def test_a_crash_in_the_middle_of_a_transaction_undoes_it(fragile):
    sql = fragile.connect("fragile")
    put(sql, "Orders", {"pk": {"S": "kept"}, "sk": {"S": "a"}, "g": {"S": "g"}})
    sql.execute("BEGIN")
    put(sql, "Orders", {"pk": {"S": "kept"}, "sk": {"S": "a"}, "g": {"S": "lost"}})
    create_table(sql, "Lost", ORDERS)
    put(sql, "Lost", {"pk": {"S": "a"}, "sk": {"S": "b"}})
    sql.execute("SELECT ddb.delete_table('{\"TableName\":\"Orders\"}')")
    fragile.kill()
    sql.close()
    fragile.start()
    with fragile.connect("fragile") as sql:
        assert sql.execute("SELECT ddb.list_tables('{}')").fetchone()[0] == {"TableNames": ["Orders"]}
        assert get(sql, "Orders", {"pk": {"S": "kept"}, "sk": {"S": "a"}})["g"] == {"S": "g"}
        assert index_faults(sql, "Orders") == []
        create_table(sql, "Lost", ORDERS)


def test_kill_while_tables_come_and_go(fragile, tmp_path):
    """The catalog and the storage agree: no table without its indexes, no storage without its table."""
    proxy = Proxy(fragile.conninfo("fragile"), tmp_path / "log", auth="none")
    known, changes, threads = [{} for _ in range(4)], [0], []

    def change(number):
        client, turn = Client(proxy), 0
        while True:
            name = f"Come-and-go-{number}-{turn % 3}"
            operation = "DeleteTable" if known[number].get(name) else "CreateTable"
            try:
                status, answer = client.call(operation, {"TableName": name, **(ORDERS if operation == "CreateTable" else {})})
            except (OSError, http.client.HTTPException):
                status = None
            if status != 200:
                known[number].pop(name, None)
                return
            known[number][name] = operation == "CreateTable"
            turn += 1
            changes[0] += 1

    try:
        for number in range(4):
            threads.append(threading.Thread(target=change, args=(number,), daemon=True))
            threads[-1].start()
        until(lambda: changes[0] >= 40)
        fragile.kill()
        for thread in threads:
            thread.join(60)
            assert not thread.is_alive()
        fragile.start()
        with fragile.connect("fragile") as sql:
            tables = dict(sql.execute("SELECT name, id FROM ddb.tables").fetchall())
            for name, there in {name: there for part in known for name, there in part.items()}.items():
                assert (name in tables) == there, name
            storages = {name for (name,) in sql.execute(
                "SELECT relname FROM pg_class WHERE relnamespace = 'ddb_data'::regnamespace AND relkind = 'r'")}
            assert storages == {"t0", "t1"} | {
                f"t{number}{suffix}" for number in tables.values() for suffix in ("", "_i1", "_i2", "_i3", "_i4")}
            for name in tables:
                assert index_faults(sql, name) == []
    finally:
        proxy.stop()
