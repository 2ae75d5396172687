"""Every test that asks for a proxy runs on every backend: over the wire they are one and the same. A test that asks for
`cluster` looks at PostgreSQL behind the proxy, and runs on it alone."""

import pytest
from harness import Postgres, Sqlite, stores


def pytest_generate_tests(metafunc):
    if "store" in metafunc.fixturenames:
        looks_behind = "cluster" in metafunc.fixturenames
        chosen = metafunc.config.getoption("--backend") or stores.KINDS
        chosen = [kind for kind in chosen if kind == "postgres" or not looks_behind]
        metafunc.parametrize("store", chosen, indirect=True, scope="module")


@pytest.fixture(scope="module")
def store(request, tmp_path_factory):
    """A store of the module's own, empty."""
    if request.param == "sqlite":
        return Sqlite(tmp_path_factory.mktemp("sqlite") / "data.sqlite")
    database = request.getfixturevalue("database")
    return Postgres(request.getfixturevalue("cluster").conninfo(database))
