"""Transactions of ten members in any order over a hundred keys, by many clients: no deadlock and no other fault of the
server's reaches a client, and every commit is there.

`--full`: 100,000 transactions."""

import random
import threading
import time
from collections import Counter

from clients import at_once
from harness.cluster import wait_until
from histories.connection import Connection, exception

CLIENTS, KEYS, MEMBERS = 24, 100, 10
#: There are only transactions here, which travel alone.
WITHOUT = ("batches",)
TABLE = {"TableName": "Load", "BillingMode": "PAY_PER_REQUEST",
         "AttributeDefinitions": [{"AttributeName": "pk", "AttributeType": "S"}],
         "KeySchema": [{"AttributeName": "pk", "KeyType": "HASH"}]}


def key(number):
    return {"TableName": "Load", "Key": {"pk": {"S": f"k{number}"}}}


def test_members_in_any_order_never_deadlock(server, full):
    server.ok("CreateTable", TABLE)
    wait_until(lambda: server.ok("DescribeTable", {"TableName": "Load"})["Table"]["TableStatus"] == "ACTIVE", 30, "the table is there")
    total = 100_000 if full else 5_000
    left, taken = iter(range(total)), threading.Lock()
    answers, seconds = Counter(), []
    added = Counter()

    def client(number):
        chance, connection = random.Random(number), Connection(server)
        while True:
            with taken:
                if next(left, None) is None:
                    return
            members = []
            keys = chance.sample(range(KEYS), MEMBERS)
            for each in keys:
                kind = chance.random()
                if kind < 0.7:
                    members.append({"Update": {**key(each), "UpdateExpression": "ADD n :one",
                                               "ExpressionAttributeValues": {":one": {"N": "1"}}}})
                elif kind < 0.9:
                    members.append({"ConditionCheck": {**key(each), "ConditionExpression": "attribute_not_exists(gone)"}})
                else:
                    # Fails now and then: what it took is given back.
                    members.append({"Update": {**key(each), "UpdateExpression": "ADD n :one",
                                               "ConditionExpression": "attribute_not_exists(n) OR n < :low OR n > :high",
                                               "ExpressionAttributeValues": {":one": {"N": "1"}, ":low": {"N": "3"},
                                                                             ":high": {"N": "12"}}}})
            began = time.monotonic()
            status, answer = connection.call("TransactWriteItems", {"TransactItems": members})
            seconds.append(time.monotonic() - began)
            if status == 200:
                answers[200] += 1
                with taken:
                    added.update(each for each, member in zip(keys, members) if "Update" in member)
                continue
            assert status == 400, (status, answer)
            assert exception(answer) == "TransactionCanceledException", answer
            codes = [reason["Code"] for reason in answer["CancellationReasons"]]
            assert set(codes) <= {"None", "ConditionalCheckFailed", "TransactionConflict"} and len(codes) == MEMBERS
            answers["TransactionConflict" if "TransactionConflict" in codes else "ConditionalCheckFailed"] += 1

    began = time.monotonic()
    at_once(CLIENTS, client, within_seconds=3_600)
    took = time.monotonic() - began
    for number in range(KEYS):
        item = server.ok("GetItem", {**key(number), "ConsistentRead": True}).get("Item", {"n": {"N": "0"}})
        assert int(item["n"]["N"]) == added[number]
    assert server.faults("Load") == []
    assert sum(answers.values()) == total and answers[200] > total / 2
    seconds.sort()
    print(f"\n{server.name}: {total} transactions by {CLIENTS} clients, {total / took:.0f} a second, median "
          f"{seconds[total // 2] * 1000:.0f} ms, p99 {seconds[total * 99 // 100] * 1000:.0f} ms, longest "
          f"{seconds[-1] * 1000:.0f} ms; answers {dict(answers)}")
