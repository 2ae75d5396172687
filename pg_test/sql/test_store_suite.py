"""The tests that any store must pass, on the store that is PostgreSQL (a build with feature `store-suite`)."""


def test_every_case_passes(sql):
    cases = [name for (name,) in sql.execute("SELECT ddb.store_suite_cases()")]
    assert len(cases) >= 15
    faults = {}
    for number, case in enumerate(cases):
        fault = sql.execute("SELECT ddb.store_suite(%s, %s)", [case, f"suite-{number}"]).fetchone()[0]
        if fault is not None:
            faults[case] = fault
    assert faults == {}


def test_every_case_passes_in_one_transaction(sql):
    """The same when all of it is one SQL transaction, whose own changes later statements see."""
    cases = [name for (name,) in sql.execute("SELECT ddb.store_suite_cases()")]
    faults = {}
    with sql.transaction(force_rollback=True):
        for number, case in enumerate(cases):
            with sql.transaction():
                fault = sql.execute("SELECT ddb.store_suite(%s, %s)", [case, f"one-{number}"]).fetchone()[0]
            if fault is not None:
                faults[case] = fault
    assert faults == {}


def test_an_unknown_case_is_named(sql):
    assert sql.execute("SELECT ddb.store_suite('nothing', 'suite-none')").fetchone()[0] == "no case is named nothing"
