"""Which operation must come before which, and the name of the anomaly where that goes in a circle (Adya's names, as Elle
finds them).

Facts come first: who read what whom wrote, and which write followed which. What follows from them is added until nothing
new does: an operation that read an image comes before every write that comes after that image's. Each circle is a proof
that no order exists. The reverse does not hold: where deletes and replacements saw nothing, their order may stay open, and
a history without a circle may yet have no order. `linearize` decides; this says why."""

from bisect import bisect_left
from collections import defaultdict, deque
from dataclasses import dataclass

from .operation import DONE, REFUSED, UNKNOWN, expected

#: One wrong answer can put a thousand operations into cycles; a short one is soon found.
MOST_TRIED = 200
WW, WR, RW, REAL_TIME = "ww", "wr", "rw", "real time"


@dataclass
class Anomaly:
    name: str
    #: (operation, why it comes before the next, that), the last one's next being the first; or what is wrong by itself
    cycle: list
    text: str = ""

    def __str__(self):
        lines = [f"{self.name}: {self.text}" if self.text else self.name]
        for before, (kind, key), after in self.cycle:
            lines.append(f"  {before}")
            lines.append(f"    before #{after.number}: {kind}" + ("" if key is None else f" of key {key}"))
        return "\n".join(lines)


def dependencies(operations):
    """Of a history whose items were all missing at its beginning: its anomalies, at most one cycle, the simplest; and where
    there are none the pairs of numbers of operations of which the first comes before the second."""
    found = _wrong_by_themselves(operations)
    if found:
        return found, []
    graph = _Graph(operations)
    graph.saturate(True, (RW, WW))
    if graph.cycle(True):
        # Once more, slower: without real time if it goes without, and what comes after a read first. So the name tells most.
        graph = _Graph(operations)
        for real_time in (False, True):
            while graph.saturate(real_time, (RW,)) or graph.saturate(real_time, (WW,)):
                pass
            if cycle := graph.cycle(real_time):
                return [Anomaly(graph.name(cycle), cycle)], []
    numbers = [operation.number for operation in graph.operations]
    return [], [(numbers[before], numbers[after]) for before, each in enumerate(graph.edges) for after in each]


def _wrong_by_themselves(operations):
    """Images that no order could bring about."""
    by_number = {operation.number: operation for operation in operations}
    found, form = [], {}
    for operation in operations:
        for key, image in operation.seen.items():
            for position, number in enumerate(image or ()):
                writer = by_number.get(number)
                actions = {} if writer is None else {member.key: member.action for member in writer.writes()}
                if key not in actions:
                    found.append(Anomaly("garbage", [], f"key {key}: nobody wrote {number}, seen by {operation}"))
                elif writer.outcome == REFUSED:
                    found.append(Anomaly("aborted read (G1a)", [], f"key {key}: {writer}, seen by {operation}"))
                elif image.count(number) > 1:
                    found.append(Anomaly("applied twice", [], f"key {key}: {writer}, seen by {operation}"))
                elif actions[key] == "put" and position > 0:
                    found.append(Anomaly("garbage", [], f"key {key}: a put appended, {writer}, seen by {operation}"))
                elif form.setdefault((key, number), image[: position + 1]) != image[: position + 1]:
                    found.append(Anomaly("applied twice", [], f"key {key}: on {form[key, number]} and on "
                                         f"{image[:position + 1]}: {writer}, seen by {operation}"))
                if found:
                    return found
        for member, truth in expected(operation):
            if member.key in operation.seen and member.condition.holds(operation.seen[member.key]) != truth:
                return [Anomaly("condition not kept", [], str(operation))]
    return found


class _Graph:
    def __init__(self, operations):
        forms = {}
        for operation in operations:
            for key, image in operation.seen.items():
                for length in range(1, len(image or ()) + 1):
                    forms[key, image[length - 1]] = image[:length]
        observed = {number for _, number in forms}
        #: Of unknown outcome, those that nobody saw may not have happened.
        self.operations = [o for o in operations if o.outcome != UNKNOWN or o.number in observed]
        self.index = {operation.number: node for node, operation in enumerate(self.operations)}
        self.size = len(self.operations)
        self.forms = forms
        self.edges = [{} for _ in range(self.size)]
        #: By key, as sets of bits: who left an item, who left none, and both.
        self.present, self.absent, self.writers = defaultdict(int), defaultdict(int), defaultdict(int)
        #: (reader, key, the node that wrote what it read)
        self.reads = []
        #: (reader, key) of those that read nothing, whoever deleted it
        self.absent_reads = []
        #: Deletes that may have happened, which makes others' absence possible.
        self.maybe = {member.key for o in operations if o.outcome == UNKNOWN for member in o.members if member.action == "delete"}
        self._facts()
        self._real_time_edges()

    def add(self, before, after, kind, key):
        """Answers whether that is new."""
        if before == after or after in self.edges[before]:
            return False
        self.edges[before][after] = (kind, key)
        return True

    def _facts(self):
        for node, operation in enumerate(self.operations):
            if operation.outcome != REFUSED:
                for member in operation.writes():
                    key, seen = member.key, operation.seen.get(member.key, ())
                    if member.action != "delete":
                        self.present[key] |= 1 << node
                    elif seen is not None:
                        self.absent[key] |= 1 << node
                    if (image := self.forms.get((key, operation.number))) and len(image) > 1:
                        self.reads.append((node, key, self.index[image[-2]]))
                    elif image and member.action == "update":
                        self.absent_reads.append((node, key))
            read = dict(operation.seen)
            for member, truth in expected(operation):
                condition = member.condition
                if member.key in read:
                    continue
                if (condition.kind, truth) in (("absent", True), ("exists", False)):
                    read[member.key] = None
                elif (condition.kind, truth) == ("is", True):
                    read[member.key] = (condition.write,)
            for key, image in read.items():
                if image is None:
                    self.absent_reads.append((node, key))
                elif image[-1] in self.index:
                    self.reads.append((node, key, self.index[image[-1]]))
        self.reads, self.absent_reads = list(set(self.reads)), list(set(self.absent_reads))
        for key in set(self.present) | set(self.absent):
            self.writers[key] = self.present[key] | self.absent[key]
        follower = defaultdict(set)
        for (key, number), image in self.forms.items():
            if len(image) > 1:
                follower[self.index[image[-2]], key].add(self.index[number])
        for reader, key, writer in self.reads:
            # A member that itself writes the key also tells what follows.
            follows = self.writers[key] >> reader & 1
            self.add(writer, reader, WW if follows else WR, key)
            if follows:
                follower[writer, key].add(reader)
        for reader, key, writer in self.reads:
            for after in follower[writer, key]:
                self.add(reader, after, RW, key)

    def _real_time_edges(self):
        """By nodes that stand for moments: answered before one, called after it."""
        self.moments = []
        ends = sorted({o.ended for o in self.operations if o.outcome != UNKNOWN})
        self.moment_edges = [{} for _ in range(self.size + len(ends))]
        position = {end: self.size + number for number, end in enumerate(ends)}
        for end in ends[:-1]:
            self.moment_edges[position[end]][position[end] + 1] = (REAL_TIME, None)
        for node, operation in enumerate(self.operations):
            if operation.outcome != UNKNOWN:
                self.moment_edges[node][position[operation.ended]] = (REAL_TIME, None)
            before = bisect_left(ends, operation.began)
            if before:
                self.moment_edges[self.size + before - 1][node] = (REAL_TIME, None)

    def _neighbours(self, real_time):
        if not real_time:
            return self.edges
        count = len(self.moment_edges)
        return [{**self.moment_edges[node], **(self.edges[node] if node < self.size else {})} for node in range(count)]

    def saturate(self, real_time, kinds):
        """Adds what follows, until nothing new does or there is a cycle; answers whether there was anything."""
        rounds = 0
        while self._follows(real_time, kinds):
            rounds += 1
        return rounds > 0

    def _follows(self, real_time, kinds):
        neighbours = self._neighbours(real_time)
        reach = _closure(neighbours)
        if reach is None:
            return False
        reached_by = _closure(_reversed(neighbours))
        new = False
        for reader, key, writer in self.reads + self._sources(reach, reached_by):
            if writer is None:
                # It read what was at the beginning.
                after, before = self.present[key] & ~reach[reader], 0
            else:
                others = self.writers[key]
                if self.absent[key] >> writer & 1:
                    # One deletion after another changes nothing.
                    others = self.present[key]
                after = others & reach[writer] & ~reach[reader]
                before = others & reached_by[reader] & ~reached_by[writer]
            itself = 1 << reader | (0 if writer is None else 1 << writer)
            if RW in kinds:
                for node in _bits(after & ~itself):
                    new |= self.add(reader, node, RW, key)
            if WW in kinds:
                if writer is not None:
                    new |= self.add(writer, reader, WR, key)
                for node in _bits(before & ~itself):
                    new |= self.add(node, writer, WW, key)
        return new

    def _sources(self, reach, reached_by):
        """Of those that read nothing: who made it so, where that can be but one; `None` for the beginning."""
        found = []
        for reader, key in self.absent_reads:
            before = self.present[key] & reached_by[reader] & ~(1 << reader)
            if key in self.maybe:
                continue
            candidates = []
            for deleter in _bits(self.absent[key] & ~reach[reader] & ~(1 << reader)):
                if not reach[deleter] & before:
                    candidates.append(deleter)
            if not candidates:
                found.append((reader, key, None))
            elif len(candidates) == 1 and before:
                found.append((reader, key, candidates[0]))
        return found

    def cycle(self, real_time):
        """The simplest: without reads before writes if there is one, else with one, else the shortest."""
        neighbours = self._neighbours(real_time)
        inside = _in_cycles(neighbours)
        if not inside:
            return None

        def by_kind(*kinds):
            return [{after: label for after, label in each.items() if label[0] in (*kinds, REAL_TIME)} for each in neighbours]

        for kinds in ((WW,), (WW, WR)):
            if path := _shortest(by_kind(*kinds), inside):
                return self._without_moments(path)
        without, best = by_kind(WW, WR), None
        reads_before = [(node, label, after) for node in inside for after, label in neighbours[node].items()
                        if label[0] == RW and after in inside]
        # Those of two operations are seen at once, and tell most.
        reads_before.sort(key=lambda edge: edge[0] not in without[edge[2]])
        for node, label, after in reads_before[:MOST_TRIED]:
            most = 1 if node in without[after] else len(best) - 2 if best else len(neighbours)
            if path := _path(without, after, node, most):
                best = [(node, label, after)] + path
                if len(best) == 2:
                    break
        return self._without_moments(best or _shortest(neighbours, inside))

    def _without_moments(self, path):
        """The operations alone; a way through moments is one step."""
        while path[0][0] >= self.size:
            path = path[1:] + path[:1]
        steps = []
        for before, label, after in path:
            if before >= self.size:
                steps[-1][2] = after
            else:
                steps.append([before, label, after])
        return [(self.operations[before], label, self.operations[after]) for before, label, after in steps]

    def name(self, cycle):
        kinds = [label[0] for _, label, _ in cycle]
        against_time = REAL_TIME in kinds
        anti = [step for step in cycle if step[1][0] == RW]
        late = ", against real time" if against_time else ""
        if not anti:
            return ("dirty write (G0)" if WR not in kinds else "circular information flow (G1c)") + late
        if len(anti) == 1:
            reader, (_, key), writer = anti[0]
            if self._lost(writer, key):
                return "torn write"
            if len(cycle) == 2:
                kind, other = cycle[1 - cycle.index(anti[0])][1]
                if kind == WW and other == key:
                    return "lost update"
                if kind == REAL_TIME:
                    return "stale read"
                if kind == WR and other != key:
                    return "fractured read (G-single)"
            return "read skew (G-single)" + late
        if len({label[1] for _, label, _ in anti}) == 1 and len(cycle) == len(anti):
            key = anti[0][1][1]
            if all(any(member.key == key for member in before.writes()) for before, _, _ in cycle):
                return "lost update"
        return "write skew (G2)" + late

    def _lost(self, writer, key):
        """Whether nobody ever saw what it wrote there, though somebody saw another of its members."""
        keys = [member.key for member in writer.writes() if member.action != "delete"]
        return (writer.outcome == DONE and key in keys and (key, writer.number) not in self.forms
                and any((other, writer.number) in self.forms for other in keys))


def _bits(bits):
    while bits:
        low = bits & -bits
        yield low.bit_length() - 1
        bits ^= low


def _reversed(neighbours):
    found = [{} for _ in neighbours]
    for before, each in enumerate(neighbours):
        for after, label in each.items():
            found[after][before] = label
    return found


def _closure(neighbours):
    """For each node the set of those it reaches, `None` where there is a cycle."""
    count = len(neighbours)
    incoming = [0] * count
    for each in neighbours:
        for after in each:
            incoming[after] += 1
    ready = [node for node in range(count) if not incoming[node]]
    order = []
    while ready:
        node = ready.pop()
        order.append(node)
        for after in neighbours[node]:
            incoming[after] -= 1
            if not incoming[after]:
                ready.append(after)
    if len(order) < count:
        return None
    reach = [0] * count
    for node in reversed(order):
        bits = 0
        for after in neighbours[node]:
            bits |= reach[after] | 1 << after
        reach[node] = bits
    return reach


def _in_cycles(neighbours):
    """The nodes that lie on some cycle (Tarjan, without recursion)."""
    count = len(neighbours)
    number, low, on_stack, stack, found = [None] * count, [0] * count, [False] * count, [], set()
    counter = 0
    for root in range(count):
        if number[root] is not None:
            continue
        work = [(root, iter(neighbours[root]))]
        number[root] = low[root] = counter
        counter += 1
        stack.append(root)
        on_stack[root] = True
        while work:
            node, rest = work[-1]
            for after in rest:
                if number[after] is None:
                    number[after] = low[after] = counter
                    counter += 1
                    stack.append(after)
                    on_stack[after] = True
                    work.append((after, iter(neighbours[after])))
                    break
                if on_stack[after]:
                    low[node] = min(low[node], number[after])
            else:
                work.pop()
                if work:
                    low[work[-1][0]] = min(low[work[-1][0]], low[node])
                if low[node] == number[node]:
                    component = []
                    while True:
                        member = stack.pop()
                        on_stack[member] = False
                        component.append(member)
                        if member == node:
                            break
                    if len(component) > 1:
                        found.update(component)
    return found


def _path(neighbours, start, goal, most):
    """The shortest, as steps, of which there are at most `most`."""
    came, queue = {start: (None, None, 0)}, deque([start])
    while queue:
        node = queue.popleft()
        if node == goal:
            steps = []
            while node != start:
                before, label, _ = came[node]
                steps.append((before, label, node))
                node = before
            return steps[::-1]
        length = came[node][2] + 1
        if length > most:
            return None
        for after, label in neighbours[node].items():
            if after not in came:
                came[after] = (node, label, length)
                queue.append(after)
    return None


def _shortest(neighbours, inside):
    best = None
    for node in list(inside)[:MOST_TRIED]:
        for after, label in neighbours[node].items():
            if after in inside and (path := _path(neighbours, after, node, len(best) - 2 if best else len(neighbours))):
                best = [(node, label, after)] + path
                if len(best) == 2:
                    return best
    return best
