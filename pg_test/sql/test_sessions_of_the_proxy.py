"""What the proxy's sessions with PostgreSQL keep."""

import pytest

from harness import Proxy
from harness.schema import table


@pytest.mark.parametrize("turned", [False, True], ids=["in this order", "in the other"])
def test_one_session_serves_every_operation(store, proxy, tmp_path, turned):
    """A session with PostgreSQL keeps what it has prepared: of two operations each comes first once."""
    client = proxy.client()
    name, doomed = f"Kept{turned}", f"Doomed{turned}"
    client.create_table(**table(name, "pk", gsi=[("index", "g", "ALL")]))
    client.create_table(**table(doomed, "pk"))
    # What a description says of the size is remembered; of this one there is nothing yet.
    client.create_table(**table(f"Unmeasured{turned}", "pk"))
    item = {"pk": {"S": "k"}, "g": {"S": "g"}}
    key = {"pk": {"S": "k"}}
    query = dict(TableName=name, KeyConditionExpression="pk = :k", ExpressionAttributeValues={":k": {"S": "k"}})
    calls = [
        ("create_table", table(f"Created{turned}", "pk")),
        ("describe_table", dict(TableName=f"Unmeasured{turned}")),
        ("list_tables", dict(Limit=5)),
        ("put_item", dict(TableName=name, Item=item)),
        ("get_item", dict(TableName=name, Key=key)),
        ("update_item", dict(TableName=name, Key=key, UpdateExpression="REMOVE absent")),
        ("query", query),
        ("scan", dict(TableName=name, IndexName="index")),
        ("batch_write_item", dict(RequestItems={name: [{"PutRequest": {"Item": item}}]})),
        ("batch_get_item", dict(RequestItems={name: {"Keys": [key]}})),
        ("delete_item", dict(TableName=name, Key=key)),
        ("delete_table", dict(TableName=doomed)),
    ]
    server = Proxy(store, tmp_path / "log", arguments=["--pool", "1"])
    try:
        session = server.client()
        for operation, request in (calls[::-1] if turned else calls) + calls[1:-1] + calls[-2:0:-1]:
            getattr(session, operation)(**request)
    finally:
        server.stop()
