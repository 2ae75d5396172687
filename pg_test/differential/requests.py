"""One request: an operation and its members, sound or with one or two faults."""

import copy

from . import expressions, values
from .expressions import Mentions
from .world import INDEXES, SCHEMAS, TYPES, key_value

#: How often each is asked.
WEIGHTS = {
    "PutItem": 14, "UpdateItem": 18, "DeleteItem": 8, "GetItem": 10, "BatchGetItem": 8, "BatchWriteItem": 8, "Query": 20, "Scan": 12,
    "TransactWriteItems": 10, "TransactGetItems": 6,
}  # fmt: skip
WRITES = {"PutItem", "UpdateItem", "DeleteItem", "BatchWriteItem", "TransactWriteItems"}
ENUMS = {
    "ReturnValues": ["NONE", "ALL_OLD", "UPDATED_OLD", "ALL_NEW", "UPDATED_NEW"],
    "ReturnConsumedCapacity": ["INDEXES", "TOTAL", "NONE"],
    "ReturnItemCollectionMetrics": ["SIZE", "NONE"],
    "ReturnValuesOnConditionCheckFailure": ["ALL_OLD", "NONE"],
    "Select": ["SPECIFIC_ATTRIBUTES", "COUNT", "ALL_ATTRIBUTES", "ALL_PROJECTED_ATTRIBUTES"],
    "ConditionalOperator": ["AND", "OR"],
}
OPERATORS = [
    "EQ",
    "NE",
    "LE",
    "LT",
    "GE",
    "GT",
    "BETWEEN",
    "BEGINS_WITH",
    "CONTAINS",
    "NOT_CONTAINS",
    "IN",
    "NOT_NULL",
    "NULL",
]
SCALARS = [None, "", "a", "X", 5, 0, -1, 1.5, True, False, [], {}, "true", "no", 99999999999, "ab", "a;"]


class Request:
    def __init__(self, random):
        self.random = random
        self.names = {}
        self.values = {}
        self.body = {}

    def chance(self, probability):
        return self.random.random() < probability

    def mentions(self):
        return Mentions(self.random, self.names, self.values)

    def table(self):
        return self.random.choice(["Hash1", "Range1", "Range1", "Range1", "Num1", "Bin1", "Multi1"])

    def key(self, table):
        key = {name: key_value(self.random, TYPES[table][name]) for name in SCHEMAS[table]}
        if self.chance(0.04):
            name = self.random.choice([*key, "x"])
            key[name] = values.value(self.random)
        if self.chance(0.02):
            key.pop(self.random.choice(list(key)))
        return key

    def item(self, table):
        item = self.key(table)
        for name in self.random.sample(["a", "b", "c", "n", "s"], self.random.randint(0, 3)):
            item[name] = values.value(self.random)
        for name, kind in TYPES[table].items():
            if name not in item and self.chance(0.5):
                item[name] = key_value(self.random, kind) if self.chance(0.85) else values.value(self.random)
        return item

    def enum(self, member, probability):
        if self.chance(probability):
            self.body[member] = self.random.choice(ENUMS[member])

    def finish(self):
        if self.names or self.chance(0.01):
            self.body["ExpressionAttributeNames"] = self.names
            if self.chance(0.03):
                self.names["#unused"] = "x"
        if self.values or self.chance(0.01):
            self.body["ExpressionAttributeValues"] = self.values
            if self.chance(0.03):
                self.values[":unused"] = values.value(self.random)

    # Conditions of the older kind.

    def condition_entry(self, kind=None):
        operator = self.random.choice(OPERATORS)
        count = {"BETWEEN": 2, "NOT_NULL": 0, "NULL": 0, "IN": self.random.randint(1, 3)}.get(operator, 1)
        if self.chance(0.05):
            count = self.random.randint(0, 3)
        kind = kind or self.random.choice(["S", "N", "B", "S", "N", None])
        entry = {"ComparisonOperator": operator}
        if count or self.chance(0.2):
            entry["AttributeValueList"] = [
                values.value(self.random, kind if self.chance(0.9) else None) for _ in range(count)
            ]
        return entry

    def filter(self):
        names = self.random.sample(
            ["n", "s", "b", "l", "m", "ss", "ns", "q", "t", "z", "g", "sk", "m.a"], self.random.choice([1, 1, 2, 3])
        )
        return {name: self.condition_entry(expressions.KINDS.get(name)) for name in names}

    def expected(self):
        entries = {}
        for name, entry in self.filter().items():
            form = self.random.random()
            if form < 0.3:
                entry = {"Value": values.value(self.random, expressions.KINDS.get(name))}
            elif form < 0.4:
                entry = {"Exists": False}
            elif form < 0.5:
                entry = {"Exists": True, "Value": values.value(self.random, expressions.KINDS.get(name))}
            elif form < 0.6 and entry.get("AttributeValueList"):
                entry["Value"] = entry.pop("AttributeValueList")[0]
            elif form < 0.7:
                entry = {
                    part: v
                    for part, v in {**entry, "Exists": self.chance(0.5), "Value": values.value(self.random)}.items()
                    if self.chance(0.5)
                }
            entries[name] = entry
        return entries

    def conditional(self):
        """A condition for a write, if any."""
        form = self.random.random()
        if form < 0.35:
            self.body["ConditionExpression"] = expressions.condition(self.mentions())
        elif form < 0.5:
            self.body["Expected"] = self.expected()
            self.enum("ConditionalOperator", 0.4 if len(self.body["Expected"]) > 1 else 0.05)
        elif form < 0.51:
            self.enum("ConditionalOperator", 1)
        self.enum("ReturnValuesOnConditionCheckFailure", 0.25)
        self.enum("ReturnItemCollectionMetrics", 0.1)
        self.enum("ReturnConsumedCapacity", 0.25)

    def projected(self, into, probability=0.4):
        if self.chance(probability):
            if self.chance(0.6):
                into["ProjectionExpression"] = expressions.projection(self.mentions())
            else:
                into["AttributesToGet"] = [
                    self.random.choice(["n", "s", "m", "l", "pk", "sk", "q", "g"])
                    for _ in range(self.random.randint(1, 3))
                ]

    # The operations.

    def put_item(self):
        table = self.table()
        self.body.update(TableName=table, Item=self.item(table))
        self.conditional()
        if self.chance(0.3):
            self.body["ReturnValues"] = self.random.choice(["NONE", "ALL_OLD", "ALL_OLD", *ENUMS["ReturnValues"]])
        self.finish()

    def delete_item(self):
        table = self.table()
        self.body.update(TableName=table, Key=self.key(table))
        self.conditional()
        if self.chance(0.3):
            self.body["ReturnValues"] = self.random.choice(["NONE", "ALL_OLD", "ALL_OLD", *ENUMS["ReturnValues"]])
        self.finish()

    def get_item(self):
        table = self.table()
        self.body.update(TableName=table, Key=self.key(table))
        self.projected(self.body, 0.7)
        if self.chance(0.3):
            self.body["ConsistentRead"] = self.chance(0.5)
        self.enum("ReturnConsumedCapacity", 0.3)
        self.finish()

    def update_item(self):
        table = self.table()
        self.body.update(TableName=table, Key=self.key(table))
        form = self.random.random()
        if form < 0.75:
            self.body["UpdateExpression"] = expressions.update(self.mentions())
        elif form < 0.95:
            self.body["AttributeUpdates"] = {
                name: self.update_entry(name)
                for name in self.random.sample(
                    ["n", "s", "ss", "ns", "l", "m", "q", "new", "g", "lk", "sk"], self.random.choice([1, 1, 2])
                )
            }
        self.conditional()
        self.enum("ReturnValues", 0.6)
        self.finish()

    def update_entry(self, name):
        entry = {}
        if self.chance(0.85):
            entry["Action"] = self.random.choice(["PUT", "ADD", "ADD", "DELETE"])
        if self.chance(0.8):
            entry["Value"] = values.value(self.random, expressions.KINDS.get(name) if self.chance(0.8) else None)
        return entry

    def batch_get_item(self):
        requests = {}
        for table in dict.fromkeys(self.table() for _ in range(self.random.choice([1, 1, 2, 3]))):
            entry = {"Keys": self.keys(table)}
            self.names = {}
            self.projected(entry)
            if self.names:
                entry["ExpressionAttributeNames"] = self.names
            if self.chance(0.2):
                entry["ConsistentRead"] = self.chance(0.5)
            requests[table] = entry
        self.body["RequestItems"] = requests
        self.enum("ReturnConsumedCapacity", 0.3)

    def keys(self, table):
        unique = {}
        for _ in range(self.random.randint(1, 4)):
            key = self.key(table)
            unique[str(key)] = key
        keys = list(unique.values())
        if self.chance(0.03):
            keys.append(keys[0])
        return keys

    def batch_write_item(self):
        requests = {}
        for table in dict.fromkeys(self.table() for _ in range(self.random.choice([1, 1, 2]))):
            unique = {}
            for _ in range(self.random.randint(1, 4)):
                if self.chance(0.6):
                    item = self.item(table)
                    unique[str([item.get(name) for name in SCHEMAS[table]])] = {"PutRequest": {"Item": item}}
                else:
                    key = self.key(table)
                    unique[str([key.get(name) for name in SCHEMAS[table]])] = {"DeleteRequest": {"Key": key}}
            requests[table] = list(unique.values())
            if self.chance(0.03):
                requests[table].append(requests[table][0])
        self.body["RequestItems"] = requests
        self.enum("ReturnConsumedCapacity", 0.3)
        self.enum("ReturnItemCollectionMetrics", 0.1)

    def transact_write_items(self):
        members = {}
        for _ in range(self.random.choice([1, 1, 2, 2, 3, 4])):
            member = self.member()
            (action,) = member.values()
            key = action["Item"] if "Item" in action else action["Key"]
            members[action["TableName"], str([key.get(name) for name in SCHEMAS[action["TableName"]]])] = member
        self.body["TransactItems"] = list(members.values())
        if self.chance(0.03):
            self.body["TransactItems"].append(self.body["TransactItems"][0])
        self.enum("ReturnConsumedCapacity", 0.3)
        self.enum("ReturnItemCollectionMetrics", 0.1)

    def member(self):
        """One action; most of its conditions hold for many items."""
        table = self.table()
        name = self.random.choice(["Put", "Put", "Update", "Update", "Delete", "ConditionCheck"])
        action = {"TableName": table}
        self.names, self.values = {}, {}
        if name == "Put":
            action["Item"] = self.item(table)
        else:
            action["Key"] = self.key(table)
        if name == "Update":
            action["UpdateExpression"] = expressions.update(self.mentions())
        if name == "ConditionCheck" or self.chance(0.3):
            simple = f"attribute_exists({SCHEMAS[table][0]})"
            action["ConditionExpression"] = simple if self.chance(0.5) else expressions.condition(self.mentions())
        if self.names:
            action["ExpressionAttributeNames"] = self.names
        if self.values:
            action["ExpressionAttributeValues"] = self.values
        if self.chance(0.25):
            action["ReturnValuesOnConditionCheckFailure"] = self.random.choice(["ALL_OLD", "NONE"])
        return {name: action}

    def transact_get_items(self):
        members = {}
        for _ in range(self.random.choice([1, 1, 2, 3])):
            table = self.table()
            get = {"TableName": table, "Key": self.key(table)}
            self.names = {}
            if self.chance(0.5):
                get["ProjectionExpression"] = expressions.projection(self.mentions())
            if self.names:
                get["ExpressionAttributeNames"] = self.names
            members[table, str(get["Key"])] = {"Get": get}
        self.body["TransactItems"] = list(members.values())
        if self.chance(0.03):
            self.body["TransactItems"].append(self.body["TransactItems"][0])
        self.enum("ReturnConsumedCapacity", 0.3)

    def start_key(self, table, index):
        names = [*(INDEXES[table].get(index, []) if index else []), *SCHEMAS[table]]
        key = {name: key_value(self.random, TYPES[table].get(name, "S")) for name in names}
        if self.chance(0.1):
            key.pop(self.random.choice(list(key)))
        if self.chance(0.1):
            key[self.random.choice([*key, "x"])] = values.value(self.random)
        return key

    def reading(self, table):
        index = self.random.choice([*INDEXES[table], "nosuch"]) if self.chance(0.03) else None
        if INDEXES[table] and self.chance(0.5):
            index = self.random.choice(list(INDEXES[table]))
        if index:
            self.body["IndexName"] = index
        return index

    def limits(self, table, index):
        if self.chance(0.2):
            self.body["Limit"] = self.random.choice([1, 2, 3, 100])
        if self.chance(0.1):
            self.body["ExclusiveStartKey"] = self.start_key(table, index)
        if self.chance(0.2):
            self.body["ConsistentRead"] = self.chance(0.4)
        self.enum("Select", 0.25)
        self.enum("ReturnConsumedCapacity", 0.25)

    def query(self):
        table = self.table()
        self.body["TableName"] = table
        index = self.reading(table)
        keys = INDEXES[table].get(index) or SCHEMAS[table]
        if self.chance(0.75):
            self.body["KeyConditionExpression"] = expressions.key_condition(self.mentions(), keys, TYPES[table])
        elif self.chance(0.97):
            self.body["KeyConditions"] = self.key_conditions(keys, table)
        form = self.random.random()
        if form < 0.3:
            self.body["FilterExpression"] = expressions.condition(self.mentions(), 1)
        elif form < 0.4:
            self.body["QueryFilter"] = self.filter()
            self.enum("ConditionalOperator", 0.4 if len(self.body["QueryFilter"]) > 1 else 0.05)
        self.projected(self.body, 0.25)
        self.limits(table, index)
        if self.chance(0.2):
            self.body["ScanIndexForward"] = self.chance(0.4)
        self.finish()

    def key_conditions(self, keys, table):
        conditions = {}
        for position, key in enumerate(keys):
            if position and self.chance(0.4):
                break
            kind = TYPES[table].get(key, "S")
            operator = (
                "EQ" if not position else self.random.choice(["EQ", "LE", "LT", "GE", "GT", "BEGINS_WITH", "BETWEEN"])
            )
            if self.chance(0.05):
                operator = self.random.choice(OPERATORS)
            count = (
                {"BETWEEN": 2, "NULL": 0, "NOT_NULL": 0}.get(operator, 1)
                if self.chance(0.97)
                else self.random.randint(0, 3)
            )
            conditions[key] = {
                "ComparisonOperator": operator,
                "AttributeValueList": [values.value(self.random, values.Key(kind)) for _ in range(count)],
            }
        if self.chance(0.04):
            conditions["n"] = self.condition_entry("N")
        return conditions

    def scan(self):
        table = self.table()
        self.body["TableName"] = table
        index = self.reading(table)
        form = self.random.random()
        if form < 0.4:
            self.body["FilterExpression"] = expressions.condition(self.mentions())
        elif form < 0.65:
            self.body["ScanFilter"] = self.filter()
            self.enum("ConditionalOperator", 0.4 if len(self.body["ScanFilter"]) > 1 else 0.05)
        self.projected(self.body, 0.25)
        self.limits(table, index)
        if self.chance(0.1):
            self.body["Segment"] = self.random.choice([0, 1, 2])
        if self.chance(0.1):
            self.body["TotalSegments"] = self.random.choice([1, 2, 3])
        self.finish()


MAKERS = {
    "PutItem": Request.put_item, "UpdateItem": Request.update_item, "DeleteItem": Request.delete_item, "GetItem": Request.get_item,
    "BatchGetItem": Request.batch_get_item, "BatchWriteItem": Request.batch_write_item, "Query": Request.query, "Scan": Request.scan,
    "TransactWriteItems": Request.transact_write_items, "TransactGetItems": Request.transact_get_items,
}  # fmt: skip
#: Members that no maker sets, for faults of combination.
OPTIONAL = {
    "PutItem": ["Expected", "ConditionExpression", *list(ENUMS)[:4], "ConditionalOperator"],
    "DeleteItem": ["Expected", "ConditionExpression", *list(ENUMS)[:4], "ConditionalOperator"],
    "UpdateItem": ["Expected", "ConditionExpression", "UpdateExpression", "AttributeUpdates", *list(ENUMS)[:4], "ConditionalOperator"],
    "GetItem": ["ProjectionExpression", "AttributesToGet", "ConsistentRead", "ReturnConsumedCapacity", "ExpressionAttributeNames"],
    "BatchGetItem": ["ReturnConsumedCapacity"],
    "BatchWriteItem": ["ReturnConsumedCapacity", "ReturnItemCollectionMetrics"],
    "Query": ["IndexName", "Select", "AttributesToGet", "Limit", "KeyConditions", "QueryFilter", "ConditionalOperator", "ExclusiveStartKey",
              "ProjectionExpression", "FilterExpression", "KeyConditionExpression", "ScanIndexForward", "ReturnConsumedCapacity"],
    "Scan": ["IndexName", "Select", "AttributesToGet", "Limit", "ScanFilter", "ConditionalOperator", "ExclusiveStartKey", "Segment",
             "TotalSegments", "ProjectionExpression", "FilterExpression", "ConsistentRead", "ReturnConsumedCapacity"],
    "TransactWriteItems": ["ReturnConsumedCapacity", "ReturnItemCollectionMetrics"],
    "TransactGetItems": ["ReturnConsumedCapacity"],
}  # fmt: skip


def request(random, faults=0.5, only=None):
    """An operation, one of `only`, and a request for it; with a fault or two in that part of them."""
    names = only or list(WEIGHTS)
    operation = random.choices(names, [WEIGHTS[name] for name in names])[0]
    made = Request(random)
    MAKERS[operation](made)
    body = made.body
    if random.random() < faults:
        body = copy.deepcopy(body)
        for _ in range(random.choice([1, 1, 1, 2])):
            spoil(random, operation, body)
    return operation, body


def places(body, path=()):
    """Every member and element: (what holds it, under which name, path)."""
    found = []
    entries = body.items() if isinstance(body, dict) else enumerate(body) if isinstance(body, list) else ()
    for name, inner in entries:
        found.append((body, name, (*path, name)))
        found += places(inner, (*path, name))
    return found


def is_value(inner):
    return (
        isinstance(inner, dict)
        and len(inner) == 1
        and next(iter(inner)) in {"S", "N", "B", "BOOL", "NULL", "SS", "NS", "BS", "L", "M"}
    )


def spoil(random, operation, body):
    found = places(body)
    texts = [p for p in found if isinstance(p[0][p[1]], str) and str(p[1]).endswith("Expression")]
    typed = [p for p in found if is_value(p[0][p[1]])]
    how = random.random()
    if texts and how < 0.3:
        holder, name, _ = random.choice(texts)
        holder[name] = expressions.broken(random, holder[name])
    elif typed and how < 0.6:
        holder, name, _ = random.choice(typed)
        holder[name] = copy.deepcopy(random.choice(values.BROKEN))
    elif how < 0.7:
        member = random.choice(OPTIONAL[operation])
        if member in ENUMS:
            body[member] = random.choice([*ENUMS[member], "X", "none"])
        elif member.endswith("Expression"):
            body[member] = random.choice(["a = b", "a", "", "SET a = b", "pk = n"])
        elif member in ("Expected", "ScanFilter", "QueryFilter", "KeyConditions"):
            body[member] = random.choice(
                [
                    {},
                    {"n": {}},
                    {"n": {"Value": {"N": "1"}}},
                    {"n": {"ComparisonOperator": "FOO"}},
                    {"pk": {"ComparisonOperator": "EQ", "AttributeValueList": [{"S": "a"}]}},
                ]
            )
        elif member == "AttributeUpdates":
            body[member] = random.choice(
                [{}, {"n": {}}, {"n": {"Action": "put", "Value": {"N": "1"}}}, {"pk": {"Value": {"S": "a"}}}]
            )
        elif member == "ExclusiveStartKey":
            body[member] = random.choice([{}, {"pk": {"S": "a"}}, {"pk": {}}])
        elif member == "AttributesToGet":
            body[member] = random.choice([[], ["a"], ["a", "a"], [""]])
        else:
            body[member] = copy.deepcopy(random.choice(SCALARS))
    elif how < 0.78 and body:
        name = random.choice(list(body))
        body[name] = copy.deepcopy(random.choice(SCALARS))
    elif how < 0.86 and body:
        body.pop(random.choice(list(body)))
    elif how < 0.89 and "TableName" in body:
        body["TableName"] = random.choice(["nope", "", "a", "ab", "a;", "Hash1;", "a" * 256, "a b c", None])
    elif found:
        holder, name, _ = random.choice(found)
        change = random.random()
        if change < 0.4:
            holder[name] = copy.deepcopy(random.choice(SCALARS))
        elif change < 0.7:
            del holder[name]
        elif isinstance(holder, dict) and isinstance(name, str):
            holder[random.choice(["", "x", "#", ":", "a", "#é", ":a-b", "pk", "b" * 256])] = holder.pop(name)
        else:
            holder.insert(name, copy.deepcopy(holder[name]))
