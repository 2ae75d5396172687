-- The catalog, and the tables that the product itself keeps items in. No rows from here: a restore would collide.

CREATE SEQUENCE ddb.table_id_seq AS integer MINVALUE 2 START 2 NO CYCLE;
COMMENT ON SEQUENCE ddb.table_id_seq IS 'ids of DynamoDB tables; 0 and 1 are the system tables';

CREATE TABLE ddb.tables (
    id integer PRIMARY KEY,
    account text COLLATE "C" NOT NULL,
    name text COLLATE "C" NOT NULL,
    version bigint NOT NULL,
    description json NOT NULL,
    UNIQUE (account, name)
);
COMMENT ON TABLE ddb.tables IS 'the DynamoDB tables of this database';
COMMENT ON COLUMN ddb.tables.id IS 'names the storage, for ever: ddb_data.t<id>, indexes ddb_data.t<id>_i<number>';
COMMENT ON COLUMN ddb.tables.account IS 'twelve digits; 000000000000 is the first account';
COMMENT ON COLUMN ddb.tables.name IS 'the name of the table within its account';
COMMENT ON COLUMN ddb.tables.version IS 'counts the changes of the description';
COMMENT ON COLUMN ddb.tables.description IS 'keys, indexes and settings; an internal form';

CREATE TABLE ddb.statistics (
    table_id integer PRIMARY KEY,
    measured_at timestamp with time zone NOT NULL,
    items bigint NOT NULL,
    bytes bigint NOT NULL,
    indexes json NOT NULL
);
COMMENT ON TABLE ddb.statistics IS 'ItemCount and sizes as last measured';
COMMENT ON COLUMN ddb.statistics.table_id IS 'id in ddb.tables';
COMMENT ON COLUMN ddb.statistics.measured_at IS 'when they were measured; measured again after six hours';
COMMENT ON COLUMN ddb.statistics.items IS 'items in the table';
COMMENT ON COLUMN ddb.statistics.bytes IS 'their sizes together, as DynamoDB counts them';
COMMENT ON COLUMN ddb.statistics.indexes IS 'the same for each index: [number, entries, bytes]';

CREATE TABLE ddb_data.t0 (
    bucket integer NOT NULL,
    pk bytea NOT NULL,
    sk bytea NOT NULL,
    expires bigint,
    item ddb.item NOT NULL,
    PRIMARY KEY (bucket, pk, sk)
) WITH (fillfactor = 85);
CREATE INDEX t0_expires ON ddb_data.t0 (expires) WHERE expires IS NOT NULL;
COMMENT ON TABLE ddb_data.t0 IS 'tokens of idempotent requests';
-- ANALYZE would compare whole items with each other, and keep some in pg_statistic.
ALTER TABLE ddb_data.t0 ALTER COLUMN item SET STATISTICS 0;

CREATE TABLE ddb_data.t1 (
    bucket integer NOT NULL,
    pk bytea NOT NULL,
    sk bytea NOT NULL,
    expires bigint,
    item ddb.item NOT NULL,
    PRIMARY KEY (bucket, pk, sk)
) WITH (fillfactor = 85);
CREATE INDEX t1_expires ON ddb_data.t1 (expires) WHERE expires IS NOT NULL;
COMMENT ON TABLE ddb_data.t1 IS 'claims of the Idempotency-Key store';
ALTER TABLE ddb_data.t1 ALTER COLUMN item SET STATISTICS 0;

ALTER SEQUENCE ddb.table_id_seq OWNER TO ddb_owner;
ALTER TABLE ddb.tables OWNER TO ddb_owner;
ALTER TABLE ddb.statistics OWNER TO ddb_owner;
ALTER TABLE ddb_data.t0 OWNER TO ddb_owner;
ALTER TABLE ddb_data.t1 OWNER TO ddb_owner;

-- Whoever installs may have default privileges (ALTER DEFAULT PRIVILEGES) that give their new tables away.
DO $private$
DECLARE
    granted record;
BEGIN
    FOR granted IN
        SELECT DISTINCT c.oid::pg_catalog.regclass AS relation,
               CASE acl.grantee WHEN 0 THEN 'PUBLIC'
                    ELSE pg_catalog.quote_ident(pg_catalog.pg_get_userbyid(acl.grantee)) END AS grantee
        FROM pg_catalog.pg_class AS c, pg_catalog.aclexplode(c.relacl) AS acl
        WHERE c.oid OPERATOR(pg_catalog.=) ANY (ARRAY['ddb.table_id_seq', 'ddb.tables', 'ddb.statistics',
                                                      'ddb_data.t0', 'ddb_data.t1']::pg_catalog.regclass[])
          AND acl.grantee OPERATOR(pg_catalog.<>) c.relowner
    LOOP
        EXECUTE pg_catalog.format('REVOKE ALL ON TABLE %s FROM %s', granted.relation, granted.grantee);
    END LOOP;
END
$private$;

-- Members of the extension whose rows a dump must hold.
SELECT pg_catalog.pg_extension_config_dump('ddb.table_id_seq', '');
SELECT pg_catalog.pg_extension_config_dump('ddb.tables', '');
SELECT pg_catalog.pg_extension_config_dump('ddb.statistics', '');
SELECT pg_catalog.pg_extension_config_dump('ddb_data.t0', '');
SELECT pg_catalog.pg_extension_config_dump('ddb_data.t1', '');
