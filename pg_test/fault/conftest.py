"""The servers of the tests of transactions: each in turn, one a module. A module names in WITHOUT those that would be no other
test to it."""

import pytest

from servers import BACKENDS


def pytest_generate_tests(metafunc):
    if "server" in metafunc.fixturenames:
        kinds = metafunc.config.getoption("backend") or [backend.kind for backend in BACKENDS.values()]
        names = [name for name, backend in BACKENDS.items() if backend.kind in kinds and name not in getattr(metafunc.module, "WITHOUT", ())]
        metafunc.parametrize("server", names, indirect=True, scope="module")


@pytest.fixture(scope="module")
def server(request, tmp_path_factory):
    server = BACKENDS[request.param](tmp_path_factory.mktemp("server"))
    yield server
    server.remove()


@pytest.fixture
def full(request):
    """Whether the sizes are the full ones (`--full`) or those of every run."""
    return request.config.getoption("full")
