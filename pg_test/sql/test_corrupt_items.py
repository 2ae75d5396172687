"""Bytes that come in as ddb.item and are none: an error each, and the backend goes on. What is accepted is canonical."""

import json
import random
import struct

import psycopg
import pytest
from psycopg.adapt import Dumper
from psycopg.pq import Format
from psycopg.types import TypeInfo

SAMPLES = [
    {},
    {"pk": {"S": "a"}},
    {"n": {"N": "12345678901234567890123456789012345678"}, "z": {"N": "0"}, "m": {"N": "-0.5"}},
    {"b": {"B": "AQID"}, "t": {"BOOL": True}, "f": {"BOOL": False}, "u": {"NULL": True}},
    {"bs": {"BS": ["AQ==", "Ag==", ""]}, "ns": {"NS": ["-1", "0", "2.5"]}, "ss": {"SS": ["", "a", "ü"]}},
    {"l": {"L": [{"S": "x"}, {"L": []}, {"M": {}}, {"M": {"a": {"L": [{"N": "1"}]}}}]},
     "m": {"M": {"inner": {"N": "-0.5"}, "ü": {"NULL": True}}}, "s": {"S": "a\"\\\n\x01é𐍈"}},
    # A large value stands behind the small ones; many attributes make the wide form.
    {"a": {"S": "x" * 600}, "b": {"N": "1"}, "c": {"B": "QUJD" * 300}, "d": {"S": "y"}},
    {f"attribute-{n:04}": {"S": "v" * 60} for n in range(1100)},
]


class Bytes:
    """The binary form of an item, whatever it holds."""

    def __init__(self, data):
        self.data = data


@pytest.fixture
def accepted(sql):
    """Sends bytes as a binary parameter; answers what they are, or None if they are refused."""
    oid = TypeInfo.fetch(sql, "ddb.item").oid

    class AsItem(Dumper):
        format = Format.BINARY

        def dump(self, obj):
            return obj.data

    AsItem.oid = oid
    sql.adapters.register_dumper(Bytes, AsItem)
    cursor = sql.cursor(binary=True)

    def send(data):
        try:
            cursor.execute(
                "SELECT i, i::text, ddb.item_size(i), i::text::ddb.item, i -> 'pk', i::json, ddb.item_has(i, 'n') "
                "FROM (SELECT %s) AS t(i)", [Bytes(data)])
        except psycopg.errors.InvalidBinaryRepresentation:
            return None
        return cursor.fetchone()

    return send


def binary_form(sql, item):
    return bytes(sql.cursor(binary=True).execute("SELECT %s::ddb.item", [json.dumps(item)]).fetchone()[0])


def mutated(good, chance):
    """One to three changes: bits, bytes, ends, lengths that lie, huge counts, stretches doubled or swapped."""
    data = bytearray(good)
    for _ in range(chance.randint(1, 3)):
        at = chance.randrange(len(data) + 1)
        # Heads and directories are where bytes mean the most.
        if chance.random() < 0.5:
            at = min(at, chance.randrange(40))
        match chance.randrange(9):
            case 0 if at < len(data):
                data[at] ^= 1 << chance.randrange(8)
            case 1 if at < len(data):
                data[at] = chance.randrange(256)
            case 2:
                del data[at:]
            case 3:
                data[at:at] = chance.randbytes(chance.randint(1, 5))
            case 4:
                del data[at:at + chance.randint(1, 5)]
            case 5:
                huge = chance.choice([b"\xff\xff", b"\xff\xff\xff\xff", b"\x7f\xff\xff\xff", b"\xff\xff\xff\xff\x0f", b"\x80\x00"])
                data[at:at + len(huge)] = huge
            case 6:
                value = chance.choice([0, 1, len(data), len(data) - 1, len(data) + 1])
                data[at:at + 4] = struct.pack(">I", max(value, 0))
            case 7:
                end = at + chance.randint(1, 20)
                data[at:at] = data[at:end]
            case _:
                other = chance.randrange(len(data) + 1)
                low, high = min(at, other), max(at, other)
                data = data[:low] + data[high:] + data[low:high]
    return bytes(data)


def backend(sql):
    return sql.execute("SELECT pg_backend_pid()").fetchone()[0]


def test_mutated_items_are_refused_or_canonical(sql, accepted):
    chance = random.Random(20261130)
    before = backend(sql)
    taken = 0
    for sample in SAMPLES:
        good = binary_form(sql, sample)
        assert accepted(good)[0] == good
        for _ in range(500):
            data = mutated(good, chance)
            found = accepted(data)
            if found is None:
                continue
            taken += 1
            as_sent, text, size, read_again, *_ = found
            assert as_sent == data
            # One form: what the text says is written as these bytes and no others.
            assert read_again == data
            assert size == struct.unpack(">I", data[1:5])[0]
            json.loads(text)
    assert taken > 50, "the changes were too wild to say anything of what is accepted"
    assert backend(sql) == before


def test_every_prefix_and_every_bit(sql, accepted):
    before = backend(sql)
    for sample in SAMPLES[:6]:
        good = binary_form(sql, sample)
        for length in range(len(good)):
            assert accepted(good[:length]) is None
        for bit in range(len(good) * 8):
            data = bytearray(good)
            data[bit // 8] ^= 1 << bit % 8
            found = accepted(bytes(data))
            assert found is None or found[3] == bytes(data)
    assert backend(sql) == before


def item_of(value, size_bytes, wide):
    """An item of one attribute `a`, with a size as told."""
    number = ">I" if wide else ">H"
    head = bytes([0x81 if wide else 1]) + struct.pack(">I", size_bytes) + struct.pack(number, 1)
    return head + struct.pack(number, 1) + struct.pack(number, 0) + b"a" + value


def nested(levels):
    """That many lists around a NULL."""
    value = b"\x00"
    for _ in range(levels):
        value = b"\x09" + struct.pack(">I", len(value)) + value
    return value


@pytest.mark.parametrize("levels, fits", [(0, True), (31, True), (32, False), (100, False), (3_000, False)])
def test_nesting(sql, accepted, levels, fits):
    data = item_of(nested(levels), 1 + 4 * levels + 1, wide=False)
    assert (accepted(data) is not None) == fits


def test_nesting_that_would_end_the_stack(sql, accepted):
    before = backend(sql)
    # Written from the outside in: each list holds all that follows.
    levels = 200_000
    total = 5 * levels + 1
    value = b"".join(b"\x09" + struct.pack(">I", total - 5 * (n + 1)) for n in range(levels)) + b"\x00"
    assert accepted(item_of(value, 1 + 4 * levels + 1, wide=True)) is None
    assert backend(sql) == before


@pytest.mark.parametrize("data", [
    b"", b"\x01", b"\x00\x00\x00\x00\x00\x00\x00", b"\x02\x00\x00\x00\x00\x00\x00", b"\xff" * 7, b"\x01" + b"\xff" * 6,
    # Counts and lengths without what they count.
    b"\x81\x00\x00\x00\x00\xff\xff\xff\xff", b"\x81\x00\x00\x00\x00\x80\x00\x00\x00", b"\x01\x00\x00\x00\x00\xff\xff",
    item_of(b"\x04\xff\xff\xff\xff\x0f", 1, wide=False), item_of(b"\x04\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01", 1, wide=False),
    item_of(b"\x09\xff\xff\xff\xff", 4, wide=False), item_of(b"\x0a\x7f\xff\xff\xff", 4, wide=False),
    item_of(b"\x06\x00\x00\x00\x00", 1, wide=False),
    # A size that lies, a length in more bytes than it needs, the wide form where the narrow one does, an unknown type.
    item_of(b"\x00", 3, wide=False), item_of(b"\x04\x81\x00" + b"x", 2, wide=False), item_of(b"\x00", 2, wide=True),
    item_of(b"\x0b", 2, wide=False),
    # Text that is none.
    item_of(b"\x04\x01\xff", 2, wide=False), item_of(b"\x04\x03\xed\xa0\x80", 4, wide=False),
    # A set out of order, and one with a member twice; a number in another form than its own.
    item_of(b"\x06\x00\x00\x00\x04\x01b\x01a", 3, wide=False), item_of(b"\x06\x00\x00\x00\x04\x01a\x01a", 3, wide=False),
    item_of(b"\x03\x02\x82\x01\x00", 3, wide=False), item_of(b"\x03\x02\x82", 3, wide=False),
])
def test_what_is_no_item(accepted, data):
    assert accepted(data) is None


def test_a_refused_item_leaves_what_was_stored(sql, accepted):
    sql.execute("CREATE TEMPORARY TABLE kept (i ddb.item)")
    sql.execute("""INSERT INTO kept VALUES ('{"a":{"S":"x"}}')""")
    with pytest.raises(psycopg.errors.InvalidBinaryRepresentation):
        sql.execute("UPDATE kept SET i = %s", [Bytes(b"\x01\x00")])
    assert sql.execute("SELECT i ->> 'a' FROM kept").fetchone()[0] == "x"
