"""Manifest files of older and newer releases, in every format: fields are matched by name.

The files are made by fastavro and pyarrow from plain records, without the package's writers.
"""

import copy
import io
from collections.abc import Iterator, Mapping, Sequence
from itertools import count
from typing import Any, TypeAlias

import fastavro
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from pyarrow import orc

from paimon_explore.errors import CorruptFileError
from paimon_explore.metadata.manifest.manifest_codec import (
    decode_entries,
    decode_filtered,
    decode_index_entries,
)
from paimon_explore.metadata.manifest.manifest_filter import partition_filter
from support.decoding import decode_manifest_list
from support.depth import some

Record: TypeAlias = dict[str, Any]
Path: TypeAlias = tuple[str, ...]
Json: TypeAlias = Any
"""An Avro type or a value of one, nested as it may be."""

ROW = bytes(12)
FORMATS = ("avro", "orc", "parquet")

STATS_TYPE = [
    ("_MIN_VALUES", "bytes"),
    ("_MAX_VALUES", "bytes"),
    ("_NULL_COUNTS", ["null", {"type": "array", "items": ["null", "long"]}]),
]
"""Fields as Avro declares them, in the order in which Java writes them; ["null", …] is nullable."""


def record_of(*fields: tuple[str, Json]) -> Record:
    return {"type": "record", "name": "r", "fields": [{"name": n, "type": t} for n, t in fields]}


def optional(kind: object) -> list[object]:
    return ["null", kind]


TEXTS = {"type": "array", "items": "string"}
TYPES: Mapping[str, Record] = {
    "manifest list": record_of(
        ("_VERSION", "int"),
        ("_FILE_NAME", "string"),
        ("_FILE_SIZE", "long"),
        ("_NUM_ADDED_FILES", "long"),
        ("_NUM_DELETED_FILES", "long"),
        ("_PARTITION_STATS", record_of(*STATS_TYPE)),
        ("_SCHEMA_ID", "long"),
        ("_MIN_BUCKET", optional("int")),
        ("_MAX_BUCKET", optional("int")),
        ("_MIN_LEVEL", optional("int")),
        ("_MAX_LEVEL", optional("int")),
        ("_MIN_ROW_ID", optional("long")),
        ("_MAX_ROW_ID", optional("long")),
    ),
    "manifest": record_of(
        ("_VERSION", "int"),
        ("_KIND", "int"),
        ("_PARTITION", "bytes"),
        ("_BUCKET", "int"),
        ("_TOTAL_BUCKETS", "int"),
        (
            "_FILE",
            record_of(
                ("_FILE_NAME", "string"),
                ("_FILE_SIZE", "long"),
                ("_ROW_COUNT", "long"),
                ("_MIN_KEY", "bytes"),
                ("_MAX_KEY", "bytes"),
                ("_KEY_STATS", record_of(*STATS_TYPE)),
                ("_VALUE_STATS", record_of(*STATS_TYPE)),
                ("_MIN_SEQUENCE_NUMBER", "long"),
                ("_MAX_SEQUENCE_NUMBER", "long"),
                ("_SCHEMA_ID", "long"),
                ("_LEVEL", "int"),
                ("_EXTRA_FILES", TEXTS),
                ("_CREATION_TIME", optional({"type": "long", "logicalType": "timestamp-millis"})),
                ("_DELETE_ROW_COUNT", optional("long")),
                ("_EMBEDDED_FILE_INDEX", optional("bytes")),
                ("_FILE_SOURCE", optional("int")),
                ("_VALUE_STATS_COLS", optional(TEXTS)),
                ("_EXTERNAL_PATH", optional("string")),
                ("_FIRST_ROW_ID", optional("long")),
                ("_WRITE_COLS", optional(TEXTS)),
                ("_WRITE_COLS_SEQUENCES", optional({"type": "array", "items": "long"})),
            ),
        ),
    ),
    "index manifest": record_of(
        ("_VERSION", "int"),
        ("_KIND", "int"),
        ("_PARTITION", "bytes"),
        ("_BUCKET", "int"),
        ("_INDEX_TYPE", "string"),
        ("_FILE_NAME", "string"),
        ("_FILE_SIZE", "long"),
        ("_ROW_COUNT", "long"),
        (
            "_DELETIONS_VECTORS_RANGES",
            optional(
                {
                    "type": "array",
                    "items": record_of(
                        ("f0", "string"),
                        ("f1", "int"),
                        ("f2", "int"),
                        ("_CARDINALITY", optional("long")),
                    ),
                }
            ),
        ),
        ("_EXTERNAL_PATH", optional("string")),
        (
            "_GLOBAL_INDEX",
            optional(
                record_of(
                    ("_ROW_RANGE_START", "long"),
                    ("_ROW_RANGE_END", "long"),
                    ("_INDEX_FIELD_ID", "int"),
                    ("_EXTRA_FIELD_IDS", optional({"type": "array", "items": "int"})),
                    ("_INDEX_META", optional("bytes")),
                    ("_SOURCE_META", optional("bytes")),
                )
            ),
        ),
    ),
}
"""Every field of the three kinds of files."""

STATS = {"_MIN_VALUES": ROW, "_MAX_VALUES": ROW, "_NULL_COUNTS": [0, None]}
RECORDS: Mapping[str, list[Record]] = {
    "manifest list": [
        {
            "_VERSION": 2,
            "_FILE_NAME": "manifest-1",
            "_FILE_SIZE": 10,
            "_NUM_ADDED_FILES": 3,
            "_NUM_DELETED_FILES": 1,
            "_PARTITION_STATS": STATS,
            "_SCHEMA_ID": 4,
            "_MIN_BUCKET": 0,
            "_MAX_BUCKET": 7,
            "_MIN_LEVEL": 1,
            "_MAX_LEVEL": 5,
            "_MIN_ROW_ID": 100,
            "_MAX_ROW_ID": 199,
        }
    ],
    "manifest": [
        {
            "_VERSION": 2,
            "_KIND": 1,
            "_PARTITION": ROW,
            "_BUCKET": 3,
            "_TOTAL_BUCKETS": 8,
            "_FILE": {
                "_FILE_NAME": name,
                "_FILE_SIZE": 10,
                "_ROW_COUNT": 5,
                "_MIN_KEY": ROW,
                "_MAX_KEY": ROW,
                "_KEY_STATS": STATS,
                "_VALUE_STATS": STATS,
                "_MIN_SEQUENCE_NUMBER": 11,
                "_MAX_SEQUENCE_NUMBER": 15,
                "_SCHEMA_ID": 4,
                "_LEVEL": 2,
                "_EXTRA_FILES": ["x.index"],
                "_CREATION_TIME": 1_700_000_000_123,
                "_DELETE_ROW_COUNT": 2,
                "_EMBEDDED_FILE_INDEX": b"idx",
                "_FILE_SOURCE": 1,
                "_VALUE_STATS_COLS": ["a"],
                "_EXTERNAL_PATH": "s3://b/f",
                "_FIRST_ROW_ID": 100,
                "_WRITE_COLS": ["a", "b"],
                "_WRITE_COLS_SEQUENCES": [7, 8],
            },
        }
        for name in ("data-1", "data-2")
    ],
    "index manifest": [
        {
            "_VERSION": 1,
            "_KIND": 0,
            "_PARTITION": ROW,
            "_BUCKET": 3,
            "_INDEX_TYPE": "DELETION_VECTORS",
            "_FILE_NAME": "index-1",
            "_FILE_SIZE": 40,
            "_ROW_COUNT": 2,
            "_DELETIONS_VECTORS_RANGES": [
                {"f0": "d1", "f1": 1, "f2": 22, "_CARDINALITY": 4},
                {"f0": "d2", "f1": 31, "f2": 24, "_CARDINALITY": None},
            ],
            "_EXTERNAL_PATH": "s3://b/i",
            "_GLOBAL_INDEX": None,
        },
        {
            "_VERSION": 1,
            "_KIND": 0,
            "_PARTITION": ROW,
            "_BUCKET": 3,
            "_INDEX_TYPE": "btree",
            "_FILE_NAME": "index-2",
            "_FILE_SIZE": 50,
            "_ROW_COUNT": 10,
            "_DELETIONS_VECTORS_RANGES": None,
            "_EXTERNAL_PATH": None,
            "_GLOBAL_INDEX": {
                "_ROW_RANGE_START": 0,
                "_ROW_RANGE_END": 9,
                "_INDEX_FIELD_ID": 3,
                "_EXTRA_FIELD_IDS": [4, 5],
                "_INDEX_META": b"m",
                "_SOURCE_META": b"s",
            },
        },
    ],
}
"""What is in the files."""

STATS_COLUMNS = {"_MIN_VALUES": "min", "_MAX_VALUES": "max", "_NULL_COUNTS": "null_counts"}
RENAMED = {
    "_DELETIONS_VECTORS_RANGES": "dv_ranges",
    "f0": "data_file",
    "f1": "offset",
    "f2": "length",
}
STATS_PREFIXES = {"_PARTITION_STATS": "partition", "_KEY_STATS": "key", "_VALUE_STATS": "value"}


def frame_row(value: Mapping[str, Any]) -> Record:
    """A record as the frames have it: statistics beside the other columns, lower-case names."""
    found: Record = {}
    for name, inner in value.items():
        if name == "_FILE":
            found.update(frame_row(inner))
        elif name in STATS_PREFIXES:
            found.update(
                {f"{STATS_PREFIXES[name]}_{STATS_COLUMNS[n]}": v for n, v in inner.items()}
            )
        elif name != "_VERSION":
            found[RENAMED.get(name, name.removeprefix("_").lower())] = (
                frame_row(inner)
                if isinstance(inner, dict)
                else [frame_row(one) if isinstance(one, dict) else one for one in inner]
                if isinstance(inner, list)
                else inner
            )
    return found


def decoded(kind: str, data: bytes) -> list[Record]:
    if kind == "manifest list":
        return decode_manifest_list(data, "f").table.to_pylist()
    if kind == "index manifest":
        return decode_index_entries(data, "f").rows()
    (frame,) = decode_entries([("f", data)])
    found = [dict(row) for row in frame.rows()]
    sifted, _ = decode_filtered(
        [("f", data)], [partition_filter(lambda rows: np.ones(len(rows), bool))]
    )
    assert [dict(row) for row in sifted.rows()] == found
    return found


# ---------------------------------------------------------------- writing records as files


def inner_of(kind: Json) -> Json:
    """The type behind a union with null."""
    return kind[1] if isinstance(kind, list) else kind


def arrow_type(kind: Json) -> pa.DataType:
    kind = inner_of(kind)
    if isinstance(kind, str):
        plain: Mapping[str, pa.DataType] = {
            "int": pa.int32(),
            "long": pa.int64(),
            "string": pa.string(),
            "bytes": pa.binary(),
        }
        return plain[kind]
    if kind["type"] == "record":
        return pa.struct([arrow_field(field) for field in kind["fields"]])
    if kind["type"] == "array":
        return pa.list_(
            pa.field("item", arrow_type(kind["items"]), nullable=isinstance(kind["items"], list))
        )
    if kind["type"] == "map":
        return pa.map_(pa.string(), arrow_type(kind["values"]))
    return pa.timestamp("ms")


def arrow_field(field: Record) -> "pa.Field[pa.DataType]":
    kind = field["type"]
    return pa.field(field["name"], arrow_type(kind), nullable=isinstance(kind, list))


def file_of(top: Json, records: Sequence[Record], file_format: str) -> bytes:
    sink = io.BytesIO()
    if file_format == "avro":
        fastavro.writer(sink, named_apart(top), records)
        return sink.getvalue()
    schema = pa.schema([arrow_field(field) for field in inner_of(top)["fields"]])
    table = pa.Table.from_pylist(list(map(as_arrow, records)), schema=schema)
    if file_format == "parquet":
        pq.write_table(table, sink)
    else:
        orc.write_table(table, sink)
    return sink.getvalue()


def as_arrow(value: Json) -> Json:
    """A value for Arrow, which takes maps as pairs."""
    if isinstance(value, dict) and value and all(name.startswith("key ") for name in value):
        return list(value.items())
    if isinstance(value, dict):
        return {name: as_arrow(inner) for name, inner in value.items()}
    return [as_arrow(inner) for inner in value] if isinstance(value, list) else value


def named_apart(kind: Json) -> Json:
    """The type with a name of its own for every record, as Avro demands."""
    numbers = count()

    def named(kind: Json) -> Json:
        if isinstance(kind, list):
            return [named(inner) for inner in kind]
        if isinstance(kind, dict):
            found = {key: named(inner) if key != "name" else inner for key, inner in kind.items()}
            return {**found, "name": f"r{next(numbers)}"} if kind["type"] == "record" else found
        return kind

    return named(kind)


# ---------------------------------------------------------------- changing types and records


def walk(kind: Json, path: Path = ()) -> Iterator[tuple[Path, Record]]:
    """Every record type with its path; the items of a list have the list's path."""
    kind = inner_of(kind)
    if not isinstance(kind, dict):
        return
    if kind["type"] == "array":
        yield from walk(kind["items"], path)
    elif kind["type"] == "record":
        yield path, kind
        for field in kind["fields"]:
            yield from walk(field["type"], (*path, field["name"]))


def record_at(top: Json, path: Path) -> Record:
    (found,) = [record for at, record in walk(top) if at == path]
    return found


def dicts_at(value: Json, path: Path) -> Iterator[Record]:
    """The records at a path inside a record; none where one above is null."""
    if isinstance(value, list):
        for one in value:
            yield from dicts_at(one, path)
    elif isinstance(value, dict):
        if path:
            yield from dicts_at(value[path[0]], path[1:])
        else:
            yield value


def all_fields(kind: str, *, nullable: bool) -> list[Path]:
    return [
        (*path, field["name"])
        for path, record in walk(TYPES[kind])
        for field in record["fields"]
        if isinstance(field["type"], list) == nullable
    ]


def all_records(kind: str) -> list[Path]:
    return [path for path, _ in walk(TYPES[kind])]


def case_id(value: object) -> str | None:
    return ".".join(value) or "top" if isinstance(value, tuple) else None


KINDS = tuple(TYPES)
OPTIONAL = [(kind, path) for kind in KINDS for path in all_fields(kind, nullable=True)]
REQUIRED = [(kind, path) for kind in KINDS for path in all_fields(kind, nullable=False)]
NESTED = [(kind, path) for kind in KINDS for path in all_records(kind)]

LATER: Mapping[str, tuple[object, object]] = {
    "number": ("long", 7),
    "nullable text": (["null", "string"], "later"),
    "map": ({"type": "map", "values": "long"}, {"key a": 1}),
    "list of records": (
        {"type": "array", "items": record_of(("_A", "long"), ("_B", ["null", "string"]))},
        [{"_A": 1, "_B": None}, {"_A": 2, "_B": "b"}],
    ),
    "nullable record": (["null", record_of(("_FILE_NAME", "string"))], {"_FILE_NAME": "../x"}),
}
"""Types and values of fields that only a later release knows."""


@pytest.mark.parametrize("file_format", FORMATS)
@pytest.mark.parametrize("kind", KINDS)
def test_all_fields_are_read(kind: str, file_format: str) -> None:
    data = file_of(TYPES[kind], RECORDS[kind], file_format)
    assert decoded(kind, data) == [frame_row(record) for record in RECORDS[kind]]


@pytest.mark.parametrize("file_format", FORMATS)
@pytest.mark.parametrize(("kind", "path"), OPTIONAL, ids=case_id)
def test_a_nullable_field_that_the_file_lacks_is_null(
    kind: str, path: Path, file_format: str
) -> None:
    top, records = copy.deepcopy(TYPES[kind]), copy.deepcopy(RECORDS[kind])
    inside = record_at(top, path[:-1])
    inside["fields"] = [field for field in inside["fields"] if field["name"] != path[-1]]
    for record in records:
        for value in dicts_at(record, path[:-1]):
            value[path[-1]] = None
    data = file_of(top, records, file_format)
    assert decoded(kind, data) == [frame_row(record) for record in records]


@pytest.mark.parametrize("file_format", FORMATS)
@pytest.mark.parametrize(("kind", "path"), REQUIRED, ids=case_id)
def test_a_required_field_that_the_file_lacks_is_named(
    kind: str, path: Path, file_format: str
) -> None:
    top = copy.deepcopy(TYPES[kind])
    inside = record_at(top, path[:-1])
    inside["fields"] = [field for field in inside["fields"] if field["name"] != path[-1]]
    with pytest.raises(CorruptFileError, match=r"must be present|must not be null") as caught:
        decoded(kind, file_of(top, RECORDS[kind], file_format))
    assert caught.value.path == "f"
    if path[-1] not in ("_FILE", *STATS_PREFIXES):
        name = path[-1].removeprefix("_").lower()
        wanted = {"min_values": "_min", "max_values": "_max"}.get(name, name)
        assert wanted in caught.value.where.lower()


@pytest.mark.parametrize("file_format", FORMATS)
@pytest.mark.parametrize("later", LATER)
@pytest.mark.parametrize(("kind", "path"), NESTED, ids=case_id)
def test_a_field_of_a_later_release_is_skipped_wherever_it_stands(
    kind: str, path: Path, later: str, file_format: str
) -> None:
    added, value = LATER[later]
    for place in some((None, 2, 0), 3, len(path) + len(later)):
        top, records = copy.deepcopy(TYPES[kind]), copy.deepcopy(RECORDS[kind])
        fields = record_at(top, path)["fields"]
        fields.insert(len(fields) if place is None else place, {"name": "_LATER", "type": added})
        for record in records:
            for inside in dicts_at(record, path):
                inside["_LATER"] = value
        data = file_of(top, records, file_format)
        assert decoded(kind, data) == [frame_row(record) for record in RECORDS[kind]]


@pytest.mark.parametrize("file_format", FORMATS)
@pytest.mark.parametrize(("kind", "path"), NESTED, ids=case_id)
def test_the_order_of_fields_does_not_matter(kind: str, path: Path, file_format: str) -> None:
    fields = record_at(TYPES[kind], path)["fields"]
    turned = [fields[turn:] + fields[:turn] for turn in range(1, len(fields))]
    for order in (fields[::-1], *some(turned, 5)):
        top = copy.deepcopy(TYPES[kind])
        record_at(top, path)["fields"] = order
        data = file_of(top, RECORDS[kind], file_format)
        assert decoded(kind, data) == [frame_row(record) for record in RECORDS[kind]]


def all_nullable(kind: Json) -> Json:
    """The type with every field and element nullable, as 0.7 and 0.8 wrote them."""
    inner = inner_of(kind)
    if isinstance(inner, dict) and inner["type"] == "record":
        fields = [{**f, "type": optional(all_nullable(f["type"]))} for f in inner["fields"]]
        return {**inner, "fields": fields}
    if isinstance(inner, dict) and inner["type"] == "array":
        return {**inner, "items": optional(all_nullable(inner["items"]))}
    return inner


@pytest.mark.parametrize("file_format", FORMATS)
@pytest.mark.parametrize("kind", KINDS)
def test_fields_may_all_be_declared_nullable(kind: str, file_format: str) -> None:
    top = optional(all_nullable(TYPES[kind]))
    data = file_of(top, RECORDS[kind], file_format)
    assert decoded(kind, data) == [frame_row(record) for record in RECORDS[kind]]


@pytest.mark.parametrize("file_format", FORMATS)
@pytest.mark.parametrize("path", [("f0",), ("f1",), ("f2",), ()], ids=case_id)
def test_a_null_in_a_deletion_vector_range_is_named(path: Path, file_format: str) -> None:
    records = copy.deepcopy(RECORDS["index manifest"])
    if path:
        records[0]["_DELETIONS_VECTORS_RANGES"][1][path[0]] = None
    else:
        records[0]["_DELETIONS_VECTORS_RANGES"][1] = None
    data = file_of(all_nullable(TYPES["index manifest"]), records, file_format)
    with pytest.raises(CorruptFileError, match=r"must not (be|contain) null") as caught:
        decoded("index manifest", data)
    assert caught.value.where == ".".join(("_DELETIONS_VECTORS_RANGES", *path))


@pytest.mark.parametrize("file_format", FORMATS)
@pytest.mark.parametrize("name", ["_ROW_RANGE_START", "_ROW_RANGE_END", "_INDEX_FIELD_ID"])
def test_a_null_in_a_global_index_is_named(name: str, file_format: str) -> None:
    records = copy.deepcopy(RECORDS["index manifest"])
    records[1]["_GLOBAL_INDEX"][name] = None
    data = file_of(all_nullable(TYPES["index manifest"]), records, file_format)
    with pytest.raises(CorruptFileError, match="must not be null") as caught:
        decoded("index manifest", data)
    assert caught.value.where == f"_GLOBAL_INDEX.{name}"
