"""The proxy as a process, and a client that sees the bytes of its answers."""

import http.client
import json
import os
import signal
import socket
import subprocess
import time
from pathlib import Path

import boto3
from botocore.config import Config

ROOT = Path(__file__).resolve().parents[2]
BINARY = ROOT / os.environ.get("CARGO_TARGET_DIR", "target") / "debug" / "extenddb"
ACCESS_KEY = "AKIDEXAMPLE"
SECRET_KEY = "wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY"


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


class Proxy:
    def __init__(self, conninfo, log, auth="strict", arguments=()):
        self.port = free_port()
        self.log = open(log, "ab")
        environment = {
            "PATH": os.environ["PATH"],
            "AWS_ACCESS_KEY_ID": ACCESS_KEY,
            "AWS_SECRET_ACCESS_KEY": SECRET_KEY,
        }
        command = [str(BINARY), "serve", "--listen", f"127.0.0.1:{self.port}", "--postgres", conninfo,
                   "--auth", auth, *arguments]
        self.process = subprocess.Popen(command, env=environment, stdout=self.log, stderr=self.log)
        self._wait_until_ready()

    def _wait_until_ready(self):
        deadline = time.monotonic() + 30
        while time.monotonic() < deadline:
            if self.process.poll() is not None:
                raise RuntimeError(f"the proxy ended with {self.process.returncode}; see {self.log.name}")
            try:
                connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=5)
                connection.request("GET", "/health")
                if connection.getresponse().status == 200:
                    return
            except OSError:
                pass
        raise RuntimeError(f"the proxy is not ready; see {self.log.name}")

    @property
    def endpoint(self):
        return f"http://127.0.0.1:{self.port}"

    def client(self, **settings):
        return boto3.client("dynamodb", **self._arguments(**settings))

    def resource(self, **settings):
        return boto3.resource("dynamodb", **self._arguments(**settings))

    def _arguments(self, **settings):
        config = Config(retries={"mode": "standard", "total_max_attempts": 1}, max_pool_connections=64, **settings)
        return dict(endpoint_url=self.endpoint, region_name="us-east-1", aws_access_key_id=ACCESS_KEY,
                    aws_secret_access_key=SECRET_KEY, config=config)

    def call(self, operation, body, connection=None):
        """Sends an unsigned request (for `--auth none`); answers status and the decoded body."""
        own = connection is None
        connection = connection or http.client.HTTPConnection("127.0.0.1", self.port, timeout=60)
        text = body if isinstance(body, (str, bytes)) else json.dumps(body)
        headers = {"Content-Type": "application/x-amz-json-1.0", "X-Amz-Target": f"DynamoDB_20120810.{operation}"}
        connection.request("POST", "/", text, headers)
        answer = connection.getresponse()
        payload = answer.read()
        if own:
            connection.close()
        return answer.status, json.loads(payload) if payload else None

    def stop(self):
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGTERM)
            try:
                self.process.wait(30)
            except subprocess.TimeoutExpired:
                self.process.kill()
                raise
        self.log.close()
