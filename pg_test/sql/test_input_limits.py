"""What is too long is refused before it is read into memory that PostgreSQL does not account for."""

import psycopg
import pytest

from harness.tables import PLAIN, create_table

TOO_LONG = 64 * 1024 * 1024 + 1
LONG_TEXT = "repeat('x', %d)" % TOO_LONG


@pytest.mark.parametrize("expression", [
    f"""('{{"a":{{"S":"' || {LONG_TEXT} || '"}}}}')::ddb.item""",
    f"""('{{"a":{{"S":"' || {LONG_TEXT} || '"}}}}')::json::ddb.item""",
    f"""decode({LONG_TEXT}, 'escape')::ddb.item -> 'a'""",
    f"""ddb.request('GetItem', ('"' || {LONG_TEXT} || '"')::json)""",
    f"""ddb.get_item(('"' || {LONG_TEXT} || '"')::json)""",
    f"""ddb.request('ListTables', '{{}}', ('{{"a":"' || {LONG_TEXT} || '"}}')::json)""",
    f"""ddb.matches('{{}}', '#a = #a', ('{{"#a":"' || {LONG_TEXT} || '"}}')::json)""",
], ids=["item", "json-to-item", "bytea-to-item", "request", "operation", "context", "names"])
def test_too_long(sql, expression):
    with pytest.raises(psycopg.errors.ProgramLimitExceeded, match="must not be longer than 64 MB"):
        sql.execute(f"SELECT {expression}")
    assert sql.execute("SELECT 1").fetchone() == (1,)


def test_the_longest_text_of_an_item_goes_in_and_out(sql):
    """A number of two bytes is written with up to 126 digits, so that 400 kB are many megabytes of text in a dump."""
    create_table(sql, "Long", PLAIN)
    sql.execute("""
        SELECT ddb.put('Long', ('{"pk":{"S":"a"},"l":{"L":[' || string_agg('{"N":"1E125"}', ',') || ']}}')::ddb.item)
        FROM generate_series(1, 130000)""")
    length, size_bytes, same = sql.execute("""
        SELECT length(item::text), ddb.item_size(item), item::text::ddb.item = item AND item::json::ddb.item = item
        FROM ddb.items('Long') AS item""").fetchone()
    assert length > 17_000_000 and size_bytes <= 409_600 and same
    # What a function makes of it is a request of its own.
    sql.execute("SELECT ddb.put('Long', item) FROM ddb.items('Long') AS item")
