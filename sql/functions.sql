-- The functions that read and write tables. Everybody may call them; each asks for the rights of a role:
-- ddb_read to read, ddb_write to write items, ddb_admin to create and drop tables, ddb_proxy to act for others.

CREATE FUNCTION ddb.request(
    operation text,
    request json,
    context json DEFAULT '{}',
    OUT status integer,
    OUT body json
)
    LANGUAGE c VOLATILE AS 'MODULE_PATHNAME', 'ddb_request';
COMMENT ON FUNCTION ddb.request(text, json, json)
    IS 'serves one DynamoDB operation; answers the HTTP status and body, faults too';

CREATE FUNCTION ddb.requests(operations text[], requests json[], contexts json[] DEFAULT NULL)
    RETURNS TABLE (status integer, body json)
    LANGUAGE c VOLATILE ROWS 10 AS 'MODULE_PATHNAME', 'ddb_requests';
COMMENT ON FUNCTION ddb.requests(text[], json[], json[])
    IS 'serves several DynamoDB operations in order; answers one row each';

-- The operations by name: an answer, or an ERROR with SQLSTATE DDnnn.

CREATE FUNCTION ddb.batch_get_item(request json) RETURNS json
    LANGUAGE c VOLATILE AS 'MODULE_PATHNAME', 'ddb_batch_get_item';
COMMENT ON FUNCTION ddb.batch_get_item(json) IS 'DynamoDB BatchGetItem: up to 100 items by their keys, of several tables';

CREATE FUNCTION ddb.batch_write_item(request json) RETURNS json
    LANGUAGE c VOLATILE AS 'MODULE_PATHNAME', 'ddb_batch_write_item';
COMMENT ON FUNCTION ddb.batch_write_item(json) IS 'DynamoDB BatchWriteItem: puts or deletes up to 25 items, each by itself';

CREATE FUNCTION ddb.cancel_bulk_operation(request json) RETURNS json
    LANGUAGE c VOLATILE AS 'MODULE_PATHNAME', 'ddb_cancel_bulk_operation';
COMMENT ON FUNCTION ddb.cancel_bulk_operation(json) IS 'DynamoDB CancelBulkOperation: there is none';

CREATE FUNCTION ddb.create_global_table(request json) RETURNS json
    LANGUAGE c VOLATILE AS 'MODULE_PATHNAME', 'ddb_create_global_table';
COMMENT ON FUNCTION ddb.create_global_table(json) IS 'DynamoDB CreateGlobalTable: always refused';

CREATE FUNCTION ddb.create_table(request json) RETURNS json
    LANGUAGE c VOLATILE AS 'MODULE_PATHNAME', 'ddb_create_table';
COMMENT ON FUNCTION ddb.create_table(json) IS 'DynamoDB CreateTable: creates a table';

CREATE FUNCTION ddb.delete_item(request json) RETURNS json
    LANGUAGE c VOLATILE AS 'MODULE_PATHNAME', 'ddb_delete_item';
COMMENT ON FUNCTION ddb.delete_item(json) IS 'DynamoDB DeleteItem: deletes an item by its key';

CREATE FUNCTION ddb.delete_table(request json) RETURNS json
    LANGUAGE c VOLATILE AS 'MODULE_PATHNAME', 'ddb_delete_table';
COMMENT ON FUNCTION ddb.delete_table(json) IS 'DynamoDB DeleteTable: deletes a table and its items';

CREATE FUNCTION ddb.describe_bulk_operation(request json) RETURNS json
    LANGUAGE c VOLATILE AS 'MODULE_PATHNAME', 'ddb_describe_bulk_operation';
COMMENT ON FUNCTION ddb.describe_bulk_operation(json) IS 'DynamoDB DescribeBulkOperation: there is none';

CREATE FUNCTION ddb.describe_continuous_backups(request json) RETURNS json
    LANGUAGE c VOLATILE AS 'MODULE_PATHNAME', 'ddb_describe_continuous_backups';
COMMENT ON FUNCTION ddb.describe_continuous_backups(json) IS 'DynamoDB DescribeContinuousBackups: point-in-time recovery is off';

CREATE FUNCTION ddb.describe_contributor_insights(request json) RETURNS json
    LANGUAGE c VOLATILE AS 'MODULE_PATHNAME', 'ddb_describe_contributor_insights';
COMMENT ON FUNCTION ddb.describe_contributor_insights(json) IS 'DynamoDB DescribeContributorInsights: they are off';

CREATE FUNCTION ddb.describe_endpoints(request json) RETURNS json
    LANGUAGE c VOLATILE AS 'MODULE_PATHNAME', 'ddb_describe_endpoints';
COMMENT ON FUNCTION ddb.describe_endpoints(json) IS 'DynamoDB DescribeEndpoints: the name of the service';

CREATE FUNCTION ddb.describe_global_table(request json) RETURNS json
    LANGUAGE c VOLATILE AS 'MODULE_PATHNAME', 'ddb_describe_global_table';
COMMENT ON FUNCTION ddb.describe_global_table(json) IS 'DynamoDB DescribeGlobalTable: there is none';

CREATE FUNCTION ddb.describe_global_table_settings(request json) RETURNS json
    LANGUAGE c VOLATILE AS 'MODULE_PATHNAME', 'ddb_describe_global_table_settings';
COMMENT ON FUNCTION ddb.describe_global_table_settings(json) IS 'DynamoDB DescribeGlobalTableSettings: there is none';

CREATE FUNCTION ddb.describe_kinesis_streaming_destination(request json) RETURNS json
    LANGUAGE c VOLATILE AS 'MODULE_PATHNAME', 'ddb_describe_kinesis_streaming_destination';
COMMENT ON FUNCTION ddb.describe_kinesis_streaming_destination(json) IS 'DynamoDB DescribeKinesisStreamingDestination: there is none';

CREATE FUNCTION ddb.describe_limits(request json) RETURNS json
    LANGUAGE c VOLATILE AS 'MODULE_PATHNAME', 'ddb_describe_limits';
COMMENT ON FUNCTION ddb.describe_limits(json) IS 'DynamoDB DescribeLimits: quotas of throughput';

CREATE FUNCTION ddb.describe_table(request json) RETURNS json
    LANGUAGE c VOLATILE AS 'MODULE_PATHNAME', 'ddb_describe_table';
COMMENT ON FUNCTION ddb.describe_table(json) IS 'DynamoDB DescribeTable: describes a table';

CREATE FUNCTION ddb.describe_table_replica_auto_scaling(request json) RETURNS json
    LANGUAGE c VOLATILE AS 'MODULE_PATHNAME', 'ddb_describe_table_replica_auto_scaling';
COMMENT ON FUNCTION ddb.describe_table_replica_auto_scaling(json) IS 'DynamoDB DescribeTableReplicaAutoScaling: there are no replicas';

CREATE FUNCTION ddb.describe_time_to_live(request json) RETURNS json
    LANGUAGE c VOLATILE AS 'MODULE_PATHNAME', 'ddb_describe_time_to_live';
COMMENT ON FUNCTION ddb.describe_time_to_live(json) IS 'DynamoDB DescribeTimeToLive: the attribute that says when an item expires';

CREATE FUNCTION ddb.get_item(request json) RETURNS json
    LANGUAGE c VOLATILE AS 'MODULE_PATHNAME', 'ddb_get_item';
COMMENT ON FUNCTION ddb.get_item(json) IS 'DynamoDB GetItem: one item by its key';

CREATE FUNCTION ddb.get_resource_policy(request json) RETURNS json
    LANGUAGE c VOLATILE AS 'MODULE_PATHNAME', 'ddb_get_resource_policy';
COMMENT ON FUNCTION ddb.get_resource_policy(json) IS 'DynamoDB GetResourcePolicy: there is none';

CREATE FUNCTION ddb.list_bulk_operations(request json) RETURNS json
    LANGUAGE c VOLATILE AS 'MODULE_PATHNAME', 'ddb_list_bulk_operations';
COMMENT ON FUNCTION ddb.list_bulk_operations(json) IS 'DynamoDB ListBulkOperations: there are none';

CREATE FUNCTION ddb.list_contributor_insights(request json) RETURNS json
    LANGUAGE c VOLATILE AS 'MODULE_PATHNAME', 'ddb_list_contributor_insights';
COMMENT ON FUNCTION ddb.list_contributor_insights(json) IS 'DynamoDB ListContributorInsights: there are none';

CREATE FUNCTION ddb.list_global_tables(request json) RETURNS json
    LANGUAGE c VOLATILE AS 'MODULE_PATHNAME', 'ddb_list_global_tables';
COMMENT ON FUNCTION ddb.list_global_tables(json) IS 'DynamoDB ListGlobalTables: there are none';

CREATE FUNCTION ddb.list_tables(request json) RETURNS json
    LANGUAGE c VOLATILE AS 'MODULE_PATHNAME', 'ddb_list_tables';
COMMENT ON FUNCTION ddb.list_tables(json) IS 'DynamoDB ListTables: the names of the tables';

CREATE FUNCTION ddb.list_tags_of_resource(request json) RETURNS json
    LANGUAGE c VOLATILE AS 'MODULE_PATHNAME', 'ddb_list_tags_of_resource';
COMMENT ON FUNCTION ddb.list_tags_of_resource(json) IS 'DynamoDB ListTagsOfResource: the tags of a table';

CREATE FUNCTION ddb.put_item(request json) RETURNS json
    LANGUAGE c VOLATILE AS 'MODULE_PATHNAME', 'ddb_put_item';
COMMENT ON FUNCTION ddb.put_item(json) IS 'DynamoDB PutItem: stores an item whole';

CREATE FUNCTION ddb.query(request json) RETURNS json
    LANGUAGE c VOLATILE AS 'MODULE_PATHNAME', 'ddb_query';
COMMENT ON FUNCTION ddb.query(json) IS 'DynamoDB Query: a page of items of one partition, in the order of their sort keys';

CREATE FUNCTION ddb.scan(request json) RETURNS json
    LANGUAGE c VOLATILE AS 'MODULE_PATHNAME', 'ddb_scan';
COMMENT ON FUNCTION ddb.scan(json) IS 'DynamoDB Scan: a page of items of a table or index';

CREATE FUNCTION ddb.tag_resource(request json) RETURNS json
    LANGUAGE c VOLATILE AS 'MODULE_PATHNAME', 'ddb_tag_resource';
COMMENT ON FUNCTION ddb.tag_resource(json) IS 'DynamoDB TagResource: adds tags to a table, or changes them';

CREATE FUNCTION ddb.transact_get_items(request json) RETURNS json
    LANGUAGE c VOLATILE AS 'MODULE_PATHNAME', 'ddb_transact_get_items';
COMMENT ON FUNCTION ddb.transact_get_items(json) IS 'DynamoDB TransactGetItems: up to 100 items, all of one moment';

CREATE FUNCTION ddb.transact_get(request json) RETURNS json
    LANGUAGE c VOLATILE AS 'MODULE_PATHNAME', 'ddb_transact_get_items';
COMMENT ON FUNCTION ddb.transact_get(json) IS 'a short name of ddb.transact_get_items';

CREATE FUNCTION ddb.transact_write_items(request json) RETURNS json
    LANGUAGE c VOLATILE AS 'MODULE_PATHNAME', 'ddb_transact_write_items';
COMMENT ON FUNCTION ddb.transact_write_items(json) IS 'DynamoDB TransactWriteItems: up to 100 writes and checks, all or none';

CREATE FUNCTION ddb.transact_write(request json) RETURNS json
    LANGUAGE c VOLATILE AS 'MODULE_PATHNAME', 'ddb_transact_write_items';
COMMENT ON FUNCTION ddb.transact_write(json) IS 'a short name of ddb.transact_write_items';

CREATE FUNCTION ddb.untag_resource(request json) RETURNS json
    LANGUAGE c VOLATILE AS 'MODULE_PATHNAME', 'ddb_untag_resource';
COMMENT ON FUNCTION ddb.untag_resource(json) IS 'DynamoDB UntagResource: takes tags from a table';

CREATE FUNCTION ddb.update_continuous_backups(request json) RETURNS json
    LANGUAGE c VOLATILE AS 'MODULE_PATHNAME', 'ddb_update_continuous_backups';
COMMENT ON FUNCTION ddb.update_continuous_backups(json) IS 'DynamoDB UpdateContinuousBackups: point-in-time recovery stays off';

CREATE FUNCTION ddb.update_global_table(request json) RETURNS json
    LANGUAGE c VOLATILE AS 'MODULE_PATHNAME', 'ddb_update_global_table';
COMMENT ON FUNCTION ddb.update_global_table(json) IS 'DynamoDB UpdateGlobalTable: always refused';

CREATE FUNCTION ddb.update_global_table_settings(request json) RETURNS json
    LANGUAGE c VOLATILE AS 'MODULE_PATHNAME', 'ddb_update_global_table_settings';
COMMENT ON FUNCTION ddb.update_global_table_settings(json) IS 'DynamoDB UpdateGlobalTableSettings: always refused';

CREATE FUNCTION ddb.update_item(request json) RETURNS json
    LANGUAGE c VOLATILE AS 'MODULE_PATHNAME', 'ddb_update_item';
COMMENT ON FUNCTION ddb.update_item(json) IS 'DynamoDB UpdateItem: changes attributes of an item, or creates it';

CREATE FUNCTION ddb.update_table(request json) RETURNS json
    LANGUAGE c VOLATILE AS 'MODULE_PATHNAME', 'ddb_update_table';
COMMENT ON FUNCTION ddb.update_table(json) IS 'DynamoDB UpdateTable: changes settings of a table, adds or drops a global index';

CREATE FUNCTION ddb.update_table_replica_auto_scaling(request json) RETURNS json
    LANGUAGE c VOLATILE AS 'MODULE_PATHNAME', 'ddb_update_table_replica_auto_scaling';
COMMENT ON FUNCTION ddb.update_table_replica_auto_scaling(json) IS 'DynamoDB UpdateTableReplicaAutoScaling: always refused';

CREATE FUNCTION ddb.update_time_to_live(request json) RETURNS json
    LANGUAGE c VOLATILE AS 'MODULE_PATHNAME', 'ddb_update_time_to_live';
COMMENT ON FUNCTION ddb.update_time_to_live(json) IS 'DynamoDB UpdateTimeToLive: sets the attribute that says when an item expires';

-- The same over ddb.item.

CREATE FUNCTION ddb.get(table_name text, key ddb.item) RETURNS ddb.item
    LANGUAGE c VOLATILE AS 'MODULE_PATHNAME', 'ddb_get';
COMMENT ON FUNCTION ddb.get(text, ddb.item) IS 'the item under a key, or null';

CREATE FUNCTION ddb.put(
    table_name text,
    item ddb.item,
    condition text DEFAULT NULL,
    names json DEFAULT NULL,
    expression_values ddb.item DEFAULT NULL
) RETURNS ddb.item
    LANGUAGE c VOLATILE AS 'MODULE_PATHNAME', 'ddb_put';
COMMENT ON FUNCTION ddb.put(text, ddb.item, text, json, ddb.item)
    IS 'stores an item, on a condition if there is one; answers what was stored before, or null';

CREATE FUNCTION ddb.update(
    table_name text,
    key ddb.item,
    update_expression text,
    condition text DEFAULT NULL,
    names json DEFAULT NULL,
    expression_values ddb.item DEFAULT NULL
) RETURNS ddb.item
    LANGUAGE c VOLATILE AS 'MODULE_PATHNAME', 'ddb_update';
COMMENT ON FUNCTION ddb.update(text, ddb.item, text, text, json, ddb.item)
    IS 'changes an item by an update expression, on a condition if there is one; answers the item as it is now';

CREATE FUNCTION ddb.delete(
    table_name text,
    key ddb.item,
    condition text DEFAULT NULL,
    names json DEFAULT NULL,
    expression_values ddb.item DEFAULT NULL
) RETURNS ddb.item
    LANGUAGE c VOLATILE AS 'MODULE_PATHNAME', 'ddb_delete';
COMMENT ON FUNCTION ddb.delete(text, ddb.item, text, json, ddb.item)
    IS 'deletes an item, on a condition if there is one; answers what was stored before, or null';

CREATE FUNCTION ddb.items(table_name text, index_name text DEFAULT NULL) RETURNS SETOF ddb.item
    LANGUAGE c VOLATILE AS 'MODULE_PATHNAME', 'ddb_items';
COMMENT ON FUNCTION ddb.items(text, text) IS 'all items of a table, or all entries of an index';

CREATE FUNCTION ddb.query_items(
    table_name text,
    key_condition text,
    names json DEFAULT NULL,
    expression_values ddb.item DEFAULT NULL,
    index_name text DEFAULT NULL,
    filter text DEFAULT NULL,
    forward boolean DEFAULT true
) RETURNS SETOF ddb.item
    LANGUAGE c VOLATILE AS 'MODULE_PATHNAME', 'ddb_query_items';
COMMENT ON FUNCTION ddb.query_items(text, text, json, ddb.item, text, text, boolean)
    IS 'the items that a key condition expression selects, in the order of their sort keys';

CREATE FUNCTION ddb.transact_explain(request json) RETURNS json
    LANGUAGE c VOLATILE AS 'MODULE_PATHNAME', 'ddb_transact_explain';
COMMENT ON FUNCTION ddb.transact_explain(json)
    IS 'how a TransactWriteItems would be answered and why, member by member; writes nothing';

-- The storage half of an Idempotency-Key header, for any application.

CREATE FUNCTION ddb.idempotency_claim(
    owner_scope text,
    method text,
    path text,
    key text,
    fingerprint bytea,
    stale_after interval DEFAULT '1 minute',
    OUT outcome text,
    OUT claim text,
    OUT status integer,
    OUT headers json,
    OUT body bytea,
    OUT content_digest bytea
)
    LANGUAGE c VOLATILE AS 'MODULE_PATHNAME', 'ddb_idempotency_claim';
COMMENT ON FUNCTION ddb.idempotency_claim(text, text, text, text, bytea, interval)
    IS 'whether to act on a request: go, with a claim; replay, with the response; in_flight; reused for another request';

CREATE FUNCTION ddb.idempotency_complete(
    owner_scope text,
    method text,
    path text,
    key text,
    claim text,
    status integer,
    headers json,
    body bytea,
    keep_for interval DEFAULT '24 hours',
    content_digest bytea DEFAULT NULL
) RETURNS boolean
    LANGUAGE c VOLATILE AS 'MODULE_PATHNAME', 'ddb_idempotency_complete';
COMMENT ON FUNCTION ddb.idempotency_complete(text, text, text, text, text, integer, json, bytea, interval, bytea)
    IS 'keeps the response of a claimed request; false where the claim is held no more';

CREATE FUNCTION ddb.idempotency_release(owner_scope text, method text, path text, key text, claim text) RETURNS boolean
    LANGUAGE c VOLATILE AS 'MODULE_PATHNAME', 'ddb_idempotency_release';
COMMENT ON FUNCTION ddb.idempotency_release(text, text, text, text, text)
    IS 'gives a claim up, so that the key is free; false where the claim is held no more';

CREATE FUNCTION ddb.idempotency_sweep(max integer DEFAULT 1000) RETURNS bigint
    LANGUAGE c VOLATILE AS 'MODULE_PATHNAME', 'ddb_idempotency_sweep';
COMMENT ON FUNCTION ddb.idempotency_sweep(integer)
    IS 'removes tokens and claims whose time is over; answers how many';

-- As PostgreSQL has it anyway, unless default privileges of whoever installs say otherwise. `ddb_owner` needs it too.
GRANT EXECUTE ON ALL FUNCTIONS IN SCHEMA ddb TO PUBLIC;
GRANT USAGE ON TYPE ddb.item TO PUBLIC;
