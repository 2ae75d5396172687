"""A client for cleartext HTTP/2 that keeps thousands of requests in flight: just the frames that this takes. Headers are
sent without compression, and none is asked for, so that both sides are a matter of a few bytes."""

import asyncio
import struct
import time

PREFACE = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"
DATA, HEADERS, RST_STREAM, SETTINGS, PING, GOAWAY, WINDOW_UPDATE = 0, 1, 3, 4, 6, 7, 8
END_STREAM, ACK, END_HEADERS = 0x1, 0x1, 0x4
HEADER_TABLE_SIZE = 1
WINDOW_MOST, WINDOW_INITIAL = 2**31 - 1, 65_535
# In the static table of HPACK.
METHOD_POST, PATH_ROOT, SCHEME_HTTP, AUTHORITY = b"\x83", b"\x84", b"\x86", b"\x01"
STATUSES = {0x88: 200, 0x8C: 400, 0x8D: 404, 0x8E: 500}
SIZE_UPDATE_MASK, SIZE_UPDATE = 0xE0, 0x20


def frame(kind, flags, stream, payload):
    return struct.pack(">I", len(payload))[1:] + struct.pack(">BBI", kind, flags, stream) + payload


def literal(text):
    """A string of HPACK as it is."""
    raw = text.encode()
    if len(raw) < 127:
        return bytes([len(raw)]) + raw
    rest, length = len(raw) - 127, b"\x7f"
    while rest >= 128:
        length += bytes([rest % 128 + 128])
        rest //= 128
    return length + bytes([rest]) + raw


def header_block(authority, headers):
    """For POST /."""
    fields = (b"\x00" + literal(name) + literal(value) for name, value in headers)
    return METHOD_POST + PATH_ROOT + SCHEME_HTTP + AUTHORITY + literal(authority) + b"".join(fields)


def status(block):
    """As a number where it is one of the usual ones, else what was sent for it."""
    while block[0] & SIZE_UPDATE_MASK == SIZE_UPDATE:
        block = block[1:]
    return STATUSES.get(block[0], block[:8].hex())


class Connection(asyncio.Protocol):
    """`in_flight` requests on one connection; each that is answered makes room for the next, while `load` wants it.

    What it sends is so much less than the windows that the server opens that they are not looked at: the server has read a
    request when it answers it, and then opens them again."""

    def __init__(self, load, in_flight):
        self.load = load
        self.in_flight = in_flight
        self.received = b""
        self.next_stream = 1
        self.open = {}  # stream: [when it was sent, status, body]

    def connection_made(self, transport):
        self.transport = transport
        settings = struct.pack(">HI", HEADER_TABLE_SIZE, 0)
        window = struct.pack(">I", WINDOW_MOST - WINDOW_INITIAL)
        transport.write(PREFACE + frame(SETTINGS, 0, 0, settings) + frame(WINDOW_UPDATE, 0, 0, window))

    def start(self):
        self.transport.write(b"".join(self._request() for _ in range(self.in_flight)))

    def _request(self):
        stream, self.next_stream = self.next_stream, self.next_stream + 2
        head, body = self.load.request()
        self.open[stream] = [time.perf_counter(), None, b""]
        return frame(HEADERS, END_HEADERS, stream, head) + frame(DATA, END_STREAM, stream, body)

    def data_received(self, data):
        received, at, sent = self.received + data, 0, []
        while len(received) - at >= 9:
            length = int.from_bytes(received[at:at + 3], "big")
            if len(received) - at < 9 + length:
                break
            kind, flags, stream = struct.unpack_from(">BBI", received, at + 3)
            self._frame(kind, flags, stream, received[at + 9:at + 9 + length], sent)
            at += 9 + length
        self.received = received[at:]
        if sent:
            self.transport.write(b"".join(sent))

    def _frame(self, kind, flags, stream, payload, sent):
        if kind in (HEADERS, DATA):
            exchange = self.open[stream]
            if kind == HEADERS:
                exchange[1] = status(payload)
            else:
                exchange[2] += payload
            if flags & END_STREAM:
                del self.open[stream]
                self.load.answered(exchange[0], exchange[1], exchange[2])
                if self.load.goes_on:
                    sent.append(self._request())
        elif kind == SETTINGS and not flags & ACK:
            sent.append(frame(SETTINGS, ACK, 0, b""))
        elif kind == PING and not flags & ACK:
            sent.append(frame(PING, ACK, 0, payload))
        elif kind == RST_STREAM:
            del self.open[stream]
            self.load.failed(f"RST_STREAM {payload.hex()}")
        elif kind == GOAWAY:
            self.load.failed(f"GOAWAY {payload.hex()}")

    def connection_lost(self, error):
        for _ in self.open:
            self.load.failed(f"connection lost: {error}")
        self.open.clear()
