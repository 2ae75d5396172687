"""Requests about tables, their tags and their expiry."""

import copy

from . import requests, world
from .compare import Answer, signature

WEIGHTS = {"CreateTable": 30, "UpdateTable": 15, "DescribeTable": 6, "DeleteTable": 5, "ListTables": 8, "UpdateTimeToLive": 8,
           "DescribeTimeToLive": 4, "TagResource": 8, "UntagResource": 5, "ListTagsOfResource": 5}  # fmt: skip
#: Members that differ from server to server or from second to second.
IGNORED = {"CreationDateTime", "TableId", "TableArn", "IndexArn", "LatestStreamArn", "LatestStreamLabel", "LastUpdateToPayPerRequestDateTime",
           "LastIncreaseDateTime", "LastDecreaseDateTime", "ItemCount", "TableSizeBytes", "IndexSizeBytes", "WarmThroughput", "TableStatus",
           "IndexStatus"}  # fmt: skip
ARN = "{arn}"
NAMES = [None, "", "a", "ab", "Change1", "Change1", "Other1", "nope", "a;", "Hash1", "a" * 256, 5]
STRAY = [None, "", "a", "X", 5, 0, -1, 1.5, True, [], {}, "PAY_PER_REQUEST", "PROVISIONED"]


def prepare(pair):
    for server in pair.servers:
        server.create(world.CHANGED)


def request(random):
    operation = random.choices(list(WEIGHTS), list(WEIGHTS.values()))[0]
    body = globals()[f"_{operation}"](random)
    if random.random() < 0.6:
        body = copy.deepcopy(body)
        for _ in range(random.choice([1, 1, 2])):
            found = requests.places(body)
            if found:
                holder, name, _ = random.choice(found)
                if random.random() < 0.4:
                    del holder[name]
                else:
                    holder[name] = copy.deepcopy(random.choice(STRAY))
    return operation, body


def _name(random):
    return random.choice(NAMES) if random.random() < 0.4 else "Change1"


def _attribute(random):
    return random.choice(["pk", "sk", "g", "h", "lk"])


def _schema(random, names=None):
    names = names or random.sample(["pk", "sk", "g", "h", "lk"], random.choice([1, 2]))
    return [{"AttributeName": name, "KeyType": role} for name, role in zip(names, ["HASH", "RANGE", "RANGE"])]


def _projection(random):
    kind = random.choice(["ALL", "KEYS_ONLY", "INCLUDE"])
    projection = {"ProjectionType": kind}
    if kind == "INCLUDE" or random.random() < 0.1:
        projection["NonKeyAttributes"] = random.sample(["x", "y", "z"], random.randint(1, 2))
    return projection


def _throughput(random):
    return {"ReadCapacityUnits": random.choice([1, 5]), "WriteCapacityUnits": random.choice([1, 5])}


def _CreateTable(random):
    key = random.choice([["pk"], ["pk", "sk"], ["pk", "sk"]])
    body = {
        "TableName": random.choice(["Other1", "Other1", "Other1", "Change1", "ab", "a;"]),
        "KeySchema": _schema(random, key),
    }
    used = set(key)
    if random.random() < 0.4:
        body["GlobalSecondaryIndexes"] = []
        for number in range(random.choice([1, 1, 2])):
            schema = _schema(random)
            used |= {element["AttributeName"] for element in schema}
            body["GlobalSecondaryIndexes"].append(
                {"IndexName": f"gsi{number}", "KeySchema": schema, "Projection": _projection(random)}
            )
    if random.random() < 0.3:
        last = _attribute(random)
        used.add(last)
        body["LocalSecondaryIndexes"] = [
            {"IndexName": "lsi1", "KeySchema": _schema(random, ["pk", last]), "Projection": _projection(random)}
        ]
    if random.random() < 0.05:
        used.add("extra")
    body["AttributeDefinitions"] = [
        {"AttributeName": name, "AttributeType": random.choice("SSSNB")} for name in sorted(used)
    ]
    form = random.random()
    if form < 0.6:
        body["BillingMode"] = "PAY_PER_REQUEST"
    elif form < 0.9:
        body["ProvisionedThroughput"] = _throughput(random)
        for index in body.get("GlobalSecondaryIndexes", []):
            index["ProvisionedThroughput"] = _throughput(random)
    if random.random() < 0.1:
        body["DeletionProtectionEnabled"] = False
    if random.random() < 0.1:
        body["TableClass"] = random.choice(["STANDARD", "STANDARD_INFREQUENT_ACCESS", "X"])
    if random.random() < 0.1:
        body["Tags"] = [{"Key": random.choice(["a", "b"]), "Value": "1"} for _ in range(random.choice([1, 2]))]
    return body


def _UpdateTable(random):
    body = {"TableName": _name(random)}
    form = random.random()
    if form < 0.2:
        body["BillingMode"] = random.choice(["PROVISIONED", "PAY_PER_REQUEST"])
    if 0.1 < form < 0.4:
        body["ProvisionedThroughput"] = _throughput(random)
    if 0.3 < form < 0.8:
        change = random.choice(["Create", "Update", "Delete"])
        index = {"IndexName": random.choice(["gsi1", "gsi2", "lsi1"])}
        if change == "Create":
            index.update(KeySchema=_schema(random), Projection=_projection(random))
            body["AttributeDefinitions"] = [
                {"AttributeName": name, "AttributeType": "S"}
                for name in dict.fromkeys(["pk", "sk", *(element["AttributeName"] for element in index["KeySchema"])])
            ]
        if change == "Update":
            index["ProvisionedThroughput"] = _throughput(random)
        body["GlobalSecondaryIndexUpdates"] = [{change: index}]
    if form > 0.8:
        body["DeletionProtectionEnabled"] = False
    return body


def _DescribeTable(random):
    return {"TableName": _name(random)}


_DeleteTable = _DescribeTimeToLive = _DescribeTable


def _ListTables(random):
    body = {}
    if random.random() < 0.5:
        body["Limit"] = random.choice([0, 1, 2, 100, 101, -1])
    if random.random() < 0.4:
        body["ExclusiveStartTableName"] = random.choice(["Aaa", "Hash1", "a", "zzz", "", "a;"])
    return body


def _UpdateTimeToLive(random):
    return {
        "TableName": _name(random),
        "TimeToLiveSpecification": {
            "AttributeName": random.choice(["ttl", "pk", "", "x" * 256]),
            "Enabled": random.choice([True, False]),
        },
    }


def _arn(random):
    return ARN if random.random() < 0.7 else random.choice(["", "a", "arn:aws:dynamodb:us-east-1:1:table/nope", None])


def _TagResource(random):
    return {
        "ResourceArn": _arn(random),
        "Tags": [
            {"Key": random.choice(["a", "b", "", "aws:x", "k" * 129]), "Value": random.choice(["", "v", "v" * 257])}
            for _ in range(random.choice([0, 1, 1, 2]))
        ],
    }


def _UntagResource(random):
    return {
        "ResourceArn": _arn(random),
        "TagKeys": random.sample(["a", "b", "", "k" * 129], random.choice([0, 1, 1, 2])),
    }


def _ListTagsOfResource(random):
    return {"ResourceArn": _arn(random)}


def difference(pair, operation, body):
    """As `Pair.difference`, with the table the request changes made anew."""
    pair.asked += 1
    answers = []
    changed = False
    for server in pair.servers:
        arn = server.ok("DescribeTable", {"TableName": "Change1"})["Table"]["TableArn"]
        sent = {**body, "ResourceArn": arn} if body.get("ResourceArn") == ARN else body
        status, answer = server.call(operation, sent)
        changed |= status == 200 and operation not in (
            "DescribeTable",
            "ListTables",
            "DescribeTimeToLive",
            "ListTagsOfResource",
        )
        answer = _without(answer)
        if isinstance(answer, dict):
            for member in ("message", "Message"):
                if isinstance(answer.get(member), str):
                    answer[member] = answer[member].replace(arn, ARN)
        answers.append(Answer(status, answer, operation, body))
    if changed:
        names = {table["TableName"] for table in world.TABLES}
        for server in pair.servers:
            for name in server.ok("ListTables", {})["TableNames"]:
                if name not in names and name != "Change1":
                    server.drop(name)
            server.create(world.CHANGED)
            for table in world.TABLES:
                if table["TableName"] == body.get("TableName") or server.call("DescribeTable", {"TableName": table["TableName"]})[0] != 200:
                    server.create(table)
                    pair._restore(server, table["TableName"], {})
    ours, oracle = answers
    return (signature(operation, ours, oracle), ours, oracle) if ours.differs(oracle) else None


def _without(value):
    if isinstance(value, dict):
        return {name: _without(inner) for name, inner in value.items() if name not in IGNORED}
    if isinstance(value, list):
        return sorted((_without(element) for element in value), key=repr)
    return value
