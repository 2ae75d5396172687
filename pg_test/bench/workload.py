"""What is asked of both sides: the same items under the same keys.

Both sides get a document as one string that SQL puts together from the same pieces, since the random values of pgbench
are numbers."""

import re

ITEMS = 100_000
PAGES = 1_000
PAGE_ITEMS = 100

# The item in DynamoDB JSON, up to its key's number, between that and another number, and the rest.
BEFORE_KEY = '{"pk":{"S":"user#'
AFTER_KEY = '"},"email":{"S":"anna.example@mail.example.com"},"name":{"S":"Anna Example"},"visits":{"N":"'
AFTER_NUMBER = (
    '"},"score":{"N":"17.25"},"active":{"BOOL":true},"tags":{"SS":["blue","green","red"]},'
    '"address":{"M":{"street":{"S":"12 Long Road"},"city":{"S":"Springfield"},"zip":{"S":"12345"}}},'
    '"bio":{"S":"Likes long walks, short functions and tables that can be joined with other tables."},'
    '"created":{"S":"2024-05-06T07:08:09Z"}}'
)


def item(key, number):
    return f"{BEFORE_KEY}{key}{AFTER_KEY}{number}{AFTER_NUMBER}"


def joined(*parts):
    """SQL for the parts in a row: strings stand for themselves, one in a tuple is SQL. What pgbench would take for a
    variable inside a string (`:true`) is cut in two."""
    terms = [part[0] if isinstance(part, tuple) else "'" + re.sub(r":(?=[a-z_])", ":' || '", part) + "'" for part in parts]
    return f"({' || '.join(terms)})"


def document(key, number):
    """SQL for an item's document; `key` and `number` are SQL for numbers."""
    return joined(BEFORE_KEY, (key,), AFTER_KEY, (number,), AFTER_NUMBER)


def put_request(key, number):
    return joined('{"TableName":"Items","Item":', (document(key, number),), "}") + "::json"


def key_request(key, *more):
    return joined('{"TableName":"Items","Key":{"pk":{"S":"user#', (key,), '"}}', *more, "}") + "::json"


def call(operation, request):
    """The statement that the proxy sends."""
    return f"SELECT status, body FROM ddb.request('{operation}', {request});"


RANDOM = f"\\set k random(1, {ITEMS})\n\\set n random(1, 1000)\n"

PLAIN_PUT = RANDOM + (f"INSERT INTO plain VALUES ('user#' || :k, {document(':k', ':n')}::jsonb) "
                      "ON CONFLICT (pk) DO UPDATE SET item = EXCLUDED.item;")
PLAIN_GET = RANDOM + "SELECT item FROM plain WHERE pk = 'user#' || :k;"
PUT = RANDOM + call("PutItem", put_request(":k", ":n"))
GET = RANDOM + call("GetItem", key_request(":k"))
PUT_ITEM = RANDOM + f"SELECT ddb.put('Items', {document(':k', ':n')}::ddb.item);"
GET_ITEM = RANDOM + f"""SELECT ddb.get('Items', {joined('{"pk":{"S":"user#', (":k",), '"}}')}::ddb.item);"""
UPDATE = RANDOM + call("UpdateItem", key_request(
    ":k", ',"UpdateExpression":"SET visits = :v","ConditionExpression":"active = :a",'
          '"ExpressionAttributeValues":{":a":{"BOOL":true},":v":{"N":"', (":n",), '"}}'))
PLAIN_UPDATE = RANDOM + (
    "UPDATE plain SET item = jsonb_set(item, '{visits,N}', to_jsonb((:n)::text)) "
    "WHERE pk = 'user#' || :k AND item->'active'->>'BOOL' = 'true';")

MEMBERS_MAX = 25
SPREAD = ITEMS // MEMBERS_MAX
RANDOM_MEMBERS = f"\\set k random(1, {SPREAD})\n\\set n random(1, 1000)\n"


def member_keys(members):
    """SQL for numbers of items, no two the same."""
    return [f"(:k + {place * SPREAD})" for place in range(members)]


def transaction(members, token=True):
    """TransactWriteItems of so many puts, with the token that SDKs send."""
    parts = ['{"TransactItems":[']
    for place, key in enumerate(member_keys(members)):
        parts += ["," if place else "", '{"Put":{"TableName":"Items","Item":', (document(key, ":n"),), "}}"]
    parts.append("]")
    if token:
        parts += [',"ClientRequestToken":"', ("gen_random_uuid()",), '"']
    parts.append("}")
    return RANDOM_MEMBERS + call("TransactWriteItems", joined(*parts) + "::json")


def puts(members):
    """The same items, each by a PutItem and a commit of its own."""
    return RANDOM_MEMBERS + "\n".join(call("PutItem", put_request(key, ":n")) for key in member_keys(members))


def plain_transaction(members):
    upserts = [f"INSERT INTO plain VALUES ('user#' || {key}, {document(key, ':n')}::jsonb) "
               "ON CONFLICT (pk) DO UPDATE SET item = EXCLUDED.item;" for key in member_keys(members)]
    return RANDOM_MEMBERS + "\n".join(["BEGIN;", *upserts, "COMMIT;"])


PAGE = f"\\set p random(1, {PAGES})\n"
PLAIN_QUERY = PAGE + f"SELECT item FROM plain_pages WHERE pk = 'page#' || :p ORDER BY sk LIMIT {PAGE_ITEMS};"
QUERY = PAGE + call("Query", joined(
    '{"TableName":"Pages","KeyConditionExpression":"pk = :k","ExpressionAttributeValues":{":k":{"S":"page#',
    (":p",), '"}}}') + "::json")


def load_items(sql):
    """Those of the table alone that requests through the proxy are for."""
    sql("CREATE EXTENSION extenddb")
    sql("""SELECT ddb.create_table('{"TableName":"Items","BillingMode":"PAY_PER_REQUEST",
        "AttributeDefinitions":[{"AttributeName":"pk","AttributeType":"S"}],
        "KeySchema":[{"AttributeName":"pk","KeyType":"HASH"}]}')""")
    sql(f"SELECT count(ddb.put_item({put_request('k', '0')})) FROM generate_series(1, {ITEMS}) AS k")


def load(sql):
    """The same items on both sides."""
    load_items(sql)
    sql("CREATE TABLE plain (pk text PRIMARY KEY, item jsonb NOT NULL)")
    sql(f"INSERT INTO plain SELECT 'user#' || k, {document('k', '0')}::jsonb FROM generate_series(1, {ITEMS}) AS k")
    sql("CREATE TABLE plain_pages (pk text, sk int, item jsonb NOT NULL, PRIMARY KEY (pk, sk))")
    sql("""SELECT ddb.create_table('{"TableName":"Pages","BillingMode":"PAY_PER_REQUEST",
        "AttributeDefinitions":[{"AttributeName":"pk","AttributeType":"S"},{"AttributeName":"sk","AttributeType":"N"}],
        "KeySchema":[{"AttributeName":"pk","KeyType":"HASH"},{"AttributeName":"sk","KeyType":"RANGE"}]}')""")
    in_page = joined('{"sk":{"N":"', ("s",), '"},"pk":{"S":"page#', ("p",), AFTER_KEY + "0" + AFTER_NUMBER)
    series = f"generate_series(1, {PAGES}) AS p, generate_series(1, {PAGE_ITEMS}) AS s"
    sql(f"INSERT INTO plain_pages SELECT 'page#' || p, s, {in_page}::jsonb FROM {series}")
    request = joined('{"TableName":"Pages","Item":', (in_page,), "}")
    sql(f"SELECT count(ddb.put_item({request}::json)) FROM {series}")
    sql("VACUUM ANALYZE")
    sql("CHECKPOINT")
