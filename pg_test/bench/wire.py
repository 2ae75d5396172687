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
        status = Path(f"/proc/{self.process.pid}/status").read_text()
        return int(re.search(r"VmRSS:\s+(\d+)", status).group(1)) / 1024

    def stop(self):
        self.process.terminate()
        self.process.wait(40)


class Load:
    """Signed requests for random keys, made beforehand: wrk only sends them, in a random order."""

    def __init__(self, make, port, directory):
        self.url = f"http://127.0.0.1:{port}/"
        self.script = Path(directory) / f"{make.__name__}-{port}.lua"
        host = f"127.0.0.1:{port}"
        requests = [signed(host, *make(random.randint(1, ITEMS))) for _ in range(REQUESTS)]
        with open(self.script, "w") as lua:
            lua.write("local raw = {\n")
            lua.writelines(f"{json.dumps(text)},\n" for text in requests)
            lua.write("}\nlocal count = #raw\n"
                      "function init() math.randomseed(tonumber(tostring(wrk.thread):match('0x(%x+)') or '1', 16)) end\n"
                      "function request() return raw[math.random(count)] end\n")

    def run(self, connections, seconds):
        """Answers a second; every one of them must be a success."""
        command = ["wrk", "-t", min(connections, 2), "-c", connections, "-d", f"{seconds}s", "-s", self.script, self.url]
        report = subprocess.run(list(map(str, command)), capture_output=True, text=True, check=True).stdout
        if "Non-2xx" in report or "Socket errors" in report:
            raise SystemExit(report)
        return float(re.search(r"Requests/sec:\s+([\d.]+)", report).group(1))


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
    lines = [f"POST / HTTP/1.1", *(f"{name}: {value}" for name, value in headers.items()),
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
