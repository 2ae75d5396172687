"""Transfers between accounts while clients leave, backends die and the server is killed: the sum is the same at each read,
no balance is negative, and a transfer with a token is made once however often its client asks.

`--full`: 40 breaks; otherwise one of each kind."""

import random
import threading
import time

import pytest

from harness.cluster import wait_until
from histories.connection import Connection, exception

ACCOUNTS, CLIENTS, READERS, BALANCE = 50, 32, 2, 100
TABLE = {
    "TableName": "Bank",
    "BillingMode": "PAY_PER_REQUEST",
    "AttributeDefinitions": [{"AttributeName": "pk", "AttributeType": "S"}, {"AttributeName": "bank", "AttributeType": "S"},
                             {"AttributeName": "balance", "AttributeType": "N"}],
    "KeySchema": [{"AttributeName": "pk", "KeyType": "HASH"}],
    "GlobalSecondaryIndexes": [{
        "IndexName": "by-balance", "Projection": {"ProjectionType": "ALL"},
        "KeySchema": [{"AttributeName": "bank", "KeyType": "HASH"}, {"AttributeName": "balance", "KeyType": "RANGE"}]}],
}


def account(number):
    return {"pk": {"S": f"account {number}"}}


def key(name):
    return {"TableName": "Bank", "Key": {"pk": {"S": name}}}


class Transfer:
    """Once it is answered: `made`, `refused`; while it is not, or where a send was lost before it was refused: `unsure`."""

    def __init__(self, name, chance):
        self.name = name
        source, target = chance.sample(range(ACCOUNTS), 2)
        amount = {":x": {"N": str(chance.randint(1, 60))}}
        self.body = {"ClientRequestToken": name, "TransactItems": [
            {"Update": {"TableName": "Bank", "Key": account(source), "UpdateExpression": "SET balance = balance - :x",
                        "ConditionExpression": "balance >= :x", "ExpressionAttributeValues": amount}},
            {"Update": {"TableName": "Bank", "Key": account(target), "UpdateExpression": "SET balance = balance + :x",
                        "ExpressionAttributeValues": amount}},
            # However often it is applied, it counts.
            {"Update": {**key(f"transfer {name}"), "UpdateExpression": "ADD n :one",
                        "ExpressionAttributeValues": {":one": {"N": "1"}}}}]}
        chance.shuffle(self.body["TransactItems"])
        self.lost, self.state = False, "unsure"


class Bank:
    def __init__(self, server, seed):
        self.server, self.seed = server, seed
        self.transfers = [[] for _ in range(CLIENTS)]
        self.answers, self.reads, self.faults = {}, 0, []
        self.stop, self.up = threading.Event(), threading.Event()
        self.up.set()
        self.threads = [threading.Thread(target=self._guarded, args=(self._client, number), daemon=True)
                        for number in range(CLIENTS)]
        self.threads += [threading.Thread(target=self._guarded, args=(self._reader, number), daemon=True)
                         for number in range(READERS)]
        for thread in self.threads:
            thread.start()

    def _guarded(self, work, number):
        try:
            work(number)
        except BaseException as fault:
            self.faults.append(fault)
            self.stop.set()

    def _count(self, kind):
        self.answers[kind] = self.answers.get(kind, 0) + 1

    def made(self):
        return sum(transfer.state == "made" for transfers in self.transfers for transfer in transfers)

    def _client(self, number):
        chance, connection = random.Random(f"{self.seed} {number}"), Connection(self.server)
        while not self.stop.is_set():
            transfer = Transfer(f"{self.seed}-{number}-{len(self.transfers[number])}", chance)
            self.transfers[number].append(transfer)
            while not self._attempt(transfer, chance, connection):
                pass

    def _attempt(self, transfer, chance, connection):
        """Sends it once; answers whether that settled it."""
        try:
            connection.send("TransactWriteItems", transfer.body)
            if chance.random() < 0.05:
                # The client leaves, comes back, and asks again.
                connection.close()
                transfer.lost = True
                self._count("left")
                return False
            status, answer = connection.receive()
        except OSError:
            connection.close()
            transfer.lost = True
            self._count("no answer")
            self.up.wait(60)
            return False
        if status == 200:
            self._count(200)
            transfer.state = "made"
            return True
        if status >= 500:
            self._count(status)
            transfer.lost = True
            self.up.wait(60)
            return False
        name = exception(answer)
        self._count(name)
        if name == "TransactionInProgressException":
            return False
        assert name == "TransactionCanceledException", answer
        debit = next(position for position, member in enumerate(transfer.body["TransactItems"])
                     if "ConditionExpression" in member["Update"])
        codes = [reason["Code"] for reason in answer["CancellationReasons"]]
        if "TransactionConflict" not in codes:
            assert codes == ["ConditionalCheckFailed" if position == debit else "None" for position in range(3)], answer
        # A lost send may still be on its way, and find its money then.
        transfer.state = "unsure" if transfer.lost else "refused"
        return True

    def balances(self, connection):
        """`None` where there was no answer."""
        try:
            status, answer = connection.call("TransactGetItems", {"TransactItems": [
                {"Get": {"TableName": "Bank", "Key": account(number)}} for number in range(ACCOUNTS)]})
        except OSError:
            return None
        if status >= 500:
            return None
        assert status == 200, answer
        return [int(response["Item"]["balance"]["N"]) for response in answer["Responses"]]

    def _reader(self, number):
        connection = Connection(self.server)
        while not self.stop.is_set():
            balances = self.balances(connection)
            if balances is None:
                self.up.wait(60)
                continue
            self.reads += 1
            assert (sum(balances), min(balances) >= 0) == (ACCOUNTS * BALANCE, True), balances

    def end(self):
        self.stop.set()
        for thread in self.threads:
            thread.join(120)
            assert not thread.is_alive()
        if self.faults:
            raise self.faults[0]


def applied(server):
    """How often each transfer was, by its name."""
    found, start = {}, {}
    while True:
        page = server.ok("Scan", {"TableName": "Bank", "ConsistentRead": True, "FilterExpression": "attribute_exists(n)", **start})
        found.update({item["pk"]["S"].removeprefix("transfer "): int(item["n"]["N"]) for item in page["Items"]})
        if "LastEvaluatedKey" not in page:
            return found
        start = {"ExclusiveStartKey": page["LastEvaluatedKey"]}


@pytest.fixture(scope="module", autouse=True)
def bank_table(server):
    server.ok("CreateTable", TABLE)
    wait_until(lambda: server.ok("DescribeTable", {"TableName": "Bank"})["Table"]["TableStatus"] == "ACTIVE", 30, "the table is there")
    for number in range(ACCOUNTS):
        server.ok("PutItem", {"TableName": "Bank", "Item": {
            **account(number), "bank": {"S": "ours"}, "balance": {"N": str(BALANCE)}}})


def test_the_bank_loses_nothing_and_gives_nothing_away(server, full):
    chance = random.Random(1)
    began = time.monotonic()
    bank = Bank(server, seed="bank")
    done = []
    try:
        ways = list(server.breaks.items())
        for turn in range(40 if full else len(ways)):
            name, break_it = ways[turn % len(ways)]
            goal = bank.made() + chance.randint(200, 600)
            wait_until(lambda: bank.made() >= goal or bank.faults, 120, f"transfers after {done}")
            bank.up.clear()
            try:
                break_it(chance)
            finally:
                bank.up.set()
            done.append(name)
        goal = bank.made() + 200
        wait_until(lambda: bank.made() >= goal or bank.faults, 120, "transfers at the end")
    finally:
        bank.end()
    took = time.monotonic() - began
    # What clients left behind comes to its end first.
    assert server.faults("Bank") == []
    counted = applied(server)
    transfers = [transfer for each in bank.transfers for transfer in each]
    for transfer in transfers:
        count = counted.pop(transfer.name, 0)
        allowed = {"made": (1,), "refused": (0,), "unsure": (0, 1)}[transfer.state]
        assert count in allowed, (transfer.name, transfer.state, count)
    assert counted == {}
    balances = bank.balances(Connection(server))
    assert (sum(balances), min(balances) >= 0) == (ACCOUNTS * BALANCE, True)
    assert bank.reads > 10 and bank.answers["left"] > 10
    # Those that a lost send was for and that were made all the same: what tokens are for.
    again = sum(transfer.lost and transfer.state == "made" for transfer in transfers)
    assert again > 10
    print(f"\n{server.name}: {bank.made()} transfers made, {again} of them asked for again; {bank.reads} reads of all accounts; "
          f"{len(done)} breaks in {took:.0f} s; answers {bank.answers}")
