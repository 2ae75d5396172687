"""A server in memory, with clients whose steps a seed interleaves. It is right, or has one fault that a server of its kind
could have; histories of it show that the judges find that fault, and find none where there is none."""

from .operation import DONE, REFUSED, Operation
from .workload import Workload

#: Each is named by what a history shows of it.
FAULTS = {
    "write skew": "conditions on items that the transaction does not write are not kept until it commits",
    "lost update": "an update is worked out on an image from before it waited",
    "two creators": "a missing item is not locked",
    "fractured read": "the items of a transaction are read one after the other",
    "dirty read": "a transaction's writes are seen one after the other",
    "stale read": "some reads are answered from an older state",
    "applied twice": "a token is not remembered",
    "torn write": "one of the writes gets lost, now and then",
    "aborted write": "a refused transaction leaves a write behind, now and then",
    "late write": "some writes are answered before they are made",
    "stale condition": "some refusals are decided on an older state",
}


def history(seed, keys=4, clients=6, calls=150, fault=None, cut=0.0):
    """The operations that the clients of one run did, and saw."""
    assert fault is None or fault in FAULTS
    return _Run(seed, keys, clients, calls, fault, cut).operations


class _Run:
    def __init__(self, seed, keys, clients, calls, fault, cut):
        self.workload = Workload(seed, keys, cut=cut)
        self.chance = self.workload.chance("the server")
        self.fault = fault
        self.state = dict.fromkeys(range(keys))
        self.older = [dict(self.state)]
        self.clock, self.left, self.operations = 0, calls, []
        self.tasks = [self._client(number) for number in range(clients)]
        while self.tasks:
            self.clock += 1
            task = self.chance.choice(self.tasks)
            if next(task, self) is self:
                self.tasks.remove(task)
        self.left = 1
        for key in range(keys):
            # At the end, when all is quiet.
            self.clock += 2
            self.operations.append(Operation(next(self.workload.numbers), [], 0, self.clock, self.clock + 1, DONE,
                                             {key: self.state[key]}))

    def _client(self, number):
        chance = self.workload.chance(number)
        while self.left > 0:
            self.left -= 1
            call = self.workload.call(chance, number)
            self.operations += call.operations
            for operation in call.operations:
                operation.began = self.clock
            if call.manner == "cut":
                if chance.random() < 0.7:
                    # Nobody hears how it went.
                    self.tasks.append(self._serve(call, Operation(call.operations[0].number, call.operations[0].members)))
                continue
            yield from self._while()
            for operation in call.operations:
                yield from self._serve(call, operation)
            yield from self._while()
            for operation in call.operations:
                operation.ended = self.clock
            self.workload.learn(call)

    def _while(self):
        for _ in range(self.chance.randrange(4)):
            yield

    def _now_and_then(self):
        return self.chance.random() < 0.08

    def _apply(self, operation, members):
        for member in members:
            self.state[member.key] = member.image_after(operation.number, self.state[member.key])
        self.older = (self.older + [dict(self.state)])[-20:]

    def _serve(self, call, operation):
        fault, members, number = self.fault, operation.members, operation.number
        yield
        if members[0].action == "get":
            basis = self.chance.choice(self.older) if fault == "stale read" and self._now_and_then() else self.state
            for member in members:
                operation.seen[member.key] = basis[member.key]
                if fault == "fractured read":
                    yield from self._while()
            operation.outcome = DONE
            return
        basis = self.state
        if fault == "stale condition" and self._now_and_then():
            basis = self.chance.choice(self.older)
        before = {member.key: basis[member.key] for member in members}
        held = {m.key: m.condition.holds(before[m.key]) for m in members if m.condition}
        if not all(held.values()):
            operation.outcome = REFUSED
            operation.held = held
            operation.seen = {key: before[key] for key, truth in held.items() if not truth and key in call.shown}
            if fault == "aborted write" and self._now_and_then():
                self._apply(operation, operation.writes()[:1])
            return
        if basis is not self.state:
            before = {member.key: self.state[member.key] for member in members}
            held = {m.key: m.condition.holds(before[m.key]) for m in members if m.condition}
            if not all(held.values()):
                operation.outcome, operation.held = REFUSED, held
                return
        writes = operation.writes()
        if fault == "write skew":
            yield from self._while()
            if any(self.state[member.key] != before[member.key] for member in writes if member.action != "delete" or
                   before[member.key] is not None):
                yield from self._serve(call, operation)
                return
        if fault in ("lost update", "two creators") and (fault == "lost update" or None in before.values()):
            yield from self._while()
            for member in writes:
                if fault == "lost update" or before[member.key] is None:
                    self.state[member.key] = before[member.key]
        if fault == "torn write" and self._now_and_then() and len(writes) > 1:
            writes = writes[:-1]
        if fault == "dirty read":
            for member in writes:
                self._apply(operation, [member])
                yield from self._while()
        elif fault == "late write" and self._now_and_then():
            self.tasks.append(self._late(operation, writes))
        else:
            self._apply(operation, writes)
        operation.outcome = DONE
        if len(members) == 1 and (call.return_values != "NONE"):
            operation.seen = before
        if fault == "applied twice" and call.manner in ("again", "twice"):
            yield from self._while()
            self._apply(operation, writes)

    def _late(self, operation, writes):
        for _ in range(20):
            yield
        self._apply(operation, writes)
