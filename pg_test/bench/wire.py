"""The proxy as a process, and wrk in front of it."""

import datetime
import hashlib
import hmac
import http.client
import json
import random
import re
import socket
import subprocess
import time
from pathlib import Path

from measured import Measured
from workload import ITEMS, item

ACCESS_KEY = "AKIDEXAMPLE"
SECRET_KEY = "wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY"
REQUESTS = 5_000


def put(key):
    return "PutItem", f'{{"TableName":"Items","Item":{item(key, random.randint(1, 1000))}}}'


def get(key):
    return "GetItem", f'{{"TableName":"Items","Key":{{"pk":{{"S":"user#{key}"}}}}}}'


def update(key):
    return "UpdateItem", json.dumps({
        "TableName": "Items", "Key": {"pk": {"S": f"user#{key}"}}, "UpdateExpression": "SET visits = :v",
        "ConditionExpression": "active = :a",
        "ExpressionAttributeValues": {":a": {"BOOL": True}, ":v": {"N": str(random.randint(1, 1000))}}},
        separators=(",", ":"))


class Proxy:
    def __init__(self, binary, server, auth, durable, arguments=(), before=()):
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            self.port = probe.getsockname()[1]
        environment = server.environment | {"AWS_ACCESS_KEY_ID": ACCESS_KEY, "AWS_SECRET_ACCESS_KEY": SECRET_KEY}
        self.process = subprocess.Popen(
            [*before, binary, "serve", "--backend", "postgres", "--listen", f"127.0.0.1:{self.port}", "--auth", auth, "--log", "warn",
             "--synchronous-commit", "durable" if durable else "off", *arguments], env=environment)
        for _ in range(600 if before else 100):
            try:
                connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=5)
                connection.request("GET", "/health")
                if connection.getresponse().status == 200:
                    return
            except OSError:
                time.sleep(0.05)
        raise SystemExit("the proxy is not ready")

    def resident_mb(self):
        return self._memory_mb("VmRSS")

    def peak_resident_mb(self):
        return self._memory_mb("VmHWM")

    def _memory_mb(self, what):
        status = Path(f"/proc/{self.process.pid}/status").read_text()
        return int(re.search(rf"{what}:\s+(\d+)", status).group(1)) / 1024

    def stop(self):
        self.process.terminate()
        self.process.wait(40)


# What wrk's own report rounds.
DONE = """function done(summary, latency)
    io.write(string.format("measured %.0f %.0f %.0f %.0f %.0f\\n", summary.requests, summary.duration,
        latency:percentile(50), latency:percentile(99), latency:percentile(99.9)))
end
"""
SEED = "function init() math.randomseed(tonumber(tostring(wrk.thread):match('0x(%x+)') or '1', 16)) end\n"


def wrk(script, port, connections, seconds):
    """Every answer must be a success."""
    command = ["wrk", "-t", min(connections, 2), "-c", connections, "-d", f"{seconds}s", "--timeout", "20s", "-s", script,
               f"http://127.0.0.1:{port}/"]
    report = subprocess.run(list(map(str, command)), capture_output=True, text=True, check=True).stdout
    if "Non-2xx" in report or "Socket errors" in report:
        raise SystemExit(f"{Path(script).stem}, {connections} connections: {report}")
    answers, duration_us, *latencies_us = map(int, re.search(r"^measured (.*)$", report, re.MULTILINE).group(1).split())
    return Measured(answers / duration_us * 1e6, answers, *(us / 1000 for us in latencies_us))


class Load:
    """Signed requests for random keys, made beforehand: wrk only sends them, in a random order."""

    def __init__(self, make, port, directory):
        self.port = port
        self.script = Path(directory) / f"{make.__name__}-{port}.lua"
        host = f"127.0.0.1:{port}"
        requests = [signed(host, *make(random.randint(1, ITEMS))) for _ in range(REQUESTS)]
        with open(self.script, "w") as lua:
            lua.write("local raw = {\n")
            lua.writelines(f"{json.dumps(text)},\n" for text in requests)
            lua.write(f"}}\nlocal count = #raw\n{SEED}{DONE}function request() return raw[math.random(count)] end\n")

    def run(self, connections, seconds):
        """Answers a second."""
        return wrk(self.script, self.port, connections, seconds).rate


# What a body may hold for wrk to fill in as it sends: a key's number, so much above the one that is drawn (`number_above`),
# and a token that no other request has. Both are as long as what comes in their place.
TOKEN = "~" * 36
DRAWN = re.compile(r"~{36}|~\d{5}")


def number_above(offset):
    return f"~{offset:05}"


def drawing_script(path, bodies, operation, first, last):
    """Requests with numbers drawn from `first` to `last`, of six digits, at each request. Signatures are complete, but made
    for other numbers: for servers that don't verify them."""
    with open(path, "w") as lua:
        lua.write("local templates = {\n")
        for body in bodies:
            text = signed("127.0.0.1", operation, body)
            parts, end = [], 0
            for place in DRAWN.finditer(text):
                parts += [json.dumps(text[end:place.start()]), "true" if place[0] == TOKEN else str(int(place[0][1:]))]
                end = place.end()
            lua.write(f"{{{','.join([*parts, json.dumps(text[end:])])}}},\n")
        lua.write(f"""}}
local count, sent, prefix = #templates, 0, nil
{SEED}function request()
    prefix = prefix or string.format("%08x-%08x-", math.random(0, 0x7fffffff), os.time())
    local drawn, parts = math.random({first}, {last}), {{}}
    for place, part in ipairs(templates[math.random(count)]) do
        if part == true then
            sent = sent + 1
            parts[place] = prefix .. string.format("%018d", sent)
        else
            parts[place] = type(part) == "number" and drawn + part or part
        end
    end
    return table.concat(parts)
end
{DONE}""")
    return path


def get_root_script(path):
    """`GET /`, which no database is asked for."""
    path.write_text(DONE)
    return path


class Caller:
    """A connection for one request after the other."""

    def __init__(self, port, timeout_s=60):
        self.port = port
        self.connection = http.client.HTTPConnection("127.0.0.1", port, timeout=timeout_s)

    def __call__(self, operation, body):
        """The answer's body; `body` is JSON as text or to be made text."""
        status, payload = self.answer(operation, body if isinstance(body, str) else json.dumps(body))
        if status != 200:
            raise SystemExit(f"{operation}: {status} {payload}")
        return json.loads(payload)

    def answer(self, operation, body):
        head, _, text = signed(f"127.0.0.1:{self.port}", operation, body).partition("\r\n\r\n")
        headers = dict(line.split(": ", 1) for line in head.split("\r\n")[1:])
        self.connection.request("POST", "/", text.encode(), headers)
        answer = self.connection.getresponse()
        return answer.status, answer.read()


def signed(host, operation, body):
    """A request as an AWS SDK writes it, with Signature Version 4."""
    now = datetime.datetime.now(datetime.timezone.utc)
    stamp, day = now.strftime("%Y%m%dT%H%M%SZ"), now.strftime("%Y%m%d")
    headers = {"content-type": "application/x-amz-json-1.0", "host": host, "x-amz-date": stamp,
               "x-amz-target": f"DynamoDB_20120810.{operation}"}
    names = ";".join(headers)
    canonical = "\n".join(["POST", "/", "", *(f"{name}:{value}" for name, value in headers.items()), "", names,
                           hashlib.sha256(body.encode()).hexdigest()])
    scope = f"{day}/us-east-1/dynamodb/aws4_request"
    text = "\n".join(["AWS4-HMAC-SHA256", stamp, scope, hashlib.sha256(canonical.encode()).hexdigest()])
    key = ("AWS4" + SECRET_KEY).encode()
    for part in (day, "us-east-1", "dynamodb", "aws4_request", text):
        key = hmac.new(key, part.encode(), hashlib.sha256).digest()
    authorization = (f"AWS4-HMAC-SHA256 Credential={ACCESS_KEY}/{scope}, SignedHeaders={names}, Signature={key.hex()}")
    lines = ["POST / HTTP/1.1", *(f"{name}: {value}" for name, value in headers.items()),
             f"authorization: {authorization}", f"content-length: {len(body)}", "", body]
    return "\r\n".join(lines)


def idle_connections(port, count):
    """Connections that have asked for something once and are kept open."""
    operation, body = get(1)
    request = signed(f"127.0.0.1:{port}", operation, body).encode()
    connections = []
    for _ in range(count):
        connection = socket.create_connection(("127.0.0.1", port), timeout=10)
        connection.sendall(request)
        connection.recv(65536)
        connections.append(connection)
    return connections
