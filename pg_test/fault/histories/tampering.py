"""Connections that break a promise of the server's behind it: as a server would that did not keep it, with the same clients,
the same calls at once, and the same times. Histories by way of them show what the judges find in real ones."""

import itertools

from .connection import Connection


def fractured_read(call, operation, body, turn):
    """The items of a transaction are read in two parts."""
    if operation != "TransactGetItems":
        return call(operation, body)
    members = body["TransactItems"]
    responses = []
    for part in (members[:1], members[1:]):
        status, answer = call(operation, {"TransactItems": part})
        if status != 200:
            return status, answer
        responses += answer["Responses"]
    return 200, {"Responses": responses}


def unlocked_check(call, operation, body, turn):
    """What is only checked is not held until the commit."""
    members = body.get("TransactItems", [])
    checks = [member for member in members if "ConditionCheck" in member]
    if operation != "TransactWriteItems" or "ClientRequestToken" in body or not checks or len(checks) == len(members):
        return call(operation, body)
    status, answer = call(operation, {"TransactItems": checks})
    if status != 200:
        # The whole, so that each member has its reason.
        return call(operation, body)
    for _ in range(4):
        # A while in which others come between.
        call("ListTables", {})
    others = [member for member in members if "ConditionCheck" not in member]
    status, answer = call(operation, {"TransactItems": others})
    if status == 400:
        reasons = iter(answer["CancellationReasons"])
        answer["CancellationReasons"] = [{"Code": "None"} if "ConditionCheck" in member else next(reasons) for member in members]
        codes = ", ".join(reason["Code"] for reason in answer["CancellationReasons"])
        answer["Message"] = f"Transaction cancelled, please refer cancellation reasons for specific reasons [{codes}]"
    return status, answer


def torn_write(call, operation, body, turn):
    """One write of a transaction is left out, now and then."""
    members = body.get("TransactItems", [])
    if turn % 6 == 0 and "ClientRequestToken" not in body and len(members) > 1 and "Update" in members[-1]:
        status, answer = call(operation, {**body, "TransactItems": members[:-1]})
        if status == 200:
            return status, answer
    return call(operation, body)


def forgotten_token(call, operation, body, turn, made=set()):
    if "ClientRequestToken" not in body:
        return call(operation, body)
    token = body["ClientRequestToken"]
    status, answer = call(operation, {"TransactItems": body["TransactItems"]})
    if token in made:
        return 200, {}
    if status == 200:
        made.add(token)
    return status, answer


def read_before(call, operation, body, turn):
    """Updates are worked out on what was read before, and put."""
    if operation != "UpdateItem" or "ConditionExpression" in body or body.get("ReturnValues", "NONE") != "NONE":
        return call(operation, body)
    status, answer = call("GetItem", {"TableName": body["TableName"], "Key": body["Key"], "ConsistentRead": True})
    if status != 200:
        return status, answer
    values = body["ExpressionAttributeValues"]
    item = {**body["Key"], "last": values[":n"], "g": values[":g"],
            "numbers": {"L": answer.get("Item", {"numbers": {"L": []}})["numbers"]["L"] + values[":one"]["L"]}}
    return call("PutItem", {"TableName": body["TableName"], "Item": item})


def old_answer(call, operation, body, turn, kept={}):
    """A consistent read is answered from a copy, now and then."""
    if operation != "GetItem":
        return call(operation, body)
    key = str(body)
    if turn % 20 == 0 and key in kept:
        return 200, kept[key]
    status, answer = call(operation, body)
    if status == 200:
        kept[key] = answer
    return status, answer


FAULTS = [fractured_read, unlocked_check, torn_write, forgotten_token, read_before, old_answer]


def tampering(fault):
    """The class of connections that have it."""

    class Tampering(Connection):
        turns = itertools.count(1)

        def call(self, operation, body):
            return fault(super().call, operation, body, next(self.turns))

    return Tampering
