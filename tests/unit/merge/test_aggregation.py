"""Every column has a function. Expected values follow Java 2.0.0 (see test_java_answers)."""

from collections.abc import Mapping, Sequence
from decimal import Decimal

import pytest

from paimon_explore.errors import FormatError
from paimon_explore.merge.in_memory_merge import merge_sorted
from paimon_explore.merge.merge_spec import merge_spec
from support.merging import KINDS, Row, batch_of, merged, schema_of

NAN = float("nan")
ROW = {
    "type": "ROW",
    "fields": [
        {"id": 10, "name": "i", "type": "INT"},
        {"id": 11, "name": "s", "type": "STRING"},
        {"id": 12, "name": "n", "type": "INT"},
    ],
}
ROWS = {"type": "ARRAY", "element": ROW}
TEXTS = {"type": "ARRAY", "element": "STRING"}
MAP = {"type": "MAP", "key": "STRING NOT NULL", "value": "INT"}
TIMED_FIELDS = [
    {"id": 20, "name": "v", "type": "INT"},
    {"id": 21, "name": "t", "type": "STRING"},
]


def timed(fields: Sequence[Mapping[str, object]]) -> dict[str, object]:
    """Maps to rows, of which one field is the time of an entry."""
    return {"type": "MAP", "key": "STRING NOT NULL", "value": {"type": "ROW", "fields": [*fields]}}


def aggregated(
    kind: object, settings: Mapping[str, str], records: Sequence[object], kinds: str = ""
) -> object:
    """The value of one key after one commit per record; `kinds`: a place in KINDS for each."""
    options = {f"fields.v.{name}": value for name, value in settings.items()}
    shown = kinds or "0" * len(records)
    rows: list[Row] = [(KINDS[int(at)], 1, value) for at, value in zip(shown, records, strict=True)]
    columns = {"k": "INT NOT NULL", "v": kind}
    [(_, found)] = merged(columns, {"merge-engine": "aggregation", **options}, rows)
    return found


def function(name: str, **settings: str) -> dict[str, str]:
    return {"aggregate-function": name} | {
        key.replace("_", "-"): value for key, value in settings.items()
    }


@pytest.mark.parametrize(
    ("kind", "name", "records", "expected"),
    [
        ("INT", "sum", [1, None, 5, -2], 4),
        ("INT", "sum", [None, None], None),
        ("TINYINT", "sum", [100, 27], 127),
        ("BIGINT", "sum", [2**62, 2**62 - 1, 1, -1], 2**63 - 1),
        ("DOUBLE", "sum", [0.1, 0.2, 0.3], 0.6000000000000001),
        ("DOUBLE", "sum", [1e16, 1.0, -1e16], 0.0),
        ("FLOAT", "sum", [0.5, 0.25], 0.75),
        ("DECIMAL(10, 2)", "sum", [Decimal("1.10"), Decimal("-0.05")], Decimal("1.05")),
        ("DECIMAL(38, 0)", "sum", [Decimal(10**37)] * 3, Decimal(3 * 10**37)),
        ("DECIMAL(38, 0)", "sum", [Decimal(6 * 10**37)] * 2, None),
        ("DECIMAL(38, 0)", "sum", [Decimal(6 * 10**37)] * 3, Decimal(6 * 10**37)),
        ("DECIMAL(38, 0)", "sum", [Decimal(-(6 * 10**37)), Decimal(6 * 10**37)], Decimal(0)),
        ("INT", "product", [3, None, -4], -12),
        ("BIGINT", "product", [1, 2**63 - 1], 2**63 - 1),
        ("BIGINT", "product", [2**62, -2], -(2**63)),
        ("DOUBLE", "product", [0.1, 3.0], 0.30000000000000004),
        ("DECIMAL(4, 2)", "product", [Decimal("1.25"), Decimal("1.10")], Decimal("1.38")),
        ("DECIMAL(4, 2)", "product", [Decimal("50.00"), Decimal("2.00")], None),
        ("DECIMAL(4, 2)", "product", [Decimal("99.99"), Decimal("1.00")], Decimal("99.99")),
        ("INT", "max", [3, None, 7, 5], 7),
        ("STRING", "max", ["a", "\uffff", "\U0001f600"], "\U0001f600"),
        ("DOUBLE", "min", [0.0, -0.0], -0.0),
        ("DOUBLE", "max", [1.0, NAN, 2.0], NAN),
        ("BYTES", "min", [b"\xff", b"\x01", None], b"\x01"),
        ("BOOLEAN", "bool_and", [True, None, False], False),
        ("BOOLEAN", "bool_or", [None, False, True], True),
        ("BOOLEAN", "bool_or", [None, None], None),
        ("INT", "last_value", [1, None], None),
        ("INT", "last_non_null_value", [1, 2, None], 2),
        ("INT", "first_value", [None, 1], None),
        ("INT", "first_non_null_value", [None, 1, 2], 1),
        ("INT", "first_not_null_value", [None, 3], 3),
        ("STRING", "listagg", ["a", None, " \t", "b", ""], "a,b"),
        ("STRING", "listagg", ["\u3000", "\u2007"], "\u2007"),
        (TEXTS, "collect", [["a", None], None, ["a"], []], ["a", None, "a"]),
        (TEXTS, "collect", [None, None], None),
        (MAP, "merge_map", [[("x", 1), ("y", 2)], None, [("x", 3)]], [("x", 3), ("y", 2)]),
    ],
)
def test_values_of_a_key_become_one(
    kind: object, name: str, records: list[object], expected: object
) -> None:
    assert repr(aggregated(kind, function(name), records)) == repr(expected)


@pytest.mark.parametrize(
    ("kind", "name", "records", "kinds", "expected"),
    [
        ("INT", "sum", [5, 2], "03", 3),
        ("INT", "sum", [5, 2], "33", -7),
        ("INT", "sum", [5, None, 1], "010", 6),
        ("DECIMAL(30, 2)", "sum", [Decimal("1.00"), Decimal("2.50")], "01", Decimal("-1.50")),
        ("INT", "product", [7, 2], "03", 3),
        ("INT", "product", [-7, 2], "03", -3),
        ("INT", "product", [7, 2], "30", 2),
        ("DOUBLE", "product", [1.0, 3.0], "03", 1 / 3),
        ("DECIMAL(10, 2)", "product", [Decimal("5.00"), Decimal("4.00")], "03", Decimal("1.25")),
        ("INT", "last_value", [1, 2], "03", None),
        ("INT", "last_non_null_value", [1, None], "03", 1),
        ("INT", "last_non_null_value", [1, 9], "03", None),
        ("INT", "last_non_null_value", [1, 9, 4], "030", 4),
        (TEXTS, "collect", [["a", "b", "a"], ["a", "c"]], "03", ["b", "a"]),
        (TEXTS, "collect", [["a"], ["a"]], "03", []),
        (TEXTS, "collect", [["a"], ["b"]], "30", ["b"]),
        (MAP, "merge_map", [[("x", 1), ("y", 2)], [("x", 9)]], "03", [("y", 2)]),
    ],
)
def test_retracts_take_values_back(
    kind: object, name: str, records: list[object], kinds: str, expected: object
) -> None:
    assert aggregated(kind, function(name), records, kinds) == expected


@pytest.mark.parametrize("name", ["max", "min", "first_value", "first_non_null_value"])
def test_functions_that_cannot_take_back_say_what_to_do(name: str) -> None:
    with pytest.raises(FormatError, match="ignore-retract"):
        aggregated("INT", function(name), [1, 2], "03")
    assert aggregated("INT", function(name, ignore_retract="true"), [1, 2], "03") == 1


@pytest.mark.parametrize(
    ("kind", "name", "records"),
    [
        ("TINYINT", "sum", [100, 28]),
        ("BIGINT", "sum", [2**62, 2**62]),
        ("BIGINT", "sum", [-(2**63), -1]),
        ("SMALLINT", "product", [200, 200]),
        ("BIGINT", "product", [2**40, 2**40]),
    ],
)
def test_numbers_that_leave_their_type_are_an_error(
    kind: str, name: str, records: list[object]
) -> None:
    with pytest.raises(FormatError, match="is out of range for"):
        aggregated(kind, function(name), records)


@pytest.mark.parametrize(
    ("kind", "records"),
    [("INT", [7, 0]), ("DECIMAL(10, 2)", [Decimal("1.00"), Decimal("3.00")])],
)
def test_products_that_cannot_be_divided_are_an_error(kind: str, records: list[object]) -> None:
    with pytest.raises(FormatError, match="cannot be retracted"):
        aggregated(kind, function("product"), records, "03")


def test_sums_of_narrow_decimals_may_have_more_digits_than_their_type() -> None:
    columns = {"k": "INT NOT NULL", "v": "DECIMAL(4, 2)"}
    options = {"merge-engine": "aggregation", "fields.v.aggregate-function": "sum"}
    schema = schema_of(columns, options)
    rows: list[Row] = [("+I", 1, Decimal("74.52")), ("+I", 1, Decimal("30.69"))]
    found = merge_sorted(batch_of(schema, rows), merge_spec(schema))
    assert found.column("v").to_pylist() == [Decimal("105.21")]


def test_counts_are_those_of_releases_up_to_eight() -> None:
    """As the official 0.8.2 counts; later releases have no such function."""
    counting = function("count")
    assert aggregated("INT", counting, [None, None, 7, 8]) == 2
    assert aggregated("INT", counting, [None, None]) == 0
    assert aggregated("INT", counting, [5, 5, 5], "003") == 1
    assert aggregated("INT", counting, [5, None, 5], "333") == -2


def row(i: int | None, s: str | None, n: int | None = None) -> dict[str, object]:
    return {"i": i, "s": s, "n": n}


def test_nested_keys_with_null_are_merged_passed_over_or_refused() -> None:
    records = [[row(None, "a"), row(1, "b")], [row(None, "c")]]
    for strategy, expected in (("merge", [row(None, "c"), row(1, "b")]), ("ignore", [row(1, "b")])):
        settings = function("nested_update", nested_key="i", nested_key_null_strategy=strategy)
        assert aggregated(ROWS, settings, records) == expected
    settings = function("nested_update", nested_key="i", nested_key_null_strategy="error")
    with pytest.raises(FormatError, match="'nested_update' is null"):
        aggregated(ROWS, settings, records)


@pytest.mark.parametrize(
    ("kind", "settings"),
    [
        (timed(TIMED_FIELDS), function("merge_map_with_keytime")),
        (timed(TIMED_FIELDS[::-1]), function("merge_map_with_keytime", ts_field="t")),
    ],
)
def test_entries_of_timed_maps_follow_their_time_and_a_null_value_removes(
    kind: object, settings: Mapping[str, str]
) -> None:
    first = [("x", {"v": 1, "t": "5"}), ("y", {"v": 2, "t": None}), ("z", {"v": 3, "t": "1"})]
    second = [("x", {"v": 8, "t": "4"}), ("y", {"v": 9, "t": "0"}), ("z", None)]
    third = [("x", {"v": 7, "t": None}), ("w", {"v": 7, "t": None})]
    found = aggregated(kind, settings, [first, second, third])
    assert found == [("x", {"v": 1, "t": "5"}), ("y", {"v": 9, "t": "0"})]


REMOVING = {
    "merge-engine": "aggregation",
    "aggregation.remove-record-on-delete": "true",
    "fields.v.aggregate-function": "sum",
    "fields.w.aggregate-function": "first_value",
}
TWO: dict[str, object] = {"k": "INT NOT NULL", "v": "INT", "w": "INT"}


def test_a_removing_delete_is_what_later_records_build_on() -> None:
    rows: list[Row] = [
        ("-D", 1, 1, 5),
        ("+I", 1, 2, 6),
        ("+I", 2, 1, 5),
        ("-D", 2, 7, 7),
        ("+I", 2, 2, 6),
        ("+I", 3, 1, 1),
        ("-D", 3, 1, 1),
    ]
    assert merged(TWO, REMOVING, rows) == [(1, 3, 6), (2, 9, 7)]
    assert merged(TWO, REMOVING, rows, keep_retracts=True)[2] == (3, 1, 1, 6, 3)


def test_sequence_fields_take_the_value_of_the_last_record_in_their_order() -> None:
    options = {
        "merge-engine": "aggregation",
        "sequence.field": "w",
        "fields.v.aggregate-function": "last_value",
    }
    rows: list[Row] = [("+I", 1, 10, 9), ("+I", 1, 20, 3), ("+I", 1, 30, None)]
    assert merged(TWO, options, rows) == [(1, 10, 9)]


def test_one_key_with_very_many_records_is_summed_from_left_to_right() -> None:
    schema = schema_of(
        {"k": "INT NOT NULL", "v": "DOUBLE"},
        {"merge-engine": "aggregation", "fields.v.aggregate-function": "sum"},
    )
    rows: list[Row] = [("+I", key % 2 * (key % 3), 0.1) for key in range(999)]
    totals = {0: 0.0, 1: 0.0, 2: 0.0}
    for _, key, _ in rows:
        totals[int(str(key))] += 0.1
    found = merge_sorted(batch_of(schema, rows), merge_spec(schema))
    assert found.column("v").to_pylist() == list(totals.values())
