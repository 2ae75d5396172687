"""The smallest request that still differs in the same way."""

import copy

from .expressions import TOKENS
from .requests import places

TRIES = 150


def smaller(body):
    """Requests a step smaller, the large steps first."""
    for _, name, path in sorted(places(body), key=lambda place: len(place[2])):
        shorter = copy.deepcopy(body)
        holder = _holder(shorter, path)
        del holder[name]
        yield shorter
    for holder, name, path in places(body):
        inner = holder[name]
        if isinstance(inner, str) and str(name).endswith("Expression"):
            tokens = TOKENS.findall(inner)
            for width in (8, 4, 2, 1):
                for at in range(0, len(tokens) - width + 1):
                    shorter = copy.deepcopy(body)
                    _holder(shorter, path)[name] = "".join(tokens[:at] + tokens[at + width :])
                    yield shorter
        elif isinstance(inner, dict) and len(inner) == 1 and str(name) != "Item":
            only = next(iter(inner.values()))
            if isinstance(only, dict):
                shorter = copy.deepcopy(body)
                _holder(shorter, path)[name] = copy.deepcopy(only)
                yield shorter


def _holder(body, path):
    for name in path[:-1]:
        body = body[name]
    return body


def shrink(body, still_differs):
    """`still_differs` tells whether a request differs as the first did."""
    tries = TRIES
    progress = True
    while progress and tries > 0:
        progress = False
        for candidate in smaller(body):
            tries -= 1
            if still_differs(candidate):
                body = candidate
                progress = True
                break
            if tries <= 0:
                break
    return body
