"""The search for an order: one in which each operation sees what those before it left, each lies between its call and
its answer, and those of unknown outcome may be missing. Wing and Gong's search with Lowe's memory of states visited.

Three things that follow from what images are keep it short, and exclude no order that could succeed:
- an operation that changes nothing and agrees with the state is taken at once;
- a write that made an image which somebody saw must make this very image;
- nobody replaces an image that somebody has yet to see: images of existing items never come back.

Long histories want more: what `graph` knows to come first is kept to. Were such an edge wrong, an order could be missed, but
none is found that is not one."""

from dataclasses import dataclass

from .operation import NEVER, REFUSED, UNKNOWN, expected


@dataclass
class Search:
    #: The operations in an order that explains all, or `None`.
    order: list | None
    #: Whether the search was given up.
    undecided: bool = False
    steps: int = 0
    #: Where it got stuck at its furthest: images by key, and the operations that could have come next.
    state: dict | None = None
    stuck: list | None = None

    def explanation(self):
        if self.order is not None:
            return "linearizable"
        if self.undecided:
            return f"undecided after {self.steps} steps"
        return "\n".join([f"no order goes on from {self.state} with", *map(str, self.stuck)])


class _Step:
    """An operation as the search needs it."""

    __slots__ = ("operation", "began", "ended", "bit", "needs", "conditions", "effects", "known", "after")

    def __init__(self, operation, bit):
        self.operation, self.bit = operation, bit
        self.began = operation.began
        self.after = 0
        self.known = operation.outcome != UNKNOWN
        self.ended = operation.ended if self.known else NEVER
        self.needs = list(operation.seen.items())
        self.conditions = [(m.key, m.condition, truth) for m, truth in expected(operation) if m.key not in operation.seen]
        self.effects = []
        if operation.outcome != REFUSED:
            for member in operation.writes():
                # The deletion of nothing is no change.
                if not (member.action == "delete" and operation.seen.get(member.key, ()) is None):
                    self.effects.append(member)

    def agrees(self, state):
        for key, image in self.needs:
            if state[key] != image:
                return False
        for key, condition, truth in self.conditions:
            if condition.holds(state[key]) != truth:
                return False
        return True

    def contradicts_itself(self):
        seen = self.operation.seen
        return any(m.condition.holds(seen[m.key]) != truth for m, truth in expected(self.operation) if m.key in seen)


def linearize(operations, initial, edges=(), most_steps=500_000):
    """`initial`: image by key, for keys 0, 1, …; `edges`: pairs of numbers of which the first comes before the second."""
    observed = {number for operation in operations for image in operation.seen.values() for number in image or ()}
    known = [operation for operation in operations if operation.outcome != UNKNOWN]
    unknown = [operation for operation in operations if operation.outcome == UNKNOWN]
    # Of unknown outcome, most of those that nobody saw did not happen: with few of them, an order is found sooner.
    few = [o for o in unknown if o.number in observed]
    more = [o for o in unknown if o.number in observed or any(member.action == "delete" for member in o.members)]
    for some in (few, more):
        if len(some) < len(unknown):
            search = _search(known + some, initial, edges, min(most_steps, 20_000))
            if search.order is not None:
                return search
    return _search(operations, initial, edges, most_steps)


def _search(operations, initial, edges, most_steps):
    # What was not applied for certain and what saw nothing says nothing.
    steps = []
    for operation in sorted(operations, key=lambda o: o.began):
        step = _Step(operation, 1 << len(steps))
        if step.known or step.effects:
            steps.append(step)
    for step in steps:
        if step.known and step.contradicts_itself():
            return Search(None, stuck=[step.operation], state={})
    by_number = {step.operation.number: step for step in steps}
    for before, after in edges:
        if before in by_number and after in by_number:
            by_number[after].after |= by_number[before].bit
    known = [step for step in steps if step.known]
    unknown = [step for step in steps if not step.known]
    by_end = sorted(known, key=lambda step: step.ended)
    goal = sum(step.bit for step in known)

    form, waiting = {}, {}
    for step in known:
        for key, image in step.needs:
            if image is not None:
                waiting[key, image] = waiting.get((key, image), 0) + 1
                for length in range(len(image), 0, -1):
                    if (key, image[length - 1]) in form:
                        break
                    form[key, image[length - 1]] = image[:length]

    def taken(step, sign):
        if step.known:
            for key, image in step.needs:
                if image is not None:
                    waiting[key, image] -= sign

    def after(step, state):
        """The state that a write leaves, `None` where it cannot come now."""
        changed = list(state)
        number, seen = step.operation.number, step.operation.seen
        for member in step.effects:
            key = member.key
            image = state[key]
            if image is not None:
                others = waiting.get((key, image), 0)
                if others > (1 if step.known and key in seen else 0):
                    return None
            new = member.image_after(number, image)
            if new is not None and form.get((key, number), new) != new:
                return None
            changed[key] = new
        return tuple(changed)

    def settle(mask, state, first, first_end, journal):
        """Takes every observation that agrees; answers the writes that may come next."""
        while True:
            while first_end < len(by_end) and by_end[first_end].bit & mask:
                first_end += 1
            while first < len(known) and known[first].bit & mask:
                first += 1
            until = by_end[first_end].ended if first_end < len(by_end) else NEVER
            candidates, settled = [], False
            position = first
            while position < len(known) and known[position].began <= until:
                step = known[position]
                position += 1
                if step.bit & mask:
                    continue
                if step.effects:
                    candidates.append(step)
                elif not step.after & ~mask and step.agrees(state):
                    mask |= step.bit
                    taken(step, 1)
                    journal.append(step)
                    settled = True
            if not settled:
                candidates.sort(key=lambda step: step.ended)
                candidates += [step for step in unknown if step.began <= until and not step.bit & mask]
                return mask, first, first_end, candidates

    state = tuple(initial[key] for key in range(len(initial)))
    journal = []
    mask, first, first_end, candidates = settle(0, state, 0, 0, journal)
    # mask, state, pointers, what may come next, how much of it was tried, what was taken to get here
    stack = [[mask, state, first, first_end, candidates, 0, journal]]
    visited, count, furthest, furthest_known = set(), 0, stack[0], -1
    while stack:
        frame = stack[-1]
        mask, state, first, first_end, candidates, tried, journal = frame
        if mask & goal == goal:
            return Search([step.operation for each in stack for step in each[6]], steps=count)
        if tried == 0:
            progress = (mask & goal).bit_count()
            if progress > furthest_known:
                furthest, furthest_known = frame[:], progress
        if tried == len(candidates):
            for step in journal:
                taken(step, -1)
            stack.pop()
            continue
        frame[5] += 1
        step = candidates[tried]
        if step.after & ~mask or not step.agrees(state):
            continue
        new = after(step, state)
        if new is None or (mask | step.bit, new) in visited:
            continue
        visited.add((mask | step.bit, new))
        count += 1
        if count > most_steps:
            return Search(None, undecided=True, steps=count)
        journal = [step]
        taken(step, 1)
        settled = settle(mask | step.bit, new, first, first_end, journal)
        stack.append([settled[0], new, settled[1], settled[2], settled[3], 0, journal])

    mask, state, first, first_end = furthest[:4]
    until = by_end[first_end].ended if first_end < len(by_end) else NEVER
    stuck = [step.operation for step in steps if step.known and not step.bit & mask and step.began <= until]
    return Search(None, steps=count, state=dict(enumerate(state)), stuck=stuck)
