"""Changed columns do no silent damage: values fit, names are names, options follow."""

from datetime import UTC, date, datetime, time
from decimal import Decimal
from itertools import product
from pathlib import Path

import pytest

from paimon_explore import Catalog, Table, open_table
from paimon_explore.data_types.casts.allowed_type_changes import is_castable
from paimon_explore.data_types.type_parser import parse_type_text
from paimon_explore.errors import CorruptFileError, InvalidInputError, PaimonError
from paimon_explore.metadata.schema.schema_change import (
    AddColumn,
    ChangeNullability,
    ChangeType,
    RenameColumn,
)
from support.depth import some
from support.small_tables import new_catalog

NOON = datetime(2024, 1, 2, 12, 0, 0, 123456)  # noqa: DTZ001 - a wall clock
MIDNIGHT = datetime(2024, 1, 2)  # noqa: DTZ001 - as above
NAN = float("nan")
OUTCOMES: list[tuple[str, str, list[object], int]] = [
    ("STRING", "INT", ["1", "abc", None, "abc", "x"], 3),
    ("STRING", "INT", ["1", "-7", None], 0),
    ("STRING", "DATE", ["2024-01-02", "soon"], 1),
    ("STRING", "BOOLEAN", ["yes", "maybe"], 1),
    ("STRING", "TIMESTAMP(3)", ["2024-01-02 03:04:05", "x"], 1),
    ("STRING", "DOUBLE", ["1.5", "one"], 1),
    ("STRING", "DECIMAL(4, 2)", ["1.234", "1e3", "1.2"], 2),
    ("STRING", "VARBINARY(1)", ["a", "é"], 1),
    ("STRING", "CHAR(3)", ["abc", "a", "abcd"], 1),
    ("VARCHAR(10)", "VARCHAR(3)", ["abcd", "abc"], 1),
    ("VARCHAR(3)", "STRING", ["abc"], 0),
    ("INT", "TINYINT", [1, 1000, -129, 127, -128], 2),
    ("INT", "TINYINT", [127, -128, None], 0),
    ("INT", "BIGINT", [2**31 - 1], 0),
    ("INT", "FLOAT", [16_777_217, 3], 1),
    ("BIGINT", "DOUBLE", [2**53 + 1, 5], 1),
    ("INT", "BOOLEAN", [0, 1, 2], 1),
    ("INT", "DECIMAL(3, 1)", [99, 100], 1),
    ("INT", "VARCHAR(2)", [12, 123], 1),
    ("INT", "STRING", [12, 123], 0),
    ("BOOLEAN", "INT", [True, False], 0),
    ("DOUBLE", "INT", [1.5, 2.0, NAN, 1e300], 3),
    ("DOUBLE", "FLOAT", [0.1, 0.5, NAN, 1e300], 2),
    ("DOUBLE", "DECIMAL(5, 2)", [NAN, 1.25, 1.255], 2),
    ("FLOAT", "DOUBLE", [0.1, NAN], 0),
    ("DECIMAL(10, 2)", "DECIMAL(4, 2)", [Decimal("1.25"), Decimal("123.00")], 1),
    ("DECIMAL(10, 2)", "DECIMAL(10, 1)", [Decimal("1.25"), Decimal("1.50")], 1),
    ("DECIMAL(10, 2)", "DECIMAL(12, 3)", [Decimal("1.25")], 0),
    ("DECIMAL(10, 2)", "INT", [Decimal("1.25"), Decimal("1.00")], 1),
    ("BYTES", "BINARY(2)", [b"abc", b"ab"], 1),
    ("TIMESTAMP(6)", "TIMESTAMP(3)", [NOON, MIDNIGHT], 1),
    ("TIMESTAMP(6)", "DATE", [NOON, MIDNIGHT], 1),
    ("TIMESTAMP(6)", "TIME(0)", [NOON], 1),
    ("TIMESTAMP(6)", "BIGINT", [NOON, MIDNIGHT], 1),
    ("DATE", "TIMESTAMP(0)", [date(2024, 1, 2)], 0),
    ("ROW<x INT, y STRING>", "STRING", [{"x": 1, "y": None}], 0),
]
SAMPLES: dict[str, list[object]] = {
    "BOOLEAN": [True, None],
    "TINYINT": [1, -128],
    "SMALLINT": [1, 300],
    "INT": [0, 70_000],
    "BIGINT": [1, 2**40],
    "FLOAT": [0.5, 1e30],
    "DOUBLE": [0.1, 1e300, NAN],
    "DECIMAL(5, 2)": [Decimal("1.00"), Decimal("999.99")],
    "DECIMAL(38, 10)": [Decimal("1.0000000001"), Decimal(10) ** 27],
    "CHAR(3)": ["abc", "1"],
    "VARCHAR(5)": ["12:00", "7"],
    "STRING": ["2024-01-02", "1.5", ""],
    "BINARY(3)": [b"abc"],
    "VARBINARY(4)": [b"abcd", b""],
    "DATE": [date(2024, 1, 2), date(1, 1, 1)],
    "TIME(3)": [time(12, 0, 0, 123000)],
    "TIMESTAMP(0)": [MIDNIGHT],
    "TIMESTAMP(6)": [NOON],
    "TIMESTAMP_LTZ(3)": [datetime(2024, 1, 2, 3, 4, 5, 678000, tzinfo=UTC)],
}
PAIRS = [
    (source, target)
    for source, target in product(SAMPLES, SAMPLES)
    if source != target and is_castable(parse_type_text(source), parse_type_text(target))
]


def table_of(folder: Path, kind: str, values: list[object], **options: str) -> Table:
    given = {key.replace("__", ".").replace("_", "-"): text for key, text in options.items()}
    table = new_catalog(folder).create_table("db.t", {"k": "INT", "v": kind}, options=given)
    table.append([{"k": number, "v": value} for number, value in enumerate(values)])
    return table


@pytest.mark.parametrize(("source", "target", "values", "unfit"), OUTCOMES)
def test_a_type_that_stored_values_do_not_fit_is_refused_with_their_number(
    tmp_path: Path, source: str, target: str, values: list[object], unfit: int
) -> None:
    table = table_of(tmp_path, source, values)
    if not unfit:
        table.alter_column_type("v", target)
        assert open_table(table.path).to_arrow().num_rows == len(values)
        return
    number = "1 value does" if unfit == 1 else f"{unfit} values do"
    with pytest.raises(
        InvalidInputError, match=f"{number} not fit the new type in 1 data file, such as "
    ):
        table.alter_column_type("v", target)
    assert len(table._store.schemas.ids()) == 1


@pytest.mark.parametrize(("source", "target"), some(PAIRS, 6))
def test_after_an_accepted_change_every_value_is_read_and_none_is_lost(
    tmp_path: Path, source: str, target: str
) -> None:
    for number, value in enumerate(SAMPLES[source]):
        table = table_of(tmp_path / str(number), source, [value])
        try:
            table.alter_column_type("v", target)
        except InvalidInputError as refused:
            assert "1 value does not fit" in refused.message  # noqa: PT017 - either may happen
            continue
        found = open_table(table.path).to_arrow().column("v")
        assert found.null_count == (value is None)


def test_the_message_names_column_types_files_and_a_value(tmp_path: Path) -> None:
    table = table_of(tmp_path, "STRING", ["1", "abc", "abc"])
    table.append([{"k": 9, "v": "xyz"}])
    with pytest.raises(InvalidInputError) as refused:
        table.alter_column_type("v", "INT")
    assert refused.value.message == (
        "Column 'v' of type STRING cannot be changed to INT: 3 values do not fit the new type in "
        "2 data files, such as 'abc'."
    )
    assert "check=False" in refused.value.hint


def test_without_the_check_values_are_cast_as_java_casts(tmp_path: Path) -> None:
    table = table_of(tmp_path / "a", "INT", [1000])
    table.alter_column_type("v", "TINYINT", check=False)
    assert open_table(table.path).to_arrow().column("v").to_pylist() == [-24]
    texts = table_of(tmp_path / "b", "STRING", ["abc"])
    texts.alter(ChangeType(column=("v",), type=parse_type_text("INT")), check=False)
    with pytest.raises(CorruptFileError, match="'abc' cannot be read as INT"):
        open_table(texts.path).to_arrow()


def test_members_are_checked_at_any_depth(tmp_path: Path) -> None:
    kind = "ROW<x INT, l ARRAY<ROW<e STRING>>, m MAP<STRING, INT>>"
    values: list[object] = [
        {"x": 1, "l": [{"e": "1"}, {"e": "no"}, None], "m": {"a": 70_000, "b": None}},
        None,
        {"x": None, "l": None, "m": {}},
    ]
    table = table_of(tmp_path, kind, values)
    table.alter_column_type("v.x", "TINYINT")
    with pytest.raises(InvalidInputError, match=r"1 value does not fit.*'no' in v\.l\.element\.e"):
        table.alter_column_type("v.l.element.e", "INT")
    with pytest.raises(InvalidInputError, match=r"1 value does not fit.*70000 in v\.m\.value"):
        table.alter_column_type("v.m.value", "SMALLINT")
    table.alter_column_type("v.m.value", "BIGINT")
    assert open_table(table.path).to_arrow().column("v")[0].as_py()["m"] == [
        ("a", 70_000),
        ("b", None),
    ]


def test_nulls_do_not_fit_not_null(tmp_path: Path) -> None:
    table = table_of(tmp_path, "INT", [1, None], alter_column_null_to_not_null__disabled="false")
    change = ChangeNullability(column=("v",), nullable=False)
    with pytest.raises(
        InvalidInputError, match=r"1 value does not fit the new type in 1 data file, such as null"
    ):
        table.alter(change)
    table.delete("v IS NULL")
    table.alter(change)
    assert open_table(table.path).to_arrow().column("v").to_pylist() == [1]


def test_replaced_rows_count_until_a_compaction(tmp_path: Path) -> None:
    options = {"bucket": "1", "write-only": "true"}
    table = new_catalog(tmp_path).create_table(
        "db.t", {"k": "INT", "v": "STRING"}, primary_key="k", options=options
    )
    table.upsert([{"k": 1, "v": "abc"}])
    table.upsert([{"k": 1, "v": "5"}])
    with pytest.raises(InvalidInputError, match="1 value does not fit the new type in 1 data file"):
        table.alter_column_type("v", "INT")
    table.compact()
    table.alter_column_type("v", "INT")
    assert open_table(table.path).to_arrow().column("v").to_pylist() == [5]


def test_values_are_checked_as_their_files_have_them(tmp_path: Path) -> None:
    table = table_of(tmp_path, "DATE", [date(2024, 1, 2)])
    table.alter_column_type("v", "STRING")
    open_table(table.path).append([{"k": 2, "v": "7"}])
    with pytest.raises(InvalidInputError, match="1 value does not fit the new type in 1 data file"):
        table.alter_column_type("v", "INT")  # no cast leads from DATE to INT


def test_statistics_spare_files_whose_integers_fit(tmp_path: Path) -> None:
    table = table_of(tmp_path, "INT", [1, 100, None])
    for path in Path(table.path).glob("bucket-0/*"):
        path.unlink()
    table.alter_column_type("v", "TINYINT")
    assert len(table._store.schemas.ids()) == 2


@pytest.mark.parametrize("name", ["r.yy", "a.b", ".", "yy.", "", " "])
@pytest.mark.parametrize("column", ["v", "v.x"])
def test_a_new_name_is_a_single_name(tmp_path: Path, column: str, name: str) -> None:
    table = table_of(tmp_path, "ROW<x INT, y INT>", [])
    with pytest.raises(InvalidInputError, match=r"must not contain a dot|is blank"):
        table.rename_column(column, name)
    with pytest.raises(InvalidInputError, match="is blank"):
        table.alter(AddColumn(column=("v", " "), type=parse_type_text("INT")))


def test_a_member_gets_another_name(tmp_path: Path) -> None:
    table = table_of(tmp_path, "ROW<x INT, y INT>", [{"x": 1, "y": 2}])
    table.rename_column("v.x", "xx")
    assert open_table(table.path).to_arrow().column("v").to_pylist() == [{"xx": 1, "y": 2}]
    with pytest.raises(PaimonError, match=r"Column 'v\.y' already exists"):
        table.alter(RenameColumn(column=("v", "xx"), name="y"))


NAMING: list[tuple[dict[str, str], dict[str, str]]] = [
    ({"clustering.columns": "v,k"}, {"clustering.columns": "n,k"}),
    ({"sink.clustering.by-columns": "v"}, {"sink.clustering.by-columns": "n"}),
    ({"file-index.bloom-filter.columns": "k,v"}, {"file-index.bloom-filter.columns": "k,n"}),
    (
        {"file-index.bitmap.columns": "v", "file-index.bitmap.v.version": "1"},
        {"file-index.bitmap.columns": "n", "file-index.bitmap.n.version": "1"},
    ),
    ({"bucket": "2", "bucket-key": "v"}, {"bucket": "2", "bucket-key": "n"}),
    ({"fields.v.stats-mode": "none"}, {"fields.n.stats-mode": "none"}),
    ({"record-level.time-field": "v"}, {"record-level.time-field": "n"}),
]


@pytest.mark.parametrize(("before", "after"), NAMING)
def test_options_that_name_a_column_follow_its_name_and_keep_it(
    tmp_path: Path, before: dict[str, str], after: dict[str, str]
) -> None:
    table = new_catalog(tmp_path).create_table(
        "db.t", {"k": "INT", "v": "INT", "w": "INT"}, options=before
    )
    table.append([{"k": 1, "v": 1}])
    with pytest.raises(
        InvalidInputError, match=r"Column 'v' cannot be dropped: option '.*' refers"
    ):
        table.drop_column("v")
    changed = table.rename_column("v", "n")
    assert changed.options == after
    open_table(table.path).append([{"k": 2, "n": 2}])
    assert open_table(table.path).to_arrow().num_rows == 2


MISSPELT = {
    "scan.snapshotid": "scan.snapshot-id",
    "bukcet": "bucket",
    "file.fromat": "file.format",
    "merge_engine": "merge-engine",
    "fields.v.stats-mod": "fields.v.stats-mode",
}


@pytest.mark.parametrize(("key", "meant"), MISSPELT.items())
def test_every_door_refuses_misspelt_options_with_what_was_meant(
    tmp_path: Path, key: str, meant: str
) -> None:
    table = table_of(tmp_path, "INT", [1])
    catalog = Catalog(tmp_path)
    sentence = rf"there is no option '{key}' \(did you mean '{meant}'\?\)"
    with pytest.raises(InvalidInputError, match=sentence):
        catalog.create_table("db.new", {"v": "INT"}, options={key: "1"})
    with pytest.raises(InvalidInputError, match=sentence):
        table.set_options({key: "1"})
    with pytest.raises(InvalidInputError, match=sentence):
        table.set_options({key: None})
    with pytest.raises(InvalidInputError, match=sentence):
        open_table(table.path, options={key: 1})
    with pytest.raises(InvalidInputError, match=sentence):
        catalog.table("db.t", options={key: 1})
    assert len(table._store.schemas.ids()) == 1


def test_options_of_other_tools_and_those_of_the_table_stay(tmp_path: Path) -> None:
    table = table_of(tmp_path, "INT", [1])
    table.set_options({"team.owner": "me"})
    assert open_table(table.path, options={"team.color": "red"}).to_arrow().num_rows == 1
    table.set_options({"team.owner": None})
    assert "team.owner" not in table.options
    with pytest.raises(InvalidInputError, match="the value must be an integer"):
        open_table(table.path, options={"bucket": "two"})
