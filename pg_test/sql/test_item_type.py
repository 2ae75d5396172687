"""The type ddb.item: text, operators, casts, bytes."""

import json

import psycopg
import pytest


def one(sql, statement, *arguments):
    return sql.execute(statement, arguments).fetchone()[0]


def item(value):
    return json.dumps(value, ensure_ascii=False)


ALL_TYPES = {
    "b": {"B": "AQID"},
    "bool": {"BOOL": True},
    "bs": {"BS": ["AQ==", "Ag=="]},
    "l": {"L": [{"S": "x"}, {"L": []}, {"M": {}}]},
    "m": {"M": {"inner": {"N": "-0.5"}, "ü": {"NULL": True}}},
    "n": {"N": "12345678901234567890123456789012345678"},
    "ns": {"NS": ["-1", "0", "2.5"]},
    "null": {"NULL": True},
    "s": {"S": "a\"\\\n\u0001é𐍈"},
    "ss": {"SS": ["a", "b"]},
}


def test_text_is_dynamodb_json_both_ways(sql):
    assert json.loads(one(sql, "SELECT %s::ddb.item::text", item(ALL_TYPES))) == ALL_TYPES
    assert one(sql, "SELECT %s::ddb.item::json", item(ALL_TYPES)) == ALL_TYPES
    assert json.loads(one(sql, "SELECT %s::json::ddb.item::text", item(ALL_TYPES))) == ALL_TYPES
    assert one(sql, "SELECT '{}'::ddb.item::text") == "{}"


@pytest.mark.parametrize("text", [
    "", "{", "[]", "null", '{"a":1}', '{"a":{}}', '{"a":{"N":"x"}}', '{"a":{"SS":[]}}', '{"a":{"X":"1"}}',
    '{"a":{"S":"1"}},"Item":{"b":{"S":"2"}}', '{"a":{"S":"\\ud800"}}',
])
def test_what_is_no_item_is_refused(sql, text):
    with pytest.raises(psycopg.errors.InvalidTextRepresentation):
        sql.execute("SELECT %s::ddb.item", [text])


@pytest.mark.parametrize("name, json_form, text_form", [
    ("s", {"S": 'q"x'}, 'q"x'),
    ("n", {"N": "1000"}, "1000"),
    ("b", {"B": "AQI="}, "AQI="),
    ("t", {"BOOL": True}, "true"),
    ("u", {"NULL": True}, None),
    ("l", {"L": [{"S": "a"}, {"NULL": True}]}, '["a",null]'),
    ("m", {"M": {"x": {"N": "1.5"}}}, '{"x":1.5}'),
    ("ss", {"SS": ["a", "b"]}, '["a","b"]'),
    ("absent", None, None),
])
def test_attributes(sql, name, json_form, text_form):
    value = ('{"s":{"S":"q\\"x"},"n":{"N":"1e3"},"b":{"B":"AQI="},"t":{"BOOL":true},"u":{"NULL":true},'
             '"l":{"L":[{"S":"a"},{"NULL":true}]},"m":{"M":{"x":{"N":"1.50"}}},"ss":{"SS":["b","a"]}}')
    row = sql.execute("SELECT i -> %s, i ->> %s, ddb.item_has(i, %s) FROM (SELECT %s::ddb.item) AS t(i)",
                      [name, name, name, value]).fetchone()
    assert row == (json_form, text_form, json_form is not None)


def test_jsonb_has_plain_values(sql):
    plain = one(sql, "SELECT %s::ddb.item::jsonb", item({"n": {"N": "1.50"}, "ss": {"SS": ["b", "a"]}, "b": {"B": "AQI="},
                                                        "m": {"M": {"x": {"NULL": True}}}}))
    assert plain == {"n": 1.5, "ss": ["a", "b"], "b": "AQI=", "m": {"x": None}}
    # All digits, where a float has them not.
    assert one(sql, "SELECT (%s::ddb.item::jsonb ->> 'n')", item(ALL_TYPES)) == ALL_TYPES["n"]["N"]


@pytest.mark.parametrize("value", [
    '{"a":{"S":"x\\u0000"}}', '{"a":{"L":[{"SS":["\\u0000"]}]}}', '{"a":{"M":{"\\u0000":{"NULL":true}}}}',
])
def test_nul_is_kept_by_json_and_refused_by_jsonb(sql, value):
    assert one(sql, "SELECT %s::ddb.item::json::text", value) == value
    with pytest.raises(psycopg.errors.UntranslatableCharacter) as caught:
        sql.execute("SELECT %s::ddb.item::jsonb", [value])
    assert "json" in caught.value.diag.message_hint


def test_equality_is_by_value(sql):
    same = '{"a":{"N":"1"},"s":{"SS":["x","y"]}}', '{"s":{"SS":["y","x"]},"a":{"N":"1.00"}}'
    assert sql.execute("SELECT a = b, a <> b, ddb.item_hash(a) = ddb.item_hash(b) FROM "
                       "(SELECT %s::ddb.item, %s::ddb.item) AS t(a, b)", same).fetchone() == (True, False, True)
    assert one(sql, """SELECT '{"a":{"N":"1"}}'::ddb.item = '{"a":{"S":"1"}}'::ddb.item""") is False
    groups = sql.execute("""SELECT count(*) FROM generate_series(1, 90) AS n
                            GROUP BY format('{"a":{"N":"%s"}}', n % 3)::ddb.item""").fetchall()
    assert groups == [(30,), (30,), (30,)]


def test_operators_work_under_every_search_path(sql):
    with sql.transaction():
        sql.execute("SET LOCAL search_path TO ''")
        assert one(sql, """SELECT '{"a":{"S":"x"}}'::ddb.item ->> 'a'""") == "x"


def test_binary_copy_round_trip_and_corrupt_bytes(sql):
    sql.execute("CREATE TEMPORARY TABLE kept (i ddb.item)")
    sql.execute("INSERT INTO kept VALUES (%s), ('{}'), (NULL)", [item(ALL_TYPES)])
    cursor = sql.cursor()
    with cursor.copy("COPY kept TO STDOUT (FORMAT binary)") as copy:
        data = b"".join(bytes(part) for part in copy)
    sql.execute("CREATE TEMPORARY TABLE back (i ddb.item)")
    with cursor.copy("COPY back FROM STDIN (FORMAT binary)") as copy:
        copy.write(data)
    assert one(sql, "SELECT count(*) FROM kept JOIN back USING (i)") == 2

    # Every byte wrong once: refused, or some other item that prints; never a crash.
    good = one(sql, "SELECT i::bytea FROM kept WHERE ddb.item_size(i) > 10")
    for at in range(len(good)):
        bad = bytes(good[:at]) + bytes([good[at] ^ 0x41]) + bytes(good[at + 1:])
        try:
            sql.execute("SELECT i, i -> 's', i::jsonb FROM (SELECT %s::bytea::ddb.item) AS t(i)", [bad])
        except psycopg.errors.DataCorrupted:
            pass
    for length in range(len(good)):
        with pytest.raises(psycopg.errors.DataCorrupted):
            sql.execute("SELECT %s::bytea::ddb.item::text", [bytes(good[:length])])


@pytest.mark.parametrize("value, size_bytes", [
    ('{}', 0),
    ('{"pk":{"S":"abc"}}', 5),
    # A number has one byte, one for each two digits, and its name.
    ('{"n":{"N":"1"}}', 3),
    ('{"b":{"BOOL":true},"u":{"NULL":true}}', 4),
])
def test_size(sql, value, size_bytes):
    assert one(sql, "SELECT ddb.item_size(%s)", value) == size_bytes


def test_size_of_a_large_item_that_is_stored_outside_its_row(sql):
    sql.execute("CREATE TEMPORARY TABLE large (i ddb.item)")
    sql.execute("""INSERT INTO large SELECT format('{"s":{"S":"%s"}}', string_agg(md5(n::text), ''))::ddb.item
                   FROM generate_series(1, 10000) AS n""")
    assert one(sql, "SELECT ddb.item_size(i) FROM large") == 1 + 320_000
    assert one(sql, "SELECT length(i ->> 's') FROM large") == 320_000


def test_pure_functions(sql):
    assert one(sql, """SELECT ddb.matches('{"a":{"N":"5"}}', '#a > :v', '{"#a":"a"}', '{":v":{"N":"4"}}')""") is True
    assert one(sql, "SELECT ddb.matches(NULL, 'attribute_not_exists(a)')") is True
    assert one(sql, """SELECT ddb.apply_update('{"a":{"N":"5"}}', 'SET a = a + :i REMOVE b',
                           expression_values => '{":i":{"N":"2"}}')::json""") == {"a": {"N": "7"}}
    assert one(sql, "SELECT ddb.apply_update(NULL, 'REMOVE a')") is None
    assert one(sql, """SELECT ddb.project('{"a":{"N":"5"},"m":{"M":{"x":{"S":"1"},"y":{"S":"2"}}}}', 'm.x')::json"""
               ) == {"m": {"M": {"x": {"S": "1"}}}}
    # Another text after the one that was kept, with the same values.
    rows = sql.execute("""SELECT ddb.matches('{"a":{"N":"5"}}', c, NULL, '{":v":{"N":"5"}}')
                          FROM unnest(ARRAY['a = :v', 'a < :v', 'a = :v']) AS c""").fetchall()
    assert rows == [(True,), (False,), (True,)]


@pytest.mark.parametrize("statement, sqlstate, text", [
    ("SELECT ddb.matches('{}', 'a = :v')", "DD001",
     "Invalid ConditionExpression: An expression attribute value used in expression is not defined; attribute value: :v"),
    ("""SELECT ddb.matches('{}', 'a = b', '{"#n":"x"}')""", "DD001",
     "Value provided in ExpressionAttributeNames unused in expressions: keys: {#n}"),
    ("""SELECT ddb.matches('{}', 'a = b', '{"#n":1}')""", "DD002", "NUMBER_VALUE cannot be converted to String"),
    ("""SELECT ddb.apply_update('{"a":{"S":"5"}}', 'SET a = a + :i', NULL, '{":i":{"N":"2"}}')""", "DD001",
     "An operand in the update expression has an incorrect data type"),
])
def test_faults_of_pure_functions(sql, statement, sqlstate, text):
    with pytest.raises(psycopg.Error) as caught:
        sql.execute(statement)
    assert (caught.value.sqlstate, caught.value.diag.message_primary) == (sqlstate, text)
    assert text in json.loads(caught.value.diag.message_detail).values() or "Message" in caught.value.diag.message_detail
