"""What `load` measures: each operation as requests and as the SQL that does the same, on items of 1 KB."""

import random
import string
from dataclasses import dataclass

import wire
from workload import item

FIRST = 100_001  # six digits all, so that every request of an operation has the same length
ITEM_BYTES = 1024
MEMBERS = 10
PAGE_ITEMS = 20
TEMPLATES = 64  # requests whose items have contents of their own


def text(length):
    return "".join(random.choices(string.ascii_letters + " ", k=length))


def item_1k(key):
    """An item of 1 KB of JSON: the other benches' one with a number before and one behind, and a long text."""
    start = f'{{"at":{{"N":"{random.randint(100, 999)}"}},{item(key, random.randint(100, 999))[1:-1]},"notes":{{"S":"'
    end = f'"}},"written_by":{{"N":"{random.randint(100, 999)}"}}}}'
    return start + text(ITEM_BYTES - len(start) - len(end)) + end


def key(drawn):
    return f'{{"pk":{{"S":"user#{drawn}"}}}}'


def put(condition=""):
    return f'{{"TableName":"Items","Item":{item_1k(wire.number_above(0))}{condition}}}'


IF_ACTIVE = ',"ConditionExpression":"active = :a","ExpressionAttributeValues":{":a":{"BOOL":true}}'


def update():
    return (f'{{"TableName":"Items","Key":{key(wire.number_above(0))},"UpdateExpression":"SET visits = :v",'
            f'"ExpressionAttributeValues":{{":v":{{"N":"{random.randint(100, 999)}"}}}}}}')


def get():
    return f'{{"TableName":"Items","Key":{key(wire.number_above(0))}}}'


def query():
    return ('{"TableName":"Pages","KeyConditionExpression":"pk = :k",'
            f'"ExpressionAttributeValues":{{":k":{{"S":"page#{wire.number_above(0)}"}}}}}}')


def transaction(apart):
    """With the token that SDKs send."""
    puts = (f'{{"Put":{{"TableName":"Items","Item":{item_1k(wire.number_above(member * apart))}}}}}' for member in range(MEMBERS))
    return f'{{"TransactItems":[{",".join(puts)}],"ClientRequestToken":"{wire.TOKEN}"}}'


# SQL for pgbench. The document travels as a parameter, as an application's does, and its first and last numbers differ each
# time: of a row that is mostly as it was, PostgreSQL's log has only the difference.
DOCUMENT = "(:before::text || :n::text || :between::text || :n::text || :behind::text)::jsonb"


def document_variables():
    before, rest = item_1k("123456").split('"}', 1)
    between, behind = rest.rsplit('":{"N":"', 1)
    return {"before": before[:-3], "between": '"}' + between + '":{"N":"', "behind": behind[3:]}


def upsert(above="", condition=""):
    return (f"INSERT INTO plain VALUES ('user#' || (:k{above}), {DOCUMENT}) "
            f"ON CONFLICT (pk) DO UPDATE SET item = EXCLUDED.item{condition};")


DRAW = "\\set k random(:first, :last)\n\\set n random(100, 999)\n"
UPSERT = DRAW + upsert()
CONDITIONAL_UPSERT = DRAW + upsert(condition=" WHERE plain.item->'active'->>'BOOL' = 'true'")
UPDATE = DRAW + "UPDATE plain SET item = jsonb_set(item, '{visits,N}', to_jsonb((:n)::text)) WHERE pk = 'user#' || :k;"
SELECT = DRAW + "SELECT item FROM plain WHERE pk = 'user#' || :k;"
SELECT_PAGE = DRAW + f"SELECT item FROM plain_pages WHERE pk = 'page#' || :k ORDER BY sk LIMIT {PAGE_ITEMS};"


def upserts(apart):
    return DRAW + "\n".join(["BEGIN;", *(upsert(f" + {member * apart}") for member in range(MEMBERS)), "COMMIT;"])


@dataclass
class Operation:
    title: str
    name: str
    body: object  # makes a request's body
    templates: int
    plain: str
    reference: str | None  # plain SQL that is run on 16 connections, whatever the others have; for writes
    last: int  # of the numbers that are drawn

    @property
    def writes(self):
        return self.reference is not None


def operations(items):
    apart = items // MEMBERS
    last = FIRST + items - 1
    in_transaction = upserts(apart)
    return [
        Operation("PutItem", "PutItem", put, TEMPLATES, UPSERT, UPSERT, last),
        Operation("conditional PutItem", "PutItem", lambda: put(IF_ACTIVE), TEMPLATES, CONDITIONAL_UPSERT, UPSERT, last),
        Operation("UpdateItem", "UpdateItem", update, TEMPLATES, UPDATE, UPSERT, last),
        Operation("GetItem", "GetItem", get, 1, SELECT, None, last),
        Operation(f"Query of {PAGE_ITEMS} items", "Query", query, 1, SELECT_PAGE, None, FIRST + pages(items) - 1),
        Operation(f"TransactWriteItems of {MEMBERS} Puts", "TransactWriteItems", lambda: transaction(apart), TEMPLATES,
                  in_transaction, in_transaction, FIRST + apart - 1),
    ]


def script(operation, directory):
    """For wrk."""
    return wire.drawing_script(directory / f"{operation.title}.lua", (operation.body() for _ in range(operation.templates)),
                               operation.name, FIRST, operation.last)


def pages(items):
    """A fifth as many items as there are without a sort key."""
    return max(items // 5 // PAGE_ITEMS, 1)


def page_item(page, sort):
    return f'{{"sk":{{"N":"{sort}"}},' + item_1k(page).replace('"user#', '"page#', 1)[1:]


def table(name, sort_key):
    attributes = [("pk", "S", "HASH")] + ([("sk", "N", "RANGE")] if sort_key else [])
    return {"TableName": name, "BillingMode": "PAY_PER_REQUEST",
            "AttributeDefinitions": [{"AttributeName": attribute, "AttributeType": kind} for attribute, kind, _ in attributes],
            "KeySchema": [{"AttributeName": attribute, "KeyType": role} for attribute, _, role in attributes]}


def filling(items):
    """Requests that store everything: transactions of 100, so that a server that flushes each commit is not at it all day."""
    puts = [("Items", item_1k(number)) for number in range(FIRST, FIRST + items)]
    puts += [("Pages", page_item(page, sort)) for page in range(FIRST, FIRST + pages(items)) for sort in range(PAGE_ITEMS)]
    members = [f'{{"Put":{{"TableName":"{name}","Item":{content}}}}}' for name, content in puts]
    return [f'{{"TransactItems":[{",".join(members[first:first + 100])}]}}' for first in range(0, len(members), 100)]


def fill(port, requests):
    call = wire.Caller(port)
    call("CreateTable", table("Items", sort_key=False))
    call("CreateTable", table("Pages", sort_key=True))
    for request in requests:
        call("TransactWriteItems", request)


def fill_plain(sql, items):
    document = "('{before}' || n || '{between}' || n || '{behind}')::jsonb".format(**document_variables())
    number = "CROSS JOIN LATERAL (SELECT 100 + k % 900) AS drawn(n)"
    sql("CREATE TABLE plain (pk text PRIMARY KEY, item jsonb NOT NULL)")
    keys = f"generate_series({FIRST}, {FIRST + items - 1}) AS k"
    sql(f"INSERT INTO plain SELECT 'user#' || k, {document} FROM {keys} {number}")
    sql("CREATE TABLE plain_pages (pk text, sk int, item jsonb NOT NULL, PRIMARY KEY (pk, sk))")
    keys = f"generate_series({FIRST}, {FIRST + pages(items) - 1}) AS k CROSS JOIN generate_series(1, {PAGE_ITEMS}) AS s"
    sql(f"INSERT INTO plain_pages SELECT 'page#' || k, s, {document} FROM {keys} {number}")
