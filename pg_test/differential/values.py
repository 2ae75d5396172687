"""Attribute values, sound and broken."""

from .world import KEY_VALUES

STRINGS = ["", "a", "b", "hello", "he", "1", "é", "😀", "two", "x", "S", "N", "BOOL", "\u0000"]
NUMBERS = ["0", "1", "1.0", "2", "-1", "5", "10", "1e2", "0.1", "-0", "100", "9.9E125", "1E-130", ".5", "+3"]
BINARIES = ["", "YQ==", "Yg==", "AQID", "AQ=="]
KINDS = ["S", "S", "N", "N", "B", "BOOL", "NULL", "SS", "NS", "BS", "L", "M"]


class Key(str):
    """A type, for a value that keys have."""


def value(random, kind=None, depth=2):
    if isinstance(kind, Key) and random.random() < 0.9:
        return {str(kind): random.choice(KEY_VALUES[kind])}
    kind = str(kind or random.choice(KINDS if depth else KINDS[:7]))
    if kind == "S":
        return {"S": random.choice(STRINGS)}
    if kind == "N":
        return {"N": random.choice(NUMBERS)}
    if kind == "B":
        return {"B": random.choice(BINARIES)}
    if kind == "BOOL":
        return {"BOOL": random.random() < 0.5}
    if kind == "NULL":
        return {"NULL": True}
    if kind == "SS":
        return {"SS": random.sample(STRINGS[1:-1], random.randint(1, 3))}
    if kind == "NS":
        return {"NS": random.sample(["0", "1", "2", "-1", "10", "0.1"], random.randint(1, 3))}
    if kind == "BS":
        return {"BS": random.sample(BINARIES[1:], random.randint(1, 2))}
    if kind == "L":
        return {"L": [value(random, None, depth - 1) for _ in range(random.randint(0, 3))]}
    return {"M": {name: value(random, None, depth - 1) for name in random.sample("abcd", random.randint(0, 2))}}


def nested(levels):
    inner = {"S": "x"}
    for level in range(levels):
        inner = {"L": [inner]} if level % 2 else {"M": {"a": inner}}
    return inner


BROKEN = [
    {}, {"X": "a"}, {"S": None}, {"S": 5}, {"S": True}, {"S": []}, {"S": {}}, {"S": 1.5}, {"N": 5}, {"N": ""}, {"N": " 5"}, {"N": "x"},
    {"N": "1e126"}, {"N": "1e-131"}, {"N": "0e126"}, {"N": "1" * 39}, {"N": "NaN"}, {"N": "1e99999999999999999999"}, {"N": None},
    {"NULL": False}, {"NULL": "no"}, {"NULL": "yes"}, {"NULL": 1}, {"NULL": []}, {"BOOL": "maybe"}, {"BOOL": "true"}, {"BOOL": 1},
    {"BOOL": 1.0}, {"BOOL": []}, {"BOOL": {}}, {"SS": []}, {"SS": ["a", "a"]}, {"SS": ["b", "a", "b", "C"]}, {"SS": [None]},
    {"SS": [5]}, {"SS": "a"}, {"SS": {}}, {"NS": []}, {"NS": ["1", "1.0"]}, {"NS": ["x"]}, {"NS": [1]}, {"NS": [""]}, {"BS": []},
    {"BS": ["YQ==", "YQ=="]}, {"BS": ["YQ"]}, {"BS": [1]}, {"B": "YQ"}, {"B": "YQ="}, {"B": "Y-=="}, {"B": "YR=="}, {"B": 5}, {"B": []},
    {"S": "a", "N": "1"}, {"S": "a", "N": "q"}, {"S": "a", "N": None}, {"NULL": False, "S": "a"}, {"L": ["a"]}, {"L": [None]},
    {"L": [5]}, {"L": [{}]}, {"L": {}}, {"L": "a"}, {"L": [{"SS": []}]}, {"L": [{"N": "x"}]}, {"L": [[]]}, {"M": []}, {"M": "a"},
    {"M": {"": {"S": "a"}}}, {"M": {"a": {}}}, {"M": {"a": "b"}}, {"M": {"a": None}}, {"M": {"a": {"NULL": False}}},
    {"M": {"a": {"N": "x"}}}, {"M": {"a": []}}, "a", 5, 1.5, True, [], None, {"S": ""}, {"B": ""}, {"NS": ["1", "2"]}, {"L": []}, {"M": {}},
    nested(31), nested(32), nested(33), nested(62), nested(63),
]  # fmt: skip
