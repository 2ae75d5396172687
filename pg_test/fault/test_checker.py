"""The judges of histories are judged themselves: by histories made by hand, by servers in memory with a planted fault, and
by trying every order of small histories."""

from collections import Counter

import pytest

from histories import check
from histories.graph import dependencies
from histories.linearize import linearize
from histories.operation import DONE, NEVER, REFUSED, UNKNOWN, Condition, Member, Operation, expected
from histories.simulation import FAULTS, history

EXISTS, ABSENT = Condition("exists"), Condition("absent")


def is_(write):
    return Condition("is", write)


def put(key, condition=None):
    return Member(key, "put", condition)


def update(key, condition=None):
    return Member(key, "update", condition)


def delete(key, condition=None):
    return Member(key, "delete", condition)


def verify(key, condition):
    return Member(key, "check", condition)


def did(number, began, ended, *members, seen=(), outcome=DONE, held=()):
    return Operation(number, list(members), number, began, ended, outcome, dict(seen), dict(held))


def read(number, began, ended, seen):
    return did(number, began, ended, *[Member(key, "get") for key in seen], seen=seen)


# Operation n bears number n; times are what they were called and answered at.
PLANTED = {
    "write skew": ("write skew (G2)", [
        did(1, 0, 9, verify(1, ABSENT), put(0)),
        did(2, 0, 9, verify(0, ABSENT), put(1))]),
    "write skew by deletes of nothing": ("write skew (G2)", [
        did(1, 0, 9, delete(1, ABSENT), put(0)),
        did(2, 0, 9, delete(0, ABSENT), put(1))]),
    "write skew on items": ("write skew (G2)", [
        did(1, 0, 1, put(0), put(1)),
        did(2, 2, 9, verify(0, is_(1)), update(1)),
        did(3, 2, 9, verify(1, is_(1)), update(0)),
        read(4, 10, 11, {0: (1, 3), 1: (1, 2)})]),
    "lost update": ("lost update", [
        did(1, 0, 1, put(0)),
        did(2, 2, 9, put(0, is_(1))),
        did(3, 2, 9, put(0, is_(1)))]),
    "lost update without a condition": ("lost update", [
        did(1, 0, 1, put(0)),
        did(2, 2, 9, update(0), seen={0: (1,)}),
        did(3, 2, 9, update(0), seen={0: (1,)})]),
    "two winners on a missing item": ("lost update", [
        did(1, 0, 9, put(0, ABSENT)),
        did(2, 0, 9, put(0, ABSENT))]),
    "fractured read": ("fractured read (G-single)", [
        did(1, 0, 1, put(0), put(1)),
        did(2, 2, 9, update(0), update(1)),
        read(3, 2, 9, {0: (1, 2), 1: (1,)}),
        read(4, 10, 11, {0: (1, 2), 1: (1, 2)})]),
    "fractured read of a creation": ("fractured read (G-single)", [
        did(1, 0, 9, put(0), put(1)),
        read(2, 0, 9, {0: (1,), 1: None}),
        read(3, 10, 11, {0: (1,), 1: (1,)})]),
    "read skew over two transactions": ("read skew (G-single)", [
        did(1, 0, 1, put(0), put(1)),
        did(2, 2, 9, update(0)),
        did(3, 2, 9, verify(0, is_(2)), update(1)),
        read(4, 2, 9, {0: (1,), 1: (1, 3)}),
        read(5, 10, 11, {0: (1, 2), 1: (1, 3)})]),
    "stale read": ("stale read", [
        did(1, 0, 1, put(0)),
        did(2, 2, 3, update(0)),
        read(3, 4, 5, {0: (1,)}),
        read(4, 6, 7, {0: (1, 2)})]),
    "stale read of a missing item": ("stale read", [
        did(1, 0, 1, put(0)),
        read(2, 2, 3, {0: None}),
        read(3, 4, 5, {0: (1,)})]),
    "refused on a stale image": ("stale read", [
        did(1, 0, 1, put(0)),
        did(2, 2, 3, update(0)),
        did(3, 4, 5, put(0, ABSENT), outcome=REFUSED, held={0: False}, seen={0: (1,)}),
        read(4, 6, 7, {0: (1, 2)})]),
    "appended twice": ("applied twice", [
        did(1, 0, 1, put(0)),
        did(2, 2, 3, update(0)),
        read(3, 4, 5, {0: (1, 2, 2)})]),
    "appended twice with another between": ("applied twice", [
        did(1, 0, 1, put(0)),
        did(2, 2, 9, update(0)),
        did(3, 2, 9, update(0)),
        read(4, 10, 11, {0: (1, 2, 3, 2)})]),
    "appended twice in two lives": ("applied twice", [
        did(1, 0, 9, update(0)),
        did(2, 0, 9, put(0)),
        read(3, 0, 9, {0: (1,)}),
        read(4, 10, 11, {0: (2, 1)})]),
    "put twice": ("stale read", [
        did(1, 0, 1, put(0)),
        did(2, 2, 3, put(0, is_(1))),
        read(3, 4, 5, {0: (1,)})]),
    "torn write": ("torn write", [
        did(1, 0, 1, put(0), put(1)),
        did(2, 2, 3, update(0), update(1)),
        read(3, 4, 5, {0: (1, 2), 1: (1,)})]),
    "aborted write": ("aborted read (G1a)", [
        did(1, 0, 1, put(0, EXISTS), outcome=REFUSED, held={0: False}),
        read(2, 2, 3, {0: (1,)})]),
    "dirty write": ("dirty write (G0)", [
        did(1, 0, 9, update(0), update(1)),
        did(2, 0, 9, update(0), update(1)),
        read(3, 10, 11, {0: (1, 2), 1: (2, 1)})]),
    "circular information flow": ("circular information flow (G1c)", [
        did(1, 0, 9, put(0), verify(1, is_(2))),
        did(2, 0, 9, put(1), verify(0, is_(1)))]),
    "garbage": ("garbage", [read(1, 0, 1, {0: (7,)})]),
    "a condition that did not hold": ("condition not kept", [
        did(1, 0, 1, put(0)),
        did(2, 2, 3, update(0, ABSENT), seen={0: (1,)})]),
}


@pytest.mark.parametrize("case", PLANTED)
def test_a_planted_anomaly_is_found_and_named(case):
    name, operations = PLANTED[case]
    assert [anomaly.name for anomaly in check(operations, 2).anomalies] == [name]
    # The search alone finds that there is no order, too.
    search = linearize(operations, {0: None, 1: None})
    assert search.order is None and not search.undecided
    assert "no order goes on" in search.explanation()


SOUND = {
    "concurrent, in the order of neither call nor answer": [
        did(1, 0, 9, put(0)),
        did(2, 1, 8, update(0), seen={0: None}),
        read(3, 2, 7, {0: (2,)}),
        read(4, 10, 11, {0: (1,)})],
    "one of two creators": [
        did(1, 0, 9, put(0, ABSENT)),
        did(2, 0, 9, put(0, ABSENT), outcome=REFUSED, held={0: False}, seen={0: (1,)})],
    "a delete that saw nothing, between": [
        did(1, 0, 1, put(0)),
        did(2, 2, 9, delete(0)),
        did(3, 2, 9, put(0, ABSENT)),
        read(4, 10, 11, {0: (3,)})],
    "of unknown outcome, and applied": [
        did(1, 0, NEVER, put(0), outcome=UNKNOWN),
        read(2, 1, 2, {0: None}),
        read(3, 8, 9, {0: (1,)})],
    "of unknown outcome, and not applied": [
        did(1, 0, NEVER, put(0), outcome=UNKNOWN),
        read(2, 8, 9, {0: None})],
    "of unknown outcome, a delete": [
        did(1, 0, 1, put(0)),
        did(2, 2, NEVER, delete(0), outcome=UNKNOWN),
        read(3, 3, 4, {0: (1,)}),
        read(4, 5, 6, {0: None})],
    "refused for one, held for another": [
        did(1, 0, 1, put(0)),
        did(2, 2, 3, verify(0, EXISTS), put(1, EXISTS), outcome=REFUSED, held={0: True, 1: False}, seen={1: None}),
        did(3, 4, 5, verify(0, is_(1)), put(1, ABSENT))],
    "both of two that delete the other's": [
        did(1, 0, 1, put(0), put(1)),
        did(2, 2, 9, delete(1), put(0)),
        did(3, 2, 9, delete(0), put(1)),
        read(4, 10, 11, {0: None, 1: (3,)})],
    "half of two reads": [
        did(1, 0, 9, put(0), put(1)),
        read(2, 0, 9, {0: None}),
        read(3, 0, 9, {1: (1,)})],
}


@pytest.mark.parametrize("case", SOUND)
def test_what_has_an_order_is_sound(case):
    verdict = check(SOUND[case], 2)
    assert verdict.sound, str(verdict)
    assert linearize(SOUND[case], {0: None, 1: None}).order is not None


# What the graph alone may leave open is for the search: here which of two deletes made room for which creation.
ONLY_THE_SEARCH = {
    "three creations with one delete": [
        did(1, 0, 9, put(0, ABSENT)),
        did(2, 0, 9, put(0, ABSENT)),
        did(3, 0, 9, put(0, ABSENT)),
        did(4, 0, 9, delete(0))],
    "applied twice, of unknown outcome": [
        did(1, 0, 1, put(0)),
        did(2, 2, NEVER, delete(0), outcome=UNKNOWN),
        did(3, 4, 5, put(0, ABSENT)),
        did(4, 6, 7, put(0, ABSENT))],
}


@pytest.mark.parametrize("case", ONLY_THE_SEARCH)
def test_where_no_cycle_shows_the_search_decides(case):
    verdict = check(ONLY_THE_SEARCH[case], 1)
    assert not verdict.sound
    assert verdict.anomalies or verdict.search.order is None


def test_a_right_server_is_never_accused():
    for seed in range(40):
        verdict = check(history(seed), 4)
        assert verdict.sound, (seed, str(verdict))
    for seed in range(20):
        verdict = check(history(seed, cut=0.05), 4)
        assert verdict.sound, (seed, str(verdict))


# Of 40 histories of 150 operations each, at least so many show the fault, and one of these names is given to it.
FOUND = {
    "write skew": (3, {"write skew (G2)"}),
    "lost update": (30, {"lost update"}),
    "two creators": (15, {"lost update"}),
    "fractured read": (20, {"fractured read (G-single)"}),
    "dirty read": (20, {"fractured read (G-single)"}),
    "stale read": (30, {"stale read"}),
    "applied twice": (20, {"applied twice"}),
    "torn write": (8, {"torn write"}),
    "aborted write": (20, {"aborted read (G1a)"}),
    "late write": (30, {"stale read"}),
    "stale condition": (20, {"stale read"}),
}


@pytest.mark.parametrize("fault", FAULTS)
def test_a_server_with_a_fault_is_found_out(fault):
    least, names = FOUND[fault]
    found, unsound = Counter(), 0
    for seed in range(40):
        operations = history(seed, fault=fault)
        verdict = check(operations, 4)
        unsound += not verdict.sound
        found.update(anomaly.name for anomaly in verdict.anomalies)
        if verdict.anomalies:
            # A cycle is a proof: the search, which knows nothing of it, finds no order.
            assert linearize(operations, dict.fromkeys(range(4))).order is None, (seed, str(verdict))
    assert unsound >= least, (unsound, found)
    assert names & set(found), found


def has_an_order(operations, state):
    """By trying all, one after the other."""
    if all(operation.outcome == UNKNOWN for operation in operations):
        return True
    for operation in operations:
        others = [other for other in operations if other is not operation]
        if any(other.outcome != UNKNOWN and other.ended < operation.began for other in others):
            continue
        after = step(operation, state)
        if after is not None and has_an_order(others, after):
            return True
    return False


def step(operation, state):
    """The state after it, `None` where it would have been answered otherwise."""
    if any(state[key] != image for key, image in operation.seen.items()):
        return None
    if any(member.condition.holds(state[member.key]) != truth for member, truth in expected(operation)):
        return None
    after = dict(state)
    if operation.outcome != REFUSED:
        for member in operation.writes():
            after[member.key] = member.image_after(operation.number, state[member.key])
    return after


def explains(order, state):
    latest = 0
    for operation in order:
        latest = max(latest, operation.began)
        if operation.outcome != UNKNOWN and operation.ended < latest:
            return False
        state = step(operation, state)
        if state is None:
            return False
    return True


@pytest.mark.parametrize("fault", [None, *FAULTS])
def test_of_small_histories_the_judges_say_what_trying_all_orders_says(fault):
    verdicts = Counter()
    missing = {0: None, 1: None}
    for seed in range(250):
        operations = history(seed, keys=2, clients=3, calls=7, fault=fault, cut=0.15)
        order = has_an_order(operations, missing)
        anomalies, edges = dependencies(operations)
        verdicts[order] += 1
        for hints in ((), edges):
            search = linearize(operations, missing, hints)
            assert not search.undecided and (search.order is not None) == order, (seed, search.explanation())
            assert search.order is None or explains(search.order, missing)
        assert not (anomalies and order), (seed, *map(str, anomalies))
    if fault is None:
        assert verdicts[False] == 0
    elif fault not in ("write skew", "torn write"):
        assert verdicts[False] > 0
