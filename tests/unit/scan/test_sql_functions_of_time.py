"""ILIKE, RLIKE, isnan, EXTRACT, date_trunc and intervals in conditions."""

import pytest

from paimon_explore import Table
from paimon_explore.errors import InvalidInputError
from support.small_tables import new_catalog
from support.time_conditions import CASES, COLUMNS, ROWS


@pytest.fixture(scope="module")
def table() -> Table:
    """One file a row."""
    made = new_catalog().create_table("db.t", COLUMNS)
    for row in ROWS:
        made.append([row])
    return made


@pytest.mark.parametrize("where", CASES)
def test_a_condition_selects_the_rows_of_sql(table: Table, where: str) -> None:
    assert table.scan(["id"], where).to_arrow()["id"].to_pylist() == CASES[where]


@pytest.mark.parametrize(
    ("where", "files"),
    [
        ("year(dt) = 2024", 1),
        ("EXTRACT(YEAR FROM ts) >= 2025", 1),
        ("year(ts) < 1970", 1),
        ("date_trunc('month', ts) = '2024-02-01'", 1),
        ("trunc(dt, 'year') > DATE '2020-01-01'", 2),
        ("date_trunc('day', ts) <= TIMESTAMP '1980-01-01 00:00:00'", 1),
        ("month(dt) = 1", 4),
    ],
)
def test_files_are_skipped_by_the_range_that_follows(table: Table, where: str, files: int) -> None:
    assert len(table.scan(where=where).plan().splits) <= files
    found = table.scan(where=where).explain()
    assert str(found)


@pytest.mark.parametrize(
    ("where", "rule"),
    [
        ("s RLIKE 'a(?=b)'", r"'\(\?=' in the regular expression"),
        ("s RLIKE 'a++'", r"'\+\+' in the regular expression"),
        (r"s RLIKE '\\bx'", r"'\\\\b' in the regular expression"),
        ("s RLIKE '(a$)b'", r"'\$' in the regular expression"),
        ("s RLIKE '[a[b]]'", "in the regular expression"),
        ("s RLIKE '(a'", "is not a regular expression"),
        ("s RLIKE s", "RLIKE expects a string constant"),
        ("s LIKE 5", "LIKE expects a string constant"),
        ("isnan(s)", "does not accept arguments of type STRING"),
        ("EXTRACT(MOON FROM dt) = 1", "EXTRACT expects YEAR, MONTH"),
        ("date_trunc('moon', ts) = ts", "'moon' is not a unit of date_trunc"),
        ("trunc(dt, 'day') = dt", "'day' is not a unit of trunc"),
        ("hour(dt) = 1", "does not accept arguments of type DATE"),
        ("dt - INTERVAL 1 MOON > dt", "a number and a unit such as DAY are expected"),
        ("dt - INTERVAL '1 moon' > dt", "'1 moon' is not an interval"),
        ("dt - INTERVAL 1 MONTH 1 DAY > dt", "cannot mix years and months with days"),
        ("dt * INTERVAL 1 DAY > dt", "can only be added to a date or time"),
        ("s + INTERVAL 1 DAY > s", "does not accept arguments of type STRING"),
    ],
)
def test_what_spark_means_otherwise_is_refused(table: Table, where: str, rule: str) -> None:
    with pytest.raises(InvalidInputError, match=rule):
        table.scan(where=where).to_arrow()
