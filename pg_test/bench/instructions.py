"""Instructions a call, counted by callgrind in a backend in single-user mode. Noise does not change them: what a change of
the code costs or saves shows where rates only sway.

All calls of a kind are one statement in one transaction; the count is the difference between many of them and few, so
the start of the backend, its caches and the plans of the first call are in neither."""

import re
import subprocess

from workload import document, joined, key_request, put_request

FEW, MANY = 100, 600
KEY, NUMBER = "(n * 37 % 5000 + 1)", "n"


def request(operation, body):
    return f"SELECT count(r.body) FROM generate_series(1, :calls) AS n, ddb.request('{operation}', {body}) AS r"


def requests(operation, body, together):
    """The calls of the proxy: so many requests in each."""
    own = body.replace(KEY, "(m * 37 % 5000 + 1)")
    texts = f"SELECT array_agg('{operation}'::text), array_agg({own}), array_agg('{{}}'::json) FROM generate_series(n, n + {together - 1}) AS m"
    return (f"SELECT count(r.body) FROM generate_series(1, :calls, {together}) AS n, LATERAL ({texts}) AS t(o, b, c), "
            "ddb.requests(t.o, t.b, t.c) AS r")


def plain(statement):
    """As a program in the server would run it, with a plan that is kept."""
    return f"DO $$ DECLARE n int; found_ jsonb; BEGIN FOR n IN 1..:calls LOOP {statement}; END LOOP; END $$"


def transaction(members):
    parts = ['{"TransactItems":[']
    for place in range(members):
        key = f"(n * {members} %% 5000 + {place} + 1)".replace("%%", "%")
        parts += ["," if place else "", '{"Put":{"TableName":"Items","Item":', (document(key, NUMBER),), "}}"]
    return request("TransactWriteItems", joined(*parts, "]}") + "::json")


UPDATE = key_request(KEY, ',"UpdateExpression":"SET visits = :v","ConditionExpression":"active = :a",'
                          '"ExpressionAttributeValues":{":a":{"BOOL":true},":v":{"N":"', (NUMBER,), '"}}')
PUT = put_request(KEY, NUMBER)
GET = key_request(KEY)
STATEMENTS = {
    "the request's text alone": f"SELECT count({PUT}) FROM generate_series(1, :calls) AS n",
    "plain SELECT": plain(f"SELECT item INTO found_ FROM plain WHERE pk = 'user#' || {KEY}"),
    "GetItem": request("GetItem", GET),
    "GetItem, 16 together": requests("GetItem", GET, 16),
    "plain upsert": plain(f"INSERT INTO plain VALUES ('user#' || {KEY}, {document(KEY, NUMBER)}::jsonb) "
                          "ON CONFLICT (pk) DO UPDATE SET item = EXCLUDED.item"),
    "PutItem": request("PutItem", PUT),
    "PutItem, 16 together": requests("PutItem", PUT, 16),
    "UpdateItem on a condition": request("UpdateItem", UPDATE),
    "UpdateItem on a condition, 16 together": requests("UpdateItem", UPDATE, 16),
    "TransactWriteItems of 10 puts": transaction(10),
}


def measure(options, server):
    print("\nInstructions a call (callgrind)\n")
    for name, statement in STATEMENTS.items():
        if options.only and options.only not in name:
            continue
        few, many = (counted(server, statement, calls, options.profile) for calls in (FEW, MANY))
        print(f"{name:45} {(many - few) / (MANY - FEW):>10,.0f}", flush=True)


def counted(server, statement, calls, profile):
    out = server.data / "callgrind.out"
    text = statement.replace(":calls", str(calls))
    report = server.single_user(text, ["valgrind", "--tool=callgrind", f"--callgrind-out-file={out}"])
    if profile and calls == MANY:
        annotated = subprocess.run(["callgrind_annotate", "--inclusive=yes", "--threshold=95", out], capture_output=True,
                                   text=True, check=True).stdout
        for line in annotated.splitlines():
            if match := re.match(r"\s*([\d,]+) \([\s\d.]+%\)\s+(.*)", line):
                each = int(match.group(1).replace(",", "")) / calls
                if each >= 500:
                    print(f"    {each:>10,.0f}  {match.group(2)[:150]}")
    return int(re.search(r"Collected : (\d+)", report).group(1))
