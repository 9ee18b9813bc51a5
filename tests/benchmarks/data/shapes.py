"""Tables in the shapes of real ones: small files, wide rows, long strings, other formats."""

import tempfile
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from paimon_explore.data_types.arrow_buffers import Column
from paimon_explore.table.catalog.catalog import Catalog
from paimon_explore.table.table import Table

Values = Callable[[int], Column]
_WIDE = 300
_RNG = np.random.default_rng(7)


def _texts(count: int, distinct: int = 1000, width: int = 12) -> Column:
    known = np.array([f"{number:0{width}d}" for number in range(distinct)], dtype=object)
    texts: Column = pa.array(known[_RNG.integers(0, distinct, count)])
    return texts


def _hashes(count: int) -> Column:
    return pa.array([f"user-{number:016x}" for number in _RNG.integers(0, 1 << 62, count)])


def _integers(count: int) -> Column:
    return pa.array(_RNG.integers(0, 10**9, count))


def _floats(count: int) -> Column:
    return pa.array(_RNG.random(count))


def _decimals(count: int) -> Column:
    whole: Column = pa.array(_RNG.integers(0, 10**12, count)).cast(pa.decimal128(30, 0))
    decimals: Column = whole.cast(pa.decimal128(38, 6))
    return decimals


def _timestamps(count: int) -> Column:
    return pa.array(_RNG.integers(0, 10**15, count)).cast(pa.timestamp("us"))


def _dates(count: int) -> Column:
    days: Column = pa.array(_RNG.integers(0, 20_000, count).astype("int32")).cast(pa.date32())
    return days


def _lists(count: int) -> Column:
    return pa.array([list(range(i % 5)) for i in range(count)], pa.list_(pa.int32()))


def _maps(count: int) -> Column:
    pairs = [[(f"k{i % 3}", i)] for i in range(count)]
    return pa.array(pairs, pa.map_(pa.string(), pa.int64()))


def _rows(count: int) -> Column:
    return pa.array([{"x": i, "y": "z"} for i in range(count)])


@dataclass(frozen=True, kw_only=True)
class _Shape:
    """A table: columns besides the key `id`, and per write the first id and the number of rows."""

    columns: Mapping[str, Values]
    writes: Sequence[tuple[int, int]]
    keys: Sequence[str] = ("id",)
    options: Mapping[str, str] = field(default_factory=dict)
    partition: str | None = None


def _make(warehouse: str, name: str, shape: _Shape) -> Table:
    parts: dict[str, Values] = {}
    if shape.partition is not None:
        parts[shape.partition] = partial(_texts, distinct=10)
    values = {**parts, **shape.columns}
    required = (*parts, *shape.keys)
    fields: list[pa.Field[pa.DataType]] = [pa.field("id", pa.int64(), nullable=False)]
    for column, make in values.items():
        fields.append(pa.field(column, make(1).type, nullable=column not in required))
    schema = pa.schema(fields)
    table = Catalog(warehouse).create_table(
        f"db.{name}",
        schema,
        primary_key=[*parts, *shape.keys] if shape.keys else None,
        partition_by=list(parts) or None,
        options={
            "bucket": "1" if shape.keys else "-1",
            "write-only": "true",
            **shape.options,
        },
    )
    write = table.upsert if shape.keys else table.append
    for first, count in shape.writes:
        ids = pa.array(np.arange(first, first + count))
        write(pa.table([ids, *(make(count) for make in values.values())], schema=schema))
    return table


def _with_deletion_vectors(warehouse: str, name: str) -> None:
    shape = _Shape(
        columns={"a": _integers, "s": _texts},
        writes=_runs(3, 200_000, 200_000),
        keys=(),
        options={"deletion-vectors.enabled": "true"},
    )
    table = _make(warehouse, name, shape)
    table.delete("id % 7 = 0")


def _evolved(warehouse: str, name: str) -> None:
    columns: dict[str, Values] = {"a": _integers, "s": _texts}
    shape = _Shape(columns=columns, writes=_runs(4, 100_000, 200_000), keys=())
    table = _make(warehouse, name, shape)
    table.add_column("z", "INT")


def _distinct_texts(warehouse: str, name: str) -> None:
    """Files of Arrow's writer, whose dictionary ends when it is full."""
    shape = _Shape(columns={"s": _hashes}, writes=(), keys=())
    table = _make(warehouse, name, shape)
    rows = 300_000
    with tempfile.TemporaryDirectory() as folder:
        for number in range(3):
            ids = pa.array(np.arange(number * rows, (number + 1) * rows))
            file = pa.table({"id": ids, "s": _hashes(rows)})
            pq.write_table(file, Path(folder) / f"{number}.parquet", compression="zstd")
        table.add_files(folder)


def _runs(count: int, step: int, rows: int) -> list[tuple[int, int]]:
    return [(run * step, rows) for run in range(count)]


_FLOATS: Mapping[str, Values] = {f"c{number}": _floats for number in range(_WIDE)}
_PLAIN: Mapping[str, Values] = {"a": _integers, "s": _texts}
_MORE: Mapping[str, Values] = {"a": _integers, "b": _floats, "s": _texts}

_SHAPES: Mapping[str, _Shape] = {
    "shape_buckets": _Shape(
        columns=_PLAIN,
        writes=_runs(5, 20_000, 80_000),
        options={"bucket": "8"},
        partition="dt",
    ),
    "shape_wide_runs": _Shape(columns=_FLOATS, writes=_runs(6, 2_000, 10_000)),
    "shape_small_files": _Shape(columns=_PLAIN, writes=_runs(500, 50, 50), keys=()),
    "shape_small_runs": _Shape(columns=_PLAIN, writes=_runs(100, 50, 2_000)),
    "shape_long_texts": _Shape(
        columns={"s": partial(_texts, distinct=2000, width=1000)},
        writes=_runs(4, 10_000, 30_000),
    ),
    "shape_20_runs": _Shape(columns=_MORE, writes=_runs(20, 20_000, 50_000)),
    "shape_wide_append": _Shape(columns=_FLOATS, writes=_runs(6, 10_000, 10_000), keys=()),
    "shape_avro": _Shape(
        columns=_MORE, writes=_runs(4, 20_000, 60_000), options={"file.format": "avro"}
    ),
    "shape_nested": _Shape(
        columns={"l": _lists, "m": _maps, "r": _rows}, writes=_runs(4, 20_000, 50_000)
    ),
    "shape_decimals": _Shape(
        columns={"d": _decimals, "t": _timestamps, "dt": _dates},
        writes=_runs(4, 50_000, 120_000),
    ),
    "shape_orc": _Shape(
        columns=_MORE, writes=_runs(4, 50_000, 120_000), options={"file.format": "orc"}
    ),
    "shape_text_column": _Shape(
        columns={"s": _texts, "a": _integers},
        writes=_runs(4, 50_000, 120_000),
    ),
    "shape_two_keys": _Shape(
        columns={"k2": _texts, "a": _integers},
        writes=_runs(4, 50_000, 120_000),
        keys=("id", "k2"),
    ),
}

MAKERS: Mapping[str, Callable[[str, str], object]] = {
    **{name: partial(_make, shape=shape) for name, shape in _SHAPES.items()},
    "shape_deletion_vectors": _with_deletion_vectors,
    "shape_evolved": _evolved,
    "shape_distinct_texts": _distinct_texts,
}
