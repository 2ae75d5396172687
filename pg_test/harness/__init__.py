"""Real servers for the tests: a scratch PostgreSQL cluster with the extension, and the proxy in front of it."""

from .cluster import Cluster, wait_until
from .proxy import Proxy
from .stores import Postgres, Sqlite

__all__ = ["Cluster", "Postgres", "Proxy", "Sqlite", "wait_until"]
