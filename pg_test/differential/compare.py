"""What two answers are the same but for, and the name of a difference."""

import re

#: (pattern, what stands for it): parts of a text that echo the request.
ECHOES = [
    (re.compile(r'token: ".*", near: ".*"', re.DOTALL), "token, near"),
    (re.compile(r"Value '.*?' at '[^']*'", re.DOTALL), "Value at"),
    (re.compile(r"(Value null at|Value at) '[^']*'"), r"\1"),
    (re.compile(r"AttributeValue: \{.*?\}"), "AttributeValue"),
    (re.compile(r"\[[^\]]*\](, \[[^\]]*\])*"), "[]"),
    (re.compile(r"keys: \{.*\}"), "keys"),
    (re.compile(r'key: ".*"'), "key"),
    (re.compile(r"path (one|two): \S+"), r"path \1"),
    (re.compile(r"numeric value: .*", re.DOTALL), "numeric value"),
    (re.compile(r"((?:attribute name|attribute value|reserved keyword|function|operator|operand type|operator or function|"
                r"type|index|attribute|Key|IndexKey|IndexName|for Attribute|for key|first operand|operand count|operands): )[^\s,;]*"), r"\1_"),
    (re.compile(r"(Index Key|the key|for key|update attribute|ComparisonOperator) [^\s.]+"), r"\1 _"),
    (re.compile(r"(Expected|expected|Actual|actual): \w+"), r"\1"),
    (re.compile(r"(schema element:) .*"), r"\1"),
    (re.compile(r"\d+ (bytes|is not less)"), r"\1"),
]  # fmt: skip
BRACES = re.compile(r"\{([A-Z]+(?:,[A-Z]+)+)\}")
BRACKETS = re.compile(r"\[([A-Za-z_]+(?:, [A-Za-z_]+)+)\]")


def template(text):
    for pattern, instead in ECHOES:
        text = pattern.sub(instead, text)
    return text


def unordered_lists(text):
    """Lists in a text whose order means nothing, in one order."""
    text = BRACES.sub(lambda found: "{" + ",".join(sorted(found[1].split(","))) + "}", text)
    return BRACKETS.sub(lambda found: "[" + ", ".join(sorted(found[1].split(", "))) + "]", text)


class Answer:
    """A status, and of an error its type and text, of a success its body."""

    def __init__(self, status, body, operation, request):
        body = body if isinstance(body, dict) else {"body": body}
        self.status = status
        self.type = str(body.get("__type", "")).rsplit("#")[-1] or None
        self.text = body.get("message", body.get("Message"))
        rest = {name: inner for name, inner in body.items() if name not in ("__type", "message", "Message")}
        self.body = normal(rest, operation, request)

    def differs(self, other):
        return (self.status, self.type, self.plain(), self.body) != (
            other.status,
            other.type,
            other.plain(),
            other.body,
        )

    def plain(self):
        return None if self.text is None else unordered_lists(self.text)

    def shape(self):
        if self.status == 200:
            return "ok"
        kind = "" if self.type == "ValidationException" else f"{self.type} "
        return f"{kind}{template(self.text) if self.text is not None else '(no text)'}"


def normal(body, operation, request):
    body = unordered(body)
    if operation in ("Scan", "Query") and "Items" in body:
        tied = operation == "Scan" or "IndexName" in request
        if tied and any(request.get(member) is not None for member in ("Limit", "Segment", "ExclusiveStartKey")):
            # Which items come first is each server's own.
            for member in ("Items", "Count", "ConsumedCapacity", "ScannedCount", "LastEvaluatedKey"):
                body.pop(member, None)
        elif tied:
            body["Items"].sort(key=repr)
    elif operation in ("Scan", "Query") and any(
        request.get(member) is not None for member in ("Limit", "Segment", "ExclusiveStartKey")
    ):
        for member in ("Count", "ConsumedCapacity", "ScannedCount", "LastEvaluatedKey"):
            if operation == "Scan" or "IndexName" in request:
                body.pop(member, None)
    if operation == "BatchGetItem":
        for items in body["Responses"].values() if "Responses" in body else ():
            items.sort(key=repr)
    for member in ("ConsumedCapacity", "TableNames"):
        if isinstance(body.get(member), list):
            body[member].sort(key=repr)
    for metrics in body.get("ItemCollectionMetrics", {}).values():
        if isinstance(metrics, list) and operation in ("BatchWriteItem", "TransactWriteItems"):
            metrics.sort(key=repr)
    return body


def unordered(value):
    """The same with members in one order, and sets too."""
    if isinstance(value, dict):
        return {
            name: sorted(value[name])
            if name in ("SS", "NS", "BS") and isinstance(value[name], list)
            else unordered(value[name])
            for name in sorted(value)
        }
    if isinstance(value, list):
        return [unordered(element) for element in value]
    return value


def signature(operation, ours, oracle):
    """What kind of difference it is: the operation, the template of each text, and of two successes where they part."""
    if ours.status == oracle.status == 200:
        return operation, "ok", f"ok, but for {first_difference(ours.body, oracle.body)}"
    if (ours.status, ours.type, ours.plain()) == (oracle.status, oracle.type, oracle.plain()):
        return operation, ours.shape(), f"the same, but for {first_difference(ours.body, oracle.body)}"
    return operation, ours.shape(), oracle.shape()


def first_difference(ours, oracle, path=""):
    if isinstance(ours, dict) and isinstance(oracle, dict):
        for name in sorted({*ours, *oracle}):
            if name not in ours:
                return f"{path}.{name} (only the oracle's)"
            if name not in oracle:
                return f"{path}.{name} (only ours)"
            if ours[name] != oracle[name]:
                # Names of attributes are the example's, not the kind's.
                deep = path.count(".") >= 2
                return path + ".…" if deep else first_difference(ours[name], oracle[name], f"{path}.{name}")
    if isinstance(ours, list) and isinstance(oracle, list) and len(ours) == len(oracle):
        for one, other in zip(ours, oracle):
            if one != other:
                return first_difference(one, other, f"{path}[]")
    return path
