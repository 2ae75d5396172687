"""The servers that the tests share: one cluster a run, one proxy an authentication mode."""

import itertools
import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))

from harness import Cluster, Postgres, Proxy, stores  # noqa: E402

_names = itertools.count(1)


def pytest_addoption(parser):
    parser.addoption("--full", action="store_true",
                     help="histories, the bank, and the load of transactions at full size (an hour) instead of a minute each")
    parser.addoption("--backend", action="append", choices=stores.KINDS,
                     help="what the tests over HTTP keep items in; may be given several times; all without it")


@pytest.fixture(scope="session")
def cluster():
    cluster = Cluster()
    yield cluster
    cluster.remove()


@pytest.fixture(scope="module")
def database(cluster):
    """A database of the module's own, with the extension."""
    name = f"test_{next(_names)}"
    cluster.create_database(name)
    return name


@pytest.fixture
def sql(cluster, database):
    with cluster.connect(database) as connection:
        yield connection


@pytest.fixture(scope="module")
def store(cluster, database):
    """What the proxies of the module keep items in."""
    return Postgres(cluster.conninfo(database))


@pytest.fixture(scope="module")
def proxy(store, tmp_path_factory):
    """The proxy in front of the module's store; it checks signatures."""
    proxy = Proxy(store, tmp_path_factory.mktemp("proxy") / "log")
    yield proxy
    proxy.stop()


@pytest.fixture(scope="module")
def open_proxy(store, tmp_path_factory):
    """One without authentication, for requests written by hand."""
    proxy = Proxy(store.beside(), tmp_path_factory.mktemp("proxy") / "log", auth="none")
    yield proxy
    proxy.stop()
