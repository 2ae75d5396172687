-- Only in a library built with feature store-suite: the tests that any store must pass.

CREATE FUNCTION ddb.store_suite("case" text, table_name text) RETURNS text
    LANGUAGE c VOLATILE STRICT AS 'MODULE_PATHNAME', 'ddb_store_suite';
COMMENT ON FUNCTION ddb.store_suite(text, text) IS
    'runs a case on a table name that nothing else uses; answers what went wrong, or null';

CREATE FUNCTION ddb.store_suite_cases() RETURNS SETOF text
    LANGUAGE c IMMUTABLE AS 'MODULE_PATHNAME', 'ddb_store_suite_cases';
COMMENT ON FUNCTION ddb.store_suite_cases() IS 'the names of the cases';
