"""Signature version 4, written from its description: nothing here is an SDK's, so that faults can be made at will."""

import hashlib
import hmac
from datetime import datetime, timezone
from urllib.parse import quote

BASIC = "%Y%m%dT%H%M%SZ"


def now():
    return datetime.now(timezone.utc)


def _encode(text):
    return quote(text, safe="-._~")


class Signer:
    def __init__(self, access_key, secret_key, region="us-east-1", service="dynamodb", term="aws4_request"):
        self.access_key, self.secret_key = access_key, secret_key
        self.region, self.service, self.term = region, service, term

    def scope(self, date):
        return f"{date[:8]}/{self.region}/{self.service}/{self.term}"

    def signature(self, date, headers, body, query=(), method="POST", path="/"):
        """`headers` are the pairs that are signed, in any case and order; a name may be there twice."""
        encoded = sorted((_encode(name), _encode(value)) for name, value in query)
        canonical_query = "&".join(f"{name}={value}" for name, value in encoded)
        values = {}
        for name, value in headers:
            values.setdefault(name.lower(), []).append(" ".join(value.split()))
        lines = "".join(f"{name}:{','.join(values[name])}\n" for name in sorted(values))
        request = "\n".join([method, path, canonical_query, lines, ";".join(sorted(values)), _hash(body)])
        text = "\n".join(["AWS4-HMAC-SHA256", date, self.scope(date), _hash(request.encode())])
        key = f"AWS4{self.secret_key}".encode()
        for part in (date[:8], self.region, self.service, self.term):
            key = hmac.digest(key, part.encode(), "sha256")
        return hmac.digest(key, text.encode(), "sha256").hex()

    def authorization(self, date, headers, body, **more):
        """The header `Authorization` over `headers`, X-Amz-Date among them."""
        names = ";".join(sorted({name.lower() for name, _ in headers}))
        signature = self.signature(date, headers, body, **more)
        credential = f"{self.access_key}/{self.scope(date)}"
        return f"AWS4-HMAC-SHA256 Credential={credential}, SignedHeaders={names}, Signature={signature}"

    def presigned(self, date, headers, body, **more):
        """The query parameters that carry a signature over `headers`."""
        query = [
            ("X-Amz-Algorithm", "AWS4-HMAC-SHA256"),
            ("X-Amz-Credential", f"{self.access_key}/{self.scope(date)}"),
            ("X-Amz-Date", date),
            ("X-Amz-Expires", "60"),
            ("X-Amz-SignedHeaders", ";".join(sorted({name.lower() for name, _ in headers}))),
            *more.get("query", ()),
        ]
        return [*query, ("X-Amz-Signature", self.signature(date, headers, body, query=query))]


def query_text(query):
    return "&".join(f"{_encode(name)}={_encode(value)}" for name, value in query)


def _hash(body):
    return hashlib.sha256(body).hexdigest()
