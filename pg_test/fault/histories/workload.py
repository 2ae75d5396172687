"""Random calls on few keys. Conditions name writes that somebody lately saw, so that many hold and many fail."""

import itertools
import random
from dataclasses import dataclass, field

from .operation import Condition, Member, Operation

#: What is called, and how often in a hundred calls.
MIX = {
    "TransactWriteItems": 36,
    "TransactGetItems": 18,
    "PutItem": 8,
    "UpdateItem": 12,
    "DeleteItem": 6,
    "GetItem": 12,
    "BatchWriteItem": 3,
    "BatchGetItem": 3,
    "Query": 2,
}
TRANSACTIONS = ("TransactWriteItems", "TransactGetItems")


@dataclass(slots=True)
class Call:
    #: The operation of DynamoDB.
    name: str
    #: One, or several in a batch, each a step of its own.
    operations: list[Operation]
    #: Of a single write: `NONE`, `ALL_OLD`, `ALL_NEW`.
    return_values: str = "NONE"
    #: The keys whose item a failed condition shall show.
    shown: set = field(default_factory=set)
    #: `once`; `again`: with a token, and the same after the answer; `twice`: with a token, by two connections at once;
    #: `cut`: the connection is closed before the answer.
    manner: str = "once"


class Workload:
    def __init__(self, seed, keys, mix=MIX, cut=0.0):
        """`cut`: the part of the writes whose connection is closed before the answer."""
        self.seed, self.keys, self.cut = seed, keys, cut
        self.names, self.weights = list(mix), list(mix.values())
        self.numbers = itertools.count(1)
        #: By key, writes that somebody lately saw.
        self.recent = [[] for _ in range(keys)]

    def chance(self, client):
        """A client's own source of chance."""
        return random.Random(f"{self.seed} {client}")

    def learn(self, call):
        for operation in call.operations:
            for key, image in operation.seen.items():
                if image is not None:
                    self.recent[key] = (self.recent[key] + [image[-1]])[-3:]

    def call(self, chance, client):
        (name,) = chance.choices(self.names, self.weights)
        if name in ("BatchWriteItem", "BatchGetItem", "Query"):
            return self._batch(name, chance, client)
        if name == "TransactGetItems":
            keys = chance.sample(range(self.keys), min(chance.choice([2, 3, self.keys]), self.keys))
            members = [Member(key, "get") for key in keys]
        elif name == "TransactWriteItems":
            keys = chance.sample(range(self.keys), min(chance.choice([1, 2, 2, 3, 4]), self.keys))
            members = [self._member(chance, key, chance.choices(("check", "put", "update", "delete"), (28, 16, 40, 16))[0])
                       for key in keys]
        else:
            action = {"GetItem": "get", "PutItem": "put", "UpdateItem": "update", "DeleteItem": "delete"}[name]
            members = [self._member(chance, chance.randrange(self.keys), action)]
        call = Call(name, [Operation(next(self.numbers), members, client)])
        call.shown = {member.key for member in members if member.condition and chance.random() < 0.8}
        if name in ("PutItem", "DeleteItem"):
            call.return_values = chance.choice(["NONE", "ALL_OLD", "ALL_OLD"])
        if name == "UpdateItem":
            call.return_values = chance.choice(["NONE", "ALL_OLD", "ALL_NEW"])
        if name == "TransactWriteItems":
            call.manner = chance.choices(("once", "again", "twice"), (80, 12, 8))[0]
        if members[0].action != "get" and chance.random() < self.cut:
            call.manner = "cut"
        return call

    def _member(self, chance, key, action):
        condition = None
        if action == "check" or (action != "get" and chance.random() < 0.6):
            kinds = ["exists", "absent", "absent", "is", "is", "is not"] if self.recent[key] else ["exists", "absent", "absent"]
            kind = chance.choice(kinds)
            # The last that is known has the best chance to hold.
            write = chance.choice(self.recent[key] + 3 * self.recent[key][-1:]) if kind in ("is", "is not") else None
            condition = Condition(kind, write)
        return Member(key, action, condition)

    def _batch(self, name, chance, client):
        keys = chance.sample(range(self.keys), chance.randint(2, min(4, self.keys)))
        if name == "Query":
            # Of one partition: the even keys, those that are missing too.
            keys = list(range(0, self.keys, 2))
        actions = [chance.choice(["put", "put", "delete"]) if name == "BatchWriteItem" else "get" for _ in keys]
        return Call(name, [Operation(next(self.numbers), [Member(key, action)], client) for key, action in zip(keys, actions)])
