"""What a client did and what it saw.

An item is the list of the writes it has gone through since it was created or replaced: an update appends its number, a
put leaves its own alone, a delete leaves nothing. So every image tells which write made it, and most of the writes before.
An image is the tuple of these numbers, `None` where there is no item."""

from dataclasses import dataclass, field

#: Applied; refused, and so a mere observation; may have been applied or not.
DONE, REFUSED, UNKNOWN = "done", "refused", "unknown"
NEVER = float("inf")


@dataclass(frozen=True, slots=True)
class Condition:
    #: `exists`, `absent`, `is` and `is not` (of an existing item, by the last write to it)
    kind: str
    write: int | None = None

    def holds(self, image):
        match self.kind:
            case "exists":
                return image is not None
            case "absent":
                return image is None
            case "is":
                return image is not None and image[-1] == self.write
            case "is not":
                return image is not None and image[-1] != self.write
        raise ValueError(self.kind)


@dataclass(frozen=True, slots=True)
class Member:
    key: int
    #: `get`, `check`, `put`, `update`, `delete`
    action: str
    condition: Condition | None = None

    def writes(self):
        return self.action in ("put", "update", "delete")

    def image_after(self, number, image):
        match self.action:
            case "put":
                return (number,)
            case "update":
                return (image or ()) + (number,)
            case "delete":
                return None
        return image


@dataclass(slots=True)
class Operation:
    """One step, of one or several members, that must seem to happen at one moment between `began` and `ended`."""

    #: Its own; what it writes bears it.
    number: int
    members: list[Member]
    client: int = 0
    began: float = 0
    ended: float = NEVER
    outcome: str = UNKNOWN
    #: The image before the operation, for the keys of which it is known.
    seen: dict = field(default_factory=dict)
    #: Whether the condition held, by key, where the operation was refused.
    held: dict = field(default_factory=dict)

    def writes(self):
        return [member for member in self.members if member.writes()]

    def __str__(self):
        parts = []
        for member in self.members:
            text = f"{member.action} {member.key}"
            if member.condition:
                condition = member.condition
                text += f" if {condition.kind}{'' if condition.write is None else f' {condition.write}'}"
                if member.key in self.held:
                    text += f" ({'held' if self.held[member.key] else 'failed'})"
            if member.key in self.seen:
                image = self.seen[member.key]
                text += f" saw {'nothing' if image is None else list(image)}"
            parts.append(text)
        return f"#{self.number} of client {self.client} [{self.began:.6f}, {self.ended:.6f}] {self.outcome}: " + "; ".join(parts)


def done(operation, ended):
    operation.outcome, operation.ended = DONE, ended


def expected(operation):
    """Which conditions must have held and which not: pairs of member and truth."""
    if operation.outcome == REFUSED:
        return [(m, operation.held[m.key]) for m in operation.members if m.condition and m.key in operation.held]
    return [(m, True) for m in operation.members if m.condition]
