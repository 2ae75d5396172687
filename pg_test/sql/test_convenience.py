"""ddb.get, put, update, delete, items, query_items, matches, apply_update, project."""

import json

import psycopg
import pytest

from harness.tables import ORDERS, canonical, create_table, index_faults


@pytest.fixture(scope="module", autouse=True)
def tables(cluster, database):
    with cluster.connect(database) as connection:
        create_table(connection, "Orders", ORDERS)
        create_table(connection, "Plain")


def one(sql, statement, *arguments):
    value = sql.execute(statement, arguments).fetchone()[0]
    return json.loads(value) if isinstance(value, str) and value.startswith("{") else value


def test_put_get_update_delete(sql):
    assert one(sql, """SELECT ddb.get('Plain', '{"pk":{"S":"a"}}')""") is None
    assert one(sql, """SELECT ddb.put('Plain', '{"pk":{"S":"a"},"n":{"N":"1"}}')""") is None
    assert one(sql, """SELECT ddb.get('Plain', '{"pk":{"S":"a"}}')""") == {"pk": {"S": "a"}, "n": {"N": "1"}}
    assert one(sql, """SELECT ddb.put('Plain', '{"pk":{"S":"a"},"n":{"N":"2"}}', 'n = :old', NULL,
                                      '{":old":{"N":"1"}}')""") == {"pk": {"S": "a"}, "n": {"N": "1"}}
    assert one(sql, """SELECT ddb.update('Plain', '{"pk":{"S":"a"}}', 'ADD #n :d', 'attribute_exists(pk)',
                                         '{"#n":"n"}', '{":d":{"N":"40"}}')""") == {"pk": {"S": "a"}, "n": {"N": "42"}}
    assert one(sql, """SELECT ddb.delete('Plain', '{"pk":{"S":"a"}}', '#n > :d', '{"#n":"n"}',
                                         '{":d":{"N":"41"}}')""") == {"pk": {"S": "a"}, "n": {"N": "42"}}
    assert one(sql, """SELECT ddb.delete('Plain', '{"pk":{"S":"a"}}')""") is None


def test_named_arguments(sql):
    assert one(sql, """SELECT ddb.put(table_name => 'Plain', item => '{"pk":{"S":"named"}}',
                                      condition => 'attribute_not_exists(pk)')""") is None
    with pytest.raises(psycopg.Error) as raised:
        sql.execute("""SELECT ddb.put(table_name => 'Plain', item => '{"pk":{"S":"named"}}',
                                      condition => 'attribute_not_exists(pk)')""")
    assert raised.value.sqlstate == "DD008"


def test_update_of_nothing_creates_the_item(sql):
    assert one(sql, """SELECT ddb.update('Plain', '{"pk":{"S":"new"}}', 'SET a = :a', expression_values => '{":a":{"S":"x"}}')
                    """) == {"pk": {"S": "new"}, "a": {"S": "x"}}


def fill(sql, name, count=30):
    sql.execute("""SELECT ddb.put('Orders', json_build_object('pk', json_build_object('S', %s::text),
                   'sk', json_build_object('S', lpad(n::text, 5, '0')), 'lk', json_build_object('N', (-n)::text),
                   'g', json_build_object('S', %s || '-g'), 'pad', json_build_object('S', repeat('x', 50000)))::ddb.item)
                   FROM generate_series(1, %s) AS n""", [name, name, count])


def test_items_and_query_items_have_no_pages(sql):
    """More than a megabyte is several pages underneath."""
    fill(sql, "paged", 60)
    assert sql.execute("SELECT count(*) FROM ddb.items('Orders') AS i WHERE i ->> 'pk' = 'paged'").fetchone() == (60,)
    assert sql.execute("SELECT count(*) FROM ddb.items('Orders', 'by-g') AS i WHERE i ->> 'pk' = 'paged'").fetchone() == (60,)

    def sorts(extra=""):
        rows = sql.execute(f"""SELECT i ->> 'sk' FROM ddb.query_items('Orders', 'pk = :p',
                               expression_values => '{{":p":{{"S":"paged"}}}}'{extra}) AS i""")
        return [sort for (sort,) in rows]

    expected = [f"{number:05}" for number in range(1, 61)]
    assert sorts() == expected
    assert sorts(", forward => false") == expected[::-1]
    rows = sql.execute("""SELECT (i ->> 'lk')::int, ddb.item_has(i, 'pad') FROM ddb.query_items('Orders',
                          '#p = :p AND lk BETWEEN :a AND :b', '{"#p":"pk"}',
                          '{":p":{"S":"paged"},":a":{"N":"-12"},":b":{"N":"-10"}}', 'by-lk') AS i""").fetchall()
    assert rows == [(-12, False), (-11, False), (-10, False)]
    rows = sql.execute("""SELECT i ->> 'sk' FROM ddb.query_items('Orders', 'g = :g',
                          expression_values => '{":g":{"S":"paged-g"},":n":{"N":"-3"}}', index_name => 'by-g',
                          filter => 'lk >= :n') AS i""").fetchall()
    assert sorted(rows) == [("00001",), ("00002",), ("00003",)]
    assert index_faults(sql, "Orders") == []


def test_sets_stream(sql):
    """A LIMIT above the function reads no more than it must: one page of some 20 items, not 40."""
    fill(sql, "stream", 40)
    assert sql.execute("SELECT ddb.items('Orders') LIMIT 1").fetchone()
    rows = sql.execute("""SELECT ddb.query_items('Orders', 'pk = :p', expression_values => '{":p":{"S":"stream"}}')
                          ->> 'sk' LIMIT 3""").fetchall()
    assert rows == [("00001",), ("00002",), ("00003",)]
    sql.execute("BEGIN")
    sql.execute("""DECLARE c CURSOR FOR SELECT ddb.query_items('Orders', 'pk = :p',
                   expression_values => '{":p":{"S":"stream"}}') ->> 'sk'""")
    assert sql.execute("FETCH 2 FROM c").fetchall() == [("00001",), ("00002",)]
    assert len(sql.execute("FETCH ALL FROM c").fetchall()) == 38
    sql.execute("COMMIT")


def test_items_join_with_rows(sql):
    sql.execute("CREATE TEMP TABLE customers (name text, email text)")
    sql.execute("INSERT INTO customers VALUES ('join', 'j@example.com'), ('other', 'o@example.com')")
    sql.execute("""SELECT ddb.put('Plain', '{"pk":{"S":"join"},"total":{"N":"12.50"}}')""")
    assert sql.execute("""SELECT email, (i ->> 'total')::numeric FROM ddb.items('Plain') AS i
                          JOIN customers ON name = i ->> 'pk'""").fetchall()[0][0] == "j@example.com"


@pytest.mark.parametrize("condition, values, expected", [
    ("n > :v", {":v": {"N": "4"}}, True),
    ("n > :v", {":v": {"N": "5"}}, False),
    ("attribute_exists(nope)", None, False),
    ("begins_with(s, :v)", {":v": {"S": "he"}}, True),
    ("contains(t, :v)", {":v": {"S": "b"}}, True),
    ("size(s) = :v", {":v": {"N": "5"}}, True),
    ("m.l[1] = :v", {":v": {"BOOL": True}}, True),
])
def test_matches(sql, condition, values, expected):
    stored = {"n": {"N": "5"}, "s": {"S": "hello"}, "t": {"SS": ["a", "b"]},
              "m": {"M": {"l": {"L": [{"N": "1"}, {"BOOL": True}]}}}}
    row = sql.execute("SELECT ddb.matches(%s, %s, NULL, %s)",
                      [json.dumps(stored), condition, values and json.dumps(values)]).fetchone()
    assert row == (expected,)


def test_matches_of_null_is_of_no_item(sql):
    assert sql.execute("SELECT ddb.matches(NULL, 'attribute_not_exists(pk)')").fetchone() == (True,)
    assert sql.execute("SELECT ddb.matches(NULL, 'attribute_exists(pk)')").fetchone() == (False,)


def test_matches_changes_its_expression_from_row_to_row(sql):
    rows = sql.execute("""SELECT ddb.matches('{"n":{"N":"2"}}', c, NULL, v::ddb.item) FROM (VALUES
        ('n = :a', '{":a":{"N":"2"}}'), ('n = :a', '{":a":{"N":"3"}}'), ('n < :a', '{":a":{"N":"3"}}'),
        ('n = :a', '{":a":{"N":"2"}}')) AS v (c, v)""").fetchall()
    assert [row[0] for row in rows] == [True, False, True, True]


def test_apply_update_and_project(sql):
    assert one(sql, """SELECT ddb.apply_update('{"n":{"N":"1"},"l":{"L":[{"S":"a"},{"S":"b"}]}}',
                       'SET #n = #n + :one REMOVE l[0]', '{"#n":"n"}', '{":one":{"N":"1"}}')""") == {
        "n": {"N": "2"}, "l": {"L": [{"S": "b"}]}}
    assert one(sql, """SELECT ddb.apply_update(NULL, 'SET a = :a', NULL, '{":a":{"S":"x"}}')""") == {"a": {"S": "x"}}
    assert one(sql, """SELECT ddb.project('{"a":{"S":"x"},"b":{"M":{"c":{"N":"1"},"d":{"N":"2"}}},"l":{"L":[{"S":"p"},{"S":"q"}]}}',
                       '#a, b.c, l[1], nope', '{"#a":"a"}')""") == {
        "a": {"S": "x"}, "b": {"M": {"c": {"N": "1"}}}, "l": {"L": [{"S": "q"}]}}
    assert one(sql, "SELECT ddb.project(NULL, 'a')") is None


def test_expressions_may_run_in_parallel_workers(sql):
    sql.execute("""CREATE TABLE wide AS SELECT json_build_object('n', json_build_object('N', n::text))::ddb.item AS item
                   FROM generate_series(1, 20000) AS n""")
    sql.execute("ANALYZE wide")
    for setting in ("parallel_setup_cost = 0", "parallel_tuple_cost = 0", "min_parallel_table_scan_size = 0",
                    "max_parallel_workers_per_gather = 2"):
        sql.execute(f"SET {setting}")
    statement = """SELECT count(*) FROM wide WHERE ddb.matches(item, 'n > :x', NULL, '{":x":{"N":"15000"}}')"""
    plan = "\n".join(line for (line,) in sql.execute(f"EXPLAIN {statement}"))
    assert "Gather" in plan
    assert sql.execute(statement).fetchone() == (5000,)
    sql.execute("DROP TABLE wide")


BAD = [
    # what, statement, SQLSTATE, part of the message
    ("no table", """ddb.get('Absent', '{"pk":{"S":"a"}}')""", "DD005", "Requested resource not found"),
    ("null table", """ddb.get(NULL, '{"pk":{"S":"a"}}')""", "22004", "table_name must not be null"),
    ("null key", "ddb.get('Plain', NULL)", "22004", "key must not be null"),
    ("null item", "ddb.put('Plain', NULL)", "22004", "item must not be null"),
    ("null update", """ddb.update('Plain', '{"pk":{"S":"a"}}', NULL)""", "22004", "update_expression must not be null"),
    ("null condition", "ddb.matches('{}', NULL)", "22004", "condition must not be null"),
    ("null projection", "ddb.project('{}', NULL)", "22004", "projection must not be null"),
    ("null key condition", "ddb.query_items('Plain', NULL)", "22004", "key_condition must not be null"),
    ("wrong key", """ddb.get('Plain', '{"x":{"S":"a"}}')""", "DD001", "The provided key element does not match the schema"),
    ("syntax", "ddb.matches('{}', 'a =')", "DD001", "Syntax error"),
    ("undefined value", "ddb.matches('{}', 'a = :a')", "DD001", ":a"),
    ("undefined name", "ddb.project('{}', '#a')", "DD001", "#a"),
    ("unused value", """ddb.matches('{}', 'attribute_exists(a)', NULL, '{":a":{"S":"x"}}')""", "DD001", ":a"),
    ("names no object", """ddb.matches('{}', '#a = #a', '["a"]')""", "DD", ""),
    ("value without colon", """ddb.matches('{}', 'a = a', NULL, '{"a":{"S":"x"}}')""", "DD001", "a"),
    ("update of a missing path", """ddb.apply_update('{}', 'SET a.b = :a', NULL, '{":a":{"S":"x"}}')""", "DD001",
     "The document path provided in the update expression is invalid for update"),
    ("no index", "ddb.items('Orders', 'absent')", "DD001", "The table does not have the specified index: absent"),
    ("no key condition", """ddb.query_items('Plain', 'x = :a', expression_values => '{":a":{"S":"x"}}')""", "DD001", ""),
    ("too large", """ddb.put('Plain', ('{"pk":{"S":"a"},"x":{"S":"' || repeat('x', 410000) || '"}}')::ddb.item)""",
     "DD001", "Item size has exceeded the maximum allowed size"),
]


@pytest.mark.parametrize("call, sqlstate, text", [case[1:] for case in BAD], ids=[case[0] for case in BAD])
def test_bad_input_is_named(sql, call, sqlstate, text):
    with pytest.raises(psycopg.Error) as raised:
        sql.execute(f"SELECT {call}").fetchall()
    assert raised.value.sqlstate.startswith(sqlstate)
    assert text in raised.value.diag.message_primary


def test_faults_do_not_break_the_session(sql):
    for _ in range(3):
        for call in [case[1] for case in BAD]:
            with pytest.raises(psycopg.Error):
                sql.execute(f"SELECT {call}").fetchall()
        assert one(sql, """SELECT ddb.put('Plain', '{"pk":{"S":"still"}}') IS NOT DISTINCT FROM NULL""") in (True, False)


def test_numbers_keep_their_digits_on_the_way(sql):
    digits = "12345678901234567890123456789012345678"
    sql.execute("SELECT ddb.put('Plain', %s)", [json.dumps({"pk": {"S": "digits"}, "n": {"N": digits}})])
    assert sql.execute("""SELECT ddb.get('Plain', '{"pk":{"S":"digits"}}') ->> 'n'""").fetchone() == (digits,)
    item = {"pk": {"S": "digits"}, "n": {"N": digits}}
    assert canonical(one(sql, """SELECT ddb.get('Plain', '{"pk":{"S":"digits"}}')::text""")) == canonical(item)
