from decimal import Decimal

import pyarrow as pa
import pytest

from paimon_explore.data_types.arrow import to_arrow
from paimon_explore.data_types.json_parser import parse_type
from paimon_explore.inspection.rendering.value_text import value_texts


@pytest.mark.parametrize(
    ("kind", "value", "text"),
    [
        ("INT", -7, "-7"),
        ("BOOLEAN", True, "true"),
        ("DECIMAL(10, 2)", Decimal("-1.50"), "-1.50"),
        ("STRING", "a\x00b", "a\x00b"),
        ("BYTES", b"\x01\xff", "0x01ff"),
        ("DOUBLE", 0.5, "0.5"),
        ("ARRAY<INT>", None, None),
    ],
)
def test_values_read_as_people_write_them(kind: str, value: object, text: str | None) -> None:
    data_type = parse_type(
        {"type": "ARRAY", "element": "INT"} if kind.startswith("ARRAY") else kind, "c"
    )
    assert value_texts(pa.array([value], to_arrow(data_type)), data_type) == [text]


@pytest.mark.parametrize(
    ("kind", "number", "text"),
    [
        ("DATE", 19000, "2022-01-08"),
        ("DATE", -719_162, "0001-01-01"),
        ("DATE", -800_000, "-0221-09-04"),
        ("DATE", 10_000_000, "29349-01-26"),
        ("TIME(3)", 3_661_001, "01:01:01.001"),
        ("TIMESTAMP(0)", 1, "1970-01-01 00:00:01"),
        ("TIMESTAMP(3)", -1, "1969-12-31 23:59:59.999"),
        ("TIMESTAMP(6)", 1_000_001, "1970-01-01 00:00:01.000001"),
        ("TIMESTAMP(6)", -62_135_596_800_000_000, "0001-01-01 00:00:00.000000"),
        ("TIMESTAMP(3)", 400_000_000_000_000, "14645-06-30 15:06:40.000"),
        ("TIMESTAMP(9)", 1, "1970-01-01 00:00:00.000000001"),
        ("TIMESTAMP(3) WITH LOCAL TIME ZONE", 1000, "1970-01-01 00:00:01.000Z"),
    ],
)
def test_times_keep_their_precision_and_never_fail(kind: str, number: int, text: str) -> None:
    data_type = parse_type(kind, "c")
    arrow = to_arrow(data_type)
    width = pa.int32() if kind.startswith(("DATE", "TIME(")) else pa.int64()
    assert value_texts(pa.array([number], width).view(arrow), data_type) == [text]
