"""The cases that any store must pass, inside the server (a library built with feature store-suite)."""

import pytest


@pytest.fixture(scope="module")
def cases(cluster, database):
    with cluster.connect(database) as sql:
        if sql.execute("SELECT to_regproc('ddb.store_suite_cases')").fetchone()[0] is None:
            pytest.skip("the extension is built without feature store-suite")
        return [case for (case,) in sql.execute("SELECT ddb.store_suite_cases()")]


def test_every_case_passes(sql, cases):
    assert cases
    faults = {case: sql.execute("SELECT ddb.store_suite(%s, %s)", [case, f"Suite-{number}"]).fetchone()[0]
              for number, case in enumerate(cases)}
    assert {case: fault for case, fault in faults.items() if fault is not None} == {}


def test_every_case_passes_in_one_transaction_above_read_committed(cluster, database, cases):
    with cluster.connect(database, autocommit=False) as sql:
        sql.execute("SET TRANSACTION ISOLATION LEVEL SERIALIZABLE")
        faults = {case: sql.execute("SELECT ddb.store_suite(%s, %s)", [case, f"Serial-{number}"]).fetchone()[0]
                  for number, case in enumerate(cases)}
        assert {case: fault for case, fault in faults.items() if fault is not None} == {}
        sql.rollback()
