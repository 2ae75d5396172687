"""HTTP as it is on the socket: headers, refusals and their order, signatures. The bodies are DynamoDB's to the byte."""

import gzip
import http.client
import json
import re
import socket
import zlib
from datetime import timedelta

import httpx
import pytest

from harness import Cluster, Proxy
from harness.proxy import ACCESS_KEY, SECRET_KEY
from harness.schema import table
from sigv4 import BASIC, Signer, now, query_text

JSON = "application/x-amz-json-1.0"
BODY_MAX_BYTES = 16_777_216
BARE_SERIALIZATION = b'{"__type":"com.amazon.coral.service#SerializationException"}'
BARE_UNKNOWN = b'{"__type":"com.amazon.coral.service#UnknownOperationException"}'
NOT_FOUND = b"<UnknownOperationException/>\n"
MISSING_TOKEN = (
    b'{"__type":"com.amazon.coral.service#MissingAuthenticationTokenException",'
    b'"message":"Request is missing Authentication Token"}'
)
LIST_TABLES = "DynamoDB_20120810.ListTables"
NESTED = (
    "Nesting Levels have exceeded supported limits: Attributes in the item have nested levels beyond supported limit"
)


class Answer:
    def __init__(self, answer):
        self.status, self.version = answer.status, answer.version
        self.headers, self.body = answer.headers, answer.read()

    def __getitem__(self, header):
        return self.headers.get(header)

    @property
    def json(self):
        return json.loads(self.body)

    def assert_complete(self):
        """What every answer has but one."""
        assert re.fullmatch("[0-9A-Z]{52}", self["x-amzn-RequestId"])
        assert self["x-amz-crc32"] == str(zlib.crc32(self.body))
        assert self["Server"] == "Server"
        assert self["Date"]
        assert self["Transfer-Encoding"] is None
        assert "Content-Length" in self.headers


def send(server, method="POST", path="/", headers=(), body=b"", target=None, content_type=JSON, connection=None):
    """One request with these headers and none besides Host and Content-Length; a HEAD's answer is checked otherwise."""
    connection = connection or server.connect()
    body = body.encode() if isinstance(body, str) else body
    connection.putrequest(method, path, skip_accept_encoding=True)
    if content_type:
        connection.putheader("Content-Type", content_type)
    if target:
        connection.putheader("X-Amz-Target", target)
    for name, value in headers:
        connection.putheader(name, value)
    if method not in ("GET", "HEAD", "OPTIONS"):
        connection.putheader("Content-Length", str(len(body)))
    connection.endheaders(body or None)
    answer = Answer(connection.getresponse())
    if answer.status != 413 and method != "HEAD":
        answer.assert_complete()
    return answer


# ---- what is answered, in which order --------------------------------------------------------------------------------


def test_an_answer_has_the_headers_that_sdks_check(open_proxy):
    answer = send(open_proxy, target="DynamoDB_20120810.DescribeTable", body='{"TableName":"absent"}')
    assert answer.status == 400
    assert answer.body == (
        b'{"__type":"com.amazonaws.dynamodb.v20120810#ResourceNotFoundException",'
        b'"message":"Requested resource not found: Table: absent not found"}'
    )
    assert answer["Content-Type"] == JSON
    assert answer["Connection"] == "keep-alive"
    assert send(open_proxy, target=LIST_TABLES, body="{}").body == b'{"TableNames":[]}'


def test_request_ids_are_new_each_time(open_proxy):
    ids = {send(open_proxy, target=LIST_TABLES, body="{}")["x-amzn-RequestId"] for _ in range(5)}
    assert len(ids) == 5


@pytest.mark.parametrize("sent, answered", [
    (JSON, JSON),
    ("application/json", "application/json"),
    ("application/x-amz-json-1.0; charset=utf-8", JSON),
    (" Application/X-AMZ-JSON-1.0 ;x=y", JSON),
    ("APPLICATION/JSON", "application/json"),
])
def test_the_content_type_is_echoed(open_proxy, sent, answered):
    answer = send(open_proxy, target=LIST_TABLES, body="{}", content_type=sent)
    assert (answer.status, answer["Content-Type"]) == (200, answered)


@pytest.mark.parametrize("content_type", ["application/x-amz-json-1.1", "text/plain", "application/jsonx", None])
def test_another_content_type_is_not_found(open_proxy, content_type):
    answer = send(open_proxy, target=LIST_TABLES, body="{}", content_type=content_type)
    assert (answer.status, answer.body) == (404, NOT_FOUND)
    assert answer["x-amz-crc32"] == "3552371480"
    assert answer["Content-Type"] is None


@pytest.mark.parametrize("method, path", [
    ("PUT", "/"), ("DELETE", "/"), ("PATCH", "/"), ("OPTIONS", "/"), ("POST", "/other"), ("POST", "/Table"),
])
def test_another_method_or_path_is_not_found(open_proxy, method, path):
    answer = send(open_proxy, method=method, path=path, target=LIST_TABLES)
    assert (answer.status, answer.body, answer["Content-Type"]) == (404, NOT_FOUND, None)


def test_head_is_not_found_and_has_no_body(open_proxy):
    connection = open_proxy.connect()
    answer = send(open_proxy, method="HEAD", connection=connection)
    assert (answer.status, answer.body) == (404, b"")
    assert re.fullmatch("[0-9A-Z]{52}", answer["x-amzn-RequestId"])
    # The connection goes on behind it.
    assert send(open_proxy, target=LIST_TABLES, body="{}", connection=connection).status == 200


# What is wrong, and the answer: a request with several faults is told of the first in DynamoDB's order.
UNSIGNED = [
    ("bad JSON comes before all", "Nothing.Such", "{]", 400, BARE_SERIALIZATION),
    ("JSON with more behind it", LIST_TABLES, "{} {}", 400, BARE_SERIALIZATION),
    ("JSON with a comma too many", LIST_TABLES, '{"a":1,}', 400, BARE_SERIALIZATION),
    ("a number with a leading zero", LIST_TABLES, '{"Limit":01}', 400, BARE_SERIALIZATION),
    ("white space alone", LIST_TABLES, " ", 400, BARE_SERIALIZATION),
    ("bad UTF-8", LIST_TABLES, b'{"ExclusiveStartTableName":"\xff"}', 400, BARE_SERIALIZATION),
    ("UTF-8 of a surrogate", LIST_TABLES, b'{"ExclusiveStartTableName":"\xed\xa0\x80"}', 400, BARE_SERIALIZATION),
    ("no target", None, "{}", 400, BARE_UNKNOWN),
    ("an old version", "DynamoDB_20111205.ListTables", "{}", 400, BARE_UNKNOWN),
    ("an unknown operation", "DynamoDB_20120810.Nothing", "{}", 400, BARE_UNKNOWN),
    ("another case", "DynamoDB_20120810.listTables", "{}", 400, BARE_UNKNOWN),
    ("another case of the prefix", "dynamodb_20120810.ListTables", "{}", 400, BARE_UNKNOWN),
    ("three parts", "DynamoDB_20120810.List.Tables", "{}", 400, BARE_UNKNOWN),
    ("one part", "ListTables", "{}", 400, BARE_UNKNOWN),
    ("an operation of the other prefix", "DynamoDBStreams_20120810.ListTables", "{}", 400, BARE_UNKNOWN),
    ("an unknown operation without a body", "DynamoDB_20120810.Nothing", "", 400, BARE_UNKNOWN),
    ("no signature", LIST_TABLES, "{}", 400, MISSING_TOKEN),
    ("no signature and no body", LIST_TABLES, "", 400, MISSING_TOKEN),
    ("no signature and no object", LIST_TABLES, "[]", 400, MISSING_TOKEN),
    ("no signature and a wrong type", LIST_TABLES, '{"Limit":"x"}', 400, MISSING_TOKEN),
]


@pytest.mark.parametrize("target, body, status, wanted", [row[1:] for row in UNSIGNED], ids=[row[0] for row in UNSIGNED])
def test_unsigned_requests_are_told_what_is_wrong_first(proxy, target, body, status, wanted):
    answer = send(proxy, target=target, body=body)
    assert (answer.status, answer.body) == (status, wanted)
    known = {BARE_SERIALIZATION: "3948637019", BARE_UNKNOWN: "1368724161", MISSING_TOKEN: "2088342776"}
    assert answer["x-amz-crc32"] == known[wanted]


@pytest.mark.parametrize("body", ["", "[]", "5", '"x"', "null", "true", " []"])
def test_what_is_no_object_is_refused_without_a_text(open_proxy, body):
    answer = send(open_proxy, target=LIST_TABLES, body=body)
    assert (answer.status, answer.body) == (400, BARE_SERIALIZATION)


def test_an_empty_body_needs_no_content_type(open_proxy):
    answer = send(open_proxy, target=LIST_TABLES, content_type=None)
    assert (answer.status, answer.body, answer["Content-Type"]) == (400, BARE_SERIALIZATION, "application/json")


@pytest.mark.parametrize("operation, body, text", [
    ("GetItem", '{"TableName":5}', "NUMBER_VALUE cannot be converted to String"),
    ("GetItem", '{"TableName":5.0}', "DECIMAL_VALUE cannot be converted to String"),
    ("GetItem", '{"TableName":"T","Key":{"pk":{"N":5}}}', "NUMBER_VALUE cannot be converted to String"),
    ("GetItem", '{"TableName":"T","Key":{"pk":"x"}}', "Unexpected value type in payload"),
    ("GetItem", '{"TableName":"T","Key":[]}', "Unrecognized collection type java.util.Map<java.lang.String, "
                                              "com.amazonaws.dynamodb.v20120810.AttributeValue>"),
    ("GetItem", '{"TableName":{},"Key":{"pk":{"B":1}}}', "only base-64-encoded strings are convertible to bytes"),
    ("ListTables", '{"Limit":"1"}', "STRING_VALUE cannot be converted to Integer"),
    ("Scan", '{"TableName":"T","ConsistentRead":"maybe"}', "Unexpected token received from parser"),
])
def test_json_of_the_wrong_type(open_proxy, operation, body, text):
    answer = send(open_proxy, target=f"DynamoDB_20120810.{operation}", body=body)
    assert answer.status == 400
    assert answer.json == {"__type": "com.amazon.coral.service#SerializationException", "Message": text}


def test_members_without_meaning(open_proxy):
    def code(body):
        answer = send(open_proxy, target=LIST_TABLES, body=body)
        return answer.status

    assert code('{"Unknown":{"deep":[1,2,{"x":null}]},"Limit":1}') == 200
    assert code('{"Limit":null,"ExclusiveStartTableName":null}') == 200
    assert code('{"Limit":"x","Limit":1}') == 200


def levels(n):
    return '{"L":[' * n + '{"S":"x"}' + "]}" * n


def test_nesting(open_proxy):
    open_proxy.call("CreateTable", table("Nesting", "pk"))
    target = "DynamoDB_20120810.PutItem"

    def put(n):
        return send(open_proxy, target=target, body='{"TableName":"Nesting","Item":{"pk":{"S":"k"},"l":%s}}' % levels(n))

    assert put(31).status == 200
    item = open_proxy.call("GetItem", {"TableName": "Nesting", "Key": {"pk": {"S": "k"}}})[1]["Item"]
    assert item["l"] == json.loads(levels(31))
    for n, text in [(32, "1 validation error detected: " + NESTED), (62, "1 validation error detected: " + NESTED),
                    (63, NESTED), (900, NESTED)]:
        answer = put(n)
        assert answer.json == {"__type": "com.amazon.coral.validate#ValidationException", "message": text}, n
    for body in ['{"TableName":"Nesting","Item":{"pk":%s}}' % levels(100_000), "[" * 1_000_000,
                 '{"unknown":%s}' % ("[" * 50_000 + "]" * 50_000)]:
        answer = send(open_proxy, target=target, body=body)
        assert (answer.status, answer.body) == (400, BARE_SERIALIZATION)
    assert put(1).status == 200


# ---- bodies: size, compression, chunks -------------------------------------------------------------------------------


def padded(length):
    start, end = '{"Limit":1,"Unknown":"', '"}'
    return (start + "x" * (length - len(start) - len(end)) + end).encode()


def test_a_body_of_16_mebibytes_and_no_byte_more(open_proxy):
    assert send(open_proxy, target=LIST_TABLES, body=padded(BODY_MAX_BYTES)).status == 200
    answer = send(open_proxy, target=LIST_TABLES, body=padded(BODY_MAX_BYTES + 1))
    assert (answer.status, answer.body) == (413, b"")
    assert answer["Transfer-Encoding"] == "chunked"
    assert answer["x-amzn-RequestId"] is None
    # Before anything else: not even a method is looked at.
    answer = send(open_proxy, method="PUT", body=b"x" * (BODY_MAX_BYTES + 1), content_type="text/plain")
    assert answer.status == 413


def test_a_compressed_request(open_proxy):
    def post(body, encoding="gzip"):
        return send(open_proxy, target=LIST_TABLES, body=body, headers=[("Content-Encoding", encoding)])

    assert post(gzip.compress(b"{}")).status == 200
    assert post(gzip.compress(padded(BODY_MAX_BYTES))).status == 200
    assert post(gzip.compress(padded(BODY_MAX_BYTES + 1))).status == 413
    for broken in (b"{}", gzip.compress(b"{}")[:-6], gzip.compress(b"{")):
        answer = post(broken)
        assert (answer.status, answer.body) == (400, BARE_SERIALIZATION)


def test_a_large_answer_is_compressed_for_who_asks(open_proxy):
    open_proxy.call("CreateTable", table("Compressed", "pk"))
    for name, size in (("large", 10_000), ("small", 10)):
        open_proxy.call("PutItem", {"TableName": "Compressed", "Item": {"pk": {"S": name}, "v": {"S": "x" * size}}})

    def get(name, *headers):
        body = json.dumps({"TableName": "Compressed", "Key": {"pk": {"S": name}}})
        return send(open_proxy, target="DynamoDB_20120810.GetItem", body=body, headers=headers)

    plain = get("large")
    assert plain["Content-Encoding"] is None
    compressed = get("large", ("Accept-Encoding", "deflate, gzip;q=0.5"))
    assert compressed["Content-Encoding"] == "gzip"
    # The checksum is of the bytes sent (assert_complete has looked), the content the same.
    assert len(compressed.body) < 1000
    assert gzip.decompress(compressed.body) == plain.body
    for value in ("identity", "deflate", "gzip;q=0"):
        assert get("large", ("Accept-Encoding", value))["Content-Encoding"] is None
    assert get("small", ("Accept-Encoding", "gzip"))["Content-Encoding"] is None


def test_a_request_in_chunks(open_proxy):
    connection = open_proxy.connect()
    connection.request("POST", "/", iter([b'{"Lim', b'it":1', b"}"]), encode_chunked=True, headers={
        "Content-Type": JSON, "X-Amz-Target": LIST_TABLES, "Transfer-Encoding": "chunked"})
    answer = Answer(connection.getresponse())
    answer.assert_complete()
    assert answer.status == 200


# ---- connections -----------------------------------------------------------------------------------------------------


def exchange(server, text):
    """Sends bytes as they are, and reads until the server closes."""
    with socket.create_connection(("127.0.0.1", server.port), timeout=30) as connection:
        connection.sendall(text)
        received = b""
        while part := connection.recv(65536):
            received += part
    return received


def test_two_hosts_are_refused_and_the_connection_closed(open_proxy):
    request = (f"POST / HTTP/1.1\r\nHost: {open_proxy.host}\r\nHost: {open_proxy.host}\r\nContent-Type: {JSON}\r\n"
               f"X-Amz-Target: {LIST_TABLES}\r\nContent-Length: 2\r\n\r\n{{}}")
    assert exchange(open_proxy, request.encode()).startswith(b"HTTP/1.1 400 ")


def test_one_connection_serves_many_requests(open_proxy):
    connection = open_proxy.connect()
    connection.connect()
    used = connection.sock
    for _ in range(20):
        assert send(open_proxy, target=LIST_TABLES, body="{}", connection=connection).status == 200
        # A refusal does not end it, an oversized body aside.
        assert send(open_proxy, target="Nothing.Such", body="{]", connection=connection).status == 400
        assert send(open_proxy, method="PUT", connection=connection).status == 404
        assert connection.sock is used


def test_requests_sent_ahead_are_answered_in_order(open_proxy):
    def request(limit, connection):
        body = f'{{"Limit":{limit}}}'
        return (f"POST / HTTP/1.1\r\nHost: {open_proxy.host}\r\nContent-Type: {JSON}\r\nX-Amz-Target: {LIST_TABLES}\r\n"
                f"Connection: {connection}\r\nContent-Length: {len(body)}\r\n\r\n{body}")

    text = request(1, "keep-alive") + request(0, "keep-alive") + request(1, "close")
    received = exchange(open_proxy, text.encode())
    assert re.findall(rb"HTTP/1.1 (\d+)", received) == [b"200", b"400", b"200"]
    assert received.lower().count(b"connection: close") == 1


def test_expect_100_continue(open_proxy):
    with socket.create_connection(("127.0.0.1", open_proxy.port), timeout=30) as connection:
        connection.sendall((f"POST / HTTP/1.1\r\nHost: {open_proxy.host}\r\nContent-Type: {JSON}\r\nX-Amz-Target: "
                            f"{LIST_TABLES}\r\nExpect: 100-continue\r\nContent-Length: 2\r\n\r\n").encode())
        assert connection.recv(100).startswith(b"HTTP/1.1 100 ")
        connection.sendall(b"{}")
        assert connection.recv(65536).startswith(b"HTTP/1.1 200 ")


def test_http_2_by_prior_knowledge(proxy):
    date = now().strftime(BASIC)
    headers = [("Content-Type", JSON), ("Host", proxy.host), ("X-Amz-Date", date), ("X-Amz-Target", LIST_TABLES)]
    authorization = Signer(ACCESS_KEY, SECRET_KEY).authorization(date, headers, b"{}")
    with httpx.Client(http1=False, http2=True) as client:
        for _ in range(3):
            # `:authority` stands for the host that was signed.
            answer = client.post(f"{proxy.endpoint}/", content=b"{}",
                                 headers=[*headers, ("Authorization", authorization)])
            assert (answer.http_version, answer.status_code) == ("HTTP/2", 200)
            assert answer.json()["TableNames"] is not None
            assert answer.headers["x-amz-crc32"] == str(zlib.crc32(answer.content))
            assert "connection" not in answer.headers
        assert client.post(f"{proxy.endpoint}/", content=b"{}", headers=headers).content == MISSING_TOKEN


# ---- health, browsers ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("path", ["/", "/ping", "/anything"])
def test_get_says_healthy(proxy, path):
    answer = send(proxy, method="GET", path=path, content_type=None)
    assert (answer.status, answer.body) == (200, b"healthy: dynamodb.us-east-1.amazonaws.com ")
    assert answer["Content-Type"] is None


def test_health_is_of_the_database_too(proxy):
    answer = send(proxy, method="GET", path="/health", content_type=None)
    assert (answer.status, answer.json) == (200, {"status": "healthy"})


def test_a_browser_may_ask_from_anywhere(proxy):
    answer = send(proxy, method="OPTIONS", content_type=None, headers=[
        ("Origin", "https://example.com"), ("Access-Control-Request-Method", "POST"),
        ("Access-Control-Request-Headers", "authorization,x-amz-target")])
    assert (answer.status, answer.body, answer["Content-Length"]) == (200, b"", "0")
    assert answer["Access-Control-Allow-Origin"] == "*"
    assert answer["Access-Control-Max-Age"] == "172800"
    assert answer["Access-Control-Allow-Methods"] == "POST"
    assert answer["Access-Control-Allow-Headers"] == "authorization,x-amz-target"
    assert answer["x-amz-crc32"] == "0"
    bare = send(proxy, method="OPTIONS", content_type=None, headers=[("Origin", "null")])
    assert bare["Access-Control-Allow-Methods"] is None
    assert bare["Access-Control-Allow-Headers"] is None
    for arguments in (dict(method="GET"), dict(method="PUT"), dict(target=LIST_TABLES, body="{}"), dict(body="{]")):
        assert send(proxy, headers=[("Origin", "x")], **arguments)["Access-Control-Allow-Origin"] == "*"
    assert send(proxy, target=LIST_TABLES, body="{}")["Access-Control-Allow-Origin"] is None


def test_describe_endpoints_names_where_the_client_came(open_proxy):
    answer = send(open_proxy, target="DynamoDB_20120810.DescribeEndpoints", body="{}")
    assert answer.json == {"Endpoints": [{"Address": open_proxy.host, "CachePeriodInMinutes": 1440}]}


# ---- signatures ------------------------------------------------------------------------------------------------------

SIGNER = Signer(ACCESS_KEY, SECRET_KEY)


def test_the_signer_of_these_tests_is_right():
    date = "20260101T000000Z"
    headers = [("content-type", JSON), ("host", "localhost:8000"), ("x-amz-target", LIST_TABLES)]
    assert SIGNER.signature(date, [*headers, ("x-amz-date", date)], b"{}") == (
        "20a2f9db8d92aacb5dcc115d0443e50fe1c095e99c1708c77052958c2eae8e3e")
    # By botocore's signer of URLs, which hashes an empty body.
    assert dict(SIGNER.presigned(date, headers, b""))["X-Amz-Signature"] == (
        "0fa99aa46d642e916af06784f9a624ac3aaa9e1357a979ef69e6194a71374e60")


def service_fault(answer):
    assert answer.status == 400
    type_, text = answer.json["__type"], answer.json["message"]
    assert type_.startswith("com.amazon.coral.service#")
    assert set(answer.json) == {"__type", "message"}
    return type_.removeprefix("com.amazon.coral.service#"), text


def signed(server, signer=SIGNER, body=b"{}", sent=None, extra=(), date=None, edit=lambda header: header, unsigned=()):
    """A signed ListTables. `sent` is sent instead of the body signed, `extra` headers are signed too, `edit` changes the
    header afterwards."""
    date = date or now().strftime(BASIC)
    headers = [("Host", server.host), ("Content-Type", JSON), ("X-Amz-Target", LIST_TABLES), ("X-Amz-Date", date), *extra]
    authorization = edit(signer.authorization(date, headers, body))
    sent_headers = [("X-Amz-Date", date), *extra, *unsigned]
    if authorization is not None:
        sent_headers.append(("Authorization", authorization))
    return send(server, target=LIST_TABLES, body=body if sent is None else sent, headers=sent_headers)


MISMATCH = (
    "InvalidSignatureException",
    "The request signature we calculated does not match the signature you provided. Check your AWS Secret Access Key and "
    "signing method. Consult the service documentation for details.",
)


def test_a_signed_request_is_served(proxy):
    assert signed(proxy).status == 200
    assert signed(proxy, extra=[("x-custom", "  a   b  "), ("x-custom", "c")]).status == 200
    assert signed(proxy, unsigned=[("x-custom", "not signed")]).status == 200
    # With no space behind the commas, as some signers write it.
    assert signed(proxy, edit=lambda header: header.replace(", ", ",")).status == 200
    compressed = gzip.compress(b"{}")
    assert signed(proxy, body=compressed, extra=[("Content-Encoding", "gzip")]).status == 200


def test_names_of_headers_have_no_case(proxy):
    date = now().strftime(BASIC)
    headers = [("HOST", proxy.host), ("CONTENT-TYPE", JSON), ("X-AMZ-TARGET", LIST_TABLES), ("X-AMZ-DATE", date)]
    connection = proxy.connect()
    connection.putrequest("POST", "/", skip_host=True, skip_accept_encoding=True)
    for name, value in [*headers, ("CONTENT-LENGTH", "2"), ("AUTHORIZATION", SIGNER.authorization(date, headers, b"{}"))]:
        connection.putheader(name, value)
    connection.endheaders(b"{}")
    assert connection.getresponse().status == 200


def test_whatever_was_signed_may_not_change(proxy):
    flip = {"0": "1"}
    cases = [
        dict(sent=b'{"Limit":1}'),
        dict(sent=b"{} "),
        dict(signer=Signer(ACCESS_KEY, SECRET_KEY + "x")),
        dict(edit=lambda header: header[:-1] + flip.get(header[-1], "0")),
        dict(edit=lambda header: header[:-1]),
        dict(edit=lambda header: header + "0"),
        dict(edit=lambda header: header[:-64] + header[-64:].upper() + "A"),
        dict(edit=lambda header: header.replace("content-type;", "")),
        dict(extra=[("x-amz-content-sha256", "UNSIGNED-PAYLOAD")], sent=b'{"Limit":1}'),
        dict(unsigned=[("x-amz-content-sha256", "UNSIGNED-PAYLOAD")], sent=b'{"Limit":1}'),
    ]
    for arguments in cases:
        assert service_fault(signed(proxy, **arguments)) == MISMATCH, arguments
    # Signed as UNSIGNED-PAYLOAD, which DynamoDB does not know.
    date = now().strftime(BASIC)
    assert signed(proxy, date=date, extra=[("x-amz-content-sha256", "UNSIGNED-PAYLOAD")]).status == 200


def test_a_changed_header_or_target_is_noticed(proxy):
    date = now().strftime(BASIC)
    headers = [("Host", proxy.host), ("Content-Type", JSON), ("X-Amz-Target", "DynamoDB_20120810.DescribeTable"),
               ("X-Amz-Date", date)]
    authorization = SIGNER.authorization(date, headers, b"{}")
    answer = send(proxy, target="DynamoDB_20120810.DeleteTable", body="{}",
                  headers=[("X-Amz-Date", date), ("Authorization", authorization)])
    assert service_fault(answer) == MISMATCH


def without(part):
    return lambda header: re.sub(rf"{part}=[^,]*(, )?", "", header).strip()


def replaced(old, new):
    return lambda header: re.sub(old, new, header)


HEADER_PARTS = "Authorization header requires '{}' parameter. "
UNREADABLE = [
    (lambda _: None, "MissingAuthenticationTokenException", "Request is missing Authentication Token"),
    (lambda _: "Bearer x", "MissingAuthenticationTokenException", "Request is missing Authentication Token"),
    (lambda _: "aws4-hmac-sha256 Credential=x", "MissingAuthenticationTokenException",
     "Request is missing Authentication Token"),
    (without("Credential"), "IncompleteSignatureException", HEADER_PARTS.format("Credential") + "Authorization={raw}"),
    (without("Signature"), "IncompleteSignatureException", HEADER_PARTS.format("Signature") + "Authorization={raw}"),
    (without("SignedHeaders"), "IncompleteSignatureException",
     HEADER_PARTS.format("SignedHeaders") + "Authorization={raw}"),
    (replaced("Credential=", "credential="), "IncompleteSignatureException",
     HEADER_PARTS.format("Credential") + "Authorization={raw}"),
    (lambda _: "AWS4-HMAC-SHA256", "IncompleteSignatureException",
     HEADER_PARTS.format("Credential") + HEADER_PARTS.format("Signature") + HEADER_PARTS.format("SignedHeaders")
     + "Authorization={raw}"),
    (replaced("host;", ""), "InvalidSignatureException",
     "'Host' or ':authority' must be a 'SignedHeader' in the AWS Authorization."),
    (replaced("AWS4-HMAC-SHA256", "AWS4-ECDSA-P256-SHA256"), "IncompleteSignatureException",
     "Unsupported AWS 'algorithm': 'AWS4-ECDSA-P256-SHA256' (only AWS4-HMAC-SHA256 for now). "),
    (replaced("Credential=[^,]*", "Credential=AKIDEXAMPLE/20260101/us-east-1"), "IncompleteSignatureException",
     "Credential must have exactly 5 slash-delimited elements, e.g. keyid/date/region/service/term, got "
     "'AKIDEXAMPLE/20260101/us-east-1'"),
    (replaced("/dynamodb/", "/s3/"), "InvalidSignatureException",
     "Credential should be scoped to correct service: 'dynamodb'. "),
    (replaced("/us-east-1/dynamodb/", "/mars-1/s3/"), "InvalidSignatureException",
     "Credential should be scoped to a valid region. Credential should be scoped to correct service: 'dynamodb'. "),
    (replaced("aws4_request", "aws3_request"), "InvalidSignatureException",
     "Credential should be scoped with a valid terminator: 'aws4_request'. "),
    (replaced(r"AKIDEXAMPLE/\d{8}", "AKIDEXAMPLE/20250101"), "InvalidSignatureException",
     "Date in Credential scope does not match YYYYMMDD from ISO-8601 version of date from HTTP: '20250101' != '{date8}', "
     "from '{date}'."),
    (replaced("AKIDEXAMPLE", "AKIDOTHER"), "UnrecognizedClientException",
     "The security token included in the request is invalid."),
    # Of several faults the first in the order is told.
    (replaced("Credential=AKIDEXAMPLE.*?, SignedHeaders=content-type;host", "Credential=AKIDOTHER/x, "
              "SignedHeaders=content-type"), "InvalidSignatureException",
     "'Host' or ':authority' must be a 'SignedHeader' in the AWS Authorization."),
    (replaced("(AKIDEXAMPLE)(.*)/dynamodb/", r"AKIDOTHER\2/s3/"), "InvalidSignatureException",
     "Credential should be scoped to correct service: 'dynamodb'. "),
]


@pytest.mark.parametrize("edit, name, text", UNREADABLE, ids=[row[2][:50] for row in UNREADABLE])
def test_a_signature_that_cannot_be_one(proxy, edit, name, text):
    date = now().strftime(BASIC)
    raw = []

    def remember(header):
        raw.append(edit(header))
        return raw[0]

    answer = signed(proxy, date=date, edit=remember)
    assert service_fault(answer) == (name, text.format(raw=raw[0], date8=date[:8], date=date))


def test_a_signature_needs_a_date(proxy):
    authorization = SIGNER.authorization("20260101T000000Z", [("Host", proxy.host)], b"{}")
    answer = send(proxy, target=LIST_TABLES, body="{}", headers=[("Authorization", authorization)])
    assert service_fault(answer) == (
        "IncompleteSignatureException", "Authorization header requires existence of either a 'X-Amz-Date' or a 'Date' "
                                        f"header. Authorization={authorization}")
    assert service_fault(signed(proxy, date="2026-01-01T00:00:00Z")) == (
        "IncompleteSignatureException", "Date must be in ISO-8601 'basic format'. Got '2026-01-01T00:00:00Z'. See "
                                        "http://en.wikipedia.org/wiki/ISO_8601")


def test_the_date_header_serves_where_there_is_no_other(proxy):
    moment = now()
    http_date = moment.strftime("%a, %d %b %Y %H:%M:%S GMT")
    headers = [("Host", proxy.host), ("Date", http_date)]
    authorization = SIGNER.authorization(moment.strftime(BASIC), headers, b"{}")
    answer = send(proxy, target=LIST_TABLES, body="{}", headers=[("Date", http_date), ("Authorization", authorization)])
    assert answer.status == 200


def test_a_signature_is_good_for_15_minutes(proxy):
    def at(offset):
        date = (now() + offset).strftime(BASIC)
        return date, signed(proxy, date=date)

    assert at(timedelta(minutes=-14))[1].status == 200
    assert at(timedelta(minutes=14))[1].status == 200
    date, answer = at(timedelta(minutes=-16))
    name, text = service_fault(answer)
    said = re.fullmatch(rf"Signature expired: {date} is now earlier than (\w+) \((\w+) - 15 min\.\)", text)
    assert name == "InvalidSignatureException" and said, text
    assert_15_minutes_apart(said[1], said[2])
    date, answer = at(timedelta(minutes=16))
    name, text = service_fault(answer)
    said = re.fullmatch(rf"Signature not yet current: {date} is still later than (\w+) \((\w+) \+ 15 min\.\)", text)
    assert name == "InvalidSignatureException" and said, text
    assert_15_minutes_apart(said[2], said[1])


def assert_15_minutes_apart(earlier, later):
    parse = type(now()).strptime
    assert parse(later, BASIC) - parse(earlier, BASIC) == timedelta(minutes=15)


def test_a_token_with_a_long_term_key(proxy):
    answer = signed(proxy, extra=[("X-Amz-Security-Token", "token")])
    assert service_fault(answer) == (
        "UnrecognizedClientException", "The security token included in the request is invalid")


def test_a_temporary_key(cluster, database, tmp_path):
    key = {"AWS_ACCESS_KEY_ID": "ASIAEXAMPLE", "AWS_SESSION_TOKEN": "the token"}
    signer = Signer("ASIAEXAMPLE", SECRET_KEY)
    server = Proxy(cluster.conninfo(database), tmp_path / "log", environment=key)
    try:
        assert signed(server, signer, extra=[("X-Amz-Security-Token", "the token")]).status == 200
        wrong = ("UnrecognizedClientException", "The security token included in the request is invalid")
        assert service_fault(signed(server, signer, extra=[("X-Amz-Security-Token", "another")])) == wrong
        assert service_fault(signed(server, signer)) == wrong
    finally:
        server.stop()
    server = Proxy(cluster.conninfo(database), tmp_path / "log",
                   environment={**key, "AWS_CREDENTIAL_EXPIRATION": "2026-01-01T00:00:00Z"})
    try:
        assert service_fault(signed(server, signer, extra=[("X-Amz-Security-Token", "the token")])) == (
            "ExpiredTokenException", "The security token included in the request is expired")
    finally:
        server.stop()


def presigned(server, date=None, body=b"{}", sent=None, edit=lambda query: query, headers=()):
    date = date or now().strftime(BASIC)
    signed_headers = [("Host", server.host), ("Content-Type", JSON), ("X-Amz-Target", LIST_TABLES)]
    query = edit(SIGNER.presigned(date, signed_headers, body, query=[("a b", "c/d"), ("A", "")]))
    return send(server, path="/?" + query_text(query), target=LIST_TABLES, body=body if sent is None else sent,
                headers=headers)


def test_a_signature_in_the_query(proxy):
    assert presigned(proxy).status == 200
    assert presigned(proxy, edit=lambda query: query[::-1]).status == 200
    assert service_fault(presigned(proxy, sent=b"{} ")) == MISMATCH
    assert service_fault(presigned(proxy, edit=lambda query: [*query, ("more", "x")])) == MISMATCH
    assert service_fault(presigned(proxy, headers=[("Authorization", "AWS4-HMAC-SHA256 x")])) == (
        "InvalidSignatureException",
        "Found both 'X-Amz-Algorithm' as a query-string param and 'Authorization' as HTTP header.")

    def only(*names):
        return lambda query: [pair for pair in query if pair[0] in names]

    must = "AWS query-string parameters must include '{}'. "
    assert service_fault(presigned(proxy, edit=only("X-Amz-Algorithm", "X-Amz-Signature"))) == (
        "IncompleteSignatureException",
        must.format("X-Amz-Credential") + must.format("X-Amz-SignedHeaders") + must.format("X-Amz-Date")
        + "Re-examine the query-string parameters.")
    # X-Amz-Expires does not make it good for longer.
    late = (now() - timedelta(minutes=16)).strftime(BASIC)
    assert service_fault(presigned(proxy, date=late))[1].startswith(f"Signature expired: {late} is now earlier than ")


def test_format_believes_a_complete_signature(cluster, database, tmp_path):
    server = Proxy(cluster.conninfo(database), tmp_path / "log", auth="format")
    try:
        assert signed(server, signer=Signer("anyone", "any secret", region="mars-1")).status == 200
        assert signed(server, sent=b'{"Limit":1}').status == 200
        assert send(server, target=LIST_TABLES, body="{}").body == MISSING_TOKEN
        assert service_fault(signed(server, edit=without("Signature")))[0] == "IncompleteSignatureException"
    finally:
        server.stop()


# ---- stopping, and a database that is away ---------------------------------------------------------------------------


def hold(connection, name):
    """A lock on the item, until the transaction ends."""
    connection.execute(f"""SELECT ddb.update('{name}', '{{"pk":{{"S":"held"}}}}', 'ADD n :n', NULL, NULL,
                           '{{":n":{{"N":"1"}}}}')""")


ADD_TO_HELD = {"Key": {"pk": {"S": "held"}}, "UpdateExpression": "ADD n :n",
               "ExpressionAttributeValues": {":n": {"N": "1"}}, "ReturnValues": "ALL_NEW"}
WAITS = "SELECT 1 FROM pg_locks WHERE locktype = 'advisory' AND NOT granted"


def test_a_stop_lets_running_requests_end(cluster, database, tmp_path):
    server = Proxy(cluster.conninfo(database), tmp_path / "log", auth="none")
    try:
        server.call("CreateTable", table("Drained", "pk"))
        idle, running = server.connect(), server.connect()
        assert send(server, target=LIST_TABLES, body="{}", connection=idle).status == 200
        with cluster.connect(database, autocommit=False) as holder, cluster.connect(database) as watcher:
            hold(holder, "Drained")
            running.request("POST", "/", json.dumps({"TableName": "Drained", **ADD_TO_HELD}), {
                "Content-Type": JSON, "X-Amz-Target": "DynamoDB_20120810.UpdateItem"})
            while not watcher.execute(WAITS).fetchone():
                assert server.process.poll() is None
            server.process.terminate()
            # Nobody new gets in, who is idle is let go.
            while listens(server):
                assert server.process.poll() is None
            assert idle.sock.recv(1) == b""
            holder.commit()
        answer = Answer(running.getresponse())
        assert (answer.status, answer.json["Attributes"]["n"]) == (200, {"N": "2"})
        assert answer["Connection"] == "close"
        assert server.process.wait(30) == 0
    finally:
        server.stop()


def listens(server):
    try:
        socket.create_connection(("127.0.0.1", server.port), timeout=30).close()
    except OSError:
        return False
    return True


def test_a_client_that_leaves_takes_its_place_with_it(cluster, database, tmp_path):
    server = Proxy(cluster.conninfo(database), tmp_path / "log", auth="none", arguments=["--pool", "2"])
    try:
        server.call("CreateTable", table("Left", "pk"))
        with cluster.connect(database, autocommit=False) as holder, cluster.connect(database) as watcher:
            hold(holder, "Left")
            waiting = [server.connect() for _ in range(2)]
            for connection in waiting:
                connection.request("POST", "/", json.dumps({"TableName": "Left", **ADD_TO_HELD}), {
                    "Content-Type": JSON, "X-Amz-Target": "DynamoDB_20120810.UpdateItem"})
            # One session waits for both.
            while not watcher.execute(WAITS).fetchall():
                pass
            for connection in waiting:
                connection.close()
            assert server.call("PutItem", {"TableName": "Left", "Item": {"pk": {"S": "free"}}}) == (200, {})
            # It is free again while the lock is still held.
            while watcher.execute(WAITS).fetchall():
                pass
        status, answer = server.call("UpdateItem", {"TableName": "Left", **ADD_TO_HELD})
        # The holder's one and this: what the clients that left had asked for was not done.
        assert (status, answer["Attributes"]["n"]) == (200, {"N": "2"})
    finally:
        server.stop()


def test_a_database_that_goes_away_and_comes_back(tmp_path):
    cluster = Cluster()
    try:
        cluster.create_database("gone")
        server = Proxy(cluster.conninfo("gone"), tmp_path / "log", auth="none")
        try:
            server.call("CreateTable", table("Kept", "pk"))
            item = {"pk": {"S": "k"}}
            assert server.call("PutItem", {"TableName": "Kept", "Item": item})[0] == 200
            get = {"TableName": "Kept", "Key": item}
            for end in (cluster.kill, cluster.stop):
                end()
                assert send(server, method="GET", path="/health", content_type=None).status == 503
                status, answer = server.call("GetItem", get)
                assert (status, answer["__type"].rsplit("#")[-1]) in [
                    (500, "InternalServerError"), (503, "ServiceUnavailable")]
                assert answer["message"] == "Internal server error"
                # Who asks without the database is answered as ever.
                assert send(server, method="GET", path="/ping", content_type=None).status == 200
                cluster.start()
                assert server.call("GetItem", get) == (200, {"Item": item})
                assert send(server, method="GET", path="/health", content_type=None).status == 200
        finally:
            server.stop()
    finally:
        cluster.remove()
