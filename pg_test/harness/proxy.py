"""The proxy as a process, and clients for it."""

import http.client
import json
import os
import re
import socket
import subprocess
from pathlib import Path

import boto3
from botocore.config import Config

from .cluster import wait_until
from .stores import Postgres

ROOT = Path(__file__).resolve().parents[2]
BINARY = ROOT / os.environ.get("CARGO_TARGET_DIR", "target") / "debug" / "extenddb"
ACCESS_KEY = "AKIDEXAMPLE"
SECRET_KEY = "wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY"
REGION = "us-east-1"
START_SECONDS = 60
LISTENING = re.compile(r'listening address="?127\.0\.0\.1:(\d+)')


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


class Proxy:
    """`store` is one of harness.stores, or a connection string of PostgreSQL; `environment` adds to the variables of the
    process, or replaces them; `prefix` is a command that becomes the proxy."""

    def __init__(self, store, log, auth="strict", arguments=(), environment={}, prefix=()):
        store = Postgres(store) if isinstance(store, str) else store
        self.log = Path(log)
        self._log_starts_at = self.log.stat().st_size if self.log.exists() else 0
        variables = {
            "PATH": os.environ["PATH"],
            "AWS_ACCESS_KEY_ID": ACCESS_KEY,
            "AWS_SECRET_ACCESS_KEY": SECRET_KEY,
            **environment,
        }
        command = [*prefix, str(BINARY), "serve", "--listen", "127.0.0.1:0", *store.arguments, "--auth", auth, *arguments]
        with open(self.log, "ab") as out:
            self.process = subprocess.Popen(command, env=variables, stdin=subprocess.DEVNULL, stdout=out, stderr=out,
                                            start_new_session=True)
        self.port = int(wait_until(self._listening, START_SECONDS, f"the proxy listens; see {self.log}"))
        wait_until(self._is_ready, START_SECONDS, f"the proxy is healthy; see {self.log}")

    def output(self):
        """What it has logged."""
        return self.log.read_bytes()[self._log_starts_at:].decode(errors="replace")

    def _listening(self):
        found = LISTENING.search(self.output())
        if self.process.poll() is not None:
            raise RuntimeError(f"the proxy ended with {self.process.returncode}: {self.output()}")
        return found and found[1]

    def _is_ready(self):
        if self.process.poll() is not None:
            raise RuntimeError(f"the proxy ended with {self.process.returncode}: {self.output()}")
        connection = self.connect()
        try:
            connection.request("GET", "/health")
            return connection.getresponse().status == 200
        except OSError:
            return False
        finally:
            connection.close()

    @property
    def host(self):
        return f"127.0.0.1:{self.port}"

    @property
    def endpoint(self):
        return f"http://{self.host}"

    def connect(self):
        return http.client.HTTPConnection("127.0.0.1", self.port, timeout=60)

    def sdk_environment(self):
        """The variables by which any AWS SDK or tool finds this server and nothing else."""
        return {
            "PATH": os.environ["PATH"],
            "AWS_ENDPOINT_URL_DYNAMODB": self.endpoint,
            "AWS_ACCESS_KEY_ID": ACCESS_KEY,
            "AWS_SECRET_ACCESS_KEY": SECRET_KEY,
            "AWS_REGION": REGION,
            "AWS_DEFAULT_REGION": REGION,
            "AWS_EC2_METADATA_DISABLED": "true",
            "AWS_CONFIG_FILE": os.devnull,
            "AWS_SHARED_CREDENTIALS_FILE": os.devnull,
        }

    def client(self, **settings):
        return boto3.client("dynamodb", **self._arguments(**settings))

    def resource(self, **settings):
        return boto3.resource("dynamodb", **self._arguments(**settings))

    def _arguments(self, **settings):
        # One attempt: a retry would hide a fault.
        config = Config(retries={"mode": "standard", "total_max_attempts": 1}, max_pool_connections=64, **settings)
        return dict(endpoint_url=self.endpoint, region_name=REGION, aws_access_key_id=ACCESS_KEY,
                    aws_secret_access_key=SECRET_KEY, config=config)

    def refuses(self):
        """Whether it accepts no connection any more. One that the listener's end met in its queue is reset: ask again."""
        try:
            socket.create_connection(("127.0.0.1", self.port)).close()
        except ConnectionRefusedError:
            return True
        except ConnectionResetError:
            pass
        return False

    def call(self, operation, body, connection=None):
        """Sends an unsigned request (for `--auth none`); answers status and the decoded body."""
        own = connection is None
        connection = connection or self.connect()
        text = body if isinstance(body, (str, bytes)) else json.dumps(body)
        if isinstance(text, str):
            text = text.encode()
        headers = {"Content-Type": "application/x-amz-json-1.0", "X-Amz-Target": f"DynamoDB_20120810.{operation}"}
        connection.request("POST", "/", text, headers)
        answer = connection.getresponse()
        payload = answer.read()
        if own:
            connection.close()
        return answer.status, json.loads(payload) if payload else None

    def stop(self):
        """Ends it as a service does, with the requests it has begun."""
        if self.process.poll() is None:
            self.process.terminate()
            try:
                self.process.wait(60)
            except subprocess.TimeoutExpired:
                self.process.kill()
                self.process.wait()
                raise

    def kill(self):
        """kill -9: a crash."""
        self.process.kill()
        self.process.wait()
