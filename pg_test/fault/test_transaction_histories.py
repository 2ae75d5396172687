"""Histories of transactions, single writes and reads, batches and queries on six keys by 16 clients are strictly
serializable, the outcomes of conditions included.

A small number in every run; `--full` makes 200 of 2,000 calls each."""

import time

import pytest

from harness.cluster import wait_until
from histories import check
from histories.wire import TABLES, record

CLIENTS, KEYS = 16, 6


@pytest.fixture(scope="module", autouse=True)
def tables(server):
    for table in TABLES:
        server.ok("CreateTable", table)
        wait_until(lambda: server.ok("DescribeTable", {"TableName": table["TableName"]})["Table"]["TableStatus"] == "ACTIVE",
                   30, "the table is there")


class Report:
    """What is printed with -s, and in full runs the proof of what was done."""

    def __init__(self):
        self.histories, self.answers, self.operations, self.in_flight = 0, {}, 0, []
        self.ran = self.checked = 0.0
        self.undecided = 0

    def add(self, operations, counted, ran, checked):
        self.histories += 1
        self.operations += len(operations)
        for kind, count in counted.items():
            self.answers[kind] = self.answers.get(kind, 0) + count
        self.in_flight.append(sum(o.ended - o.began for o in operations if o.ended < float("inf")) / ran)
        self.ran, self.checked = self.ran + ran, self.checked + checked

    def __str__(self):
        return (f"{self.histories} histories, {self.operations} operations, {self.ran:.0f} s to run, {self.checked:.0f} s to check, "
                f"{sum(self.in_flight) / len(self.in_flight):.1f} in flight, {self.undecided} undecided, answers {self.answers}")


def judge(server, name, seed, calls, report, **how):
    began = time.monotonic()
    operations, counted = record(server, name, seed, CLIENTS, calls, KEYS, **how)
    ran = time.monotonic() - began
    verdict = check(operations, KEYS)
    report.add(operations, counted, ran, time.monotonic() - began - ran)
    # With many operations of unknown outcome the search may be given up; the test bounds how often.
    report.undecided += verdict.undecided
    assert verdict.sound or verdict.undecided, f"seed {seed}: {verdict}"
    return counted


def test_histories_are_strictly_serializable(server, full):
    report = Report()
    for seed in range(200 if full else 2):
        counted = judge(server, f"plain-{seed}", seed, 2_000, report)
        assert {200, "ConditionalCheckFailedException", "TransactionCanceledException"} <= set(counted) <= {
            200, "ConditionalCheckFailedException", "TransactionCanceledException", "TransactionConflictException",
            "TransactionInProgressException"}
        if seed % 20 == 19:
            print(report, flush=True)
    assert report.undecided == 0
    assert server.faults(*(table["TableName"] for table in TABLES)) == []
    print(f"\n{server.name}: {report}")


def test_histories_with_clients_that_leave(server, full):
    """A write whose client closes the connection before the answer is made or not made, at some moment, as a whole."""
    report = Report()
    for seed in range(40 if full else 1):
        judge(server, f"cut-{seed}", 1_000 + seed, 1_000, report, cut=0.03)
    assert report.answers["cut"] > 0
    assert report.undecided <= report.histories // 10
    assert server.faults(*(table["TableName"] for table in TABLES)) == []
    print(f"\n{server.name}: {report}")


@pytest.mark.parametrize("way", range(4))
def test_histories_with_a_crash_in_them(server, full, way):
    report = Report()
    name, break_it = list(server.breaks.items())[way % len(server.breaks)]
    for seed in range(10 if full else 1):
        def disturb(progress):
            wait_until(lambda: progress() > 0.5, 120, "half of the calls")
            break_it()

        judge(server, f"crash-{way}-{seed}", 2_000 + 100 * way + seed, 1_000, report, disturb=disturb)
    assert report.undecided <= report.histories // 5
    assert server.faults(*(table["TableName"] for table in TABLES)) == []
    print(f"\n{server.name}, {name}: {report}")
