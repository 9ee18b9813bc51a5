"""MAP columns that files store as structs of shared columns."""

import datetime as dt
import io
import json
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

import cramjam
import pyarrow as pa
import pyarrow.orc as po
import pyarrow.parquet as pq
import pytest
import zstandard
from hypothesis import given
from hypothesis import strategies as st

from paimon_explore import open_table
from paimon_explore.data_types.arrow_buffers import Column, as_python
from paimon_explore.encoding.orc.reader import open_orc
from paimon_explore.encoding.orc.timestamp_fixes import LocalZoned
from paimon_explore.encoding.parquet.reader import open_parquet
from paimon_explore.encoding.shared_shredding import (
    Shredding,
    assembled,
    assembled_map,
    shredding_of,
)
from paimon_explore.errors import CorruptFileError, UnsupportedFeatureError
from support.files import stored
from support.shredded_maps import table_of

Map = Sequence[tuple[str, object]] | None
PREFIX = b"paimon.map.shared-shredding."
ROWS: list[dict[str, object]] = [
    {"id": 1, "m": [("a", 1), ("b", 2)]},
    {"id": 2, "m": None},
    {"id": 3, "m": []},
    {"id": 4, "m": [("c", 3), ("d", None), ("e", 5), ("f", 6), ("a", 7)]},
    {"id": 5, "m": [("b", 9)]},
]
TEXTS: list[Map] = [[("x", "y")], [], None, [("k", None)], [("z", "z")]]
"""What the writers of the tables were given."""


def as_dicts(rows: Sequence[Mapping[str, object]]) -> list[dict[str, object]]:
    """Rows with maps as dictionaries: their entries have no order."""
    return [
        {k: dict(v) if isinstance(v, list) else v for k, v in row.items()}
        for row in sorted(rows, key=lambda row: int(str(row["id"])))
    ]


@pytest.mark.parametrize("name", ["java_parquet", "java_orc", "pypaimon_two", "pypaimon_four"])
def test_tables_of_other_writers_are_read(name: str, tmp_path: Path) -> None:
    table = table_of(name, tmp_path)
    wanted = [
        {**row, **({"p": text} if name.startswith("py") else {})}
        for row, text in zip(ROWS, TEXTS, strict=True)
    ]
    assert as_dicts(table.to_arrow().to_pylist()) == as_dicts(wanted)
    assert table.scan().count() == 5
    assert table.scan(["id"], "m IS NULL").to_arrow().to_pylist() == [{"id": 2}]
    kept = table.scan(["m", "id"], "id >= 4").to_arrow().to_pylist()
    assert as_dicts(kept) == as_dicts(ROWS[3:])
    assert [len(b) for b in table.scan(["m"]).to_batches()] == [5]


def test_values_of_any_type_are_read(tmp_path: Path) -> None:
    rows = table_of("java_types", tmp_path).to_arrow().to_pylist()
    filled = {
        "id": 1,
        "a": {"k": dt.datetime(2024, 1, 1), "l": None},  # noqa: DTZ001 - a wall clock time
        "b": {"k": {"x": 1}, "l": None, "m": {"x": None}},
        "c": {"p": ["u", "v"], "q": [], "r": None},
    }
    empty = {"id": 3, "a": None, "b": None, "c": None}
    assert as_dicts(rows) == [filled, filled, empty]


@pytest.mark.parametrize("name", ["java_parquet", "java_orc"])
def test_rows_that_are_added_change_nothing_for_the_others(name: str, tmp_path: Path) -> None:
    """Parquet files get shredded maps with a dictionary of their own, ORC files plain maps."""
    table = table_of(name, tmp_path)
    more: list[dict[str, object]] = [{"id": 6, "m": [("q", 1)]}, {"id": 7, "m": None}]
    kind = pa.schema([("id", pa.int32()), ("m", pa.map_(pa.string(), pa.int64()))])
    table.append(pa.Table.from_pylist(more, schema=kind))
    assert as_dicts(table.to_arrow().to_pylist()) == as_dicts([*ROWS, *more])


def test_a_table_that_wants_an_unknown_layout_is_not_written(tmp_path: Path) -> None:
    source = table_of("java_parquet", tmp_path)
    schema = Path(source.path) / "schema" / "schema-0"
    schema.write_text(schema.read_text().replace('shared-shredding"', 'of-tomorrow"'))
    table = open_table(source.path)
    assert as_dicts(table.to_arrow().to_pylist()) == as_dicts(ROWS)
    with pytest.raises(UnsupportedFeatureError, match=r"'fields\.m\.map\.storage-layout' = 'of-t"):
        table.append([{"id": 6, "m": None}])


# ------------------------------------------------------------ files made here


Place = Callable[[list[int], int], tuple[list[int], list[int]]]


def first_come(numbers: list[int], columns: int) -> tuple[list[int], list[int]]:
    """The first keys in the first columns, the others in the overflow."""
    taken = numbers[:columns]
    return taken + [-1] * (columns - len(taken)), numbers[columns:]


def from_behind(numbers: list[int], columns: int) -> tuple[list[int], list[int]]:
    mapping, overflow = first_come(numbers, columns)
    return mapping[::-1], overflow


def all_over(numbers: list[int], columns: int) -> tuple[list[int], list[int]]:
    return [-1] * columns, numbers


def by_number(numbers: list[int], columns: int) -> tuple[list[int], list[int]]:
    """Each key in the column of its number."""
    mapping, overflow = [-1] * columns, []
    for number in numbers:
        if number < columns:
            mapping[number] = number
        else:
            overflow.append(number)
    return mapping, overflow


PLACES: dict[str, Place] = {
    "first come": first_come,
    "from behind": from_behind,
    "overflow": all_over,
    "by number": by_number,
}


def shredded(
    maps: Sequence[Map], columns: int, place: Place, value: pa.DataType
) -> tuple[Column, dict[str, int]]:
    """The struct of some maps, and the numbers of the keys."""
    numbers: dict[str, int] = {}
    rows: list[dict[str, object] | None] = []
    for one in maps:
        if one is None:
            rows.append(None)
            continue
        values = {numbers.setdefault(key, len(numbers)): found for key, found in one}
        mapping, overflow = place(list(values), columns)
        row: dict[str, object] = {"__field_mapping": mapping}
        row.update({f"__col_{c}": values.get(n) for c, n in enumerate(mapping)})
        row["__overflow"] = [(n, values[n]) for n in overflow] or None
        rows.append(row)
    fields = [
        pa.field("__field_mapping", pa.list_(pa.int32())),
        *(pa.field(f"__col_{c}", value) for c in range(columns)),
        pa.field("__overflow", pa.map_(pa.int32(), value)),
    ]
    return pa.array(rows, pa.struct(fields)), numbers


def metadata_of(
    numbers: Mapping[str, int],
    columns: int,
    compression: str = "zstd",
    more: Mapping[str, bytes] | None = None,
) -> dict[bytes, bytes]:
    plain = json.dumps(numbers).encode()
    packed = {
        "none": lambda: plain,
        "zstd": lambda: zstandard.ZstdCompressor().compress(plain),
        "lz4": lambda: bytes(8) + bytes(cramjam.lz4.compress_block(plain, store_size=False)),
    }[compression]()
    found = {
        "field-dict": packed.decode("latin-1").encode(),
        "field-dict-compression": compression.encode(),
        "field-dict-original-size": str(len(plain)).encode(),
        "num-columns": str(columns).encode(),
        "version": b"1",
        **(more or {}),
    }
    return {
        b"paimon.map.storage-layout": b"shared-shredding",
        **{PREFIX + name.encode(): value for name, value in found.items()},
    }


def plain(maps: Column) -> list[object]:
    """Maps as dictionaries."""
    return [one if one is None else dict(one) for one in as_python(maps)]  # type: ignore[call-overload]  # pairs


def read_back(array: Column, numbers: Mapping[str, int], columns: int) -> list[object]:
    names = {number: name for name, number in numbers.items()}
    found = assembled(array, Shredding(names=names, columns=columns), path="f", column="m")
    found.validate(full=True)
    return plain(found)


VALUES: dict[str, tuple[pa.DataType, tuple[object, ...]]] = {
    "numbers": (pa.int64(), (1, None, -(2**63))),
    "texts": (pa.string(), ("", "é", None)),
    "times": (pa.timestamp("us"), (dt.datetime(1900, 1, 1), None)),  # noqa: DTZ001 - a wall clock
    "rows": (pa.struct([("x", pa.int32())]), ({"x": 1}, {"x": None}, None)),
    "lists": (pa.list_(pa.string()), (["a", None], [], None)),
}


@pytest.mark.parametrize("kind", VALUES)
@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize("columns", [0, 1, 2, 5])
def test_maps_come_back_wherever_their_values_lie(columns: int, place: str, kind: str) -> None:
    value, samples = VALUES[kind]
    turns = [[(key, samples[n % len(samples)]) for n, key in enumerate(k)] for k in ("ab", "cbad")]
    maps: list[Map] = [*turns, None, [], [("d", samples[0])], None]
    array, numbers = shredded(maps, columns, PLACES[place], value)
    wanted = [one if one is None else dict(one) for one in maps]
    assert read_back(array, numbers, columns) == wanted
    for start, stop in ((1, 4), (2, 6), (3, 3)):
        assert read_back(array.slice(start, stop - start), numbers, columns) == wanted[start:stop]


maps_of_texts = st.lists(
    st.none() | st.dictionaries(st.text("abcdef", min_size=1, max_size=2), st.none() | st.text()),
    max_size=12,
)


@given(maps_of_texts, st.integers(0, 6), st.sampled_from(sorted(PLACES)))
def test_any_maps_come_back(
    dicts: list[dict[str, str | None] | None], columns: int, place: str
) -> None:
    maps: list[Map] = [None if one is None else list(one.items()) for one in dicts]
    array, numbers = shredded(maps, columns, PLACES[place], pa.string())
    assert read_back(array, numbers, columns) == dicts


@pytest.mark.parametrize(
    ("file_format", "compression"),
    [(f, c) for f in ("parquet", "orc") for c in ("none", "zstd", "lz4")],
)
def test_the_dictionary_is_in_the_schema_of_the_file(file_format: str, compression: str) -> None:
    maps: list[Map] = [[("a", 1), ("b", 2), ("c", 3)], None, [("é", 4)]]
    array, numbers = shredded(maps, 2, first_come, pa.int64())
    field = pa.field("m", array.type, metadata=metadata_of(numbers, 2, compression))
    table = pa.Table.from_arrays([array], schema=pa.schema([field]))
    out = io.BytesIO()
    wanted = stored("m", {"type": "MAP", "key": "STRING NOT NULL", "value": "BIGINT"})
    if file_format == "parquet":
        pq.write_table(table, out)
        source = pa.BufferReader(out.getvalue())
        (batch,) = open_parquet(source, "f").batches([wanted], (0,), 9)
    else:
        po.write_table(table, out)
        orc_file = open_orc(pa.BufferReader(out.getvalue()), "f", LocalZoned())
        with pytest.raises(UnsupportedFeatureError, match=r"fields\.m\.map\.storage-layout"):
            list(orc_file.batches([wanted], (0,), 9))  # Arrow does not keep the schema in ORC files
        return
    assert plain(batch.columns[0]) == [one if one is None else dict(one) for one in maps]


# ------------------------------------------------------------ what is not in order


GOOD = shredded([[("a", 1), ("b", 2), ("c", 3)], None], 2, first_come, pa.int64())[0]
NAMES = Shredding(names={0: "a", 1: "b", 2: "c"}, columns=2)


def with_member(name: str, values: Column) -> Column:
    """The good struct with another member, or a new one."""
    kind = GOOD.type
    members = {kind.field(i).name: GOOD.field(i) for i in range(kind.num_fields)}  # type: ignore[attr-defined]  # a struct
    members[name] = values
    mask = GOOD.is_null()
    return pa.StructArray.from_arrays(list(members.values()), names=list(members), mask=mask)


def mapping(*rows: Sequence[int | None] | None) -> Column:
    return pa.array(rows, pa.list_(pa.int32()))


BROKEN: dict[str, tuple[Column, str]] = {
    "no struct": (pa.array([1, 2]), "a shredded map must be a struct"),
    "no mapping": (
        pa.array([{"__col_0": 1}], pa.struct([("__col_0", pa.int64())])),
        "have the field __f",
    ),
    "no second column": (
        pa.array([{"__field_mapping": [0], "__col_0": 1}]),
        "have the field __col_1",
    ),
    "short mapping": (with_member("__field_mapping", mapping([0], [0, 0])), "must have 2 numbers"),
    "null mapping": (with_member("__field_mapping", mapping(None, [0, 0])), "must have 2 numbers"),
    "null in it": (with_member("__field_mapping", mapping([0, None], [0, 0])), "not contain null"),
    "unknown number": (
        with_member("__field_mapping", mapping([0, 9], [0, 0])),
        "in the dictionary",
    ),
    "negative number": (
        with_member("__field_mapping", mapping([0, -2], [0, 0])),
        "in the dictionary",
    ),
    "mapping of texts": (
        with_member("__field_mapping", pa.array([["a"], ["b"]])),
        "must be a list of integers",
    ),
    "overflow by name": (
        with_member("__overflow", pa.array([[("a", 1)], None], pa.map_(pa.string(), pa.int64()))),
        "must be a map with integer keys",
    ),
    "unknown number in the overflow": (
        with_member("__overflow", pa.array([[(7, 1)], None], pa.map_(pa.int32(), pa.int64()))),
        "in the dictionary",
    ),
}


@pytest.mark.parametrize("case", BROKEN)
def test_structs_that_do_not_fit_are_corrupt(case: str) -> None:
    array, says = BROKEN[case]
    with pytest.raises(CorruptFileError, match=says) as caught:
        assembled(array, NAMES, path="/t/f", column="m")
    assert (caught.value.path, caught.value.where) == ("/t/f", "column 'm'")


@pytest.mark.parametrize(
    "change",
    [
        {"field-dict": b"nothing"},
        {"field-dict-original-size": b"7"},
        {"field-dict-original-size": b"-1"},
        {"field-dict-original-size": b"999999999999"},
        {"num-columns": b"many"},
        {"num-columns": b"-3"},
        {"field-dict": b"[1]", "field-dict-compression": b"none", "field-dict-original-size": b"3"},
        {
            "field-dict": b'{"a":0,"b":0}',
            "field-dict-compression": b"none",
            "field-dict-original-size": b"13",
        },
    ],
    ids=str,
)
def test_metadata_that_breaks_the_layout_is_corrupt(change: dict[str, bytes]) -> None:
    with pytest.raises(CorruptFileError, match="column 'm'"):
        shredding_of(metadata_of({"a": 0}, 1, more=change), "/t/f", "m")


@pytest.mark.parametrize(
    ("metadata", "says"),
    [
        (
            metadata_of({"a": 0}, 1, more={"version": b"2"}),
            "'fields.m.map.storage-layout' = 'shared-shredding",
        ),
        ({b"paimon.map.storage-layout": b"columns"}, "'fields.m.map.storage-layout' = 'columns'"),
        ({}, "'fields.m.map.storage-layout' = 'unknown'"),
        (
            metadata_of({"a": 0}, 1, more={"field-dict-compression": b"brotli"}),
            "Compression 'brotli'",
        ),
    ],
)
def test_what_a_later_release_may_write_is_named_as_unsupported(
    metadata: dict[bytes, bytes], says: str
) -> None:
    schema = pa.schema([pa.field("m", GOOD.type, metadata=metadata)])
    with pytest.raises(UnsupportedFeatureError, match=says):
        assembled_map(GOOD, schema, path="/t/f", column="m")
