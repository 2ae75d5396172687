"""Histories of concurrent clients and what strict serializability says of them.

- `operation`: what a client did and saw
- `workload`: random calls, and what their answers tell
- `wire`: the same as DynamoDB requests, sent by many clients at once
- `linearize`: the search for an order that explains everything; the judge
- `graph`: dependencies between operations, their cycles, and the names of those
- `simulation`, `tampering`: a server in memory with one planted fault, and a real one behind connections that break a
  promise, to try the judges on
"""

from .check import check

__all__ = ["check"]
