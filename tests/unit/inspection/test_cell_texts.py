"""How values of every type are shown."""

import datetime as dt
from decimal import Decimal

import pyarrow as pa
import pytest

from paimon_explore.data_types.arrow import to_arrow
from paimon_explore.data_types.json_parser import parse_type
from paimon_explore.encoding.variant.encoder import integer
from paimon_explore.inspection.rendering.cell_texts import cell_texts

CASES: list[tuple[object, list[object], list[str | None]]] = [
    ("INT", [1, None], ["1", None]),
    ("BOOLEAN", [True, False], ["true", "false"]),
    ("DECIMAL(5, 2)", [Decimal("1.50")], ["1.50"]),
    ("DOUBLE", [0.1, float("nan")], ["0.1", "nan"]),
    ("STRING", ["a\x00b"], ["a\x00b"]),
    ("BYTES", [b"\x00\xff", b"a" * 200], ["0x00ff", f"0x{'61' * 128}… (200 B)"]),
    ("DATE", [dt.date(2024, 2, 29)], ["2024-02-29"]),
    ("TIMESTAMP(3)", [1_709_168_523_004], ["2024-02-29 01:02:03.004"]),
    ("ARRAY<INT>", [[1, None], [], None], ["[1, null]", "[]", None]),
    ("MAP<STRING, INT>", [{"a": 1, "b": None}, None, {}], ["{a: 1, b: null}", None, "{}"]),
    ("MULTISET<STRING>", [{"a": 2}], ["{a: 2}"]),
    ("ARRAY<ARRAY<DATE>>", [[[dt.date(2024, 1, 1)], None]], ["[[2024-01-01], null]"]),
]  # fmt: skip


@pytest.mark.parametrize(("kind", "values", "expected"), CASES, ids=[str(c[0]) for c in CASES])
def test_values_are_shown_readably(
    kind: object, values: list[object], expected: list[str | None]
) -> None:
    data_type = parse_type(kind, "c")
    arrow = to_arrow(data_type)
    given = [list(v.items()) if isinstance(v, dict) else v for v in values]
    column = pa.array(given, arrow)
    assert cell_texts(column, data_type) == expected
    padded = pa.array([given[0], *given, given[0]], arrow)
    assert cell_texts(padded.slice(1, len(given)), data_type) == expected


def test_rows_and_variants_are_shown_with_names_and_as_json() -> None:
    fields = [{"id": 1, "name": "x", "type": "INT"}, {"id": 2, "name": "y", "type": "ARRAY<INT>"}]
    row = parse_type({"type": "ROW", "fields": fields}, "c")
    column = pa.array([{"x": 1, "y": [2]}, None, {"x": None, "y": None}], to_arrow(row))
    assert cell_texts(column, row) == ["{x: 1, y: [2]}", None, "{x: null, y: null}"]
    variant = parse_type("VARIANT", "c")
    stored = {"value": integer(5), "metadata": b"\x01\x00\x00"}
    values = pa.array([stored, None, {"value": b"\xff", "metadata": b""}], to_arrow(variant))
    shown = cell_texts(values, variant)
    assert shown[:2] == ["5", None]
    assert str(shown[2]).startswith("unreadable variant: ")
