"""The tables of cases of transactions over HTTP: the same rows that core runs on its memory store. Sequences in which time
passes, or somebody else holds an item, are in sql/test_tokens.py."""

import pytest

from harness.transactions import RANKING, TOKENS, Sequences, Tables, expanded


def _rows(rows):
    return [pytest.param(row, id=row["row"]) for row in rows]


def _needs_no_database(row):
    return not any("@1" in step or step.startswith(Sequences.elsewhere) for step in row["steps"])


@pytest.fixture(scope="module")
def ranking(open_proxy):
    tables = Tables(open_proxy, RANKING)
    tables.reset()
    tables.before = tables.items()
    return tables


@pytest.mark.parametrize("row", _rows(RANKING["row"]))
def test_ranking(ranking, row):
    """Twice, and nothing is changed unless it succeeds."""
    operation = row.get("operation", "TransactWriteItems")
    request = row.get("request")
    if request is None:
        request = '{"TransactItems":[' + ",".join(RANKING["members"][code] for code in row["members"]) + "]}"
    for _ in range(2):
        status, body = ranking.call(operation, expanded(request))
        ranking.check(row["answer"], status, body)
        if row["answer"] == "OK":
            ranking.reset()
        else:
            assert ranking.items() == ranking.before


@pytest.fixture(scope="module")
def sequences(open_proxy):
    return Sequences(open_proxy)


@pytest.mark.parametrize("row", _rows(filter(_needs_no_database, TOKENS["row"])))
def test_tokens(sequences, row):
    sequences.reset()
    for step in row["steps"]:
        sequences.step(step)
