"""The tables both servers hold, and the items in them: what a request may meet."""

from harness.schema import table

TABLES = [
    table("Hash1", "pk"),
    table(
        "Range1",
        "pk sk",
        "lk:N r2:N",
        lsi=[("lsi1", "pk lk", "KEYS_ONLY")],
        gsi=[("gsi1", "g", "ALL"), ("gsi2", "g2 r2", "KEYS_ONLY")],
    ),
    table("Num1", "pk sk", "sk:N"),
    table("Bin1", "pk sk", "pk:B sk:B"),
    table("Multi1", "pk", "h2:N r2:N", gsi=[("multi", "h1,h2 r1,r2", "ALL")]),
]
SCHEMAS = {t["TableName"]: [element["AttributeName"] for element in t["KeySchema"]] for t in TABLES}
TYPES = {t["TableName"]: {d["AttributeName"]: d["AttributeType"] for d in t["AttributeDefinitions"]} for t in TABLES}
#: Index, its keys.
INDEXES = {
    t["TableName"]: {
        index["IndexName"]: [element["AttributeName"] for element in index["KeySchema"]]
        for index in t.get("GlobalSecondaryIndexes", []) + t.get("LocalSecondaryIndexes", [])
    }
    for t in TABLES
}
#: A table of its own for what changes tables: made anew after each success.
CHANGED = table("Change1", "pk sk", "lk:N", lsi=[("lsi1", "pk lk", "KEYS_ONLY")], gsi=[("gsi1", "g", "ALL")])

#: What keys are made of, so that requests meet items.
KEY_VALUES = {"S": ["a", "b", "1", "10", "é"], "N": ["1", "2", "10", "-1", "0.5"], "B": ["YQ==", "Yg==", "AQID"]}

PLAIN = {
    "n": {"N": "5"},
    "o": {"N": "-1.5"},
    "s": {"S": "hello"},
    "u": {"S": "😀é"},
    "b": {"B": "AQID"},
    "t": {"BOOL": True},
    "z": {"NULL": True},
    "m": {"M": {"a": {"N": "1"}, "b": {"M": {"c": {"S": "x"}}}, "l": {"L": [{"S": "p"}, {"S": "q"}]}}},
    "l": {"L": [{"N": "1"}, {"S": "two"}, {"M": {"x": {"N": "3"}, "y": {"S": "w"}}}, {"L": [{"N": "7"}]}]},
    "ss": {"SS": ["a", "b", "hello"]},
    "ns": {"NS": ["1", "2", "10"]},
    "bs": {"BS": ["YQ==", "AQID"]},
}


def key_value(random, kind):
    return {kind: random.choice(KEY_VALUES[kind])}


def items(random):
    """Up to eight items for each table, no key twice."""
    world = {}
    for name, schema in SCHEMAS.items():
        held = {}
        for _ in range(8):
            item = {key: key_value(random, TYPES[name][key]) for key in schema}
            for attribute, value in PLAIN.items():
                if random.random() < 0.7:
                    item[attribute] = value
            for attribute, kind in TYPES[name].items():
                if attribute not in schema and random.random() < 0.7:
                    item[attribute] = key_value(random, kind)
            held[identity(name, item)] = item
        world[name] = held
    return world


def identity(name, item):
    """The item's key, comparable."""
    return tuple(str(item[key]) for key in SCHEMAS[name])
