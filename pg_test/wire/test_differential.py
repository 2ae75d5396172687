"""The differential harness by itself: it needs another server to say anything about ours (pg_test/differential)."""

import json
import random

from differential import compare, known, requests, shrink, tables


def test_the_same_seed_makes_the_same_request():
    def made():
        return [requests.request(random.Random(number)) for number in range(300)] + [
            tables.request(random.Random(number)) for number in range(300)
        ]

    first = made()
    assert first == made()
    assert {operation for operation, _ in first} == {*requests.WEIGHTS, *tables.WEIGHTS}
    assert all(json.loads(json.dumps(body)) == body for _, body in first)


def _answer(text, **more):
    body = {"__type": "com.amazon.coral.validate#ValidationException", "message": text, **more}
    return compare.Answer(400, body, "PutItem", {})


def test_what_carries_no_meaning_is_no_difference():
    one = {"Items": [{"x": {"SS": ["b", "a"]}}, {"x": {"N": "1"}}], "Count": 2}
    other = {"Count": 2, "Items": [{"x": {"N": "1"}}, {"x": {"SS": ["a", "b"]}}]}
    assert not compare.Answer(200, one, "Scan", {}).differs(compare.Answer(200, other, "Scan", {}))
    assert _answer("valid types: {B,NULL}").differs(_answer("valid types: {B,S}"))
    assert not _answer("valid types: {B,NULL}").differs(_answer("valid types: {NULL,B}"))


def test_a_signature_leaves_out_what_a_text_echoes():
    one, other = (
        _answer('Invalid X: Syntax error; token: "a", near: "b a"'),
        _answer('Invalid X: Syntax error; token: "c", near: "c"'),
    )
    assert one.differs(other) and one.shape() == other.shape()


def test_shrinking_keeps_what_makes_the_difference():
    body = {
        "TableName": "T",
        "Item": {"a": {"M": {"b": {"N": "x"}}}, "c": {"S": "y"}},
        "ConditionExpression": "a = b AND c = d",
    }
    small = shrink.shrink(body, lambda asked: '"N": "x"' in json.dumps(asked))
    assert "TableName" not in small and "ConditionExpression" not in small and '"c"' not in json.dumps(small)


def test_the_list_of_known_differences_is_readable():
    assert all(entry.rule for entry in known.load())
