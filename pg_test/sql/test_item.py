"""The type ddb.item: its forms, operators and casts, and what it does with bytes that are none."""

import json
import random

import psycopg
import pytest

from harness.tables import canonical

EVERYTHING = {
    "pk": {"S": "key"},
    "text": {"S": "ÅΩ𝄞 \"quoted\" \\ \n"},
    "empty": {"S": ""},
    "n": {"N": "-12345678901234567890.123456789012345678"},
    "tiny": {"N": "0." + "0" * 129 + "1"},
    "huge": {"N": "9" * 38 + "0" * 88},
    "zero": {"N": "0"},
    "b": {"B": "AAEC/w=="},
    "yes": {"BOOL": True},
    "no": {"BOOL": False},
    "nothing": {"NULL": True},
    "ss": {"SS": ["b", "a", "ä"]},
    "ns": {"NS": ["3", "-1.5", "20"]},
    "bs": {"BS": ["AA==", "AQ=="]},
    "l": {"L": [{"S": "x"}, {"L": []}, {"M": {}}, {"N": "1"}]},
    "m": {"M": {"z": {"S": "last"}, "a": {"M": {"deep": {"BOOL": True}}}}},
}


def item(value):
    return json.dumps(value)


def test_text_is_dynamodb_json_exact(sql):
    text = sql.execute("SELECT %s::ddb.item::text", [item(EVERYTHING)]).fetchone()[0]
    assert canonical(json.loads(text)) == canonical(EVERYTHING)
    again = sql.execute("SELECT %s::ddb.item::text", [text]).fetchone()[0]
    assert again == text


def test_the_form_is_canonical(sql):
    """Order of members and sets, and how a number is written, make no difference."""
    one = '{"a":{"N":"1.50"},"s":{"SS":["x","y"]},"m":{"M":{"p":{"N":"100"},"q":{"NS":["1","2.0"]}}}}'
    two = '{"m":{"M":{"q":{"NS":["2","1e0"]},"p":{"N":"1E2"}}},"s":{"SS":["y","x"]},"a":{"N":"0001.5"}}'
    equal, unequal, same_hash, same_extended, same_bytes = sql.execute(
        """SELECT a = b, a <> b, ddb.item_hash(a) = ddb.item_hash(b),
                  ddb.item_hash_extended(a, 7) = ddb.item_hash_extended(b, 7), a::bytea = b::bytea
           FROM (VALUES (%s::ddb.item, %s::ddb.item)) AS v (a, b)""", [one, two]).fetchone()
    assert (equal, unequal, same_hash, same_extended, same_bytes) == (True, False, True, True, True)


@pytest.mark.parametrize("text", [
    "", "x", "[]", '"a"', "1", "null", '{"a":1}', '{"a":"b"}', '{"a":{"X":"b"}}', '{"a":{"S":1}}', '{"a":{"N":"x"}}',
    '{"a":{"S":"x","N":"1"}}', '{"a":{}}', '{"a":{"SS":[]}}', '{"a":{"SS":["x","x"]}}', '{"a":{"NS":["1","1.0"]}}',
    '{"a":{"B":"*"}}', '{"a":{"S":"x"}} {}', '{"a":{"S":"x"}},"b":{"S":"y"}', '{"a":{"N":"1e126"}}',
    '{"a":{"N":"123456789012345678901234567890123456789"}}', '{"a":{"NULL":false}}', '{"":{"S":"x"}', '{"a":{"S":"\\ud800"}}',
])
def test_text_that_is_no_item_is_refused_with_a_hint(sql, text):
    with pytest.raises(psycopg.errors.InvalidTextRepresentation) as raised:
        sql.execute("SELECT %s::ddb.item", [text])
    diagnosis = raised.value.diag
    assert diagnosis.message_primary == "invalid input syntax for type ddb.item"
    assert diagnosis.message_detail
    assert "DynamoDB JSON" in diagnosis.message_hint


@pytest.mark.parametrize("depth", [33, 1_000, 200_000])
def test_deep_text_is_refused(sql, depth):
    text = '{"a":' + '{"L":[' * depth + '{"S":"x"}' + "]}" * depth + "}"
    with pytest.raises(psycopg.Error) as raised:
        sql.execute("SELECT %s::ddb.item", [text])
    assert raised.value.sqlstate in ("22P02", "54001")
    assert sql.execute("SELECT 1").fetchone() == (1,)


def test_depth_32_is_an_item(sql):
    # The 32 levels count from the attribute's own value: behaviour/items.
    text = '{"a":' + '{"L":[' * 31 + '{"S":"x"}' + "]}" * 31 + "}"
    assert sql.execute("SELECT %s::ddb.item::text", [text]).fetchone()[0] == text


def test_attributes(sql):
    def attribute(name):
        return sql.execute(
            "SELECT (i -> %(n)s)::text, i ->> %(n)s, ddb.item_has(i, %(n)s) FROM (SELECT %(i)s::ddb.item AS i) AS s",
            {"n": name, "i": item(EVERYTHING)}).fetchone()

    assert attribute("pk") == ('{"S":"key"}', "key", True)
    assert attribute("empty") == ('{"S":""}', "", True)
    assert attribute("n")[1] == "-12345678901234567890.123456789012345678"
    assert attribute("b") == ('{"B":"AAEC/w=="}', "AAEC/w==", True)
    assert attribute("yes") == ('{"BOOL":true}', "true", True)
    assert attribute("nothing") == ('{"NULL":true}', None, True)
    assert attribute("missing") == (None, None, False)
    assert json.loads(attribute("l")[1]) == ["x", [], {}, 1]
    assert json.loads(attribute("m")[0]) == EVERYTHING["m"]
    for name in EVERYTHING:
        assert canonical({"v": json.loads(attribute(name)[0])}) == canonical({"v": EVERYTHING[name]})


def test_casts_to_json_and_jsonb(sql):
    as_json, as_jsonb = sql.execute("SELECT i::json, i::jsonb FROM (SELECT %s::ddb.item AS i) AS s",
                                    [item(EVERYTHING)]).fetchone()
    assert canonical(as_json) == canonical(EVERYTHING)
    assert as_jsonb["text"] == EVERYTHING["text"]["S"]
    assert sorted(as_jsonb["ss"]) == ["a", "b", "ä"]
    assert as_jsonb["m"] == {"z": "last", "a": {"deep": True}}
    assert as_jsonb["b"] == "AAEC/w==" and as_jsonb["nothing"] is None and as_jsonb["yes"] is True
    exact = sql.execute("SELECT (%s::ddb.item::jsonb ->> 'n'), (%s::ddb.item::jsonb -> 'tiny')::text",
                        [item(EVERYTHING)] * 2).fetchone()
    assert exact == (EVERYTHING["n"]["N"], EVERYTHING["tiny"]["N"])
    back = sql.execute("SELECT (%s::ddb.item::json)::ddb.item = %s::ddb.item", [item(EVERYTHING)] * 2).fetchone()
    assert back == (True,)


@pytest.mark.parametrize("value", [
    {"a": {"S": "x\0y"}}, {"a\0": {"S": "x"}}, {"a": {"SS": ["\0"]}}, {"a": {"L": [{"S": "\0"}]}},
    {"a": {"M": {"\0": {"N": "1"}}}}, {"a": {"M": {"m": {"S": "\0"}}}}])
def test_nul_characters_stay_in_items_and_are_refused_by_jsonb(sql, value):
    assert sql.execute("SELECT %s::ddb.item::json", [item(value)]).fetchone()[0] == value
    with pytest.raises(psycopg.errors.UntranslatableCharacter) as raised:
        sql.execute("SELECT %s::ddb.item::jsonb", [item(value)])
    assert raised.value.sqlstate == "22P05" and raised.value.diag.message_hint


@pytest.mark.parametrize("value", [{"a": {"S": "x\0y"}}, {"a": {"SS": ["\0"]}}, {"a": {"L": [{"S": "\0"}]}}])
def test_nul_characters_are_no_plain_text(sql, value):
    # A container is written as JSON, where U+0000 has its escape; a string would end in the middle.
    statement = ["SELECT %s::ddb.item ->> 'a'", [item(value)]]
    if "S" in value["a"]:
        with pytest.raises(psycopg.errors.UntranslatableCharacter):
            sql.execute(*statement)
    else:
        assert "\\u0000" in sql.execute(*statement).fetchone()[0]


def test_binary_form(sql):
    binary = sql.execute("SELECT %s::ddb.item", [item(EVERYTHING)], binary=True).fetchone()[0]
    assert binary == sql.execute("SELECT ddb.item_send(%s::ddb.item)", [item(EVERYTHING)]).fetchone()[0]
    assert binary == sql.execute("SELECT (%s::ddb.item)::bytea", [item(EVERYTHING)]).fetchone()[0]
    back = sql.execute("SELECT %s::bytea::ddb.item::text::json", [binary]).fetchone()[0]
    assert canonical(back) == canonical(EVERYTHING)


def copy_in(sql, rows):
    """COPY … (FORMAT BINARY) of one column."""
    with sql.cursor().copy("COPY copied (item) FROM STDIN (FORMAT BINARY)") as copy:
        copy.write(b"PGCOPY\n\xff\r\n\0" + bytes(8))
        for row in rows:
            copy.write((1).to_bytes(2, "big") + len(row).to_bytes(4, "big") + row)
        copy.write(b"\xff\xff")


def test_copy_binary_goes_round(sql):
    sql.execute("CREATE TEMP TABLE copied (item ddb.item)")
    sql.execute("""INSERT INTO copied SELECT json_build_object('pk', json_build_object('S', repeat('x', n * 37)),
                   'n', json_build_object('N', n::text))::ddb.item FROM generate_series(1, 500) AS n""")
    with sql.cursor().copy("COPY copied TO STDOUT (FORMAT BINARY)") as copy:
        data = b"".join(copy)
    sql.execute("CREATE TEMP TABLE again (item ddb.item)")
    with sql.cursor().copy("COPY again FROM STDIN (FORMAT BINARY)") as copy:
        copy.write(data)
    assert sql.execute("SELECT count(*) FROM copied JOIN again USING (item)").fetchone() == (500,)
    with sql.cursor().copy("COPY copied TO STDOUT") as copy:
        text = b"".join(copy)
    sql.execute("TRUNCATE again")
    with sql.cursor().copy("COPY again FROM STDIN") as copy:
        copy.write(text)
    assert sql.execute("SELECT count(*) FROM copied JOIN again USING (item)").fetchone() == (500,)
    sql.execute("DROP TABLE copied, again")


def test_receive_refuses_what_is_no_item(sql):
    sql.execute("CREATE TEMP TABLE copied (item ddb.item)")
    good = sql.execute("SELECT (%s::ddb.item)::bytea", [item(EVERYTHING)]).fetchone()[0]
    copy_in(sql, [good])
    for bad in [b"", b"\0", b"\xff" * 40, good[:-1], good + b"\0", good[:10], b"\x7f" + good[1:]]:
        with pytest.raises(psycopg.Error) as raised:
            copy_in(sql, [bad])
        assert raised.value.sqlstate == "22P03", bad
    assert sql.execute("SELECT count(*) FROM copied").fetchone() == (1,)
    sql.execute("DROP TABLE copied")


def test_hash_aggregate_distinct_and_hash_join(sql):
    sql.execute("""CREATE TEMP TABLE bag AS SELECT n, json_build_object('a', json_build_object('N', (n %% 50)::text),
                   'pad', json_build_object('S', repeat('p', n %% 50 * 100)))::ddb.item AS item
                   FROM generate_series(1, 2000) AS n""".replace("%%", "%"))
    sql.execute("ANALYZE bag")

    def plan(statement):
        return "\n".join(line for (line,) in sql.execute(f"EXPLAIN {statement}"))

    grouped = "SELECT item, count(*) FROM bag GROUP BY item"
    assert "HashAggregate" in plan(grouped)
    assert sorted(count for _, count in sql.execute(grouped)) == [40] * 50
    assert sql.execute("SELECT count(*) FROM (SELECT DISTINCT item FROM bag) AS d").fetchone() == (50,)
    joined = "SELECT count(*) FROM bag AS a JOIN bag AS b ON a.item = b.item"
    assert "Hash Join" in plan(joined)
    assert sql.execute(joined).fetchone() == (50 * 40 * 40,)
    assert sql.execute("SELECT count(*) FROM bag WHERE item = (SELECT item FROM bag WHERE n = 7)").fetchone() == (40,)
    assert sql.execute("SELECT count(*) FROM bag WHERE item <> (SELECT item FROM bag WHERE n = 7)").fetchone() == (1960,)
    sql.execute("DROP TABLE bag")


def test_hash_partitioning_uses_the_extended_hash(sql):
    sql.execute("CREATE TABLE parts (item ddb.item) PARTITION BY HASH (item)")
    for remainder in range(4):
        sql.execute(f"CREATE TABLE parts_{remainder} PARTITION OF parts "
                    f"FOR VALUES WITH (MODULUS 4, REMAINDER {remainder})")
    sql.execute("""INSERT INTO parts SELECT json_build_object('n', json_build_object('N', n::text))::ddb.item
                   FROM generate_series(1, 200) AS n""")
    counts = [sql.execute(f"SELECT count(*) FROM parts_{remainder}").fetchone()[0] for remainder in range(4)]
    assert sum(counts) == 200 and min(counts) > 10
    sql.execute("DROP TABLE parts")


def size(value):
    """An attribute value's size: behaviour/items §size."""
    ((kind, inner),) = value.items()
    match kind:
        case "S":
            return len(inner.encode())
        case "BOOL" | "NULL":
            return 1
        case "L":
            return 3 + sum(1 + size(element) for element in inner)
        case "M":
            return 3 + sum(1 + len(name.encode()) + size(element) for name, element in inner.items())
        case "SS":
            return sum(len(text.encode()) for text in inner)
    raise AssertionError(kind)


@pytest.mark.parametrize("value", [
    {"a": {"S": "x"}}, {"ä": {"S": "𝄞"}}, {"a": {"BOOL": True}, "b": {"NULL": True}}, {"a": {"SS": ["x", "yy"]}},
    {"a": {"L": [{"S": "x"}, {"BOOL": False}]}}, {"a": {"M": {"k": {"S": "v"}}}}, {"a": {"L": []}, "b": {"M": {}}},
])
def test_item_size(sql, value):
    expected = sum(len(name.encode()) + size(inner) for name, inner in value.items())
    assert sql.execute("SELECT ddb.item_size(%s::ddb.item)", [item(value)]).fetchone() == (expected,)


def test_large_items_are_stored_out_of_line_and_answer_the_same(sql):
    noise = random.Random(5)
    text = "".join(noise.choice("abcdefghijklmnopqrstuvwxyz0123456789") for _ in range(300_000))
    value = {"pk": {"S": "big"}, "text": {"S": text}, "pad": {"S": "p" * 99_000}, "n": {"N": "7"}}
    for storage in ("EXTENDED", "EXTERNAL"):
        sql.execute("CREATE TEMP TABLE large (item ddb.item)")
        sql.execute(f"ALTER TABLE large ALTER item SET STORAGE {storage}")
        sql.execute("INSERT INTO large VALUES (%s)", [item(value)])
        number, whole, bytes_, equal, has, distinct = sql.execute(
            """SELECT item ->> 'n', item ->> 'text', ddb.item_size(item), item = %s::ddb.item, ddb.item_has(item, 'pad'),
                      (SELECT count(*) FROM (SELECT DISTINCT item FROM large) AS d) FROM large""",
            [item(value)]).fetchone()
        assert (number, whole, equal, has, distinct) == ("7", text, True, True, 1)
        # Names 2 + 4 + 3 + 1, values 3 + 300,000 + 99,000, the number 2.
        assert bytes_ == 10 + 3 + 300_000 + 99_000 + 2
        sql.execute("DROP TABLE large")


def test_items_in_types_made_of_items(sql):
    row = sql.execute("""SELECT ARRAY['{"a":{"S":"x"}}', '{"b":{"N":"1"}}']::ddb.item[] @> ARRAY['{"b":{"N":"1.0"}}']::ddb.item[],
                         ROW('{"a":{"S":"x"}}'::ddb.item)::text""").fetchone()
    assert row == (True, '("{""a"":{""S"":""x""}}")')
    sql.execute("CREATE TEMP TABLE defaults (item ddb.item DEFAULT '{}')")
    sql.execute("INSERT INTO defaults DEFAULT VALUES")
    assert sql.execute("SELECT item::text FROM defaults").fetchone() == ("{}",)


PROBE = """
CREATE FUNCTION pg_temp.probe(bytes bytea) RETURNS text[] LANGUAGE plpgsql AS $$
DECLARE
    states text[] := '{}';
    statement text;
BEGIN
    FOREACH statement IN ARRAY ARRAY[
        'SELECT ($1::ddb.item)::text',
        'SELECT ddb.item_send($1::ddb.item)',
        'SELECT ddb.item_size($1::ddb.item)',
        'SELECT ddb.item_has($1::ddb.item, ''a'')',
        'SELECT $1::ddb.item -> ''a''',
        'SELECT $1::ddb.item ->> ''pk''',
        'SELECT $1::ddb.item = ''{"a":{"S":"x"}}''',
        'SELECT $1::ddb.item <> $1::ddb.item',
        'SELECT ddb.item_hash($1::ddb.item)',
        'SELECT ddb.item_hash_extended($1::ddb.item, 1)',
        'SELECT ($1::ddb.item)::json',
        'SELECT ($1::ddb.item)::jsonb',
        'SELECT ddb.matches($1::ddb.item, ''attribute_exists(a) AND size(l) > l[0]'')',
        'SELECT ddb.matches(''{}'', ''a = :a'', NULL, $1::ddb.item)',
        'SELECT ddb.apply_update($1::ddb.item, ''SET z = if_not_exists(a, l) REMOVE m.a'')',
        'SELECT ddb.apply_update(''{}'', ''SET z = :a'', NULL, $1::ddb.item)',
        'SELECT ddb.project($1::ddb.item, ''a, m.a, l[0]'')',
        'SELECT ddb.get(''Fuzz'', $1::ddb.item)',
        'SELECT ddb.put(''Fuzz'', $1::ddb.item)',
        'SELECT ddb.put(''Fuzz'', ''{"pk":{"S":"x"}}'', ''pk = :a'', NULL, $1::ddb.item)',
        'SELECT ddb.update(''Fuzz'', $1::ddb.item, ''SET z = pk'')',
        'SELECT ddb.update(''Fuzz'', ''{"pk":{"S":"x"}}'', ''SET z = :a'', NULL, NULL, $1::ddb.item)',
        'SELECT ddb.delete(''Fuzz'', $1::ddb.item)',
        'SELECT count(*) FROM ddb.query_items(''Fuzz'', ''pk = :a'', NULL, $1::ddb.item)'
    ] LOOP
        BEGIN
            EXECUTE statement USING bytes;
            states := states || 'ok'::text;
        EXCEPTION WHEN OTHERS THEN
            states := states || SQLSTATE::text;
        END;
    END LOOP;
    RETURN states;
END $$"""


def mutations(seeds, count):
    """Deterministic: bytes flipped, cut, doubled, swapped between seeds, and plain noise."""
    noise = random.Random(20)
    for number in range(count):
        if number % 8 == 0:
            yield noise.randbytes(noise.randrange(0, 200))
            continue
        bytes_ = bytearray(noise.choice(seeds))
        for _ in range(noise.choice((1, 1, 1, 2, 5))):
            at = noise.randrange(len(bytes_)) if bytes_ else 0
            match noise.randrange(6):
                case 0 if bytes_:
                    bytes_[at] ^= 1 << noise.randrange(8)
                case 1 if bytes_:
                    bytes_[at] = noise.choice((0, 1, 0x7F, 0x80, 0xFF))
                case 2:
                    del bytes_[at:at + noise.randrange(1, 9)]
                case 3:
                    bytes_[at:at] = bytes_[at:at + noise.randrange(1, 17)]
                case 4:
                    other = noise.choice(seeds)
                    bytes_[at:] = other[noise.randrange(len(other)):]
                case 5 if len(bytes_) >= 4:
                    bytes_[at:at + 4] = noise.choice((0, 1, 0x7FFFFFFF, 0xFFFFFFFF)).to_bytes(4, noise.choice(("big", "little")))
        yield bytes(bytes_)


def test_corrupt_bytes_never_crash_the_server(sql):
    """2,000 byte strings that are hardly ever items, through everything that takes one."""
    sql.execute(PROBE)
    sql.execute("""SELECT ddb.create_table('{"TableName":"Fuzz","BillingMode":"PAY_PER_REQUEST",
        "AttributeDefinitions":[{"AttributeName":"pk","AttributeType":"S"}],
        "KeySchema":[{"AttributeName":"pk","KeyType":"HASH"}]}')""")
    backend = sql.info.backend_pid
    seeds = [sql.execute("SELECT (%s::ddb.item)::bytea", [item(value)]).fetchone()[0] for value in [
        EVERYTHING, {}, {"a": {"S": "x"}}, {"pk": {"S": "k"}}, {":a": {"S": "k"}},
        {"pk": {"S": "k"}, "l": {"L": [{"N": "1"}, {"L": [{"L": [{"M": {"a": {"S": "x"}}}]}]}]}, "m": {"M": {"a": {"B": "AA=="}}}},
        {"pk": {"S": "k" * 200}, "ns": {"NS": ["1", "-22", "333.5"]}, "n": {"N": "-0.001"}, "big": {"S": "y" * 3000}},
    ]]
    allowed = {"ok", "XX001", "22P05"}
    faults, accepted = [], 0
    for number, bytes_ in enumerate(mutations(seeds, 2_000)):
        states = sql.execute("SELECT pg_temp.probe(%s)", [bytes_], prepare=True).fetchone()[0]
        unexpected = {state for state in states if state not in allowed and not state.startswith("DD0")}
        valid = states[0] == "ok"
        # What one function takes for an item all do, and nothing that is none comes in.
        if unexpected or (states[10] == "ok") != valid or (states[1] == "ok") != valid or (states[18] == "ok" and not valid):
            faults.append((number, bytes_.hex(), states))
        elif valid:
            accepted += 1
            sent, again = sql.execute(
                "SELECT ddb.item_send(i), (i::text::ddb.item)::bytea FROM (SELECT %s::bytea::ddb.item AS i) AS s",
                [bytes_]).fetchone()
            if sent != again:
                faults.append((number, bytes_.hex(), "accepted, but not canonical"))
    assert faults == []
    assert 0 < accepted < 1_000
    assert sql.info.backend_pid == backend
    stored = sql.execute("SELECT count(*), count(i::text::ddb.item) FROM ddb.items('Fuzz') AS i").fetchone()
    assert stored[0] == stored[1]


def test_fuzzed_bytes_through_receive(sql):
    sql.execute("CREATE TEMP TABLE copied (item ddb.item)")
    seed = sql.execute("SELECT (%s::ddb.item)::bytea", [item(EVERYTHING)]).fetchone()[0]
    for bytes_ in mutations([seed], 300):
        try:
            copy_in(sql, [bytes_])
        except psycopg.Error as error:
            assert error.sqlstate == "22P03", bytes_.hex()
    # What was let in must survive its text form, or a dump of it could not be restored.
    assert sql.execute("SELECT count(*) FROM copied WHERE item::text::ddb.item <> item").fetchone() == (0,)
    sql.execute("DROP TABLE copied")
