"""The servers of the tests of transactions: one a module for each backend."""

import pytest

from servers import BACKENDS


@pytest.fixture(scope="module", params=BACKENDS)
def server(request, tmp_path_factory):
    server = BACKENDS[request.param](tmp_path_factory.mktemp(request.param))
    yield server
    server.remove()


@pytest.fixture
def full(request):
    """Whether the sizes are the full ones (`--full`) or those of every run."""
    return request.config.getoption("full")
