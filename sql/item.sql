-- The type ddb.item. Its operators stand in pg_catalog, so that `item -> 'name'` works under every search_path.

CREATE TYPE ddb.item;

CREATE FUNCTION ddb.item_in(cstring) RETURNS ddb.item
    LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE AS 'MODULE_PATHNAME', 'ddb_item_in';
CREATE FUNCTION ddb.item_out(ddb.item) RETURNS cstring
    LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE AS 'MODULE_PATHNAME', 'ddb_item_out';
CREATE FUNCTION ddb.item_recv(internal) RETURNS ddb.item
    LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE AS 'MODULE_PATHNAME', 'ddb_item_recv';
CREATE FUNCTION ddb.item_send(ddb.item) RETURNS bytea
    LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE AS 'MODULE_PATHNAME', 'ddb_item_send';

COMMENT ON FUNCTION ddb.item_in(cstring) IS 'I/O';
COMMENT ON FUNCTION ddb.item_out(ddb.item) IS 'I/O';
COMMENT ON FUNCTION ddb.item_recv(internal) IS 'I/O';
COMMENT ON FUNCTION ddb.item_send(ddb.item) IS 'I/O';

CREATE TYPE ddb.item (
    INPUT = ddb.item_in,
    OUTPUT = ddb.item_out,
    RECEIVE = ddb.item_recv,
    SEND = ddb.item_send,
    INTERNALLENGTH = VARIABLE,
    ALIGNMENT = int4,
    STORAGE = extended,
    CATEGORY = 'U'
);
COMMENT ON TYPE ddb.item IS 'a DynamoDB item: attributes of the ten types, written as DynamoDB JSON';

CREATE FUNCTION ddb.item_size(item ddb.item) RETURNS integer
    LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE AS 'MODULE_PATHNAME', 'ddb_item_size';
COMMENT ON FUNCTION ddb.item_size(ddb.item) IS 'size of the item in bytes, as DynamoDB counts it';

CREATE FUNCTION ddb.item_has(item ddb.item, name text) RETURNS boolean
    LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE AS 'MODULE_PATHNAME', 'ddb_item_has';
COMMENT ON FUNCTION ddb.item_has(ddb.item, text) IS 'whether the item has an attribute of this name';

-- Attributes.

CREATE FUNCTION ddb.item_attribute(item ddb.item, name text) RETURNS json
    LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE AS 'MODULE_PATHNAME', 'ddb_item_attribute';
COMMENT ON FUNCTION ddb.item_attribute(ddb.item, text) IS 'implementation of -> operator';
CREATE OPERATOR pg_catalog.-> (FUNCTION = ddb.item_attribute, LEFTARG = ddb.item, RIGHTARG = text);
COMMENT ON OPERATOR pg_catalog.-> (ddb.item, text) IS 'attribute of a DynamoDB item, as DynamoDB JSON';

CREATE FUNCTION ddb.item_attribute_text(item ddb.item, name text) RETURNS text
    LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE AS 'MODULE_PATHNAME', 'ddb_item_attribute_text';
COMMENT ON FUNCTION ddb.item_attribute_text(ddb.item, text) IS 'implementation of ->> operator';
CREATE OPERATOR pg_catalog.->> (FUNCTION = ddb.item_attribute_text, LEFTARG = ddb.item, RIGHTARG = text);
COMMENT ON OPERATOR pg_catalog.->> (ddb.item, text) IS 'attribute of a DynamoDB item, as plain text';

-- Equality and hashing.

CREATE FUNCTION ddb.item_eq(ddb.item, ddb.item) RETURNS boolean
    LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE AS 'MODULE_PATHNAME', 'ddb_item_eq';
COMMENT ON FUNCTION ddb.item_eq(ddb.item, ddb.item) IS 'implementation of = operator';
CREATE FUNCTION ddb.item_ne(ddb.item, ddb.item) RETURNS boolean
    LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE AS 'MODULE_PATHNAME', 'ddb_item_ne';
COMMENT ON FUNCTION ddb.item_ne(ddb.item, ddb.item) IS 'implementation of <> operator';
CREATE FUNCTION ddb.item_hash(ddb.item) RETURNS integer
    LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE AS 'MODULE_PATHNAME', 'ddb_item_hash';
COMMENT ON FUNCTION ddb.item_hash(ddb.item) IS 'hash';
CREATE FUNCTION ddb.item_hash_extended(ddb.item, bigint) RETURNS bigint
    LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE AS 'MODULE_PATHNAME', 'ddb_item_hash_extended';
COMMENT ON FUNCTION ddb.item_hash_extended(ddb.item, bigint) IS 'hash';

CREATE OPERATOR pg_catalog.= (
    FUNCTION = ddb.item_eq, LEFTARG = ddb.item, RIGHTARG = ddb.item,
    COMMUTATOR = OPERATOR(pg_catalog.=), NEGATOR = OPERATOR(pg_catalog.<>),
    RESTRICT = pg_catalog.eqsel, JOIN = pg_catalog.eqjoinsel, HASHES
);
COMMENT ON OPERATOR pg_catalog.= (ddb.item, ddb.item) IS 'the same attributes with the same values';
CREATE OPERATOR pg_catalog.<> (
    FUNCTION = ddb.item_ne, LEFTARG = ddb.item, RIGHTARG = ddb.item,
    COMMUTATOR = OPERATOR(pg_catalog.<>), NEGATOR = OPERATOR(pg_catalog.=),
    RESTRICT = pg_catalog.neqsel, JOIN = pg_catalog.neqjoinsel
);
COMMENT ON OPERATOR pg_catalog.<> (ddb.item, ddb.item) IS 'not equal';

CREATE OPERATOR FAMILY ddb.item_hash_ops USING hash;
CREATE OPERATOR CLASS ddb.item_hash_ops DEFAULT FOR TYPE ddb.item USING hash FAMILY ddb.item_hash_ops AS
    OPERATOR 1 pg_catalog.= (ddb.item, ddb.item),
    FUNCTION 1 ddb.item_hash(ddb.item),
    FUNCTION 2 ddb.item_hash_extended(ddb.item, bigint);

-- Casts. Those with bytea are for statements that outlive the type's OID; what takes an item checks its bytes.

CREATE FUNCTION ddb.item_to_json(item ddb.item) RETURNS json
    LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE AS 'MODULE_PATHNAME', 'ddb_item_to_json';
COMMENT ON FUNCTION ddb.item_to_json(ddb.item) IS 'the item as DynamoDB JSON';
CREATE FUNCTION ddb.item_from_json(json json) RETURNS ddb.item
    LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE AS 'MODULE_PATHNAME', 'ddb_item_from_json';
COMMENT ON FUNCTION ddb.item_from_json(json) IS 'the item that this DynamoDB JSON writes';
CREATE FUNCTION ddb.item_to_jsonb(item ddb.item) RETURNS jsonb
    LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE AS 'MODULE_PATHNAME', 'ddb_item_to_jsonb';
COMMENT ON FUNCTION ddb.item_to_jsonb(ddb.item) IS 'the item with plain values: binary as base64, sets as arrays';

CREATE CAST (ddb.item AS json) WITH FUNCTION ddb.item_to_json(ddb.item);
CREATE CAST (json AS ddb.item) WITH FUNCTION ddb.item_from_json(json);
CREATE CAST (ddb.item AS jsonb) WITH FUNCTION ddb.item_to_jsonb(ddb.item);
CREATE CAST (ddb.item AS bytea) WITHOUT FUNCTION;
CREATE CAST (bytea AS ddb.item) WITHOUT FUNCTION;

-- Expressions over items: no table is read, so everybody may.

CREATE FUNCTION ddb.matches(
    item ddb.item,
    condition text,
    names json DEFAULT NULL,
    expression_values ddb.item DEFAULT NULL
) RETURNS boolean
    LANGUAGE c IMMUTABLE PARALLEL SAFE AS 'MODULE_PATHNAME', 'ddb_matches';
COMMENT ON FUNCTION ddb.matches(ddb.item, text, json, ddb.item)
    IS 'whether a condition expression holds for the item; a null item is one that does not exist';

CREATE FUNCTION ddb.apply_update(
    item ddb.item,
    update_expression text,
    names json DEFAULT NULL,
    expression_values ddb.item DEFAULT NULL
) RETURNS ddb.item
    LANGUAGE c IMMUTABLE PARALLEL SAFE AS 'MODULE_PATHNAME', 'ddb_apply_update';
COMMENT ON FUNCTION ddb.apply_update(ddb.item, text, json, ddb.item)
    IS 'the item after an update expression; nothing is stored';

CREATE FUNCTION ddb.project(item ddb.item, projection text, names json DEFAULT NULL) RETURNS ddb.item
    LANGUAGE c IMMUTABLE PARALLEL SAFE AS 'MODULE_PATHNAME', 'ddb_project';
COMMENT ON FUNCTION ddb.project(ddb.item, text, json) IS 'what a projection expression keeps of the item';
