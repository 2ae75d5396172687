"""Every function of the extension that a caller may call, as statements over the tables `Orders` and `Plain`."""

import json

KEY = '{"pk":{"S":"api"},"sk":{"S":"1"}}'
ITEM = '{"pk":{"S":"api"},"sk":{"S":"1"},"g":{"S":"g"},"lk":{"N":"1"},"n":{"N":"1"}}'


def _json(**members):
    return json.dumps(members)


_KEY, _ITEM = json.loads(KEY), json.loads(ITEM)
_QUERY = dict(TableName="Orders", KeyConditionExpression="pk = :p AND sk BETWEEN :a AND :z",
              ExpressionAttributeValues={":p": {"S": "api"}, ":a": {"S": "0"}, ":z": {"S": "9"}})
_GET = _json(TableName="Orders", Key=_KEY, ConsistentRead=True)
_PUT = _json(TableName="Orders", Item=_ITEM)

_MEMBERS = dict(TransactItems=[
    {"Put": {"TableName": "Orders", "Item": {**_ITEM, "sk": {"S": "5"}}}},
    {"Update": {"TableName": "Orders", "Key": {**_KEY, "sk": {"S": "6"}}, "UpdateExpression": "SET g = :g",
                "ExpressionAttributeValues": {":g": {"S": "x"}}}},
    {"Delete": {"TableName": "Orders", "Key": {**_KEY, "sk": {"S": "7"}}}},
    {"ConditionCheck": {"TableName": "Plain", "Key": {"pk": {"S": "none"}},
                        "ConditionExpression": "attribute_not_exists(pk)"}}])
_TRANSACTION, _WITH_TOKEN = _json(**_MEMBERS), _json(**_MEMBERS, ClientRequestToken="api")
_TRANSACT_GET = _json(TransactItems=[{"Get": {"TableName": "Orders", "Key": _KEY}},
                                     {"Get": {"TableName": "Plain", "Key": {"pk": {"S": "a"}}}}])

_CLAIM_KEY = "'scope', 'POST', '/path', 'key'"

_ARN = "arn:aws:dynamodb:us-east-1:000000000000:table/"

READ = [
    f"ddb.get_item('{_GET}')",
    "ddb.batch_get_item('" + _json(RequestItems={
        "Orders": {"Keys": [_KEY, {**_KEY, "sk": {"S": "2"}}]}, "Plain": {"Keys": [{"pk": {"S": "a"}}]}}) + "')",
    f"ddb.transact_get_items('{_TRANSACT_GET}')",
    f"ddb.transact_get('{_TRANSACT_GET}')",
    f"ddb.transact_explain('{_TRANSACTION}')",
    f"ddb.query('{_json(**_QUERY)}')",
    f"ddb.query('{_json(**_QUERY, ScanIndexForward=False, Limit=1)}')",
    f"ddb.query('{_json(**_QUERY, ExclusiveStartKey=_KEY)}')",
    "ddb.query('" + _json(TableName="Orders", IndexName="by-g", KeyConditionExpression="g = :g",
                          ExpressionAttributeValues={":g": {"S": "g"}}) + "')",
    "ddb.query('" + _json(TableName="Orders", IndexName="by-lk", KeyConditionExpression="pk = :p AND lk > :n",
                          Select="ALL_ATTRIBUTES", ExpressionAttributeValues={":p": {"S": "api"}, ":n": {"N": "0"}}) + "')",
    """ddb.scan('{"TableName":"Orders"}')""",
    """ddb.scan('{"TableName":"Orders","IndexName":"by-g2","Segment":1,"TotalSegments":3}')""",
    "ddb.scan('" + _json(TableName="Orders", ExclusiveStartKey=_KEY) + "')",
    """ddb.describe_table('{"TableName":"Orders"}')""",
    """ddb.describe_time_to_live('{"TableName":"Orders"}')""",
    """ddb.describe_continuous_backups('{"TableName":"Orders"}')""",
    """ddb.describe_contributor_insights('{"TableName":"Orders","IndexName":"by-g"}')""",
    """ddb.list_contributor_insights('{"TableName":"Orders"}')""",
    """ddb.describe_kinesis_streaming_destination('{"TableName":"Orders"}')""",
    f"""ddb.list_tags_of_resource('{{"ResourceArn":"{_ARN}Orders"}}')""",
    "ddb.describe_limits('{}')",
    "ddb.describe_endpoints('{}')",
    "ddb.list_global_tables('{}')",
    "ddb.list_bulk_operations('{}')",
    "ddb.list_tables('{}')",
    """ddb.list_tables('{"ExclusiveStartTableName":"AAA","Limit":3}')""",
    f"ddb.request('GetItem', '{_GET}')",
    f"ddb.requests(ARRAY['GetItem','ListTables'], ARRAY['{_GET}', '{{}}']::pg_catalog.json[])",
    f"ddb.get('Orders', '{KEY}')",
    "ddb.items('Orders')",
    "ddb.items('Orders', 'by-g')",
    """ddb.query_items('Orders', 'pk = :p', expression_values => '{":p":{"S":"api"}}')""",
]
WRITE = [
    f"ddb.put_item('{_PUT}')",
    f"ddb.put_item('{_json(TableName='Orders', Item=_ITEM, ConditionExpression='attribute_exists(pk)')}')",
    "ddb.update_item('" + _json(TableName="Orders", Key=_KEY, UpdateExpression="ADD n :n SET g2 = :g, r2 = :n",
                                ExpressionAttributeValues={":n": {"N": "1"}, ":g": {"S": "x"}}) + "')",
    "ddb.batch_write_item('" + _json(RequestItems={"Orders": [
        {"PutRequest": {"Item": {**_ITEM, "sk": {"S": "2"}}}}, {"PutRequest": {"Item": {**_ITEM, "sk": {"S": "3"}}}},
        {"DeleteRequest": {"Key": {**_KEY, "sk": {"S": "4"}}}}]}) + "')",
    "ddb.transact_write_items('" + _TRANSACTION + "')",
    "ddb.transact_write('" + _WITH_TOKEN + "')",
    f"ddb.request('PutItem', '{_PUT}')",
    f"ddb.requests(ARRAY['PutItem','PutItem'], ARRAY['{_PUT}', '{_PUT}']::pg_catalog.json[])",
    f"ddb.put('Orders', '{ITEM}')",
    f"ddb.update('Orders', '{KEY}', 'REMOVE g2')",
    f"ddb.delete('Orders', '{KEY}')",
    f"ddb.put('Orders', '{ITEM}', 'attribute_not_exists(pk)')",
    "ddb.delete_item('" + _json(TableName="Orders", Key={**_KEY, "sk": {"S": "3"}}) + "')",
    f"ddb.idempotency_claim({_CLAIM_KEY}, '\\x01')",
    f"ddb.idempotency_claim({_CLAIM_KEY}, '\\x01', '1 second')",
    f"ddb.idempotency_complete({_CLAIM_KEY}, 'no claim', 200, '{{}}', '')",
    f"""ddb.idempotency_complete({_CLAIM_KEY}, COALESCE((ddb.idempotency_claim({_CLAIM_KEY}, '\\x01')).claim, 'none'), 200,
                             '{{"A":"b"}}', 'body', '1 hour', '\\x02')""",
    f"ddb.idempotency_release({_CLAIM_KEY}, 'no claim')",
    "ddb.idempotency_sweep()",
    "ddb.idempotency_sweep(5)",
]
#: In this order: the last drops what the first creates.
ADMIN = [
    "ddb.create_table('" + _json(
        TableName="Short-lived", BillingMode="PAY_PER_REQUEST",
        AttributeDefinitions=[{"AttributeName": "pk", "AttributeType": "S"}, {"AttributeName": "g", "AttributeType": "N"}],
        KeySchema=[{"AttributeName": "pk", "KeyType": "HASH"}],
        GlobalSecondaryIndexes=[{"IndexName": "by-g", "KeySchema": [{"AttributeName": "g", "KeyType": "HASH"}],
                                 "Projection": {"ProjectionType": "ALL"}}]) + "')",
    "ddb.update_table('" + _json(
        TableName="Short-lived", AttributeDefinitions=[{"AttributeName": "h", "AttributeType": "S"}],
        GlobalSecondaryIndexUpdates=[{"Create": {
            "IndexName": "by-h", "KeySchema": [{"AttributeName": "h", "KeyType": "HASH"}],
            "Projection": {"ProjectionType": "KEYS_ONLY"}}}]) + "')",
    "ddb.update_table('" + _json(
        TableName="Short-lived", GlobalSecondaryIndexUpdates=[{"Delete": {"IndexName": "by-g"}}]) + "')",
    "ddb.update_time_to_live('" + _json(
        TableName="Short-lived", TimeToLiveSpecification={"Enabled": True, "AttributeName": "until"}) + "')",
    "ddb.tag_resource('" + _json(ResourceArn=_ARN + "Short-lived", Tags=[{"Key": "k", "Value": "v"}]) + "')",
    "ddb.untag_resource('" + _json(ResourceArn=_ARN + "Short-lived", TagKeys=["k"]) + "')",
    "ddb.update_continuous_backups('" + _json(
        TableName="Short-lived", PointInTimeRecoverySpecification={"PointInTimeRecoveryEnabled": False}) + "')",
    """ddb.delete_table('{"TableName":"Short-lived"}')""",
]
PROXY = [
    f"""ddb.request('GetItem', '{_GET}', '{{"account":"111111111111"}}')""",
    f"""ddb.request('GetItem', '{_GET}', '{{"principal":"arn:aws:iam::000000000000:user/a"}}')""",
    f"""ddb.request('GetItem', '{_GET}', '{{"account":"000000000000","principal":"somebody"}}')""",
    f"""ddb.requests(ARRAY['ListTables'], ARRAY['{{}}']::pg_catalog.json[],
                     ARRAY['{{"account":"111111111111"}}']::pg_catalog.json[])""",
]
EVERYBODY = [
    f"ddb.matches('{ITEM}', 'n = :n', NULL, '{{\":n\":{{\"N\":\"1\"}}}}')",
    f"ddb.apply_update('{ITEM}', 'SET n = n + :n', NULL, '{{\":n\":{{\"N\":\"1\"}}}}')",
    f"ddb.project('{ITEM}', 'g, n')",
    f"ddb.item_size('{ITEM}')",
    f"ddb.item_has('{ITEM}', 'g')",
    f"ddb.item_attribute('{ITEM}', 'g')",
    f"ddb.item_attribute_text('{ITEM}', 'g')",
    f"ddb.item_eq('{ITEM}', '{ITEM}')",
    f"ddb.item_ne('{ITEM}', '{ITEM}')",
    f"ddb.item_hash('{ITEM}')",
    f"ddb.item_hash_extended('{ITEM}', 1)",
    f"ddb.item_send('{ITEM}')",
    f"ddb.item_out('{ITEM}')",
    f"ddb.item_to_json('{ITEM}')",
    f"ddb.item_from_json('{ITEM}')",
    f"ddb.item_to_jsonb('{ITEM}')",
]
#: Never by a statement: the first two take types that none can write, the next are only in a build for tests, the last
#: refuse every request.
NOT_CALLED = {
    "item_in", "item_recv", "store_suite", "store_suite_cases",
    "cancel_bulk_operation", "create_global_table", "describe_bulk_operation", "describe_global_table",
    "describe_global_table_settings", "describe_table_replica_auto_scaling", "get_resource_policy",
    "update_global_table", "update_global_table_settings", "update_table_replica_auto_scaling",
}
