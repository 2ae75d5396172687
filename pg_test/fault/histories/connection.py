"""HTTP as bare as it goes: there are many requests, and the generator shares the machine with the server."""

import json
import socket
import time

HEAD = ("POST / HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/x-amz-json-1.0\r\n"
        "X-Amz-Target: DynamoDB_20120810.{}\r\nContent-Length: {}\r\n\r\n")


class Connection:
    """One kept connection to a server that wants no signature, where its `port` is now. Lean, for there are many; and a
    request can be left without waiting for its answer."""

    def __init__(self, server, timeout_seconds=60):
        self.server, self.timeout_seconds = server, timeout_seconds
        self.socket = None

    def _connect(self):
        """Waits where nobody listens: it is being started again, perhaps elsewhere. Nothing was sent then."""
        deadline = time.monotonic() + self.timeout_seconds
        while True:
            try:
                self.socket = socket.create_connection(("127.0.0.1", self.server.port), self.timeout_seconds)
                break
            except (ConnectionRefusedError, ConnectionResetError):
                if time.monotonic() > deadline:
                    raise
                time.sleep(0.01)
        self.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self.rest = b""

    def send(self, operation, body):
        if self.socket is None:
            self._connect()
        text = json.dumps(body).encode()
        self.socket.sendall(HEAD.format(operation, len(text)).encode() + text)

    def receive(self):
        """Status and the decoded body; `OSError` where there is no answer."""
        while b"\r\n\r\n" not in self.rest:
            self._more()
        head, self.rest = self.rest.split(b"\r\n\r\n", 1)
        lines = head.decode().lower().split("\r\n")
        length = next(int(line[15:]) for line in lines if line.startswith("content-length:"))
        while len(self.rest) < length:
            self._more()
        payload, self.rest = self.rest[:length], self.rest[length:]
        if "connection: close" in lines:
            self.close()
        return int(lines[0].split()[1]), json.loads(payload)

    def _more(self):
        received = self.socket.recv(65536)
        if not received:
            raise ConnectionResetError("closed without an answer")
        self.rest += received

    def call(self, operation, body):
        try:
            self.send(operation, body)
            return self.receive()
        except OSError:
            self.close()
            raise

    def close(self):
        if self.socket is not None:
            self.socket.close()
            self.socket = None


def exception(answer):
    return answer["__type"].split("#")[1]
