"""The two servers, and the world kept the same in both."""

import http.client
import json
from urllib.parse import urlsplit

from . import world
from .compare import Answer, signature, unordered
from .requests import WRITES

HEADERS = {
    "Content-Type": "application/x-amz-json-1.0",
    # For a server that wants a signature, but does not check it.
    "Authorization": "AWS4-HMAC-SHA256 Credential=AKIDEXAMPLE/20260101/us-east-1/dynamodb/aws4_request, "
    "SignedHeaders=host;x-amz-date;x-amz-target, Signature=0",
    "X-Amz-Date": "20260101T000000Z",
}


class Server:
    def __init__(self, endpoint):
        self.address = urlsplit(endpoint)
        self.connection = None

    def call(self, operation, request):
        """Status and body."""
        for attempt in (1, 2):
            if self.connection is None:
                self.connection = http.client.HTTPConnection(self.address.hostname, self.address.port, timeout=30)
            try:
                self.connection.request(
                    "POST",
                    "/",
                    json.dumps(request).encode(),
                    {**HEADERS, "X-Amz-Target": f"DynamoDB_20120810.{operation}"},
                )
                answer = self.connection.getresponse()
                payload = answer.read()
                break
            except (http.client.HTTPException, OSError) as fault:
                self.connection = None
                if attempt == 2:
                    return 0, {"message": f"no answer: {type(fault).__name__}"}
        try:
            return answer.status, json.loads(payload) if payload else {}
        except ValueError:
            return answer.status, {"message": payload.decode(errors="replace")}

    def ok(self, operation, request):
        status, body = self.call(operation, request)
        if status != 200:
            raise RuntimeError(f"{self.address.netloc}: {operation} {request}: {body}")
        return body

    def create(self, table):
        self.drop(table["TableName"])
        self.ok("CreateTable", table)

    def drop(self, table):
        """Deletes a table that may be there, and protected."""
        name = {"TableName": table}
        status, answer = self.call("DescribeTable", name)
        if status == 200:
            if answer["Table"].get("DeletionProtectionEnabled"):
                self.ok("UpdateTable", {**name, "DeletionProtectionEnabled": False})
            self.ok("DeleteTable", name)

    def write(self, table, items, gone=()):
        requests = [{"PutRequest": {"Item": item}} for item in items]
        requests += [{"DeleteRequest": {"Key": key}} for key in gone]
        for start in range(0, len(requests), 25):
            self.ok("BatchWriteItem", {"RequestItems": {table: requests[start : start + 25]}})

    def items(self, table):
        """What the table holds, by key."""
        return {
            world.identity(table, item): item
            for item in self.ok("Scan", {"TableName": table, "ConsistentRead": True})["Items"]
        }


class Pair:
    """Our server and the oracle, holding the same items."""

    def __init__(self, ours, oracle):
        self.servers = [Server(ours), Server(oracle)]
        self.world = {}
        self.asked = 0
        for server in self.servers:
            for table in world.TABLES:
                server.create(table)

    def fill(self, items):
        """Another world."""
        self.world = items
        for server in self.servers:
            for table, held in items.items():
                self._restore(server, table, server.items(table))

    def _restore(self, server, table, found):
        wanted = self.world[table]
        changed = [
            item for key, item in wanted.items() if found.get(key) is None or unordered(found[key]) != unordered(item)
        ]
        gone = [{name: item[name] for name in world.SCHEMAS[table]} for key, item in found.items() if key not in wanted]
        if changed or gone:
            server.write(table, changed, gone)

    def ask(self, operation, request):
        """The answers of both; of writes, what the tables hold then as well. The world is as before."""
        self.asked += 1
        answers, raw = [], []
        for server in self.servers:
            raw.append(server.call(operation, request))
        after = [{}, {}]
        if operation in WRITES and any(status == 200 for status, _ in raw):
            for number, server in enumerate(self.servers):
                for table in tables_of(request):
                    after[number][table] = server.items(table)
                    self._restore(server, table, after[number][table])
        for (status, body), tables in zip(raw, after):
            answer = Answer(status, body, operation, request)
            if status == 200 and tables:
                answer.body = {
                    **answer.body,
                    "held afterwards": {
                        table: unordered({str(key): item for key, item in held.items()})
                        for table, held in tables.items()
                    },
                }
            answers.append(answer)
        return answers

    def difference(self, operation, request):
        """`None`, or the signature and both answers."""
        ours, oracle = self.ask(operation, request)
        return (signature(operation, ours, oracle), ours, oracle) if ours.differs(oracle) else None


def tables_of(request):
    """The tables that a write may have changed."""
    if "TransactItems" in request:
        members = request["TransactItems"] if isinstance(request["TransactItems"], list) else []
        actions = [action for member in members if isinstance(member, dict) for action in member.values()]
        named = {action.get("TableName") for action in actions if isinstance(action, dict)}
        return sorted(table for table in named if isinstance(table, str) and table in world.SCHEMAS)
    named = (
        request.get("RequestItems")
        if isinstance(request.get("RequestItems"), dict)
        else {request.get("TableName"): None}
    )
    return [table for table in named if table in world.SCHEMAS]
