"""The judges find in real histories what they find in those of a simulation: a server, with the clients and the calls of the
histories that are to be sound, behind connections that break one of its promises."""

import pytest

from histories import check
from histories.tampering import FAULTS, tampering
from histories.wire import TABLES, record
from servers import Sqlite


@pytest.fixture(scope="module")
def promising(tmp_path_factory):
    """Whichever it is, it keeps its promises itself; this one starts fastest."""
    server = Sqlite(tmp_path_factory.mktemp("promising"))
    for table in TABLES:
        server.ok("CreateTable", table)
    yield server
    server.remove()


@pytest.mark.parametrize("fault", FAULTS, ids=lambda fault: fault.__name__)
def test_a_server_that_broke_it_would_be_found_out(promising, fault):
    for seed in range(20):
        operations, _ = record(promising, f"{fault.__name__}-{seed}", 3_000 + seed, 16, 1_000, 6, connect=tampering(fault))
        verdict = check(operations, 6)
        if not verdict.sound:
            break
    assert not verdict.sound and not verdict.undecided
    print(f"\n{fault.__name__}: history {seed + 1}: {verdict}")
