"""Real servers for the tests: a scratch PostgreSQL cluster with the extension, and the proxy in front of it."""

from .cluster import Cluster
from .proxy import Proxy
from .stores import Postgres, Sqlite

__all__ = ["Cluster", "Postgres", "Proxy", "Sqlite"]
