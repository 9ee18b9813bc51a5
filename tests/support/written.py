"""Tables of every kind that this library writes, each by a few commits, to be read by others."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date
from decimal import Decimal

import pyarrow as pa

from paimon_explore import Catalog, Table

Row = Mapping[str, object]
Step = Callable[[Table], object]


@dataclass(frozen=True, kw_only=True)
class Kind:
    """A kind of table.

    Attributes:
        schema: its columns.
        steps: commits.
        count: rows of the last snapshot.
        more: rows that another implementation adds.
        primary_key: key columns.
        partition_by: partition columns.
        options: table options.
    """

    schema: pa.Schema
    steps: Sequence[Step]
    count: int
    more: Sequence[Row]
    primary_key: Sequence[str] = ()
    partition_by: Sequence[str] = ()
    options: Mapping[str, str] = field(default_factory=dict)


def make(catalog: Catalog, name: str, kind: Kind) -> Table:
    """The table `db.<name>`, with all its commits."""
    catalog.create_database("db", if_not_exists=True)
    table = catalog.create_table(
        f"db.{name}",
        kind.schema,
        primary_key=kind.primary_key,
        partition_by=kind.partition_by,
        options=kind.options,
    )
    for step in kind.steps:
        assert step(table) is not None
    return table


def columns(types: Mapping[str, pa.DataType]) -> pa.Schema:
    """The schema of nullable columns."""
    return pa.schema([pa.field(name, kind) for name, kind in types.items()])


def append(*rows: Row) -> Step:
    """Rows added."""
    return lambda table: table.append(list(rows))


def upsert(*rows: Row) -> Step:
    """Rows added or changed."""
    return lambda table: table.upsert(list(rows))


def delete(where: str) -> Step:
    """Rows deleted by a predicate."""
    return lambda table: table.delete(where)


def overwrite(*rows: Row, partition: Row | None = None) -> Step:
    """Rows replaced."""
    return lambda table: table.overwrite(list(rows), partition)


ID_NAME = columns({"id": pa.int32(), "name": pa.string()})


def people(first: int, last: int, word: str = "n") -> list[Row]:
    """Rows of `ID_NAME`; one of three has no name."""
    return [{"id": i, "name": None if i % 3 == 0 else f"{word}{i}"} for i in range(first, last)]


def _plain(**options: str) -> Kind:
    return Kind(
        schema=ID_NAME,
        options=options,
        steps=[append(*people(0, 9)), append(*people(9, 12)), append(*people(2, 5, "again"))],
        count=15,
        more=people(100, 104),
    )


def _keyed(**options: str) -> Kind:
    return Kind(
        schema=ID_NAME,
        primary_key=["id"],
        options={"bucket": "2", **options},
        steps=[
            upsert(*people(0, 9)),
            upsert(*people(4, 12, "new")),
            delete("id IN (1, 5, 11)"),
            upsert({"id": 5, "name": "back", "_ROW_KIND": "+I"}, {"id": 0, "_ROW_KIND": "-D"}),
        ],
        count=9,
        more=people(3, 14, "java"),
    )


PLACES = columns({"id": pa.int64(), "dt": pa.string(), "hr": pa.int32(), "v": pa.float64()})


def _place(identity: int, dt: str | None, hr: int | None) -> Row:
    return {"id": identity, "dt": dt, "hr": hr, "v": identity / 4}


SPECIAL = ("2026-01-01", None, "a/b=c %", "日本", "x y#z:?", "'\"\\")

_SCALARS: Mapping[str, tuple[pa.DataType, Sequence[object]]] = {
    "bool": (pa.bool_(), [True, False]),
    "i8": (pa.int8(), [-128, 127]),
    "i16": (pa.int16(), [-32768, 32767]),
    "i32": (pa.int32(), [-(2**31), 2**31 - 1]),
    "i64": (pa.int64(), [-(2**63), 2**63 - 1]),
    "f32": (pa.float32(), [-1.5, 3.25]),
    "f64": (pa.float64(), [-1e300, 0.1]),
    "d9": (pa.decimal128(9, 2), [Decimal("-1234567.89"), Decimal("0.01")]),
    "d18": (pa.decimal128(18, 4), [Decimal("-12345678901234.5678"), Decimal("1.0000")]),
    "d38": (pa.decimal128(38, 10), [Decimal("-1234567890123456789012345678.0123456789"), 0]),
    "text": (pa.string(), ["Zürich 大阪", ""]),
    "bytes": (pa.binary(), [b"\x00\xff", b""]),
    "day": (pa.date32(), [date(1969, 12, 31), date(2026, 11, 21)]),
    "time": (pa.time32("ms"), [0, 86_399_999]),
    "ts3": (pa.timestamp("ms"), [0, 1_700_000_000_123]),
    "ts6": (pa.timestamp("us"), [1, 1_700_000_000_123_456]),
    "ltz3": (pa.timestamp("ms", tz="UTC"), [0, 1_700_000_000_123]),
    "ltz6": (pa.timestamp("us", tz="UTC"), [1, 1_700_000_000_123_456]),
}
_EARLY: Mapping[str, tuple[pa.DataType, Sequence[object]]] = {
    "old3": (pa.timestamp("ms"), [-1, -62_135_596_800_000]),
    "old6": (pa.timestamp("us"), [-1, -1_000_000_000_000_001]),
}
_NANOS: Mapping[str, tuple[pa.DataType, Sequence[object]]] = {
    "ts9": (pa.timestamp("ns"), [-1, 1_700_000_000_123_456_789]),
    "ltz9": (pa.timestamp("ns", tz="UTC"), [1, 1_700_000_000_123_456_789]),
}
_NESTED: Mapping[str, tuple[pa.DataType, Sequence[object]]] = {
    "list": (pa.list_(pa.int64()), [[1, None, 3], []]),
    "map": (pa.map_(pa.string(), pa.float64()), [[("a", 1.5), ("b", None)], []]),
    "row": (
        pa.struct([("x", pa.int32()), ("y", pa.struct([("z", pa.string())]))]),
        [{"x": 1, "y": {"z": "deep"}}, {"x": None, "y": {"z": None}}],
    ),
    "rows": (pa.list_(pa.struct([("p", pa.int32())])), [[{"p": 1}, {"p": None}], [None]]),
}


def _typed(*groups: Mapping[str, tuple[pa.DataType, Sequence[object]]], **options: str) -> Kind:
    """A column per type: two rows of values and one of nulls; in two commits."""
    typed = {name: column for group in groups for name, column in group.items()}
    schema = columns({"id": pa.int32(), **{name: kind for name, (kind, _) in typed.items()}})
    arrays = [pa.array([*values, None], kind) for kind, values in typed.values()]
    rows = pa.Table.from_arrays([pa.array([0, 1, 2], pa.int32()), *arrays], schema=schema)
    return Kind(
        schema=schema,
        primary_key=["id"] if "bucket" in options else [],
        options=options,
        steps=[lambda table: table.append(rows), lambda table: table.append(rows.slice(1, 1))],
        count=3 if "bucket" in options else 4,
        more=[],
    )


_AMOUNTS = columns(
    {
        "k": pa.int32(),
        "total": pa.int64(),
        "low": pa.float64(),
        "high": pa.decimal128(10, 2),
        "last": pa.string(),
        "words": pa.string(),
        "any": pa.bool_(),
    }
)


def _amount(key: int, number: int, *, word: str | None) -> Row:
    return {
        "k": key,
        "total": number,
        "low": float(number),
        "high": Decimal(number),
        "last": word,
        "words": word,
        "any": number > 1,
    }


KINDS: Mapping[str, Kind] = {
    "append": _plain(),
    "append_orc": _plain(**{"file.format": "orc"}),
    "append_avro": _plain(**{"file.format": "avro"}),
    "append_bucketed": _plain(**{"bucket": "3", "bucket-key": "id"}),
    "append_bucket_mod": _plain(
        **{"bucket": "3", "bucket-key": "id", "bucket-function.type": "mod"}
    ),
    "append_row_tracking": _plain(**{"row-tracking.enabled": "true"}),
    "append_stats_none": _plain(**{"metadata.stats-mode": "none"}),
    "append_stats_full": _plain(
        **{"metadata.stats-mode": "full", "fields.name.stats-mode": "counts"}
    ),
    "append_overwritten": Kind(
        schema=ID_NAME,
        steps=[append(*people(0, 9)), overwrite(*people(20, 23)), append(*people(23, 26))],
        count=6,
        more=people(100, 104),
    ),
    "append_partitioned": Kind(
        schema=PLACES,
        partition_by=["dt", "hr"],
        steps=[
            append(*[_place(i, dt, i % 2) for i, dt in enumerate(SPECIAL)]),
            append(*[_place(10 + i, dt, None) for i, dt in enumerate(SPECIAL)]),
            overwrite(_place(30, "日本", 3)),
            overwrite(_place(31, "2026-01-01", 7), partition={"dt": "2026-01-01"}),
        ],
        count=12,
        more=[_place(100, "日本", 3), _place(101, None, None), _place(102, "a/b=c %", 1)],
    ),
    "append_partition_days": Kind(
        schema=columns({"id": pa.int32(), "day": pa.date32()}),
        partition_by=["day"],
        options={"partition.legacy-name": "false"},
        steps=[
            append({"id": 1, "day": date(2026, 1, 1)}, {"id": 2, "day": None}),
            append({"id": 3, "day": date(1969, 12, 31)}),
        ],
        count=3,
        more=[{"id": 9, "day": date(2026, 1, 1)}],
    ),
    "types_parquet": _typed(_SCALARS, _EARLY, _NESTED),
    "types_parquet_nanos": _typed(_NANOS),
    "types_orc": _typed(_SCALARS, _NESTED, **{"file.format": "orc"}),
    "types_avro": _typed(_SCALARS, _EARLY, **{"file.format": "avro"}),
    "types_avro_nested": _typed(_NESTED, **{"file.format": "avro"}),
    "types_pk_parquet": _typed(_SCALARS, _EARLY, _NESTED, bucket="1"),
    "types_pk_orc": _typed(_SCALARS, _NESTED, **{"bucket": "1", "file.format": "orc"}),
    "types_pk_avro": _typed(_SCALARS, _EARLY, **{"bucket": "1", "file.format": "avro"}),
    "pk": _keyed(),
    "pk_orc": _keyed(**{"file.format": "orc"}),
    "pk_avro": _keyed(**{"file.format": "avro"}),
    "pk_thin": _keyed(**{"data-file.thin-mode": "true"}),
    "pk_changelog_input": _keyed(**{"changelog-producer": "input"}),
    "pk_dynamic": _keyed(**{"bucket": "-1", "dynamic-bucket.target-row-num": "5"}),
    "pk_partitioned": Kind(
        schema=PLACES,
        primary_key=["id", "dt"],
        partition_by=["dt"],
        options={"bucket": "2"},
        steps=[
            upsert(*[_place(i, f"2026-01-0{1 + i % 3}", i) for i in range(9)]),
            upsert(_place(1, "2026-01-02", 77), _place(2, "2026-01-02", 78)),
            delete("dt = '2026-01-03' AND id < 6"),
            overwrite(_place(50, "2026-01-01", 50)),
        ],
        count=6,
        more=[_place(50, "2026-01-01", 51), _place(51, "2026-01-02", 5)],
    ),
    "pk_sequence": Kind(
        schema=columns({"k": pa.string(), "v": pa.string(), "seq": pa.int64()}),
        primary_key=["k"],
        options={"bucket": "1", "sequence.field": "seq"},
        steps=[
            upsert({"k": "a", "v": "5", "seq": 5}, {"k": "b", "v": "5", "seq": 5}),
            upsert({"k": "a", "v": "4", "seq": 4}, {"k": "b", "v": "6", "seq": 6}),
            upsert({"k": "c", "v": "null", "seq": None}),
        ],
        count=3,
        more=[{"k": "a", "v": "9", "seq": 9}, {"k": "b", "v": "1", "seq": 1}],
    ),
    "pk_aggregation": Kind(
        schema=_AMOUNTS,
        primary_key=["k"],
        options={
            "bucket": "1",
            "merge-engine": "aggregation",
            "fields.total.aggregate-function": "sum",
            "fields.low.aggregate-function": "min",
            "fields.high.aggregate-function": "max",
            "fields.last.aggregate-function": "last_non_null_value",
            "fields.words.aggregate-function": "listagg",
            "fields.any.aggregate-function": "bool_or",
        },
        steps=[
            upsert(_amount(1, 1, word="one"), _amount(2, 5, word=None)),
            upsert(_amount(1, 3, word=None), _amount(2, 4, word="four")),
            upsert(_amount(1, -2, word="minus"), _amount(3, 0, word="")),
        ],
        count=3,
        more=[_amount(1, 10, word="java"), _amount(4, 4, word="new")],
    ),
    "pk_partial": Kind(
        schema=columns({"k": pa.int32(), "a": pa.string(), "b": pa.string(), "g": pa.int64()}),
        primary_key=["k"],
        options={
            "bucket": "1",
            "merge-engine": "partial-update",
            "fields.g.sequence-group": "b",
        },
        steps=[
            upsert({"k": 1, "a": "a1"}, {"k": 2, "b": "b2", "g": 5}),
            upsert({"k": 1, "b": "b1", "g": 3}, {"k": 2, "a": "a2", "b": "old", "g": 4}),
            upsert({"k": 3, "a": None, "b": "b3", "g": 1}),
        ],
        count=3,
        more=[{"k": 1, "a": "java"}, {"k": 3, "b": "newer", "g": 2}],
    ),
    "pk_first_row": Kind(
        schema=ID_NAME,
        primary_key=["id"],
        options={"bucket": "1", "merge-engine": "first-row", "changelog-producer": "lookup"},
        steps=[upsert(*people(0, 5)), upsert(*people(3, 8, "late"))],
        count=8,
        more=people(6, 10, "java"),
    ),
    "pk_deletion_vectors": Kind(
        schema=ID_NAME,
        primary_key=["id"],
        options={"bucket": "1", "deletion-vectors.enabled": "true"},
        steps=[upsert(*people(0, 5)), upsert(*people(3, 8, "late"))],
        count=8,
        more=people(6, 10, "java"),
    ),
}
"""The kinds by table name."""
