"""Example inputs of the explorer's views: valid, and made of the table's own columns and values."""

from datetime import UTC, date, datetime
from decimal import Decimal
from uuid import uuid4

import pyarrow as pa
import pytest

import paimon_explore as pe
from paimon_explore.inspection.explorer.explorer_reports import REPORTS
from paimon_explore.inspection.explorer.explorer_state import ExplorerState, ViewInput
from paimon_explore.inspection.explorer.explorer_tabs import Opening
from paimon_explore.inspection.explorer.rows_session import RowsInput, rows_of_input
from paimon_explore.inspection.glossary import explorer_hints
from paimon_explore.inspection.overview.example_inputs import example_inputs, example_keys
from paimon_explore.inspection.views.inspector import Inspector
from support.explored import hostile_history
from support.small_tables import append_table, columns, keyed_table
from support.table_kinds import TABLE_KINDS

NOON = datetime(2026, 5, 6, 12, 0, 0, tzinfo=UTC)
VALUES: dict[str, tuple[pa.DataType, object, str, str]] = {
    "BOOLEAN": (pa.bool_(), True, "c IS NOT NULL", "c IS NOT NULL"),
    "TINYINT": (pa.int8(), -3, "c >= 0", "c >= -3"),
    "BIGINT": (pa.int64(), 2**60, "c >= 0", f"c >= {2**60}"),
    "DOUBLE": (pa.float64(), 1.5, "c >= 0", "c >= 1.5"),
    "DECIMAL": (pa.decimal128(9, 2), Decimal("7.25"), "c >= 0", "c >= 7.25"),
    "STRING": (pa.string(), "it's", "c >= 'a'", "c >= 'it''s'"),
    "BYTES": (pa.binary(), b"x", "c IS NOT NULL", "c IS NOT NULL"),
    "DATE": (pa.date32(), date(2024, 2, 3), "c >= DATE '2026-01-01'", "c >= DATE '2024-02-03'"),
    "TIMESTAMP": (
        *(pa.timestamp("us"), NOON.replace(tzinfo=None)),
        "c >= TIMESTAMP '2026-01-01 00:00:00'",
        "c >= TIMESTAMP '2026-05-06 12:00:00'",
    ),
    "ARRAY": (pa.list_(pa.int32()), [1], "c IS NOT NULL", "c IS NOT NULL"),
}
"""Per type: the Arrow type, a value, the example without rows, and the example with that row."""


def examples(table: pe.Table) -> dict[str, str]:
    found = explorer_hints(table._inspector())["examples"]
    assert isinstance(found, dict)
    return found


@pytest.mark.parametrize("name", VALUES)
def test_a_condition_has_a_value_of_the_table_or_one_of_its_type(name: str) -> None:
    arrow_type, value, empty, filled = VALUES[name]
    table = append_table(columns(c=arrow_type), [])
    assert examples(table)["rows"] == empty
    table.append([{"c": value}])
    found = examples(table)["rows"]
    assert found == filled
    assert table.scan(where=found).to_arrow().num_rows == 1


def check_all_views(table: pe.Table) -> None:
    """Every example is accepted by its view, and its conditions select rows."""
    inspector = table._inspector()
    state = ExplorerState(inspector)
    for tab, text in examples(table).items():
        if tab == "files":
            table.files(text)
        elif tab == "rows":
            rows_of_input(inspector, RowsInput(where=text))
        elif tab == "partition":
            assert text in inspector.current_files().partitions.texts
        else:
            assert tab in REPORTS
            found = state.result(tab, inspector.snapshot_id, ViewInput(text=text))
            assert getattr(found, "problem", None) is None, (tab, text)
            assert Opening(tab=tab, text=text).checked_tab() == tab


@pytest.mark.parametrize("kind", TABLE_KINDS)
def test_every_example_is_a_valid_input_of_its_view(kind: str) -> None:
    table = TABLE_KINDS[kind].create(f"memory://{uuid4()}/wh")
    table.append([{"p": "2024-01-01", "k": 1, "v": 2, "w": "x"}])
    check_all_views(table)


def test_examples_of_a_table_with_odd_names_are_valid() -> None:
    fields: dict[str, pa.DataType] = {"a b": pa.string(), "select": pa.int32(), "`x`": pa.date32()}
    names = columns(**fields)
    rows = [{"a b": "it's", "select": 1, "`x`": date(2026, 1, 2)}]
    table = keyed_table(names, rows, primary_key=["a b", "select", "`x`"], partition_by=["a b"])
    found = examples(table)
    assert found["rows"] == "`a b` = 'it''s' and `select` >= 1"
    assert found["key"] == "`a b` = 'it''s', `select` = 1, ```x``` = DATE '2026-01-02'"
    check_all_views(table)


def test_keys_of_several_columns_are_listed_as_examples() -> None:
    names = columns(d=pa.date32(), k=pa.string())
    rows = [{"d": date(2026, 1, day), "k": "a, b"} for day in (1, 2)]
    table = keyed_table(names, rows[:1], primary_key=["d", "k"])
    table.upsert(rows[1:])
    inspector = table._inspector()
    keys = example_keys(inspector, 10)
    assert sorted(keys) == [f"d = DATE '2026-01-0{day}', k = 'a, b'" for day in (1, 2)]
    for key in keys:
        assert table.history(key).kind == "key"


def test_examples_of_unreadable_and_of_empty_tables_are_typical() -> None:
    history = hostile_history()
    history.store.file_io.delete(history.store.paths.manifest("manifest-list-1-1"))
    inspector = Inspector(history.view)
    assert explorer_hints(inspector)["terms"]
    table = append_table(columns(a=pa.int32()), [])
    assert example_inputs(table._inspector()) == {
        "files": "level = 0",
        "explain": "a >= 0",
        "rows": "a >= 0",
        "profile": "a >= 0",
        "expiry": "retain_max=5, older_than=1 d",
    }
