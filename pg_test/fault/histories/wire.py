"""Calls as DynamoDB requests, what their answers tell, and the clients that send them at once.

The even keys are items of one partition of a table with indexes, the odd ones items of a table without; `numbers` are
lists, and two attributes more say the same, so that an item put together from two writes shows."""

import json
import threading
import time
from dataclasses import replace

from .connection import Connection, exception
from .operation import DONE, REFUSED, Member, Operation
from .workload import Call, Workload

ORDERED = {
    "TableName": "HistoryOrdered",
    "BillingMode": "PAY_PER_REQUEST",
    "AttributeDefinitions": [{"AttributeName": name, "AttributeType": kind} for name, kind in
                             [("pk", "S"), ("sk", "N"), ("g", "S"), ("last", "N")]],
    "KeySchema": [{"AttributeName": "pk", "KeyType": "HASH"}, {"AttributeName": "sk", "KeyType": "RANGE"}],
    "LocalSecondaryIndexes": [{
        "IndexName": "by-last", "Projection": {"ProjectionType": "KEYS_ONLY"},
        "KeySchema": [{"AttributeName": "pk", "KeyType": "HASH"}, {"AttributeName": "last", "KeyType": "RANGE"}]}],
    "GlobalSecondaryIndexes": [{
        "IndexName": "by-g", "Projection": {"ProjectionType": "ALL"},
        "KeySchema": [{"AttributeName": "g", "KeyType": "HASH"}]}],
}
PLAIN = {
    "TableName": "HistoryPlain",
    "BillingMode": "PAY_PER_REQUEST",
    "AttributeDefinitions": [{"AttributeName": "pk", "AttributeType": "S"}],
    "KeySchema": [{"AttributeName": "pk", "KeyType": "HASH"}],
}
TABLES = (ORDERED, PLAIN)

class Names:
    """Where the keys of one history are."""

    def __init__(self, history):
        self.history = history

    def table(self, key):
        return TABLES[key % 2]["TableName"]

    def key(self, key):
        if key % 2:
            return {"pk": {"S": f"{self.history}/{key}"}}
        return {"pk": {"S": self.history}, "sk": {"N": str(key)}}

    def target(self, key):
        return {"TableName": self.table(key), "Key": self.key(key)}

    def item(self, key, number):
        return {**self.key(key), "numbers": {"L": [{"N": str(number)}]}, "last": {"N": str(number)},
                "g": {"S": f"{self.history}/{number}"}}

    def index_of(self, item):
        return int(item["sk"]["N"]) if "sk" in item else int(item["pk"]["S"].split("/")[-1])

    def image(self, item):
        if not item:
            return None
        numbers = tuple(int(element["N"]) for element in item["numbers"]["L"])
        assert item == {**self.item(self.index_of(item), numbers[-1]), "numbers": item["numbers"]}, f"torn item: {item}"
        return numbers

    def condition(self, member, shown):
        condition = member.condition
        if condition is None:
            return {}
        values = {}
        match condition.kind:
            case "exists":
                text = "attribute_exists(pk)"
            case "absent":
                text = "attribute_not_exists(pk)"
            case "is":
                text, values = "#l = :w", {":w": {"N": str(condition.write)}}
            case "is not":
                text, values = "attribute_exists(pk) AND #l <> :w", {":w": {"N": str(condition.write)}}
        found = {"ConditionExpression": text}
        if values:
            found.update(ExpressionAttributeNames={"#l": "last"}, ExpressionAttributeValues=values)
        if shown:
            found["ReturnValuesOnConditionCheckFailure"] = "ALL_OLD"
        return found

    def single(self, member, number, shown):
        """The parameters of one member, as of the single operation."""
        found = self.condition(member, shown)
        if member.action == "put":
            return {**found, "TableName": self.table(member.key), "Item": self.item(member.key, number)}
        if member.action == "update":
            found["UpdateExpression"] = "SET #n = list_append(if_not_exists(#n, :none), :one), #l = :n, g = :g"
            found["ExpressionAttributeNames"] = {**found.get("ExpressionAttributeNames", {}), "#n": "numbers", "#l": "last"}
            found["ExpressionAttributeValues"] = {
                **found.get("ExpressionAttributeValues", {}), ":none": {"L": []}, ":one": {"L": [{"N": str(number)}]},
                ":n": {"N": str(number)}, ":g": {"S": f"{self.history}/{number}"}}
        return {**found, **self.target(member.key)}

    def request(self, call):
        operations = call.operations
        first = operations[0]
        match call.name:
            case "TransactWriteItems":
                action = {"check": "ConditionCheck", "put": "Put", "update": "Update", "delete": "Delete"}
                body = {"TransactItems": [{action[m.action]: self.single(m, first.number, m.key in call.shown)}
                                          for m in first.members]}
                if call.manner in ("again", "twice"):
                    body["ClientRequestToken"] = f"{self.history}/{first.number}"
                return body
            case "TransactGetItems":
                return {"TransactItems": [{"Get": self.target(m.key)} for m in first.members]}
            case "BatchWriteItem":
                tables = {}
                for operation in operations:
                    (member,) = operation.members
                    tables.setdefault(self.table(member.key), []).append(
                        {"PutRequest": {"Item": self.item(member.key, operation.number)}} if member.action == "put"
                        else {"DeleteRequest": {"Key": self.key(member.key)}})
                return {"RequestItems": tables}
            case "BatchGetItem":
                tables = {}
                for operation in operations:
                    (member,) = operation.members
                    tables.setdefault(self.table(member.key), {"Keys": [], "ConsistentRead": True})["Keys"].append(
                        self.key(member.key))
                return {"RequestItems": tables}
            case "GetItem":
                return {**self.target(first.members[0].key), "ConsistentRead": True}
        body = self.single(first.members[0], first.number, first.members[0].key in call.shown)
        if call.return_values != "NONE":
            body["ReturnValues"] = call.return_values
        return body

    def query(self):
        return {"TableName": ORDERED["TableName"], "ConsistentRead": True, "KeyConditionExpression": "pk = :p",
                "ExpressionAttributeValues": {":p": {"S": self.history}}}

    def learn(self, call, status, answer, ended):
        """Fills in what the answer tells. `AssertionError` at one that is none of this operation's."""
        operations = call.operations
        if status >= 500:
            return
        if status == 200:
            for operation in operations:
                operation.outcome, operation.ended = DONE, ended
            self._learn_done(call, answer)
            return
        (operation,) = operations
        operation.outcome, operation.ended = REFUSED, ended
        name = exception(answer)
        key = operation.members[0].key
        if name == "TransactionConflictException" and call.name in ("PutItem", "UpdateItem", "DeleteItem"):
            return
        if name == "ConditionalCheckFailedException":
            assert operation.members[0].condition, answer
            assert "Item" not in answer or key in call.shown, answer
            operation.held = {key: False}
            if key in call.shown:
                operation.seen = {key: self.image(answer.get("Item"))}
            return
        assert name == "TransactionCanceledException" and call.name in ("TransactWriteItems", "TransactGetItems"), answer
        reasons = answer["CancellationReasons"]
        codes = [reason["Code"] for reason in reasons]
        assert len(codes) == len(operation.members), answer
        assert answer["Message"] == ("Transaction cancelled, please refer cancellation reasons for specific reasons "
                                     f"[{', '.join(codes)}]"), answer
        assert set(codes) <= {"None", "ConditionalCheckFailed", "TransactionConflict"} and set(codes) != {"None"}, answer
        for member, reason in zip(operation.members, reasons):
            if reason["Code"] == "None":
                assert reason == {"Code": "None"}, answer
                # Beside a conflict the others need not have been looked at.
                if member.condition and "TransactionConflict" not in codes:
                    operation.held[member.key] = True
            elif reason["Code"] == "ConditionalCheckFailed":
                assert member.condition and reason["Message"] == "The conditional request failed", answer
                operation.held[member.key] = False
                if member.key in call.shown:
                    operation.seen[member.key] = self.image(reason.get("Item"))
                else:
                    assert "Item" not in reason, answer

    def _learn_done(self, call, answer):
        operations = call.operations
        match call.name:
            case "TransactWriteItems":
                assert answer == {}, answer
            case "TransactGetItems":
                members = operations[0].members
                assert len(answer["Responses"]) == len(members), answer
                for member, response in zip(members, answer["Responses"]):
                    operations[0].seen[member.key] = self.image(response.get("Item"))
            case "GetItem":
                operations[0].seen[operations[0].members[0].key] = self.image(answer.get("Item"))
            case "BatchGetItem" | "Query":
                found = answer["Items"] if call.name == "Query" else [
                    item for items in answer["Responses"].values() for item in items]
                assert not answer.get("UnprocessedKeys"), answer
                images = {self.index_of(item): self.image(item) for item in found}
                for operation in operations:
                    key = operation.members[0].key
                    operation.seen[key] = images.get(key)
            case "BatchWriteItem":
                left = {json.dumps(request, sort_keys=True) for requests in answer["UnprocessedItems"].values()
                        for request in requests}
                for operation in operations:
                    (member,) = operation.members
                    sent = ({"PutRequest": {"Item": self.item(member.key, operation.number)}} if member.action == "put"
                            else {"DeleteRequest": {"Key": self.key(member.key)}})
                    if json.dumps(sent, sort_keys=True) in left:
                        operation.outcome = REFUSED
            case _:
                (operation,) = operations
                (member,) = operation.members
                if call.return_values == "ALL_OLD":
                    operation.seen[member.key] = self.image(answer.get("Attributes"))
                elif call.return_values == "ALL_NEW":
                    image = self.image(answer["Attributes"])
                    assert image[-1] == operation.number, answer
                    operation.seen[member.key] = image[:-1] or None
                else:
                    assert answer == {}, answer


class Client:
    def __init__(self, connect, server, workload, names, number):
        self.workload, self.names, self.number = workload, names, number
        self.chance = workload.chance(number)
        self.connections = [connect(server), connect(server)]
        self.operations = []
        #: Answers by their kind.
        self.counted = {}

    def turn(self):
        call = self.workload.call(self.chance, self.number)
        body = self.names.query() if call.name == "Query" else self.names.request(call)
        began = time.monotonic()
        for operation in call.operations:
            operation.began = began
        self.operations += call.operations
        first, second = self.connections
        try:
            if call.manner == "cut":
                first.send(call.name, body)
                first.close()
                self._count("cut")
                return
            if call.manner == "twice":
                self._twice(call, body)
                return
            status, answer = first.call(call.name, body)
        except OSError:
            # With them goes what an answer on the other one would be taken for.
            for connection in self.connections:
                connection.close()
            self._count("no answer")
            return
        ended = time.monotonic()
        self._count(status, answer)
        self.names.learn(call, status, answer, ended)
        if call.manner == "again" and status == 200:
            # A replay: the history has the operation once.
            try:
                status, answer = first.call(call.name, body)
            except OSError:
                self._count("no answer")
                return
            self._count(status, answer)
            assert status == 200 or status >= 500, answer
        self.workload.learn(call)

    def _twice(self, call, body):
        """The same, with one token, by two connections: together they are one write, and one observation for each refusal."""
        answers = []
        for connection in self.connections:
            connection.send(call.name, body)
        for connection in self.connections:
            try:
                answers.append(connection.receive())
            except OSError:
                connection.close()
                self._count("no answer")
        ended = time.monotonic()
        (operation,) = call.operations
        for status, answer in answers:
            self._count(status, answer)
            if status == 200 or status >= 500 or exception(answer) == "TransactionInProgressException":
                continue
            refused = replace(operation, number=next(self.workload.numbers), seen={}, held={})
            self.names.learn(replace(call, operations=[refused]), status, answer, ended)
            self.operations.append(refused)
        if any(status == 200 for status, _ in answers):
            operation.outcome, operation.ended = DONE, ended
        elif len(answers) == 2 and all(status == 400 for status, _ in answers):
            self.operations.remove(operation)

    def _count(self, status, answer=None):
        kind = status if status in (200, "cut", "no answer") or status >= 500 else exception(answer)
        self.counted[kind] = self.counted.get(kind, 0) + 1


def record(server, name, seed, clients, calls, keys, cut=0.0, disturb=None, connect=Connection):
    """Runs a history; answers its operations and how many answers of each kind there were. `disturb(progress)` is called
    in the meantime, `progress()` being the part that is done; what it breaks it must mend."""
    workload, names = Workload(seed, keys, cut=cut), Names(name)
    team = [Client(connect, server, workload, names, number) for number in range(clients)]
    turns, faults = iter(range(calls)), []
    taken = threading.Lock()
    begun = [0]

    def run(client):
        try:
            while True:
                with taken:
                    if next(turns, None) is None:
                        return
                    begun[0] += 1
                client.turn()
        except BaseException as fault:
            faults.append(fault)
            with taken:
                for _ in turns:
                    pass
        finally:
            for connection in client.connections:
                connection.close()

    threads = [threading.Thread(target=run, args=(client,), daemon=True) for client in team]
    for thread in threads:
        thread.start()
    if disturb:
        disturb(lambda: 1.0 if faults else begun[0] / calls)
    for thread in threads:
        thread.join(300)
        assert not thread.is_alive(), "a client waits for ever"
    if faults:
        raise faults[0]
    operations = [operation for client in team for operation in client.operations]
    # At last, when all is quiet.
    connection = Connection(server)
    last = Operation(next(workload.numbers), [Member(key, "get") for key in range(keys)], clients, time.monotonic())
    reader = Call("TransactGetItems", [last])
    status, answer = connection.call("TransactGetItems", names.request(reader))
    assert status == 200, answer
    names.learn(reader, status, answer, time.monotonic())
    connection.close()
    counted = {}
    for client in team:
        for kind, count in client.counted.items():
            counted[kind] = counted.get(kind, 0) + count
    return operations + [last], counted
