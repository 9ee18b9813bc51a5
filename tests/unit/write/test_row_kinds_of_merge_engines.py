"""A row kind that the merge engine cannot merge is refused when written, not at a later read."""

from pathlib import Path

import pytest

import paimon_explore as pe
from paimon_explore.errors import InvalidInputError

_FUNCTIONS = {
    "last_value": "INT",
    "last_non_null_value": "INT",
    "first_value": "INT",
    "first_non_null_value": "INT",
    "max": "INT",
    "min": "DOUBLE",
    "bool_or": "BOOLEAN",
    "bool_and": "BOOLEAN",
    "sum": "DECIMAL(10, 2)",
    "product": "DOUBLE",
    "count": "BIGINT",
    "listagg": "STRING",
    "collect": "ARRAY<INT>",
    "merge_map": "MAP<STRING, INT>",
    "merge_map_with_keytime": "MAP<STRING, ROW<v INT, ts BIGINT>>",
    "nested_update": "ARRAY<ROW<k INT, v INT>>",
    "rbm32": "BYTES",
    "rbm64": "BYTES",
}
_RETRACTABLE = {
    "last_value",
    "last_non_null_value",
    "sum",
    "product",
    "count",
    "collect",
    "merge_map",
    "nested_update",
}
_GROUPS = {"fields.ts.sequence-group": "a"}


def _table(folder: Path, options: dict[str, str], a_type: str = "INT") -> pe.Table:
    catalog = pe.Catalog(str(folder))
    catalog.create_database("d")
    columns = {"id": "BIGINT NOT NULL", "a": a_type, "ts": "BIGINT"}
    return catalog.create_table(
        "d.t", columns, primary_key="id", options={"bucket": "1", "write-only": "true", **options}
    )


def _write_twice(table: pe.Table, kind: str) -> bool:
    """Write an insert and a record of a kind; whether the second was accepted."""
    table.upsert([{"id": 1, "ts": 1}, {"id": 2, "ts": 1}])
    before = table.to_arrow()
    try:
        table.upsert([{"id": 1, "ts": 2, "_ROW_KIND": kind}, {"id": 3, "_ROW_KIND": "+I"}])
    except InvalidInputError:
        assert table.snapshot is not None
        assert table.snapshot.id == 1
        assert table.to_arrow().equals(before)
        return False
    table.to_arrow()
    table.compact(full=True)
    assert 3 in table.to_arrow().column("id").to_pylist()
    return True


@pytest.mark.parametrize("kind", ["-U", "-D"])
@pytest.mark.parametrize(("function", "a_type"), _FUNCTIONS.items())
@pytest.mark.parametrize("ignore_retract", [False, True])
def test_retracts_of_aggregate_functions(
    tmp_path: Path, function: str, a_type: str, kind: str, *, ignore_retract: bool
) -> None:
    options = {"merge-engine": "aggregation", "fields.a.aggregate-function": function}
    if ignore_retract:
        options["fields.a.ignore-retract"] = "true"
    accepted = _write_twice(_table(tmp_path, options, a_type), kind)
    assert accepted == (ignore_retract or function in _RETRACTABLE)


@pytest.mark.parametrize(
    ("options", "accepted"),
    [
        ({}, ()),
        ({"ignore-delete": "true"}, ("-U", "-D")),
        ({"partial-update.remove-record-on-delete": "true"}, ("-U", "-D")),
        (_GROUPS, ("-U", "-D")),
        (
            {**_GROUPS, "fields.a.aggregate-function": "max"},
            (),
        ),
        ({**_GROUPS, "fields.a.aggregate-function": "sum"}, ("-U", "-D")),
    ],
    ids=str,
)
@pytest.mark.parametrize("kind", ["-U", "-D"])
def test_retracts_of_partial_updates(
    tmp_path: Path, options: dict[str, str], accepted: tuple[str, ...], kind: str
) -> None:
    table = _table(tmp_path, {"merge-engine": "partial-update", **options})
    assert _write_twice(table, kind) == (kind in accepted)


@pytest.mark.parametrize("kind", ["-U", "-D"])
@pytest.mark.parametrize(
    ("options", "accepted"), [({}, False), ({"ignore-delete": "true"}, True)], ids=str
)
def test_retracts_of_first_row_tables(
    tmp_path: Path, options: dict[str, str], kind: str, *, accepted: bool
) -> None:
    table = _table(tmp_path, {"merge-engine": "first-row", **options})
    assert _write_twice(table, kind) == accepted


def test_a_delete_removes_an_aggregated_record_where_the_table_says_so(tmp_path: Path) -> None:
    options = {
        "merge-engine": "aggregation",
        "fields.a.aggregate-function": "max",
        "aggregation.remove-record-on-delete": "true",
    }
    assert _write_twice(_table(tmp_path / "1", options), "-D")
    assert not _write_twice(_table(tmp_path / "2", options), "-U")


def test_the_error_names_the_function_and_the_option(tmp_path: Path) -> None:
    options = {"merge-engine": "aggregation", "fields.a.aggregate-function": "max"}
    with pytest.raises(InvalidInputError, match="'max' cannot retract") as raised:
        _table(tmp_path, options).upsert([{"id": 1, "a": 1, "_ROW_KIND": "-D"}])
    assert "ignore-retract" in str(raised.value)
