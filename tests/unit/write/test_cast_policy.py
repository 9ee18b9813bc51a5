"""The policies of `cast`: what each converts, and what it refuses, naming column, row and value."""

import datetime as dt
from collections.abc import Mapping
from decimal import Decimal

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

from paimon_explore import Table
from paimon_explore.errors import InvalidInputError
from support.small_tables import columns, new_catalog


def table_of(data_type: str) -> Table:
    table = new_catalog().create_table("db.t", columns(k=pa.int32()))
    table.add_column("v", data_type)
    return table


def moment(hour: int = 0, minute: int = 0, second: int = 0, micros: int = 0) -> dt.datetime:
    """A time of one day, without a time zone."""
    return dt.datetime.combine(dt.date(2026, 1, 31), dt.time(hour, minute, second, micros))


PARSED: Mapping[str, list[tuple[str, object]]] = {
    "TINYINT": [("7", 7), ("-128", -128), (" +5 ", 5)],
    "SMALLINT": [("32767", 32767)],
    "INT": [("007", 7), ("-2147483648", -(2**31))],
    "BIGINT": [("9223372036854775807", 2**63 - 1)],
    "FLOAT": [("0.5", 0.5), ("1e3", 1000.0)],
    "DOUBLE": [("0.1", 0.1), ("-1.5E-3", -0.0015), ("12", 12.0)],
    "DECIMAL(6, 2)": [("1234.5", Decimal("1234.50")), ("-0.25", Decimal("-0.25"))],
    "BOOLEAN": [("true", True), ("F", False), ("yes", True), ("0", False)],
    "DATE": [("2026-01-31", dt.date(2026, 1, 31)), ("2026-1-5", dt.date(2026, 1, 5))],
    "TIME(3)": [("10:11:12", dt.time(10, 11, 12)), ("10:11:12.5", dt.time(10, 11, 12, 500_000))],
    "TIMESTAMP(3)": [
        ("2026-01-31 10:11:12", moment(10, 11, 12)),
        ("2026-01-31T10:11:12.345", moment(10, 11, 12, 345_000)),
        ("2026-01-31", moment()),
        ("2026-01-31 10:11", moment(10, 11)),
    ],
    "TIMESTAMP(6) WITH LOCAL TIME ZONE": [
        ("2026-01-31T10:11:12.345678Z", moment(10, 11, 12, 345_678).replace(tzinfo=dt.UTC)),
        ("2026-01-31 10:11:12+02:00", moment(8, 11, 12).replace(tzinfo=dt.UTC)),
        ("2026-01-31 10:11", moment(10, 11).astimezone(dt.UTC)),
    ],
}
UNPARSED: Mapping[str, list[str]] = {
    "TINYINT": ["128", "1.5", "x", "1e2"],
    "INT": ["2147483648", "1.0", "12 3", "true"],
    "BIGINT": ["9223372036854775808"],
    "FLOAT": ["1e40", "-9e99"],
    "DOUBLE": ["1,5", "one", "1e400"],
    "DECIMAL(6, 2)": ["12345.5", "1.234", "x"],
    "BOOLEAN": ["maybe", "2"],
    "DATE": ["2026-02-30", "31.01.2026", "2026-01-31 10:00:00", "soon", "2026", "20260701", "-5"],
    "TIME(3)": ["25:00:00", "10:11:12.3456", "36000000"],
    "TIMESTAMP(3)": [
        *("2026-01-31 10:11:12.3456", "2026-13-01 00:00:00", "soon", "2026-02-30", "1782864000"),
        *("20260701", "2026-01-31T10:11:12Z"),
    ],
    "TIMESTAMP(6) WITH LOCAL TIME ZONE": [
        *("1782864000", "2026-02-30 00:00:00Z", "2026-01-31 10:11:12.1234567Z"),
    ],
}


@pytest.mark.parametrize("data_type", PARSED)
def test_texts_are_parsed(data_type: str) -> None:
    texts, values = zip(*PARSED[data_type], strict=True)
    rows = pa.table({"k": range(len(texts)), "v": texts})
    forms: list[object] = [rows, rows.to_pylist(), rows.to_pydict(), rows.to_pandas()]
    forms += [rows.cast(columns(k=pa.int32(), v=pa.large_string()))]
    forms += [rows.set_column(1, "v", rows["v"].dictionary_encode())]
    for form in forms:
        table = table_of(data_type)
        table.append(form, cast="parse")  # type: ignore[arg-type] # forms of rows
        assert table.to_arrow().sort_by("k")["v"].to_pylist() == list(values)


@pytest.mark.parametrize(("data_type", "text"), [(t, x) for t, xs in UNPARSED.items() for x in xs])
def test_a_text_that_is_not_a_value_is_named_with_column_and_row(data_type: str, text: str) -> None:
    table = table_of(data_type)
    good = PARSED[data_type][0][0]
    rows: list[dict[str, object]] = [
        {"k": 0, "v": good},
        {"k": 1, "v": None},
        {"k": 2, "v": text},
        {"k": 3, "v": good},
    ]
    for form in (rows, pa.Table.from_pylist(rows), [pa.Table.from_pylist(rows)]):
        with pytest.raises(InvalidInputError) as caught:
            table.append(form, cast="parse")
        message = str(caught.value)
        assert message.startswith(
            f"Column 'v' ({data_type}), row 2 (counted from 0): {text!r} is not the text of"
        )
    assert table.snapshot is None


def test_rows_are_counted_over_all_parts() -> None:
    table = table_of("INT")
    parts = [pa.table({"v": ["1", "2"]}), pa.table({"v": ["3", "x"]})]
    with pytest.raises(InvalidInputError, match=r"Column 'v' \(INT\), row 3 .counted from 0.: 'x'"):
        table.append(parts, cast="parse")


def test_blank_text_is_null_and_text_columns_are_not_parsed() -> None:
    table = table_of("INT")
    table.add_column("w", "STRING")
    table.append({"v": ["", "  ", None, "4"], "w": ["", " ", None, "4"]}, cast="parse")
    assert table.to_arrow()["v"].to_pylist() == [None, None, None, 4]
    assert table.to_arrow()["w"].to_pylist() == ["", " ", None, "4"]


def test_texts_in_rows_and_lists_are_parsed() -> None:
    table = new_catalog().create_table(
        "db.t", columns(r=pa.struct([("a", pa.int32())]), many=pa.list_(pa.date32()))
    )
    table.append([{"r": {"a": "5"}, "many": ["2026-01-31"]}], cast="parse")
    assert table.to_arrow().to_pylist() == [{"r": {"a": 5}, "many": [dt.date(2026, 1, 31)]}]
    with pytest.raises(InvalidInputError, match=r"row 0 .counted from 0.: 'x' is not the text"):
        table.append([{"many": ["x"]}], cast="parse")


def test_parse_casts_values_that_are_not_texts_safely() -> None:
    table = table_of("INT")
    table.append({"v": [1.0, 2.0]}, cast="parse")
    with pytest.raises(InvalidInputError, match=r"row 0 .counted from 0.: 1\.5"):
        table.append({"v": [1.5]}, cast="parse")


@pytest.mark.parametrize("policy", ["safe", "strict"])
def test_other_policies_do_not_parse(policy: str) -> None:
    for data_type, cases in PARSED.items():
        with pytest.raises(InvalidInputError, match="Column 'v'"):
            table_of(data_type).append([{"v": cases[0][0]}], cast=policy)


EXACT: list[tuple[str, pa.DataType]] = [
    ("TINYINT", pa.int8()),
    ("INT", pa.int32()),
    ("BIGINT", pa.int64()),
    ("FLOAT", pa.float32()),
    ("DOUBLE", pa.float64()),
    ("DECIMAL(5, 2)", pa.decimal128(5, 2)),
    ("TIMESTAMP(3)", pa.timestamp("ms")),
    ("TIMESTAMP(6)", pa.timestamp("us")),
    ("DATE", pa.date32()),
    ("BOOLEAN", pa.bool_()),
    ("STRING", pa.string()),
    ("STRING", pa.large_string()),
]


@pytest.mark.parametrize(("data_type", "arrow"), EXACT)
def test_strict_takes_exactly_the_type_of_the_column(data_type: str, arrow: pa.DataType) -> None:
    table = table_of(data_type)
    one = {"DATE": "2026-01-01", "BOOLEAN": "1"}.get(data_type, "2026-01-01 00:00:00")
    text = one if data_type[:2] in ("DA", "BO", "TI") and "INT" not in data_type else "1"
    table.append(pa.table({"v": pa.array([text]).cast(arrow)}), cast="strict")
    assert table.count("v IS NOT NULL") == 1
    zeros = [pa.array(np.zeros(1, kind)) for kind in (np.int16, np.float16, "datetime64[s]")]
    for other in zeros:
        if other.type != arrow:
            with pytest.raises(InvalidInputError, match="Column 'v'"):
                table.append(pa.table({"v": other}), cast="strict")
    assert len(table.snapshots) == 1


def test_strict_takes_python_values_of_the_kind_of_the_column() -> None:
    good: list[tuple[str, object]] = [
        ("TINYINT", 5),
        ("FLOAT", 0.5),
        ("DECIMAL(5, 2)", Decimal("1.5")),
        ("TIMESTAMP(3)", moment()),
        ("STRING", "x"),
        ("BOOLEAN", True),
        ("DATE", dt.date(2026, 1, 1)),
    ]
    for data_type, value in good:
        table = table_of(data_type)
        table.append([{"v": value}, {"v": None}], cast="strict")
        assert table.count("v IS NOT NULL") == 1
    bad: list[tuple[str, object]] = [
        ("INT", 1.0),
        ("DOUBLE", 1),
        ("DECIMAL(5, 2)", 1),
        ("DATE", moment()),
        ("STRING", b"x"),
        ("BOOLEAN", 1),
    ]
    for data_type, value in bad:
        with pytest.raises(InvalidInputError, match="Column 'v'"):
            table_of(data_type).append([{"v": value}], cast="strict")


def test_strict_says_what_to_do() -> None:
    with pytest.raises(InvalidInputError) as caught:
        table_of("INT").append(pa.table({"v": [1]}), cast="strict")
    assert str(caught.value) == (
        "Column 'v' (INT): values of type int64 are not of its Arrow type int32, and cast='strict' "
        "allows no other type. Cast the column to int32 first, or pass cast='safe'."
    )


def test_upserts_and_overwrites_take_a_policy() -> None:
    table = new_catalog().create_table(
        "db.t", columns(k=pa.int32(), v=pa.int32()), primary_key="k", options={"bucket": "1"}
    )
    table.upsert(pd.DataFrame({"k": ["1"], "v": ["2"]}), cast="parse")
    table.upsert([{"k": "1", "_ROW_KIND": "-D"}, {"k": "3", "v": "4"}], cast="parse")
    assert table.to_arrow().to_pylist() == [{"k": 3, "v": 4}]
    table.overwrite([{"k": "5", "v": "6"}], cast="parse")
    assert table.to_arrow().to_pylist() == [{"k": 5, "v": 6}]


def test_an_unknown_policy_is_refused() -> None:
    table = table_of("INT")
    with pytest.raises(InvalidInputError, match="Unknown cast 'loose'"):
        table.append([{"v": 1}], cast="loose")
    assert table.snapshot is None
