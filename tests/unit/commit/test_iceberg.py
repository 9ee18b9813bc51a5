"""Commits to tables with Iceberg metadata, which is not written here: told once, and in health."""

import warnings
from collections.abc import Callable

import pyarrow as pa
import pytest

import paimon_explore as pe
from paimon_explore import Table
from paimon_explore.errors import IcebergMetadataWarning, PaimonWarning
from paimon_explore.inspection.health.findings import Finding, Severity
from support.small_tables import append_table, columns, keyed_table

COLUMNS = columns(k=pa.int32(), v=pa.string())
OPTION = "metadata.iceberg.storage"
STORAGES = ("table-location", "hadoop-catalog", "hive-catalog", "rest-catalog", "one-of-tomorrow")
ROW = [{"k": 1, "v": "a"}]


def plain(storage: str = "table-location") -> Table:
    return append_table(COLUMNS, options={OPTION: storage})


def keyed(storage: str = "table-location") -> Table:
    return keyed_table(COLUMNS, primary_key=["k"], options={OPTION: storage})


def filled(table: Table) -> Table:
    """With two commits by a writer that keeps Iceberg metadata up to date."""
    quiet = pe.open_table(table.path, options={OPTION: "disabled"})
    for number in range(2):
        rows = [{"k": number, "v": "old"}]
        quiet.upsert(rows) if table.schema.primary_keys else quiet.append(rows)
    return table


COMMITS: dict[str, tuple[Callable[[], Table], Callable[[Table], object]]] = {
    "append": (plain, lambda t: t.append(ROW)),
    "upsert": (keyed, lambda t: t.upsert(ROW)),
    "overwrite": (plain, lambda t: t.overwrite(ROW)),
    "delete": (keyed, lambda t: t.delete("k = 1")),
    "update": (plain, lambda t: t.update({"v": "'b'"}, where="k = 1")),
    "truncate": (plain, lambda t: t.truncate()),
    "compact": (keyed, lambda t: t.compact(full=True)),
    "analyze": (plain, lambda t: t.maintenance.analyze()),
}


def told(act: Callable[[], object]) -> list[warnings.WarningMessage]:
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        act()
    return [one for one in caught if issubclass(one.category, IcebergMetadataWarning)]


@pytest.mark.parametrize("commit", COMMITS)
def test_every_kind_of_commit_warns_once_per_table(commit: str) -> None:
    make, act = COMMITS[commit]
    table = filled(make())
    (warning,) = told(lambda: act(table))
    assert f"{table.store.paths.root} do not update the Iceberg metadata" in str(warning.message)
    assert "metadata.iceberg.storage = table-location" in str(warning.message)
    assert told(lambda: act(pe.open_table(table.path))) == []
    assert len(told(lambda: act(filled(make())))) == 1


@pytest.mark.parametrize("storage", STORAGES)
def test_any_storage_but_disabled_warns(storage: str) -> None:
    assert len(told(lambda: plain(storage).append(ROW))) == 1


@pytest.mark.parametrize("options", [{}, {OPTION: "disabled"}, {OPTION: "DISABLED"}])
def test_tables_without_iceberg_metadata_warn_of_nothing(options: dict[str, str]) -> None:
    table = append_table(COLUMNS, options=options)
    assert told(lambda: table.append(ROW)) == []
    assert found(table) == []


def test_reading_warns_of_nothing() -> None:
    table = filled(plain())
    assert told(lambda: (table.to_arrow(), table.health(), table.explain())) == []


def test_with_warnings_as_errors_nothing_is_committed() -> None:
    table = plain()
    with warnings.catch_warnings():
        warnings.simplefilter("error", PaimonWarning)
        with pytest.raises(IcebergMetadataWarning):
            table.append(ROW)
    assert list(table.snapshots) == []


def found(table: Table) -> list[Finding]:
    return [one for one in table.health() if one.rule == "iceberg metadata"]


def test_health_shows_that_the_metadata_may_be_stale() -> None:
    (finding,) = found(filled(plain("hadoop-catalog")))
    assert (finding.severity, finding.option) == (Severity.WARNING, OPTION)
    assert "hadoop-catalog" in finding.what


@pytest.mark.parametrize(
    ("newest", "severity", "lag"), [(1, Severity.WARNING, 1), (2, Severity.NOTE, 0)]
)
def test_health_tells_how_far_the_metadata_in_the_table_is_behind(
    newest: int, severity: Severity, lag: int
) -> None:
    table = filled(plain())
    for number in range(1, newest + 1):
        path = f"{table.store.paths.root}/metadata/v{number}.metadata.json"
        assert table.store.file_io.create(path, b"{}")
    (finding,) = found(table)
    assert (finding.severity, finding.figure) == (severity, lag)
    assert (
        f"the Iceberg metadata is at snapshot {newest}, the table is at snapshot 2" in finding.what
    )
