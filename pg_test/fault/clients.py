"""Clients that run at once, each with a connection of its own."""

import http.client
import threading
import time


class Client:
    """Requests over one kept connection, to a proxy with `--auth none`."""

    def __init__(self, proxy):
        self.proxy = proxy
        self.connection = http.client.HTTPConnection("127.0.0.1", proxy.port, timeout=60)

    def call(self, operation, body):
        return self.proxy.call(operation, body, self.connection)

    def ok(self, operation, body):
        status, answer = self.call(operation, body)
        assert status == 200, (operation, status, answer)
        return answer


def at_once(count, work, within_seconds=120):
    """Runs `work(number)` in `count` threads; answers what they answered, or raises what the first of them raised."""
    answers, faults = [None] * count, []

    def run(number):
        try:
            answers[number] = work(number)
        except BaseException as fault:
            faults.append(fault)

    threads = [threading.Thread(target=run, args=(number,), daemon=True) for number in range(count)]
    for thread in threads:
        thread.start()
    deadline = time.monotonic() + within_seconds
    for thread in threads:
        thread.join(max(0, deadline - time.monotonic()))
    # A fault comes first: it may be why others still wait.
    if faults:
        raise faults[0]
    assert not any(thread.is_alive() for thread in threads), "not done in time"
    return answers


class Background:
    """One call in a thread; `result()` waits for it and answers or raises what it did."""

    def __init__(self, work):
        self.outcome = None
        self.thread = threading.Thread(target=self._run, args=(work,), daemon=True)
        self.thread.start()

    def _run(self, work):
        try:
            self.outcome = (work(), None)
        except BaseException as fault:
            self.outcome = (None, fault)

    def done(self):
        return not self.thread.is_alive()

    def result(self, within_seconds=60):
        self.thread.join(within_seconds)
        assert self.done(), "not done in time"
        answer, fault = self.outcome
        if fault is not None:
            raise fault
        return answer


def until(condition, within_seconds=30):
    """Asks until the answer is true; the asking is what paces it."""
    deadline = time.monotonic() + within_seconds
    while time.monotonic() < deadline:
        answer = condition()
        if answer:
            return answer
    raise AssertionError(f"not within {within_seconds} s")


def waiting(connection):
    """How many sessions of this database wait for a lock."""
    return connection.execute("""SELECT count(DISTINCT l.pid) FROM pg_locks AS l JOIN pg_stat_activity AS a USING (pid)
                                 WHERE NOT l.granted AND a.datname = current_database()""").fetchone()[0]


def key_locks(connection):
    """Locks of keys that anyone in this database holds or waits for."""
    return connection.execute("""SELECT count(*) FROM pg_locks WHERE locktype = 'advisory' AND objsubid > 2
        AND database = (SELECT oid FROM pg_database WHERE datname = current_database())""").fetchone()[0]
