"""The AWS SDK for Python, client and resource, with signatures checked."""

import itertools
import random
from concurrent.futures import ThreadPoolExecutor
from decimal import Decimal

import pytest
from boto3.dynamodb.conditions import Attr, Key
from boto3.dynamodb.types import Binary
from botocore.exceptions import ClientError

from harness.schema import table, unordered

ITEM_MAX_BYTES = 409_600
PAGE_BYTES = 1_048_576
ITEM_TOO_LARGE = "Item size has exceeded the maximum allowed size"
UPDATE_TOO_LARGE = "Item size to update has exceeded the maximum allowed size"
HASH_TOO_LARGE = (
    "One or more parameter values were invalid: Size of hashkey has exceeded the maximum size limit of2048 bytes"
)
RANGE_TOO_LARGE = (
    "One or more parameter values were invalid: Aggregated size of all range keys has exceeded the size limit of "
    "1024 bytes"
)

_numbers = itertools.count(1)


@pytest.fixture(scope="module")
def client(proxy):
    return proxy.client()


@pytest.fixture(scope="module")
def resource(proxy):
    return proxy.resource()


@pytest.fixture
def create(client):
    """Creates a table under a name that is new, and answers that."""

    def create(key, types="", **indexes):
        name = f"Table{next(_numbers)}"
        client.create_table(**table(name, key, types, **indexes))
        client.get_waiter("table_exists").wait(TableName=name, WaiterConfig={"Delay": 1, "MaxAttempts": 30})
        return name

    return create


def refused(call, **request):
    """The exception's name and text."""
    with pytest.raises(ClientError) as raised:
        call(**request)
    error = raised.value.response["Error"]
    return error["Code"], error["Message"]


def write_all(client, name, items):
    with ThreadPoolExecutor(4) as pool:
        list(pool.map(lambda item: client.put_item(TableName=name, Item=item), items))


# ---- tables ----------------------------------------------------------------------------------------------------------


def test_a_table_of_every_kind_is_described_as_it_was_asked_for(client, create):
    name = create("pk sk", "sk:N lk:B r2:N",
                  lsi=[("lsi", "pk lk", ["a", "b"])],
                  gsi=[("gsi", "g", "KEYS_ONLY"), ("multi", "h1,h2,h3,h4 r1,r2,r3,r4", "ALL")])
    described = client.describe_table(TableName=name)["Table"]
    assert described["TableStatus"] == "ACTIVE"
    assert described["TableArn"] == f"arn:aws:dynamodb:us-east-1:000000000000:table/{name}"
    assert described["BillingModeSummary"]["BillingMode"] == "PAY_PER_REQUEST"
    assert [(key["AttributeName"], key["KeyType"]) for key in described["KeySchema"]] == [("pk", "HASH"), ("sk", "RANGE")]
    types = {each["AttributeName"]: each["AttributeType"] for each in described["AttributeDefinitions"]}
    assert types == {"pk": "S", "sk": "N", "lk": "B", "g": "S", "h1": "S", "h2": "S", "h3": "S", "h4": "S",
                     "r1": "S", "r2": "N", "r3": "S", "r4": "S"}
    (local,) = described["LocalSecondaryIndexes"]
    assert local["IndexName"] == "lsi"
    assert local["Projection"]["ProjectionType"] == "INCLUDE"
    assert sorted(local["Projection"]["NonKeyAttributes"]) == ["a", "b"]
    indexes = {index["IndexName"]: index for index in described["GlobalSecondaryIndexes"]}
    assert sorted(indexes) == ["gsi", "multi"]
    assert all(index["IndexStatus"] == "ACTIVE" for index in indexes.values())
    assert [key["AttributeName"] for key in indexes["multi"]["KeySchema"]] == [
        "h1", "h2", "h3", "h4", "r1", "r2", "r3", "r4"]
    assert [key["KeyType"] for key in indexes["multi"]["KeySchema"]] == ["HASH"] * 4 + ["RANGE"] * 4


def test_tables_come_and_go(client, create):
    names = sorted(create("pk") for _ in range(3))
    pages = client.get_paginator("list_tables").paginate(PaginationConfig={"PageSize": 1})
    assert set(names) <= {found for page in pages for found in page["TableNames"]}
    with pytest.raises(client.exceptions.ResourceInUseException):
        client.create_table(**table(names[0], "pk"))
    client.put_item(TableName=names[0], Item={"pk": {"S": "before"}})
    assert client.delete_table(TableName=names[0])["TableDescription"]["TableStatus"] == "DELETING"
    client.get_waiter("table_not_exists").wait(TableName=names[0], WaiterConfig={"Delay": 1, "MaxAttempts": 30})
    with pytest.raises(client.exceptions.ResourceNotFoundException) as raised:
        client.describe_table(TableName=names[0])
    assert raised.value.response["Error"]["Message"] == f"Requested resource not found: Table: {names[0]} not found"
    with pytest.raises(client.exceptions.ResourceNotFoundException) as raised:
        client.get_item(TableName=names[0], Key={"pk": {"S": "before"}})
    assert raised.value.response["Error"]["Message"] == "Requested resource not found"
    # One of the same name begins empty.
    client.create_table(**table(names[0], "pk"))
    client.get_waiter("table_exists").wait(TableName=names[0], WaiterConfig={"Delay": 1, "MaxAttempts": 30})
    assert client.scan(TableName=names[0])["Items"] == []


# ---- values ----------------------------------------------------------------------------------------------------------

DIGITS_38 = "12345678901234567890123456789012345678"
EVERY_TYPE = {
    "string": {"S": "plain"},
    "empty string": {"S": ""},
    "astral": {"S": "a\u00e9\u65e5\U0001f600"},
    "composed": {"S": "\u00e9"},
    "decomposed": {"S": "e\u0301"},
    "nul": {"S": "a\x00b"},
    "only nul": {"S": "\x00"},
    "escaped nul": {"S": "a\\u0000b"},
    "controls": {"S": "".join(map(chr, range(1, 32))) + '"\\/\x7f\u2028'},
    "name \x00 with nul": {"S": "v"},
    "\x00": {"N": "1"},
    "a.b[0]#:\u00e9": {"S": "name"},
    "zero": {"N": "0"},
    "negative": {"N": "-12.5"},
    "38 digits": {"N": DIGITS_38},
    "-38 digits": {"N": "-0." + DIGITS_38},
    "largest": {"N": "9" * 38 + "0" * 88},
    "smallest": {"N": "0." + "0" * 129 + "1"},
    "bytes": {"B": bytes(range(256))},
    "no bytes": {"B": b""},
    "true": {"BOOL": True},
    "false": {"BOOL": False},
    "null": {"NULL": True},
    "strings": {"SS": ["b", "a", "", "a\x00", "\U0001f600"]},
    "numbers": {"NS": ["1", "-1", "0.5", DIGITS_38]},
    "binaries": {"BS": [b"\x00", b"", b"\xff\x00"]},
    "list": {"L": [{"S": "x"}, {"N": "1"}, {"NULL": True}, {"L": []}, {"M": {}}, {"S": "\x00"}]},
    "map": {"M": {"\x00": {"S": "\x00"}, "deep": {"M": {"er": {"L": [{"SS": ["s"]}, {"B": b"\x00"}]}}}}},
}


def test_every_type_comes_back_unchanged(client, create):
    name = create("pk sk")
    item = {"pk": {"S": "k\x00ey"}, "sk": {"S": "\x00"}, **EVERY_TYPE}
    client.put_item(TableName=name, Item=item)
    key = {"pk": item["pk"], "sk": item["sk"]}
    got = client.get_item(TableName=name, Key=key, ConsistentRead=True)["Item"]
    assert unordered(got) == unordered(item)
    assert unordered(client.scan(TableName=name)["Items"]) == [unordered(item)]
    queried = client.query(TableName=name, KeyConditionExpression="pk = :p AND begins_with(sk, :s)",
                           ExpressionAttributeValues={":p": item["pk"], ":s": {"S": "\x00"}})
    assert unordered(queried["Items"]) == [unordered(item)]
    # Another key than the one with the six characters.
    assert "Item" not in client.get_item(TableName=name, Key={"pk": {"S": "k\\u0000ey"}, "sk": item["sk"]})
    assert "Item" not in client.get_item(TableName=name, Key={"pk": {"S": "key"}, "sk": item["sk"]})
    old = client.delete_item(TableName=name, Key=key, ReturnValues="ALL_OLD")["Attributes"]
    assert unordered(old) == unordered(item)


@pytest.mark.parametrize("sent, stored", [
    ("1E125", "1" + "0" * 125), ("1e-130", "0." + "0" * 129 + "1"), ("-1.500", "-1.5"), ("00042", "42"), ("+5.", "5"),
    (".5", "0.5"), ("-0", "0"), ("1.23E10", "12300000000"),
])
def test_numbers_come_back_in_plain_decimals(client, create, sent, stored):
    name = create("pk", "pk:N")
    client.put_item(TableName=name, Item={"pk": {"N": sent}, "n": {"N": sent}, "ns": {"NS": [sent]}})
    got = client.get_item(TableName=name, Key={"pk": {"N": stored}})["Item"]
    assert got == {"pk": {"N": stored}, "n": {"N": stored}, "ns": {"NS": [stored]}}


NOT_AN_ITEM = [
    ({"ss": {"SS": []}}, "1 validation error detected: One or more parameter values were invalid: "
                         "An string set  may not be empty"),
    ({"ns": {"NS": []}}, "1 validation error detected: One or more parameter values were invalid: "
                         "An number set  may not be empty"),
    ({"bs": {"BS": []}}, "1 validation error detected: One or more parameter values were invalid: "
                         "Binary sets should not be empty"),
    ({"n": {"N": "1" + DIGITS_38}}, "1 validation error detected: "
                                    "Attempting to store more than 38 significant digits in a Number"),
    ({"n": {"N": "x"}}, "1 validation error detected: The parameter cannot be converted to a numeric value: x"),
    ({"n": {"N": "1e126"}}, "1 validation error detected: Number overflow. Attempting to store a number with magnitude "
                            "larger than supported range"),
    ({"n": {"NULL": False}}, "1 validation error detected: One or more parameter values were invalid: "
                             "Null attribute value types must have the value of true"),
    ({"e": {}}, "Supplied AttributeValue is empty, must contain exactly one of the supported datatypes"),
    ({"pk": {"S": ""}}, "One or more parameter values are not valid. The AttributeValue for a key attribute cannot "
                        "contain an empty string value. Key: pk"),
    ({"pk": {"N": "1"}}, "One or more parameter values were invalid: Type mismatch for key pk expected: S actual: N"),
]


@pytest.mark.parametrize("attributes, text", NOT_AN_ITEM, ids=[text[-30:] for _, text in NOT_AN_ITEM])
def test_what_is_no_item_is_refused(proxy, create, attributes, text):
    client = proxy.client(parameter_validation=False)
    item = {"pk": {"S": "k"}, **attributes}
    assert refused(client.put_item, TableName=create("pk"), Item=item) == ("ValidationException", text)


def test_the_resource_gives_python_values(create, resource):
    here = resource.Table(create("pk"))
    item = {
        "pk": "k\x00", "string": "a\x00\U0001f600", "integer": Decimal(42), "38": Decimal(DIGITS_38),
        "fraction": Decimal("-0.000125"),
        "bytes": Binary(b"\x00\xff"), "true": True, "none": None, "strings": {"a", "b"},
        "numbers": {Decimal(1), Decimal("2.5")}, "binaries": {Binary(b"1"), Binary(b"2")},
        "list": [Decimal(1), "two", None, [], {}], "map": {"a": {"b": [False]}},
    }
    here.put_item(Item=item)
    got = here.get_item(Key={"pk": "k\x00"})["Item"]
    assert got == item
    assert here.query(KeyConditionExpression=Key("pk").eq("k\x00"),
                      FilterExpression=Attr("integer").between(41, 42) & Attr("strings").contains("a")
                      & Attr("none").attribute_type("NULL") & Attr("string").size().eq(4))["Items"] == [item]
    assert here.scan(FilterExpression=Attr("integer").lt(42) | Attr("absent").exists())["Items"] == []
    changed = here.update_item(Key={"pk": "k\x00"}, UpdateExpression="SET #i = #i + :one ADD strings :c",
                               ExpressionAttributeNames={"#i": "38"},
                               ExpressionAttributeValues={":one": 1, ":c": {"c"}}, ReturnValues="UPDATED_NEW")
    assert changed["Attributes"] == {"38": Decimal(DIGITS_38[:-1] + "9"), "strings": {"a", "b", "c"}}


# ---- sizes -----------------------------------------------------------------------------------------------------------


def test_an_item_of_400_kb_and_no_byte_more(client, create):
    name = create("pk")
    key = {"pk": {"S": "k"}}
    # Names count too: "pk" and "k", "v" and its value.
    value = random.Random(1).randbytes(ITEM_MAX_BYTES - len("pk" "k" "v"))
    client.put_item(TableName=name, Item={**key, "v": {"B": value}})
    assert client.get_item(TableName=name, Key=key)["Item"] == {**key, "v": {"B": value}}
    larger = {**key, "v": {"B": value + b"x"}}
    assert refused(client.put_item, TableName=name, Item=larger) == ("ValidationException", ITEM_TOO_LARGE)
    assert refused(client.update_item, TableName=name, Key=key, UpdateExpression="SET b = :b",
                   ExpressionAttributeValues={":b": {"BOOL": True}}) == ("ValidationException", UPDATE_TOO_LARGE)
    client.update_item(TableName=name, Key=key, UpdateExpression="SET v = :v",
                       ExpressionAttributeValues={":v": {"S": "\u00e9" * 200_000}})
    assert client.get_item(TableName=name, Key=key)["Item"]["v"] == {"S": "\u00e9" * 200_000}
    # A list counts 3 bytes, and 1 for each member besides it; the finished item is measured.
    value = {"L": [{"S": "x" * (ITEM_MAX_BYTES - len("pk" "k" "v") - 3 - 1)}]}
    client.put_item(TableName=name, Item={**key, "v": value})
    value["L"][0]["S"] += "x"
    assert refused(client.put_item, TableName=name, Item={**key, "v": value}) == ("ValidationException", ITEM_TOO_LARGE)


def test_pages_end_at_one_megabyte(client, create):
    name = create("pk sk", "sk:N", gsi=[("keys", "pk", "KEYS_ONLY"), ("all", "pk", "ALL")])
    fixed_bytes = len("pk" "k" "sk" "v") + 2  # the number 1 to 15 takes 2
    content = random.Random(2)
    items = [{"pk": {"S": "k"}, "sk": {"N": str(n)}, "v": {"B": content.randbytes(100_000 - fixed_bytes)}}
             for n in range(1, 16)]
    write_all(client, name, items)
    arguments = dict(TableName=name, KeyConditionExpression="pk = :p", ExpressionAttributeValues={":p": {"S": "k"}})
    pages = list(client.get_paginator("query").paginate(**arguments))
    # 10 items are under 1,048,576 bytes, the eleventh crosses them and still belongs to the page.
    assert [page["Count"] for page in pages] == [11, 4]
    assert [item for page in pages for item in page["Items"]] == items
    assert pages[0]["LastEvaluatedKey"] == {"pk": {"S": "k"}, "sk": {"N": "11"}}
    # What a filter drops has been read: the page ends there all the same.
    dropped = client.query(**{**arguments, "ExpressionAttributeValues": {":p": {"S": "k"}, ":n": {"B": b"none"}}},
                           FilterExpression="v = :n")
    assert (dropped["Count"], dropped["ScannedCount"], dropped["Items"]) == (0, 11, [])
    assert "LastEvaluatedKey" in dropped
    pages = list(client.get_paginator("scan").paginate(TableName=name))
    assert [page["Count"] for page in pages] == [11, 4]
    counted = list(client.get_paginator("query").paginate(**arguments, Select="COUNT", ScanIndexForward=False))
    assert [page["Count"] for page in counted] == [11, 4]
    assert counted[0]["LastEvaluatedKey"]["sk"] == {"N": "5"}
    # An index's entries count as they are projected.
    for index, counts in (("keys", [15]), ("all", [11, 4])):
        pages = list(client.get_paginator("query").paginate(**arguments, IndexName=index))
        assert [page["Count"] for page in pages] == counts


def test_keys_of_the_full_length(client, create):
    name = create("pk sk", "pk:B sk:B g:B r:B", gsi=[("index", "g r", "KEYS_ONLY")])
    content = random.Random(3)
    items = [
        {"pk": {"B": content.randbytes(2048)}, "sk": {"B": content.randbytes(1024)},
         "g": {"B": content.randbytes(2048)}, "r": {"B": content.randbytes(1024)}}
        for _ in range(20)
    ]
    write_all(client, name, items)
    for item in items:
        assert client.get_item(TableName=name, Key={"pk": item["pk"], "sk": item["sk"]})["Item"] == item
        found = client.query(TableName=name, IndexName="index", KeyConditionExpression="g = :g AND r = :r",
                             ExpressionAttributeValues={":g": item["g"], ":r": item["r"]})
        assert found["Items"] == [item]
    scanned = [item for page in client.get_paginator("scan").paginate(
        TableName=name, IndexName="index", PaginationConfig={"PageSize": 3}) for item in page["Items"]]
    assert sorted(scanned, key=lambda item: item["pk"]["B"]) == sorted(items, key=lambda item: item["pk"]["B"])

    def with_one_more(attribute):
        return {**items[0], attribute: {"B": items[0][attribute]["B"] + b"x"}}

    index_text = ("One or more parameter values were invalid: Size limit exceeded for Index Key {} Actual Size: {} bytes "
                  "Max Size: {} bytes IndexName: index")
    for attribute, text in [("pk", HASH_TOO_LARGE), ("sk", RANGE_TOO_LARGE), ("g", index_text.format("g", 2049, 2048)),
                            ("r", index_text.format("r", 1025, 1024))]:
        answer = refused(client.put_item, TableName=name, Item=with_one_more(attribute))
        assert answer == ("ValidationException", text)
    longer = with_one_more("pk")
    assert refused(client.get_item, TableName=name, Key={"pk": longer["pk"], "sk": longer["sk"]}) == (
        "ValidationException", HASH_TOO_LARGE)


def test_long_keys_that_differ_in_their_last_byte(client, create):
    name = create("pk sk", gsi=[("index", "sk pk2", "ALL")])
    start_pk, start_sk = "p" * 2047, "s" * 1023
    items = [{"pk": {"S": start_pk + a}, "sk": {"S": start_sk + b}, "pk2": {"S": start_sk + a}}
             for a in "xy" for b in "\x00ab"]
    write_all(client, name, items)
    for a in "xy":
        found = client.query(TableName=name, KeyConditionExpression="pk = :p AND sk BETWEEN :a AND :b",
                             ExpressionAttributeValues={":p": {"S": start_pk + a}, ":a": {"S": start_sk},
                                                        ":b": {"S": start_sk + "a"}})
        assert [item["sk"]["S"][-1] for item in found["Items"]] == ["\x00", "a"]
    found = client.query(TableName=name, IndexName="index", KeyConditionExpression="sk = :s",
                         ExpressionAttributeValues={":s": {"S": start_sk + "b"}}, ScanIndexForward=False)
    assert [item["pk"]["S"][-1] for item in found["Items"]] == ["y", "x"]


def test_an_index_of_four_range_attributes_of_1024_bytes_together(client, create):
    name = create("pk", "pk:B h:B r1:B r2:B r3:B r4:B", gsi=[("index", "h r1,r2,r3,r4", "ALL")])
    content = random.Random(4)
    hash_value = {"B": content.randbytes(2048)}
    first = {"B": content.randbytes(256)}
    items = [
        {"pk": {"B": content.randbytes(2048)}, "h": hash_value, "r1": first,
         **{f"r{n}": {"B": content.randbytes(256)} for n in (2, 3, 4)}}
        for _ in range(20)
    ]
    for item in items:
        client.put_item(TableName=name, Item=item)
    items.sort(key=lambda item: [item[f"r{n}"]["B"] for n in (1, 2, 3, 4)])
    pages = client.get_paginator("query").paginate(
        TableName=name, IndexName="index", KeyConditionExpression="h = :h AND r1 = :r",
        ExpressionAttributeValues={":h": hash_value, ":r": first}, PaginationConfig={"PageSize": 7})
    assert [item for page in pages for item in page["Items"]] == items
    one = items[5]
    found = client.query(
        TableName=name, IndexName="index",
        KeyConditionExpression="h = :h AND r1 = :r1 AND r2 = :r2 AND r3 = :r3 AND begins_with(r4, :r4)",
        ExpressionAttributeValues={":h": hash_value, ":r1": first, ":r2": one["r2"], ":r3": one["r3"],
                                   ":r4": {"B": one["r4"]["B"][:255]}})
    assert found["Items"] == [one]
    longer = {**one, "r4": {"B": one["r4"]["B"] + b"x"}}
    assert refused(client.put_item, TableName=name, Item=longer) == ("ValidationException", RANGE_TOO_LARGE)
    shorter = {**longer, "r1": {"B": first["B"][:255]}}
    client.put_item(TableName=name, Item=shorter)


# ---- order -----------------------------------------------------------------------------------------------------------


def some_numbers(random):
    """Text as it is stored, by value."""
    found = {Decimal(0)}
    while len(found) < 320:
        digits = random.choice([1, 2, 3, 10, 38])
        mantissa = random.randrange(10 ** (digits - 1), 10 ** digits)
        exponent = random.choice([0, -1, -2, 1, random.randint(-130, 88)])
        found.add(Decimal(f"{random.choice(['', '-'])}{mantissa}e{exponent}"))
    found |= {Decimal("9" * 38 + "e88"), Decimal("-" + "9" * 38 + "e88"), Decimal("1e-130"), Decimal("-1e-130")}
    return sorted(found)


def some_strings(random):
    # UTF-16 would have U+FFFD after U+1F600, a collation B after a.
    letters = "\x00\x01 aAbB~\x7f\u00e9\u0301\u65e5\ud7ff\ue000\ufffd\U00010000\U0001f600\U0010ffff"
    found = set()
    while len(found) < 320:
        found.add("".join(random.choices(letters, k=random.randint(1, 4))))
    return sorted(found, key=str.encode)


def some_binaries(random):
    found = set()
    while len(found) < 320:
        found.add(bytes(random.choices([0, 1, 2, 127, 128, 254, 255], k=random.randint(1, 4))))
    return sorted(found)


def canonical(number):
    return format(number, "f").rstrip("0").rstrip(".") if "." in format(number, "f") else format(number, "f")


ORDERS = {
    "N": (some_numbers, canonical),
    "S": (some_strings, str),
    "B": (some_binaries, bytes),
}


@pytest.mark.parametrize("type", ORDERS)
def test_sort_keys_come_in_order(client, create, type):
    some, as_sent = ORDERS[type]
    values = [as_sent(value) for value in some(random.Random(5))]
    name = create("pk sk", f"sk:{type} r:{type}", gsi=[("index", "g r", "KEYS_ONLY")], lsi=[("local", "pk r", "ALL")])
    items = [{"pk": {"S": "k"}, "sk": {type: value}, "g": {"S": "g"}, "r": {type: value}} for value in values]
    shuffled = random.Random(6).sample(items, len(items))
    write_all(client, name, shuffled)

    def read(condition, values, page_size=None, **more):
        pages = client.get_paginator("query").paginate(
            TableName=name, KeyConditionExpression=condition, ExpressionAttributeValues=values,
            PaginationConfig={"PageSize": page_size}, **more)
        return [item["sk"][type] for page in pages for item in page["Items"]]

    partition = {":p": {"S": "k"}}
    assert read("pk = :p", partition) == values
    assert read("pk = :p", partition, page_size=50, ScanIndexForward=False) == values[::-1]
    assert read("g = :p", {":p": {"S": "g"}}, page_size=70, IndexName="index") == values
    assert read("pk = :p", partition, page_size=99, IndexName="local") == values
    low, high = values[100], values[200]
    between = {**partition, ":a": {type: low}, ":b": {type: high}}
    assert read("pk = :p AND sk BETWEEN :a AND :b", between) == values[100:201]
    assert read("pk = :p AND sk BETWEEN :a AND :b", between, page_size=9, ScanIndexForward=False) == values[200:99:-1]
    edge = {**partition, ":a": {type: low}}
    assert read("pk = :p AND sk < :a", edge) == values[:100]
    assert read("pk = :p AND sk <= :a", edge) == values[:101]
    assert read("pk = :p AND sk > :a", edge) == values[101:]
    assert read("pk = :p AND :a <= sk", edge) == values[100:]
    if type != "N":
        prefix = values[150][:1]
        started = [value for value in values if value.startswith(prefix)]
        assert read("pk = :p AND begins_with(sk, :a)", {**partition, ":a": {type: prefix}}) == started


# ---- writes ----------------------------------------------------------------------------------------------------------


def test_a_failed_condition_says_what_is_there(client, create):
    name = create("pk")
    item = {"pk": {"S": "k"}, "n": {"N": "1"}}
    client.put_item(TableName=name, Item=item, ConditionExpression="attribute_not_exists(pk)")
    calls = [
        (client.put_item, dict(Item=item, ConditionExpression="attribute_not_exists(pk)")),
        (client.update_item, dict(Key={"pk": item["pk"]}, UpdateExpression="SET n = :two", ConditionExpression="n > :two",
                                  ExpressionAttributeValues={":two": {"N": "2"}})),
        (client.delete_item, dict(Key={"pk": item["pk"]}, ConditionExpression="attribute_exists(absent)")),
    ]
    for call, request in calls:
        with pytest.raises(client.exceptions.ConditionalCheckFailedException) as raised:
            call(TableName=name, ReturnValuesOnConditionCheckFailure="ALL_OLD", **request)
        assert raised.value.response["Error"]["Message"] == "The conditional request failed"
        assert raised.value.response["Item"] == item
        with pytest.raises(client.exceptions.ConditionalCheckFailedException) as raised:
            call(TableName=name, **request)
        assert "Item" not in raised.value.response
    with pytest.raises(client.exceptions.ConditionalCheckFailedException) as raised:
        client.delete_item(TableName=name, Key={"pk": {"S": "other"}}, ConditionExpression="attribute_exists(pk)",
                           ReturnValuesOnConditionCheckFailure="ALL_OLD")
    assert "Item" not in raised.value.response
    assert client.scan(TableName=name)["Items"] == [item]


def test_what_an_update_returns(client, create):
    name = create("pk")
    key = {"pk": {"S": "k"}}
    old = {**key, "a": {"N": "1"}, "m": {"M": {"x": {"S": "x"}, "y": {"S": "y"}}}, "gone": {"S": "g"}}
    new = {**key, "a": {"N": "11"}, "m": {"M": {"x": {"S": "z"}, "y": {"S": "y"}}}}
    wanted = {
        "NONE": None,
        "ALL_OLD": old,
        "ALL_NEW": new,
        "UPDATED_OLD": {"a": {"N": "1"}, "m": {"M": {"x": {"S": "x"}}}, "gone": {"S": "g"}},
        "UPDATED_NEW": {"a": {"N": "11"}, "m": {"M": {"x": {"S": "z"}}}},
    }
    for what, attributes in wanted.items():
        client.put_item(TableName=name, Item=old)
        answer = client.update_item(
            TableName=name, Key=key, UpdateExpression="SET a = a + :ten, m.x = :z REMOVE gone",
            ExpressionAttributeValues={":ten": {"N": "10"}, ":z": {"S": "z"}}, ReturnValues=what)
        assert answer.get("Attributes") == attributes, what
        assert client.get_item(TableName=name, Key=key)["Item"] == new
    created = client.update_item(TableName=name, Key={"pk": {"S": "new"}}, UpdateExpression="ADD hits :one",
                                 ExpressionAttributeValues={":one": {"N": "1"}}, ReturnValues="ALL_OLD")
    assert "Attributes" not in created
    assert client.put_item(TableName=name, Item=old, ReturnValues="ALL_OLD")["Attributes"] == new
    assert client.delete_item(TableName=name, Key=key, ReturnValues="ALL_OLD")["Attributes"] == old
    assert "Attributes" not in client.delete_item(TableName=name, Key=key, ReturnValues="ALL_OLD")


def test_no_increment_is_lost(client, create):
    name = create("pk")

    def add(_):
        client.update_item(TableName=name, Key={"pk": {"S": "k"}}, UpdateExpression="ADD hits :one",
                           ExpressionAttributeValues={":one": {"N": "1"}})

    with ThreadPoolExecutor(8) as pool:
        list(pool.map(add, range(200)))
    assert client.get_item(TableName=name, Key={"pk": {"S": "k"}}, ConsistentRead=True)["Item"]["hits"] == {"N": "200"}


def test_only_one_of_many_creates(client, create):
    name = create("pk")

    def put(n):
        try:
            client.put_item(TableName=name, Item={"pk": {"S": "k"}, "by": {"N": str(n)}},
                            ConditionExpression="attribute_not_exists(pk)")
        except client.exceptions.ConditionalCheckFailedException:
            return None
        return str(n)

    with ThreadPoolExecutor(8) as pool:
        winners = [n for n in pool.map(put, range(32)) if n is not None]
    assert len(winners) == 1
    assert client.get_item(TableName=name, Key={"pk": {"S": "k"}})["Item"]["by"] == {"N": winners[0]}


# ---- indexes, batches, scans -----------------------------------------------------------------------------------------


def test_indexes_hold_what_has_their_keys(client, create):
    name = create("pk sk", "sk:N lk:N",
                  lsi=[("local", "pk lk", ["a"])],
                  gsi=[("all", "g", "ALL"), ("some", "g sk", ["a"]), ("keys", "g", "KEYS_ONLY")])
    full = {"pk": {"S": "p"}, "sk": {"N": "1"}, "lk": {"N": "9"}, "g": {"S": "g"}, "a": {"S": "a"}, "b": {"S": "b"}}
    bare = {"pk": {"S": "p"}, "sk": {"N": "2"}, "b": {"S": "b"}}
    write_all(client, name, [full, bare])

    def query(index, hash, value, **more):
        return client.query(TableName=name, IndexName=index, KeyConditionExpression=f"{hash} = :v",
                            ExpressionAttributeValues={":v": {"S": value}}, **more)["Items"]

    def only(*names):
        return [{attribute: full[attribute] for attribute in names}]

    assert query("all", "g", "g") == [full]
    assert query("some", "g", "g") == only("pk", "sk", "g", "a")
    assert query("keys", "g", "g") == only("pk", "sk", "g")
    assert query("local", "pk", "p", ConsistentRead=True) == only("pk", "sk", "lk", "a")
    assert query("local", "pk", "p", Select="ALL_ATTRIBUTES") == [full]
    assert query("local", "pk", "p", ProjectionExpression="b") == only("b")
    assert client.query(TableName=name, KeyConditionExpression="pk = :v",
                        ExpressionAttributeValues={":v": {"S": "p"}})["Items"] == [full, bare]
    # An update moves the entry, then takes it away.
    key = {"pk": full["pk"], "sk": full["sk"]}
    client.update_item(TableName=name, Key=key, UpdateExpression="SET g = :h", ExpressionAttributeValues={":h": {"S": "h"}})
    assert (query("all", "g", "g"), query("all", "g", "h")) == ([], [{**full, "g": {"S": "h"}}])
    client.update_item(TableName=name, Key=key, UpdateExpression="REMOVE g")
    assert (query("all", "g", "h"), client.scan(TableName=name, IndexName="keys")["Items"]) == ([], [])
    client.delete_item(TableName=name, Key=key)
    assert query("local", "pk", "p") == []


def test_an_index_of_several_hash_and_range_attributes(client, create):
    name = create("pk", "h2:N r2:N", gsi=[("multi", "h1,h2 r1,r2", "ALL")])
    items = [
        {"pk": {"S": f"{h1}{h2}{r1}{r2}"}, "h1": {"S": h1}, "h2": {"N": h2}, "r1": {"S": r1}, "r2": {"N": r2}}
        for h1 in ("a", "a\x00") for h2 in ("-1", "1") for r1 in ("x", "xy") for r2 in ("-10", "9", "10")
    ]
    write_all(client, name, [*items, {"pk": {"S": "partial"}, "h1": {"S": "a"}, "h2": {"N": "1"}, "r1": {"S": "x"}}])

    def query(condition, **values):
        pages = client.get_paginator("query").paginate(
            TableName=name, IndexName="multi", KeyConditionExpression=condition, PaginationConfig={"PageSize": 2},
            ExpressionAttributeValues={f":{name}": {"N" if name[1:] == "2" else "S": value}
                                       for name, value in values.items()})
        return [item["pk"]["S"] for page in pages for item in page["Items"]]

    assert query("h1 = :h1 AND h2 = :h2", h1="a", h2="1") == ["a1x-10", "a1x9", "a1x10", "a1xy-10", "a1xy9", "a1xy10"]
    assert query("h1 = :h1 AND h2 = :h2 AND r1 = :r1 AND r2 > :r2", h1="a\x00", h2="-1", r1="xy", r2="-10") == [
        "a\x00-1xy9", "a\x00-1xy10"]
    assert query("h1 = :h1 AND h2 = :h2 AND begins_with(r1, :r1)", h1="a", h2="-1", r1="xy") == [
        "a-1xy-10", "a-1xy9", "a-1xy10"]
    assert refused(client.query, TableName=name, IndexName="multi", KeyConditionExpression="h1 = :h",
                   ExpressionAttributeValues={":h": {"S": "a"}})[0] == "ValidationException"
    assert client.scan(TableName=name, IndexName="multi", Select="COUNT")["Count"] == len(items)


def test_random_writes_are_found_by_every_index(client, create):
    name = create("pk sk", "sk:N r:B lk:N r2:N", lsi=[("local", "pk lk", "ALL")],
                  gsi=[("index", "g r", "ALL"), ("multi", "g,pk r2,sk", "ALL"), ("hash", "lk", "ALL")])
    chance = random.Random(8)
    choices = {
        "g": [{"S": text} for text in ("g", "g\x00", "g\x00\x01", "g" * 2048, "g" * 2047 + "h")],
        "r": [{"B": text} for text in (b"\x00", b"\x00\x00", b"r", b"r" * 1024, b"r" * 1023 + b"\xff")],
        "lk": [{"N": text} for text in ("0", "-1", "-1.5", "1e100", "0.001")],
        "r2": [{"N": text} for text in ("0", "2", "10", "-10")],
    }
    partitions = [{"S": text} for text in ("p", "p\x00", "q" * 2048)]
    stored = {}

    def number(value):
        return {"N": canonical(Decimal(value["N"]))}

    for _ in range(400):
        key = {"pk": chance.choice(partitions), "sk": {"N": str(chance.randint(-8, 8))}}
        place = (key["pk"]["S"], int(key["sk"]["N"]))
        some = {attribute: chance.choice(values) for attribute, values in choices.items() if chance.random() < 0.7}
        kept = {attribute: number(value) if "N" in value else value for attribute, value in some.items()}
        what = chance.choice(["put", "put", "update", "update", "delete"])
        if what == "put":
            client.put_item(TableName=name, Item={**key, **some})
            stored[place] = {**key, **kept}
        elif what == "delete":
            client.delete_item(TableName=name, Key=key)
            stored.pop(place, None)
        else:
            sets = [f"{attribute} = :{attribute}" for attribute in some]
            removes = [attribute for attribute in choices if attribute not in some]
            expression = " ".join(section + ", ".join(parts) for section, parts in
                                  (("SET ", sets), ("REMOVE ", removes)) if parts)
            values = {"ExpressionAttributeValues": {f":{attribute}": value for attribute, value in some.items()}}
            client.update_item(TableName=name, Key=key, UpdateExpression=expression, **(values if some else {}))
            stored[place] = {**key, **kept}

    def order(attribute):
        return lambda item: Decimal(item[attribute]["N"]) if "N" in item[attribute] else next(iter(item[attribute].values()))

    indexes = {None: (["pk"], ["sk"]), "local": (["pk"], ["lk"]), "index": (["g"], ["r"]),
               "multi": (["g", "pk"], ["r2", "sk"]), "hash": (["lk"], [])}
    for index, (hashes, ranges) in indexes.items():
        where = {"IndexName": index} if index else {}
        wanted = {}
        for item in stored.values():
            if all(attribute in item for attribute in hashes + ranges):
                wanted.setdefault(tuple(str(item[attribute]) for attribute in hashes), []).append(item)
        for items in wanted.values():
            for forward in (True, False):
                pages = client.get_paginator("query").paginate(
                    TableName=name, KeyConditionExpression=" AND ".join(f"{a} = :{a}" for a in hashes),
                    ExpressionAttributeValues={f":{a}": items[0][a] for a in hashes}, ScanIndexForward=forward,
                    PaginationConfig={"PageSize": chance.randint(1, 12)}, **where)
                found = [item for page in pages for item in page["Items"]]
                keys = [[order(attribute)(item) for attribute in ranges] for item in found]
                assert keys == sorted(keys, reverse=not forward), index
                assert sorted(found, key=str_of_key) == sorted(items, key=str_of_key), index
        scanned = [item for page in client.get_paginator("scan").paginate(
            TableName=name, PaginationConfig={"PageSize": 13}, **where) for item in page["Items"]]
        everything = [item for items in wanted.values() for item in items]
        assert sorted(scanned, key=str_of_key) == sorted(everything, key=str_of_key), index


def str_of_key(item):
    return item["pk"]["S"], int(item["sk"]["N"])


def test_a_limit_counts_what_is_read(client, create):
    name = create("pk sk", "sk:N")
    write_all(client, name, ({"pk": {"S": "k"}, "sk": {"N": str(n)}, "odd": {"BOOL": n % 2 == 1}} for n in range(30)))
    pages = list(client.get_paginator("query").paginate(
        TableName=name, KeyConditionExpression="pk = :p", FilterExpression="odd = :t",
        ExpressionAttributeValues={":p": {"S": "k"}, ":t": {"BOOL": True}}, PaginationConfig={"PageSize": 7}))
    # After the 30th item the fifth page may or may not name it as the last.
    assert [page["ScannedCount"] for page in pages][:5] == [7, 7, 7, 7, 2]
    assert [int(item["sk"]["N"]) for page in pages for item in page["Items"]] == list(range(1, 30, 2))
    first = client.query(TableName=name, KeyConditionExpression="pk = :p", ExpressionAttributeValues={":p": {"S": "k"}},
                         Limit=3, ScanIndexForward=False, ProjectionExpression="odd")
    assert first["Items"] == [{"odd": {"BOOL": n % 2 == 1}} for n in (29, 28, 27)]
    assert first["LastEvaluatedKey"] == {"pk": {"S": "k"}, "sk": {"N": "27"}}
    # A start key need not exist.
    rest = client.query(TableName=name, KeyConditionExpression="pk = :p", ExpressionAttributeValues={":p": {"S": "k"}},
                        ExclusiveStartKey={"pk": {"S": "k"}, "sk": {"N": "26.5"}})
    assert [item["sk"]["N"] for item in rest["Items"]] == ["27", "28", "29"]


def test_a_parallel_scan_reads_each_item_once(client, create):
    name = create("pk sk", "sk:N", gsi=[("index", "g", "KEYS_ONLY")])
    items = [{"pk": {"S": f"k{n % 40}"}, "sk": {"N": str(n)}, "g": {"S": f"g{n % 7}"}} for n in range(300)]
    write_all(client, name, items)

    def segment(arguments):
        pages = client.get_paginator("scan").paginate(TableName=name, PaginationConfig={"PageSize": 11}, **arguments)
        return [int(item["sk"]["N"]) for page in pages for item in page["Items"]]

    for index in ({}, {"IndexName": "index"}):
        segments = [{"Segment": n, "TotalSegments": 6, **index} for n in range(6)]
        with ThreadPoolExecutor(6) as pool:
            parts = list(pool.map(segment, segments))
        assert sorted(itertools.chain(*parts)) == list(range(300))
        assert sum(map(bool, parts)) > 1
    assert sorted(segment({})) == list(range(300))


def test_batches(client, create, resource):
    first, second = create("pk"), create("pk sk", "sk:N")
    with resource.Table(second).batch_writer() as batch:
        for n in range(60):
            batch.put_item(Item={"pk": "k", "sk": n})
        for n in range(0, 60, 2):
            batch.delete_item(Key={"pk": "k", "sk": n})
    write_all(client, first, [{"pk": {"S": "a"}, "x": {"S": "x"}, "y": {"S": "y"}}, {"pk": {"S": "b"}}])
    answer = client.batch_get_item(RequestItems={
        first: {"Keys": [{"pk": {"S": k}} for k in "abc"], "ProjectionExpression": "#x, pk",
                "ExpressionAttributeNames": {"#x": "x"}, "ConsistentRead": True},
        second: {"Keys": [{"pk": {"S": "k"}, "sk": {"N": str(n)}} for n in range(60)]},
    })
    assert answer["UnprocessedKeys"] == {}
    assert sorted(answer["Responses"][first], key=lambda item: item["pk"]["S"]) == [
        {"pk": {"S": "a"}, "x": {"S": "x"}}, {"pk": {"S": "b"}}]
    assert sorted(int(item["sk"]["N"]) for item in answer["Responses"][second]) == list(range(1, 60, 2))
    twice = [{"PutRequest": {"Item": {"pk": {"S": "z"}}}}, {"DeleteRequest": {"Key": {"pk": {"S": "z"}}}}]
    assert refused(client.batch_write_item, RequestItems={first: twice}) == (
        "ValidationException", "Provided list of item keys contains duplicates")
    code, text = refused(client.batch_get_item, RequestItems={first: {"Keys": [{"pk": {"S": str(n)}} for n in range(101)]}})
    assert (code, text) == (
        "ValidationException", f"1 validation error detected: Value at 'RequestItems.{first}.member.Keys' failed to "
                               "satisfy constraint: Member must have length less than or equal to 100")


def test_a_batch_get_stops_at_16_megabytes_and_says_what_is_left(client, create):
    name = create("pk", "pk:N")
    value = {"B": random.Random(7).randbytes(390_000)}
    for n in range(50):
        client.put_item(TableName=name, Item={"pk": {"N": str(n)}, "v": value})
    asked = {name: {"Keys": [{"pk": {"N": str(n)}} for n in range(50)]}}
    got, answers = [], 0
    while asked:
        answer = client.batch_get_item(RequestItems=asked)
        assert answer["Responses"][name]
        got += [int(item["pk"]["N"]) for item in answer["Responses"][name]]
        asked, answers = answer["UnprocessedKeys"], answers + 1
    assert sorted(got) == list(range(50))
    assert answers == 2


def test_consumed_capacity(client, create):
    name = create("pk", gsi=[("index", "g", "ALL")])
    item = {"pk": {"S": "k"}, "g": {"S": "g"}, "v": {"S": "x" * 3000}}
    put = client.put_item(TableName=name, Item=item, ReturnConsumedCapacity="INDEXES")["ConsumedCapacity"]
    assert put == {"TableName": name, "CapacityUnits": 6.0, "Table": {"CapacityUnits": 3.0},
                   "GlobalSecondaryIndexes": {"index": {"CapacityUnits": 3.0}}}
    get = client.get_item(TableName=name, Key={"pk": {"S": "k"}}, ReturnConsumedCapacity="TOTAL")["ConsumedCapacity"]
    assert get == {"TableName": name, "CapacityUnits": 0.5}
    assert "ConsumedCapacity" not in client.get_item(TableName=name, Key={"pk": {"S": "k"}})
