"""Expressions of every kind, with the names and values they mention."""

import re

from . import values

PATHS = [
    "n", "o", "s", "u", "b", "t", "z", "m", "l", "ss", "ns", "bs", "q", "pk", "sk", "g", "g2", "r2", "lk",
    "m.a", "m.b", "m.b.c", "m.q", "m.l", "m.l[0]", "m.l[1]", "m.q.r", "l[0]", "l[1]", "l[2]", "l[2].x", "l[2].y", "l[3][0]",
    "l[9]", "s.a", "n[0]", "q.a", "q[0]", "m[0]", "l.a", "z.a", "pk.a", "sk[0]", "g.a", "name", "m.status", "_a",
]  # fmt: skip
KINDS = {"n": "N", "o": "N", "s": "S", "u": "S", "b": "B", "t": "BOOL", "z": "NULL", "m": "M", "l": "L", "ss": "SS", "ns": "NS",
         "bs": "BS", "m.a": "N", "m.b.c": "S", "l[0]": "N", "l[1]": "S", "l[2].x": "N", "m.l": "L", "lk": "N", "r2": "N",
         "g": "S", "g2": "S", "pk": "S", "sk": "S"}  # fmt: skip
TOKENS = re.compile(r"\s+|[#:]?[A-Za-z0-9_]+|<>|<=|>=|.", re.DOTALL)
STRAY = ["AND", "OR", "NOT", "IN", "BETWEEN", "(", ")", "[", "]", ".", ",", "=", "<>", "<", "+", "-", "#", ":", ":v", "#x", "0", "00",
         "-1", "é", '"x"', "SET", "REMOVE", "ADD", "DELETE", "size", "contains", "if_not_exists", "list_append", "!", "name", "a"]  # fmt: skip


class Mentions:
    """What an expression mentions, as it is written."""

    def __init__(self, random, names, values_):
        self.random = random
        self.names = names
        self.values = values_

    def path(self, paths=PATHS):
        path = self.random.choice(paths)
        return ".".join(self.element(element) for element in path.split("."))

    def element(self, element):
        if self.random.random() < (0.9 if element in ("name", "status") else 0.12):
            head, bracket, rest = element.partition("[")
            reference = f"#{head}"
            self.names[reference] = head
            return reference + bracket + rest
        return element

    def value(self, kind=None):
        reference = f":v{len(self.values)}"
        self.values[reference] = values.value(self.random, kind)
        return reference

    def fitting(self, path):
        """A value of the type the attribute has in most items."""
        plain = path.replace("#", "")
        return self.value(KINDS.get(plain) if self.random.random() < 0.8 else None)


def condition(m, depth=2):
    random = m.random
    choice = random.random()
    if depth and choice < 0.35:
        left, right = condition(m, depth - 1), condition(m, depth - 1)
        text = f"{left} {random.choice(['AND', 'OR', 'and'])} {right}"
        return f"({text})" if random.random() < 0.3 else text
    if depth and choice < 0.43:
        inner = condition(m, depth - 1)
        return f"NOT {inner}" if random.random() < 0.5 else f"NOT ({inner})"
    if depth and choice < 0.48:
        return f"({condition(m, depth - 1)})"
    return leaf(m)


def operand(m, path=None):
    choice = m.random.random()
    if choice < 0.6:
        return m.fitting(path) if path else m.value()
    if choice < 0.85:
        return m.path()
    if choice < 0.95:
        return f"size({m.path()})"
    return m.random.choice([f"size({m.value()})", f"({m.path()})", f"({m.value()})", f"attribute_exists({m.path()})"])


def leaf(m):
    random = m.random
    choice = random.random()
    path = m.path()
    if choice < 0.4:
        first, second = (path, operand(m, path)) if random.random() < 0.8 else (operand(m), path)
        return f"{first} {random.choice(['=', '<>', '<', '<=', '>', '>='])} {second}"
    if choice < 0.5:
        return f"{path} BETWEEN {operand(m, path)} AND {operand(m, path)}"
    if choice < 0.6:
        return f"{path} IN ({', '.join(operand(m, path) for _ in range(random.randint(1, 3)))})"
    if choice < 0.75:
        return f"{random.choice(['attribute_exists', 'attribute_not_exists'])}({path})"
    if choice < 0.8:
        return f"attribute_type({path}, {m.value('S')})"
    if choice < 0.93:
        return f"{random.choice(['begins_with', 'contains'])}({path}, {operand(m, path)})"
    function = random.choice(
        ["size", "contains", "begins_with", "attribute_type", "attribute_exists", "Size", "foo", "if_not_exists"]
    )
    return f"{function}({', '.join(operand(m) for _ in range(random.randint(1, 3)))})"


def projection(m):
    return ", ".join(m.path() for _ in range(m.random.randint(1, 3)))


def update(m):
    sections = m.random.sample(["SET", "REMOVE", "ADD", "DELETE"], m.random.choice([1, 1, 1, 2, 2, 3]))
    if m.random.random() < 0.03:
        sections.append(sections[0])
    return " ".join(
        f"{section} {', '.join(action(m, section) for _ in range(m.random.choice([1, 1, 2])))}" for section in sections
    )


TARGETS = [path for path in PATHS if path.split(".")[0].split("[")[0] not in ("pk", "sk")] + [
    "new",
    "new2",
    "l[4]",
    "l[6]",
    "m.new",
]


def action(m, section):
    random = m.random
    target = m.path(TARGETS if random.random() < 0.96 else PATHS)
    if section == "REMOVE":
        return target
    if section == "ADD":
        return f"{m.path(['n', 'ss', 'ns', 'm.a', 'new', 'l[0]', 'l[5]', 'bs', 'q.a', 's'])} {m.value(random.choice(['N', 'N', 'SS', 'NS', 'BS', None]))}"
    if section == "DELETE":
        return f"{m.path(['ss', 'ns', 'bs', 'new', 'q.a', 's', 'm.b'])} {m.value(random.choice(['SS', 'SS', 'NS', 'BS', None]))}"
    return f"{target} = {right_hand_side(m, target)}"


def right_hand_side(m, target):
    random = m.random
    choice = random.random()
    if choice < 0.4:
        return m.fitting(target)
    if choice < 0.5:
        return m.path()
    if choice < 0.65:
        first, second = random.sample(
            [m.path(["n", "m.a", "o", "l[0]", "s", "q"]), m.value("N" if random.random() < 0.85 else None)], 2
        )
        return f"{first} {random.choice('+-')} {second}"
    if choice < 0.8:
        return f"if_not_exists({m.path()}, {m.value() if random.random() < 0.8 else m.path()})"
    if choice < 0.92:
        parts = random.sample(
            [m.path(["l", "m.l", "l", "q", "s"]), m.value("L" if random.random() < 0.85 else None)], 2
        )
        return f"list_append({', '.join(parts)})"
    return random.choice([
        f"if_not_exists({m.path()}, {m.value('N')}) + {m.value('N')}",
        f"list_append(if_not_exists({m.path()}, {m.value('L')}), {m.value('L')})",
        f"size({m.path()})",
        f"({m.path()})",
        f"if_not_exists({m.value()}, {m.value()})",
        f"list_append({m.value()})",
    ])  # fmt: skip


def key_condition(m, keys, types):
    random = m.random
    parts = []
    for position, key in enumerate(keys):
        if position and random.random() < 0.45:
            break
        kind = types.get(key, "S")
        if position == 0 and random.random() < 0.95:
            parts.append(
                f"{key} = {m.value(values.Key(kind))}"
                if random.random() < 0.9
                else f"{m.value(values.Key(kind))} = {key}"
            )
            continue
        form = random.random()
        if form < 0.5:
            parts.append(f"{key} {random.choice(['=', '<', '<=', '>', '>='])} {m.value(values.Key(kind))}")
        elif form < 0.65:
            parts.append(f"{key} BETWEEN {m.value(values.Key(kind))} AND {m.value(values.Key(kind))}")
        elif form < 0.8:
            parts.append(f"begins_with({key}, {m.value(values.Key(kind))})")
        else:
            parts.append(leaf(m))
    if random.random() < 0.1:
        random.shuffle(parts)
    return " AND ".join(f"({part})" if random.random() < 0.05 else part for part in parts)


def broken(random, text):
    """One token gone, doubled, exchanged or put in."""
    tokens = TOKENS.findall(text)
    if not tokens or random.random() < 0.05:
        return random.choice(["", " ", "a", "((a = b))", "x" * 4097])
    at = random.randrange(len(tokens))
    how = random.random()
    if how < 0.3:
        del tokens[at]
    elif how < 0.4:
        tokens.insert(at, tokens[at])
    elif how < 0.7:
        tokens[at] = random.choice(STRAY)
    else:
        tokens.insert(at, f" {random.choice(STRAY)} ")
    return "".join(tokens)
