"""What the proxy says of a request when PostgreSQL does not answer it plainly.

The extension's `ddb.request` is replaced by a function that fails on demand, in a database of its own."""

import http.client
import json
import signal
import socket
import threading
import time

import pytest

from harness import Proxy
from harness.cluster import wait_until

FAILING = """
CREATE TABLE public.done (what text);
CREATE TABLE public.late (id int PRIMARY KEY DEFERRABLE INITIALLY DEFERRED);
CREATE SEQUENCE public.runs;
CREATE OR REPLACE FUNCTION ddb.request(operation text, request json, context json DEFAULT '{}', OUT status integer,
    OUT body json) LANGUAGE plpgsql AS $$
DECLARE
    what text := request ->> 'do';
BEGIN
    status := 200;
    body := '{}';
    CASE what
        WHEN 'settings' THEN
            SELECT json_object_agg(name, setting) INTO body FROM pg_settings WHERE name IN ('jit', 'search_path',
                'statement_timeout', 'synchronous_commit', 'transaction_isolation', 'transaction_read_only');
        WHEN 'context' THEN body := context;
        WHEN 'conflict' THEN
            IF nextval('public.runs') < (request ->> 'until')::int THEN
                RAISE EXCEPTION 'conflict' USING ERRCODE = request ->> 'code';
            END IF;
            INSERT INTO public.done VALUES (what);
        WHEN 'sleep' THEN
            INSERT INTO public.done VALUES (what);
            PERFORM pg_sleep((request ->> 's')::float);
        WHEN 'late' THEN
            INSERT INTO public.done VALUES (what);
            INSERT INTO public.late VALUES (1), (1);
        WHEN 'die' THEN
            PERFORM nextval('public.runs');
            PERFORM pg_terminate_backend(pg_backend_pid());
            PERFORM pg_sleep(1);
        ELSE INSERT INTO public.done VALUES (what);
    END CASE;
END $$;
ALTER DATABASE {database} SET default_transaction_isolation = 'serializable';
ALTER DATABASE {database} SET default_transaction_read_only = on;
ALTER DATABASE {database} SET synchronous_commit = off;
ALTER DATABASE {database} SET jit = on;
"""

INTERNAL = {
    "__type": "com.amazonaws.dynamodb.v20120810#InternalServerError",
    "message": "Internal server error",
}
UNAVAILABLE = {
    "__type": "com.amazonaws.dynamodb.v20120810#ServiceUnavailable",
    "message": "Internal server error",
}


@pytest.fixture(scope="module")
def failing(cluster, database, tmp_path_factory):
    with cluster.connect(database) as connection:
        connection.execute(FAILING.replace("{database}", database))
    proxy = Proxy(cluster.conninfo(database), tmp_path_factory.mktemp("proxy") / "log", auth="none",
                  arguments=("--pool", "2", "--request-timeout", "2s"))
    yield proxy
    proxy.stop()


@pytest.fixture
def sql(cluster, database, failing):
    """A session that may write, with the tables empty."""
    with cluster.connect(database) as connection:
        connection.execute("SET default_transaction_read_only = off")
        connection.execute("TRUNCATE public.done")
        connection.execute("ALTER SEQUENCE public.runs RESTART")
        yield connection


def done(sql):
    return [what for (what,) in sql.execute("SELECT what FROM public.done").fetchall()]


def runs(sql):
    return sql.execute("SELECT CASE WHEN is_called THEN last_value ELSE 0 END FROM public.runs").fetchone()[0]


def sessions(sql, state="%"):
    return sql.execute("SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND "
                       "application_name = 'extenddb' AND state LIKE %s", (state,)).fetchone()[0]


def end_sessions(sql):
    sql.execute("SELECT pg_terminate_backend(pid, 5000) FROM pg_stat_activity WHERE datname = current_database() AND "
                "application_name = 'extenddb'")


def health(proxy):
    connection = http.client.HTTPConnection("127.0.0.1", proxy.port, timeout=10)
    connection.request("GET", "/health")
    return connection.getresponse().status


def test_sessions_do_not_take_over_what_the_database_sets(failing):
    status, settings = failing.call("GetItem", {"do": "settings"})
    assert status == 200
    assert settings == {"jit": "off", "search_path": "pg_catalog", "statement_timeout": "2000", "synchronous_commit": "on",
                        "transaction_isolation": "read committed", "transaction_read_only": "off"}


def test_the_context_names_the_caller(failing):
    _, context = failing.call("GetItem", {"do": "context"})
    assert context.pop("requestId").isalnum()
    # What it would have to wait for is told.
    assert context.pop("waitTag") == "0" * 16
    assert context == {"account": "000000000000", "host": f"127.0.0.1:{failing.port}", "sourceIp": "127.0.0.1"}


@pytest.mark.parametrize("code", ["40001", "40P01"])
def test_a_conflict_is_run_again(failing, sql, code):
    assert failing.call("PutItem", {"do": "conflict", "until": 4, "code": code}) == (200, {})
    assert (runs(sql), done(sql)) == (4, ["conflict"])


def test_a_conflict_is_given_up_after_five_runs(failing, sql):
    assert failing.call("PutItem", {"do": "conflict", "until": 99, "code": "40001"}) == (500, INTERNAL)
    assert (runs(sql), done(sql)) == (5, [])


def test_the_deadline_rolls_back(failing, sql):
    started = time.monotonic()
    assert failing.call("PutItem", {"do": "sleep", "s": 10}) == (500, INTERNAL)
    assert 1.9 < time.monotonic() - started < 4
    assert done(sql) == []


def test_a_commit_that_fails_is_not_acknowledged(failing, sql):
    assert failing.call("PutItem", {"do": "late"}) == (500, INTERNAL)
    assert done(sql) == []


def test_a_write_whose_session_dies_is_not_repeated(failing, sql):
    assert failing.call("PutItem", {"do": "die"}) == (500, INTERNAL)
    assert runs(sql) == 1
    assert failing.call("PutItem", {"do": "put"}) == (200, {})


def test_a_read_whose_session_dies_is_repeated_once(failing, sql):
    assert failing.call("GetItem", {"do": "die"}) == (500, INTERNAL)
    assert runs(sql) == 2


def test_dead_sessions_are_replaced(failing, sql):
    failing.call("PutItem", {"do": "put"})
    end_sessions(sql)
    assert failing.call("PutItem", {"do": "put"}) == (200, {})
    assert done(sql) == ["put", "put"]


def test_a_replaced_function_is_found_again(failing, sql):
    sql.execute("ALTER FUNCTION ddb.request(text, json, json) RENAME TO hidden")
    assert failing.call("PutItem", {"do": "put"}) == (503, UNAVAILABLE)
    assert health(failing) == 503
    sql.execute("ALTER FUNCTION ddb.hidden(text, json, json) RENAME TO request")
    assert failing.call("PutItem", {"do": "put"}) == (200, {})
    assert health(failing) == 200


def test_more_requests_than_sessions_wait_their_turn(failing, sql):
    answers = []
    threads = [threading.Thread(target=lambda: answers.append(failing.call("Query", {"do": "sleep", "s": 0.3})))
               for _ in range(6)]
    for thread in threads:
        thread.start()
    wait_until(lambda: sessions(sql, "active") == 2, 10, "every session is busy")
    assert health(failing) == 200, "busy is not ill"
    for thread in threads:
        thread.join()
    assert answers == [(200, {})] * 6
    assert sessions(sql) <= 2


@pytest.mark.parametrize("seconds, within", [(0.5, 1.0), (1.9, 1.6)])
def test_an_abandoned_request_leaves_nothing_running(failing, sql, seconds, within):
    body = json.dumps({"do": "sleep", "s": seconds}).encode()
    with socket.create_connection(("127.0.0.1", failing.port)) as client:
        client.sendall(b"POST / HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
                       b"X-Amz-Target: DynamoDB_20120810.PutItem\r\nContent-Length: %d\r\n\r\n" % len(body) + body)
        while sessions(sql, "active") == 0:
            time.sleep(0.01)
    left = time.monotonic()
    while sessions(sql, "active") or sessions(sql, "idle in transaction%"):
        assert time.monotonic() - left < within
        time.sleep(0.01)
    # A short one was let to end, a long one was cancelled.
    assert done(sql) == (["sleep"] if seconds < 1 else [])
    assert failing.call("PutItem", {"do": "put"}) == (200, {})


def test_no_connection_to_spare(cluster, database, failing, sql, tmp_path):
    sql.execute("CREATE ROLE limited LOGIN IN ROLE ddb_proxy")
    proxy = Proxy(cluster.conninfo(database, "limited"), tmp_path / "log", auth="none")
    try:
        assert proxy.call("GetItem", {"do": "context"})[0] == 200
        sql.execute("ALTER ROLE limited CONNECTION LIMIT 0")
        end_sessions(sql)
        assert proxy.call("GetItem", {"do": "context"}) == (503, UNAVAILABLE)
        assert health(proxy) == 503
        sql.execute("ALTER ROLE limited CONNECTION LIMIT -1")
        assert proxy.call("GetItem", {"do": "context"})[0] == 200
    finally:
        proxy.stop()


def test_it_refuses_to_start_where_it_could_not_serve(cluster, failing, sql, tmp_path):
    sql.execute("CREATE ROLE stranger LOGIN")
    cluster.create_database("bare", extension=False)
    for database, user, hint in [
        ("bare", None, "CREATE EXTENSION extenddb"),
        (sql.info.dbname, "stranger", 'GRANT ddb_proxy TO "stranger"'),
        (sql.info.dbname, "nobody_of_that_name", "pg_hba.conf"),
        ("no_such_database", None, "PGDATABASE"),
    ]:
        log = tmp_path / "log"
        with pytest.raises(RuntimeError):
            Proxy(cluster.conninfo(database, user), log, auth="none")
        assert hint in log.read_text()


def test_a_stop_lets_running_requests_end(cluster, database, failing, sql, tmp_path):
    proxy = Proxy(cluster.conninfo(database), tmp_path / "log", auth="none")
    before = sessions(sql)
    answers = []
    thread = threading.Thread(target=lambda: answers.append(proxy.call("PutItem", {"do": "sleep", "s": 1})))
    thread.start()
    while sessions(sql, "active") == 0:
        time.sleep(0.01)
    proxy.process.send_signal(signal.SIGTERM)
    assert proxy.process.wait(10) == 0
    thread.join()
    assert answers == [(200, {})]
    assert done(sql) == ["sleep"]
    assert sessions(sql) == before - 1


def test_a_second_signal_ends_at_once(cluster, database, failing, sql, tmp_path):
    proxy = Proxy(cluster.conninfo(database), tmp_path / "log", auth="none")

    def cut_off():
        with pytest.raises(OSError):
            proxy.call("PutItem", {"do": "sleep", "s": 1.9})

    thread = threading.Thread(target=cut_off)
    thread.start()
    while sessions(sql, "active") == 0:
        time.sleep(0.01)
    started = time.monotonic()
    proxy.process.send_signal(signal.SIGINT)
    wait_until(proxy.refuses, 1, "it accepts no connection any more")
    proxy.process.send_signal(signal.SIGINT)
    assert proxy.process.wait(10) == 130
    assert time.monotonic() - started < 1
    thread.join()


def test_a_restart_of_the_server(cluster, failing):
    cluster.stop()
    try:
        assert failing.call("PutItem", {"do": "put"}) == (503, UNAVAILABLE)
        assert health(failing) == 503
    finally:
        cluster.start()
    assert failing.call("PutItem", {"do": "put"}) == (200, {})
    assert health(failing) == 200
