"""More requests wait than may: they are throttled at once, in the shape that SDKs know, and those that wait are served."""

import os
import signal
import time
from contextlib import contextmanager

import boto3
import pytest
from botocore.config import Config
from clients import Background, Client, at_once, until

from harness import Proxy
from harness.proxy import ACCESS_KEY, REGION, SECRET_KEY
from harness.tables import create_table

THROTTLED = (400, {"__type": "com.amazon.coral.availability#ThrottlingException",
                   "message": "Rate of requests exceeds the allowed throughput."})
MEGABYTE = 1 << 20


@pytest.fixture(scope="module", autouse=True)
def table(cluster, database):
    with cluster.connect(database) as connection:
        create_table(connection, "Plain")


@pytest.fixture(params=[[], ["--batch-always"], ["--batch", "1"]], ids=["together", "always together", "by itself"])
def manner(request):
    return request.param


@contextmanager
def serving(cluster, database, tmp_path, *arguments, pool=1, auth="none"):
    proxy = Proxy(cluster.conninfo(database), tmp_path / "log", auth=auth, arguments=["--pool", str(pool), *arguments])
    try:
        yield proxy
    finally:
        proxy.stop()


@contextmanager
def stopped(sql):
    """The proxy's one session does nothing meanwhile."""
    (pid,) = sql.execute("SELECT pid FROM pg_stat_activity WHERE datname = current_database() "
                         "AND application_name = 'extenddb'").fetchone()
    os.kill(pid, signal.SIGSTOP)
    try:
        yield
    finally:
        os.kill(pid, signal.SIGCONT)


def put(proxy, name, padding_bytes=0):
    text = '{"TableName":"Plain","Item":{"pk":{"S":"%s"}}%s}' % (name, " " * padding_bytes)
    return Client(proxy).call("PutItem", text)


def fill(send, throttled=THROTTLED):
    """Sends requests, which wait, until one is throttled; answers those that wait."""
    sent = []

    def refused():
        return [request for request in sent if request.done()]

    while not refused():
        request = Background(send)
        sent.append(request)
        # It is answered at once, or not until there is a session for it.
        began = time.monotonic()
        until(lambda: request.done() or time.monotonic() - began > 0.1)
    assert {repr(request.result()) for request in refused()} == {repr(throttled)}
    return [request for request in sent if not request.done()]


def test_whatever_is_past_the_queue_is_throttled_at_once(cluster, database, sql, tmp_path, manner):
    with serving(cluster, database, tmp_path, "--queue", "8", *manner) as proxy:
        # What was full has room again, however often.
        for round_ in range(2):
            with stopped(sql):
                waiting = fill(lambda: put(proxy, f"round-{round_}"))
                # One is in the session, and counts where it travels with others.
                assert len(waiting) == (8 if "--batch-always" in manner else 9)
                began = time.monotonic()
                assert set(map(repr, at_once(20, lambda number: put(proxy, f"past-{number}")))) == {repr(THROTTLED)}
                assert time.monotonic() - began < 5
                assert not any(request.done() for request in waiting)
            assert [request.result() for request in waiting] == [(200, {})] * len(waiting)
    assert sql.execute("SELECT count(*) FROM ddb.items('Plain') AS i WHERE i ->> 'pk' LIKE 'past-%'").fetchone() == (0,)


def test_bytes_are_limited_as_well(cluster, database, sql, tmp_path):
    """128 MiB of bodies: nine of 15 MiB, and the one in the session."""
    with serving(cluster, database, tmp_path) as proxy:
        with stopped(sql):
            large = [Background(lambda number=number: put(proxy, f"large-{number}", 15 * MEGABYTE)) for number in range(12)]
            # Whichever come first.
            until(lambda: sum(request.done() for request in large) == 2)
            assert put(proxy, "small") == THROTTLED
        answers = [request.result() for request in large]
        assert [answers.count(answer) for answer in ((200, {}), THROTTLED)] == [10, 2]
        assert put(proxy, "small") == (200, {})


def test_requests_that_wait_for_a_held_item_are_counted(cluster, database, sql, tmp_path, manner):
    with (serving(cluster, database, tmp_path, "--queue", "4", *manner, pool=2) as proxy,
          cluster.connect(database) as holder):
        holder.execute("BEGIN")
        holder.execute("""SELECT ddb.put('Plain', '{"pk":{"S":"held"}}')""")
        waiting = fill(lambda: put(proxy, "held"))
        assert len(waiting) == 4
        # What need not wait has no need of a place.
        assert put(proxy, "free") == (THROTTLED if "--batch-always" in manner else (200, {}))
        holder.execute("COMMIT")
        assert [request.result() for request in waiting] == [(200, {})] * 4
        assert put(proxy, "held") == (200, {})


def test_an_sdk_knows_it_and_tries_again(cluster, database, sql, tmp_path):
    with serving(cluster, database, tmp_path, "--queue", "1", auth="strict") as proxy:
        client = proxy.client()
        patient = boto3.client("dynamodb", endpoint_url=proxy.endpoint, region_name=REGION, aws_access_key_id=ACCESS_KEY,
                               aws_secret_access_key=SECRET_KEY, config=Config(retries={"mode": "standard", "total_max_attempts": 9}))
        tries = []
        patient.meta.events.register("needs-retry", lambda attempts, **_: tries.append(attempts))

        def send(client):
            try:
                answer = client.put_item(TableName="Plain", Item={"pk": {"S": "sdk"}})
            except client.exceptions.ThrottlingException as throttled:
                answer = throttled.response
            return answer["ResponseMetadata"]["HTTPStatusCode"], answer.get("Error")

        with stopped(sql):
            waiting = fill(lambda: send(client), (400, {"Message": THROTTLED[1]["message"], "Code": "ThrottlingException"}))
            late = Background(lambda: send(patient))
            until(lambda: len(tries) > 1)
        assert [request.result() for request in [*waiting, late]] == [(200, None)] * 3
