"""The compaction of all tables that match."""

from pathlib import Path
from typing import Any

import pytest

from paimon_explore import Catalog
from paimon_explore.errors import InvalidInputError
from paimon_explore.sql_statements.procedures.database_compaction import (
    CompactionReport,
    compact_each,
    matching_tables,
)


@pytest.fixture
def catalog(tmp_path: Path) -> Catalog:
    """Tables of two small files each: `a.t1`, `a.t2`, `b.t1`."""
    made = Catalog(tmp_path)
    for database, table in (("a", "t1"), ("a", "t2"), ("b", "t1")):
        made.create_database(database, if_not_exists=True)
        found = made.create_table(f"{database}.{table}", {"id": "INT"})
        found.append([{"id": 1}])
        found.append([{"id": 2}])
    return made


def compact(catalog: Catalog, *names: str, **arguments: Any) -> CompactionReport:  # noqa: ANN401
    return compact_each(
        matching_tables(catalog, *names, **arguments), lambda table: table.compact()
    )


def files(catalog: Catalog) -> dict[str, int]:
    """The number of files of each table."""
    return {
        f"{database}.{name}": catalog.table(f"{database}.{name}").inspect.files().num_rows
        for database in catalog.databases()
        for name in catalog.tables(database)
    }


def test_tables_are_chosen_by_expressions_of_whole_names(catalog: Catalog) -> None:
    report = compact(catalog, "a|c", ".*t.*", "a[.]t2")
    assert report.compacted == ("a.t1",)
    assert files(catalog) == {"a.t1": 1, "a.t2": 2, "b.t1": 2}
    assert compact(catalog, tables="t1").compacted == ()
    report = compact(catalog, excluding=" ", options={"write-only": True})
    assert report.compacted == ("a.t1", "a.t2", "b.t1")
    assert files(catalog) == {"a.t1": 1, "a.t2": 1, "b.t1": 1}


def test_a_table_that_fails_does_not_keep_the_others_back(catalog: Catalog) -> None:
    broken = catalog.table("a.t2")
    next(Path(broken.path).rglob("data-*")).unlink()
    unreadable = catalog.table("b.t1")
    Path(unreadable._store.paths.schema(0)).write_text("{")
    report = compact(catalog)
    assert report.compacted == ("a.t1",)
    assert list(report.errors) == ["a.t2", "b.t1"]
    assert repr(report).startswith("compacted 1 tables, 2 failed\n  a.t2: ")


def test_an_expression_that_is_none_is_refused(catalog: Catalog) -> None:
    with pytest.raises(InvalidInputError, match=r"tables = '\*' is not a regular expression"):
        compact(catalog, tables="*")
