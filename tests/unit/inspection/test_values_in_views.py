"""A value has one text in all views of the explorer that show rows."""

import json
from collections.abc import Iterator
from decimal import Decimal
from pathlib import Path

import pyarrow as pa
import pytest

from paimon_explore import Catalog
from paimon_explore.data_types.arrow_buffers import Column
from paimon_explore.inspection.explorer.explorer_state import ExplorerState, ViewInput

STRUCT = pa.struct([pa.field("i", pa.int32()), pa.field("s", pa.string())])
COLUMNS: dict[str, tuple[pa.DataType, object, str]] = {
    "f": (pa.bool_(), True, "true"),
    "b": (pa.binary(), b"\x00\xff", "0x00ff"),
    "d": (pa.date32(), -719_162, "0001-01-01"),
    "far": (pa.date32(), 10_000_000, "29349-01-26"),
    "ts": (pa.timestamp("ms"), 400_000_000_000_000, "14645-06-30 15:06:40.000"),
    "n": (pa.timestamp("ns"), 123_456_789, "1970-01-01 00:00:00.123456789"),
    "x": (pa.float64(), float("nan"), "nan"),
    "y": (pa.float32(), 0.1, "0.1"),
    "z": (pa.decimal128(20, 10), Decimal(0), "0.0000000000"),
    "fs": (pa.list_(pa.float32()), [0.1, None], "[0.1, null]"),
    "l": (pa.list_(pa.binary()), [b"a", None], "[0x61, null]"),
    "m": (pa.map_(pa.string(), pa.bool_()), [("a", True)], "{a: true}"),
    "r": (STRUCT, {"i": None, "s": "q"}, "{i: null, s: q}"),
    "e": (pa.string(), None, "null"),
}
"""By column the Arrow type, a value, and the text of the value."""


@pytest.fixture
def state(tmp_path: Path) -> ExplorerState:
    """A table whose second commit adds a row of all types, key 2, and replaces that of key 1."""
    catalog = Catalog(tmp_path)
    catalog.create_database("db")
    fields = (pa.field(name, kind) for name, (kind, _, _) in COLUMNS.items())
    schema = pa.schema([pa.field("k", pa.int32()), *fields])
    table = catalog.create_table("db.t", schema, primary_key="k", options={"bucket": "1"})
    for keys in ([1], [1, 2]):
        columns = [_column(kind, value, len(keys)) for kind, value, _ in COLUMNS.values()]
        table.upsert(pa.table([pa.array(keys, pa.int32()), *columns], schema=schema))
    return ExplorerState(table._inspector())


def _column(kind: pa.DataType, value: object, count: int) -> Column:
    if isinstance(value, int) and not isinstance(value, bool):
        storage = pa.int32() if pa.types.is_date32(kind) else pa.int64()
        return pa.array([value] * count, storage).cast(kind)
    return pa.array([value] * count, kind)


def cells_of(state: ExplorerState, view: str, text: str, title: str) -> Iterator[list[str]]:
    """The texts of the rows of a grid."""
    for section in state.result(view, state.newest, ViewInput(text=text)).to_report().sections:
        if getattr(section, "title", "") == title:
            yield from ([cell.text for cell in row] for row in section.rows)  # type: ignore[union-attr]


@pytest.mark.parametrize(
    ("view", "text", "title"),
    [
        ("diff", "1 rows", "Changed rows"),
        ("compare", "with at = '1'", "Rows that differ"),
    ],
)
def test_reports_show_values_as_the_rows_view_does(
    state: ExplorerState, view: str, text: str, title: str
) -> None:
    (row,) = cells_of(state, view, text, title)
    assert row[1:] == ["2", *(shown for _, _, shown in COLUMNS.values())]


def test_the_rows_view_shows_values_as_text(state: ExplorerState) -> None:
    body, _ = state.rows_session.open(state.inspector, json.dumps({"where": "k = 2"}))
    handle = body["handle"]
    assert isinstance(handle, int)
    parts = state.rows_session.page(handle, (0, 0), 10, range(1, len(COLUMNS) + 1))["parts"]
    assert isinstance(parts, list)
    (row,) = (row for part in parts for row in part["rows"])
    assert row == [None if shown == "null" else shown for _, _, shown in COLUMNS.values()]


@pytest.mark.parametrize("text", ["2", "k = 2"])
def test_the_history_of_a_key_shows_values_as_the_rows_view_does(
    state: ExplorerState, text: str
) -> None:
    found = state.result("key", state.newest, ViewInput(text=text))
    shown = ", ".join(f"{name} {shown}" for name, (_, _, shown) in COLUMNS.items())
    states = found.figures()["states"]
    assert isinstance(states, list)
    assert states[-1]["row"] == f"k 2, {shown}"


def test_the_history_of_a_key_has_all_values_in_arrow(state: ExplorerState) -> None:
    found = state.result("key", state.newest, ViewInput(text="k = 1")).to_arrow()
    assert found.num_rows == 3
    for name, (kind, value, _) in COLUMNS.items():
        assert found.column(name).combine_chunks().equals(_column(kind, value, 3)) or name == "x"
