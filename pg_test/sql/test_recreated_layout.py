"""An extension created again counts its tables from the start: a session meets old ids with other columns behind them."""

from harness.tables import ORDERS, call, create_table, get, index_faults, put

G_ALONE = ("g",)
G_AND_R2 = ("g", "r2")


def shape(index_key):
    kinds = {"HASH": index_key[:1], "RANGE": index_key[1:]}
    return {
        **{name: value for name, value in ORDERS.items() if name != "LocalSecondaryIndexes"},
        "AttributeDefinitions": [definition for definition in ORDERS["AttributeDefinitions"]
                                 if definition["AttributeName"] in ("pk", "sk", *index_key)],
        "GlobalSecondaryIndexes": [{
            "IndexName": "by-g",
            "KeySchema": [{"AttributeName": name, "KeyType": kind} for kind, names in kinds.items() for name in names],
            "Projection": {"ProjectionType": "ALL"}}],
    }


def work(sql):
    """Every kind of statement on an index: insert, update, delete, and a page that goes on."""
    for number in range(4):
        put(sql, "Work", {"pk": {"S": "a"}, "sk": {"S": str(number)}, "g": {"S": "g"}, "r2": {"N": str(number)}})
    key = {"pk": {"S": "a"}, "sk": {"S": "1"}}
    put(sql, "Work", {**get(sql, "Work", key), "changed": {"BOOL": True}})
    call(sql, "delete_item", {"TableName": "Work", "Key": {**key, "sk": {"S": "0"}}})
    assert index_faults(sql, "Work") == []
    for function, members in [("scan", {}), ("query", {
            "KeyConditionExpression": "g = :g", "ExpressionAttributeValues": {":g": {"S": "g"}}})]:
        found, start = [], {}
        while start is not None:
            page = call(sql, function, {"TableName": "Work", "IndexName": "by-g", "Limit": 1, **members, **start})
            found += [item["sk"]["S"] for item in page["Items"]]
            start = {"ExclusiveStartKey": page["LastEvaluatedKey"]} if "LastEvaluatedKey" in page else None
        assert found == ["1", "2", "3"]


def test_an_index_with_other_columns_under_the_same_name(cluster):
    cluster.create_database("other_columns")
    with cluster.connect("other_columns") as sql:
        relations = []
        for index_key in [G_ALONE, G_AND_R2, G_ALONE]:
            create_table(sql, "Work", shape(index_key))
            work(sql)
            relations.append(sql.execute("SELECT id FROM ddb.tables").fetchone())
            sql.execute("DROP EXTENSION extenddb CASCADE")
            sql.execute("CREATE EXTENSION extenddb")
        assert len(set(relations)) == 1, "the ids did not begin anew, so nothing was tested"
