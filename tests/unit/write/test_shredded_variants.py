"""VARIANT columns of Parquet files, shredded by the option `variant.shreddingSchema`."""

import datetime as dt
import json
from decimal import Decimal
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from paimon_explore import Catalog, Table, open_table
from paimon_explore.errors import InvalidInputError, UnsupportedFeatureError
from support.golden import GoldenTables
from support.shredded_variants import INFERRED, NULL, SHREDDING, VALUES, texts, variant_of


def new_table(folder: Path, shredding: object, **options: str) -> Table:
    catalog = Catalog(str(folder))
    catalog.create_database("db", if_not_exists=True)
    text = shredding if isinstance(shredding, str) else json.dumps(shredding)
    given = {"variant.shreddingSchema": text, **options}
    return catalog.create_table("db.t", {"id": "INT", "v": "VARIANT"}, options=given)


def of_column(kind: object) -> object:
    """A shredding of the column `v`."""
    return {"type": "ROW", "fields": [{"id": 0, "name": "v", "type": kind}]}


def stored(table: Table) -> list[dict[str, object] | None]:
    """The column as it is in the only file."""
    (file,) = Path(table.path).rglob("data-*.parquet")
    rows = pq.read_table(file).to_pylist()
    return [row["v"] for row in rows]


def test_variants_come_back_as_they_were(tmp_path: Path) -> None:
    table = new_table(tmp_path, SHREDDING)
    variants = [*map(variant_of, VALUES), None]
    table.append([{"id": i, "v": value} for i, value in enumerate(variants)])
    found = stored(table)[0]
    assert found is not None
    assert set(found) == {"metadata", "value", "typed_value"}
    assert texts(table.to_arrow().column("v").to_pylist()) == texts(variants)


def test_parts_of_the_given_type_are_stored_by_themselves(tmp_path: Path) -> None:
    table = new_table(
        tmp_path,
        of_column(
            {
                "type": "ROW",
                "fields": [
                    {"id": 0, "name": "a", "type": "INT"},
                    {"id": 1, "name": "l", "type": {"type": "ARRAY", "element": "STRING"}},
                ],
            }
        ),
    )
    table.append([{"id": 1, "v": variant_of({"a": 7, "l": ["x", 1], "z": True})}])
    (found,) = stored(table)
    assert found is not None
    assert found["typed_value"] == {
        "a": {"value": None, "typed_value": 7},
        "l": {
            "value": None,
            "typed_value": [
                {"value": None, "typed_value": "x"},
                {"value": b"\x0c\x01", "typed_value": None},
            ],
        },
    }
    assert found["value"] == variant_of({"z": True})["value"].replace(
        b"\x02\x01\x00", b"\x02\x01\x02"
    )


@pytest.mark.parametrize(
    ("kind", "fitting", "others"),
    [
        ("TINYINT", [-128, 127], [128, 1.0, "1"]),
        ("SMALLINT", [-(2**15)], [2**15]),
        ("BIGINT", [2**63 - 1, 0], [2**63, Decimal("1.0")]),
        ("DOUBLE", [1.5, float("inf")], [1, Decimal("1.5")]),
        ("DECIMAL(5, 2)", [Decimal("-123.45")], [Decimal("1234.56"), Decimal("1.2"), 1]),
        ("STRING", ["", "x" * 70], [b"x", None]),
        ("BYTES", [b"", b"\0"], ["x"]),
        ("BOOLEAN", [True, False], [0, None]),
        ("DATE", [dt.date(1969, 12, 31)], ["1969-12-31"]),
        ("TIMESTAMP(6)", [dt.datetime(2020, 1, 2, 3, 4, 5, 6)], [dt.date(2020, 1, 2)]),  # noqa: DTZ001
        (
            "TIMESTAMP_LTZ(6)",
            [dt.datetime(2020, 1, 2, tzinfo=dt.UTC)],
            [dt.datetime(2020, 1, 2)],  # noqa: DTZ001 - a wall clock time
        ),
        ({"type": "ARRAY", "element": "INT"}, [[], [1, 2]], [{"a": 1}, 1]),
    ],
)
def test_only_values_of_the_type_are_taken_out(
    tmp_path: Path, kind: object, fitting: list[object], others: list[object]
) -> None:
    table = new_table(tmp_path, of_column(kind))
    variants = [variant_of(value) for value in [*fitting, *others]]
    table.append([{"id": i, "v": value} for i, value in enumerate(variants)])
    found = [one for one in stored(table) if one is not None]
    is_typed = [one["typed_value"] is not None for one in found]
    assert is_typed == [True] * len(fitting) + [False] * len(others)
    assert [one["value"] is None for one in found] == is_typed
    assert table.to_arrow().column("v").to_pylist() == variants


def test_updates_and_compactions_shred_as_well(tmp_path: Path) -> None:
    table = new_table(tmp_path, SHREDDING, **{"compaction.min.file-num": "2"})
    for number, value in enumerate(VALUES):
        table.append([{"id": number, "v": variant_of(value)}])
    table.update({"id": "id + 100"}, where="id = 0")
    table.compact(full=True)
    rows = table.to_arrow().sort_by("id").to_pylist()
    wanted = texts([variant_of(value) for value in [*VALUES[1:], VALUES[0]]])
    assert texts([row["v"] for row in rows]) == wanted


def test_columns_without_type_are_not_shredded(tmp_path: Path) -> None:
    shredding = {"type": "ROW", "fields": [{"id": 0, "name": "other", "type": "INT"}]}
    table = new_table(tmp_path, shredding)
    table.append([{"id": 1, "v": variant_of(1)}])
    assert stored(table) == [variant_of(1)]


@pytest.mark.parametrize(
    ("shredding", "error", "message"),
    [
        ("{", InvalidInputError, "must be a type as JSON"),
        ('"INT"', InvalidInputError, "must have a ROW type"),
        ('"WHAT"', InvalidInputError, "must be a type as JSON"),
        (of_column("TIME(3)"), UnsupportedFeatureError, "by type TIME"),
        (of_column("TIMESTAMP(3)"), UnsupportedFeatureError, "by type TIMESTAMP"),
        (of_column("VARCHAR(5)"), UnsupportedFeatureError, "by type VARCHAR"),
        (
            of_column({"type": "MAP", "key": "STRING NOT NULL", "value": "INT"}),
            UnsupportedFeatureError,
            "by type MAP",
        ),
    ],
)
def test_other_types_are_refused(
    tmp_path: Path, shredding: object, error: type[Exception], message: str
) -> None:
    table = new_table(tmp_path, shredding)
    with pytest.raises(error, match=message):
        table.append([{"id": 1, "v": variant_of(1)}])


def inferring(folder: Path, column: str, **options: str) -> Table:
    catalog = Catalog(str(folder))
    catalog.create_database("db", if_not_exists=True)
    given = {"variant.inferShreddingSchema": "true", **options}
    return catalog.create_table("db.t", {"id": "INT", column: "VARIANT"}, options=given)


def test_columns_of_variants_are_inferred_as_java_infers_them(
    golden: GoldenTables, tmp_path: Path
) -> None:
    folder = golden.table("java200", "variant_inferred").folder
    rows = open_table(folder).to_arrow().to_pylist()
    for number, path in enumerate(sorted(folder.glob("bucket-*/*.parquet"))):
        ids = pq.read_table(path, columns=["id"]).column("id").to_pylist()
        table = inferring(tmp_path / str(number), "j")
        table.append([row for row in rows if row["id"] in ids])
        (ours,) = Path(table.path).rglob("data-*.parquet")
        schemas = [str(pq.ParquetFile(one).schema).split("\n", 2)[2] for one in (ours, path)]
        assert schemas[0] == schemas[1]


def inferred(kind: pa.DataType) -> object:
    """The type by which a group of columns is shredded: None for the whole value."""
    assert isinstance(kind, pa.StructType)
    names = [field.name for field in kind]
    if "typed_value" not in names:
        return None
    typed = kind.field("typed_value").type
    if isinstance(typed, pa.StructType):
        return {field.name: inferred(field.type) for field in typed}
    if isinstance(typed, pa.ListType):
        return [inferred(typed.value_type)]
    return str(typed)


WANTED: dict[str, object] = {
    "nothing": None,
    "scalars": "int64",
    "long": "int64",
    "long and decimal": "decimal128(38, 1)",
    "decimals": "decimal128(18, 3)",
    "mixed": None,
    "texts": "string",
    "arrays": [None],
    "others": {"f": "double", "l": [None], "n": None, "o": "bool"},
}
"""What Java 2.0.0 infers."""


@pytest.mark.parametrize("case", WANTED)
def test_what_most_values_have_in_common_is_a_column(tmp_path: Path, case: str) -> None:
    values, options = INFERRED[case]
    table = inferring(tmp_path, "v", **options)
    variants = [None if value is NULL else variant_of(value) for value in values]
    table.append([{"id": i, "v": value} for i, value in enumerate(variants)])
    (file,) = Path(table.path).rglob("data-*.parquet")
    assert inferred(pq.read_schema(file).field("v").type) == WANTED[case]
    assert texts(table.to_arrow().column("v").to_pylist()) == texts(variants)


LIMITED: dict[str, tuple[str, object]] = {
    "ratio": ("variant.shredding.minFieldCardinalityRatio", {"a": "int64", "b": "int64"}),
    "depth": ("variant.shredding.maxSchemaDepth", {"a": {"b": None}, "l": [None]}),
    "first rows": ("variant.shredding.maxInferBufferRow", {"a": "int64"}),
    "width": (
        "variant.shredding.maxSchemaWidth",
        {"f0": {"a": "int64", "b": ["int64"]}, "f1": {"a": "int64", "b": [None]}},
    ),
}
"""A limit, and what Java 2.0.0 infers with it."""


@pytest.mark.parametrize("case", LIMITED)
def test_inferred_columns_are_limited(tmp_path: Path, case: str) -> None:
    key, wanted = LIMITED[case]
    values, options = INFERRED[case]
    assert list(options) == [key]
    table = inferring(tmp_path, "v", **options)
    table.append([{"id": i, "v": variant_of(value)} for i, value in enumerate(values)])
    (file,) = Path(table.path).rglob("data-*.parquet")
    assert inferred(pq.read_schema(file).field("v").type) == wanted


def test_a_given_type_is_not_inferred(tmp_path: Path) -> None:
    table = new_table(tmp_path, SHREDDING, **{"variant.inferShreddingSchema": "true"})
    table.append([{"id": 1, "v": variant_of({"q": 1})}])
    (found,) = stored(table)
    assert found is not None
    assert "q" not in found["typed_value"]  # type: ignore[operator]  # a struct
