-- Roles and schemas. Both schemas are made here, not by CREATE EXTENSION, so that they belong to the extension.

DO $check$
BEGIN
    IF pg_catalog.getdatabaseencoding() OPERATOR(pg_catalog.<>) 'UTF8' THEN
        RAISE EXCEPTION USING
            ERRCODE = 'feature_not_supported',
            MESSAGE = pg_catalog.format('extenddb needs a database with encoding UTF8, this one has %s',
                                        pg_catalog.getdatabaseencoding()),
            HINT = 'Create the extension in a database made with ENCODING ''UTF8'' TEMPLATE template0.';
    END IF;
END
$check$;

-- Roles belong to the cluster: made if absent (another database may have the extension too), never dropped.
DO $roles$
DECLARE
    wanted record;
BEGIN
    FOR wanted IN
        SELECT * FROM (VALUES
            ('ddb_owner', 'extenddb: owns the tables of DynamoDB items; nobody logs in as it'),
            ('ddb_read',  'extenddb: may read DynamoDB tables'),
            ('ddb_write', 'extenddb: may read and write DynamoDB items'),
            ('ddb_admin', 'extenddb: may create and drop DynamoDB tables, and all that ddb_write may'),
            ('ddb_proxy', 'extenddb: may act for any account and principal, and all that ddb_admin may')
        ) AS role (name, comment)
    LOOP
        IF NOT EXISTS (SELECT FROM pg_catalog.pg_roles AS r WHERE r.rolname OPERATOR(pg_catalog.=) wanted.name::pg_catalog.name) THEN
            BEGIN
                EXECUTE pg_catalog.format('CREATE ROLE %I NOLOGIN', wanted.name);
                EXECUTE pg_catalog.format('COMMENT ON ROLE %I IS %L', wanted.name, wanted.comment);
            EXCEPTION
                -- A session in another database made it at the same moment.
                WHEN duplicate_object OR unique_violation THEN NULL;
            END;
        END IF;
    END LOOP;

    -- The functions work as ddb_owner: it must not be able to do more than it should.
    IF EXISTS (SELECT FROM pg_catalog.pg_roles AS r
               WHERE r.rolname OPERATOR(pg_catalog.=) 'ddb_owner'
                 AND (r.rolsuper OR r.rolcanlogin OR r.rolcreaterole OR r.rolreplication OR r.rolbypassrls)) THEN
        RAISE EXCEPTION USING
            ERRCODE = 'object_not_in_prerequisite_state',
            MESSAGE = 'role ddb_owner has attributes that extenddb''s owner must not have',
            HINT = 'ALTER ROLE ddb_owner NOLOGIN NOSUPERUSER NOCREATEROLE NOREPLICATION NOBYPASSRLS;';
    END IF;

    -- Each has the rights of the one before.
    FOR wanted IN
        SELECT * FROM (VALUES
            ('ddb_read', 'ddb_write'), ('ddb_write', 'ddb_admin'), ('ddb_admin', 'ddb_proxy')
        ) AS grants (granted, member)
    LOOP
        IF NOT pg_catalog.pg_has_role(wanted.member::pg_catalog.name, wanted.granted::pg_catalog.name, 'USAGE') THEN
            BEGIN
                EXECUTE pg_catalog.format('GRANT %I TO %I', wanted.granted, wanted.member);
            EXCEPTION
                WHEN duplicate_object OR unique_violation THEN NULL;
            END;
        END IF;
    END LOOP;
END
$roles$;

CREATE SCHEMA ddb AUTHORIZATION ddb_owner;
COMMENT ON SCHEMA ddb IS 'DynamoDB: functions, types and the catalog of tables (extenddb)';
GRANT USAGE ON SCHEMA ddb TO PUBLIC;

CREATE SCHEMA ddb_data AUTHORIZATION ddb_owner;
COMMENT ON SCHEMA ddb_data IS 'DynamoDB: the items of tables and indexes (extenddb); use the functions in schema ddb';

SET LOCAL search_path TO ddb, pg_temp;
