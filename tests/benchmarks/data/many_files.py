"""Tables of many files that are not there: only their metadata is, for plans.

1,000 partitions by day. A file's keys are a range of their own, so that a value range finds few
files; sizes are between 1 and 128 MiB, so that most files are splits of their own.
"""

from collections.abc import Iterator
from datetime import date, timedelta
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from benchmarks.data.published import new_table, publish
from paimon_explore.data_types.arrow import row_type_from_arrow
from paimon_explore.data_types.arrow_buffers import (
    Column,
    as_bytes,
    build_bool,
    build_fixed,
    build_list,
    build_var,
    offsets_from_sizes,
    take_rows,
)
from paimon_explore.data_types.definitions import DataType, RowType
from paimon_explore.encoding.binary_row.row_encoder import encode_rows
from paimon_explore.metadata.manifest.manifest_codec import encode_records
from paimon_explore.metadata.manifest.manifest_entry import ENTRY_SCHEMA, ManifestEntries
from support.decoding import with_arity

_COLUMNS = pa.schema(
    (
        pa.field("pt", pa.string()),
        pa.field("k", pa.int64()),
        pa.field("c1", pa.int64()),
        pa.field("c2", pa.int64()),
        pa.field("d1", pa.float64()),
        pa.field("d2", pa.float64()),
        pa.field("i1", pa.int32()),
        pa.field("s1", pa.string()),
        pa.field("s2", pa.string()),
        pa.field("b1", pa.bool_()),
    )
)
_PARTITIONS = 1_000
_BUCKETS = 4
_MIB = 1 << 20
_UUID = "0d9c2f5e-6a35-4c6b-9d0e-5b7f3a8e1c42"

Ints = npt.NDArray[np.int64]


def make(
    warehouse: str, name: str, *, count: int, is_mixed: bool = False, is_keyed: bool = False
) -> None:
    """Make a table of `count` files, in the order of the partitions or in none."""
    table = new_table(
        warehouse,
        name,
        _COLUMNS,
        primary_key=("pt", "k") if is_keyed else (),
        partition_by=("pt",),
        options={"bucket": str(_BUCKETS)} if is_keyed else {},
    )
    numbers = np.arange(count)
    if is_mixed:
        np.random.default_rng(7).shuffle(numbers)
    files = _Files(row_type=table.schema.row_type, count=count, is_keyed=is_keyed)
    each = 500 if count <= 100_000 else 5_000
    publish(table, _parts(files, numbers, each))


def make_manifest(warehouse: str, name: str, *, count: int) -> None:
    """A single manifest, not packed: of decoding Avro, unpacking is no part."""
    row_type = row_type_from_arrow(_COLUMNS)
    files = _Files(row_type=row_type, count=count, is_keyed=False)
    data = encode_records(files.entries(np.arange(count)), "null")
    (Path(warehouse) / name).write_bytes(data)


def _parts(files: "_Files", numbers: Ints, each: int) -> Iterator[ManifestEntries]:
    for first in range(0, len(numbers), each):
        yield files.entries(numbers[first : first + each])


class _Files:
    """Files by their numbers."""

    def __init__(self, *, row_type: RowType, count: int, is_keyed: bool) -> None:
        rng = np.random.default_rng(11)
        self._sizes = rng.integers(_MIB, 128 * _MIB, count)
        self._rows = rng.integers(1_000, 2_000_000, count)
        self._c1 = rng.integers(0, 1 << 40, count)
        self._d1 = rng.random(count)
        self._count = count
        self._is_keyed = is_keyed
        self._types = [field.type for field in row_type]
        days = [(date(2023, 1, 1) + timedelta(days=i)).isoformat() for i in range(_PARTITIONS)]
        self._days = _texts(days)

    def entries(self, numbers: Ints) -> ManifestEntries:
        """The entries of files."""
        partition = numbers * _PARTITIONS // self._count
        days = take_rows(self._days, partition)
        rows = self._rows[numbers]
        low, high = (self._keys(numbers, 1_000 * numbers + more) for more in (0, 999))
        columns: dict[str, Column] = {
            "kind": _fixed(pa.int8(), np.zeros(len(numbers), np.int8)),
            "partition": _rows([days], self._types[:1]),
            "bucket": _int32(numbers % _BUCKETS if self._is_keyed else 0 * numbers),
            "total_buckets": _int32(0 * numbers + (_BUCKETS if self._is_keyed else -1)),
            "file_name": _texts([f"data-{_UUID[:28]}{n:08x}-0.parquet" for n in numbers.tolist()]),
            "file_size": _int64(self._sizes[numbers]),
            "row_count": _int64(rows),
            "min_key": low,
            "max_key": high,
            "key_min": low,
            "key_max": high,
            "key_null_counts": _lists(np.zeros((len(numbers), int(self._is_keyed)), np.int64)),
            "value_min": self._bounds(numbers, days, is_low=True),
            "value_max": self._bounds(numbers, days, is_low=False),
            "value_null_counts": _lists(_null_counts(numbers)),
            "min_sequence_number": _int64(numbers),
            "max_sequence_number": _int64(numbers + rows),
            "schema_id": _int64(0 * numbers),
            "level": _int32(np.where(numbers % 5 == 0, 0, 5) if self._is_keyed else 0 * numbers),
            "extra_files": _no_texts(len(numbers)),
            "creation_time": _int64(1_700_000_000_000 + numbers),
            "delete_row_count": _int64(0 * numbers),
            "file_source": _fixed(pa.int8(), np.zeros(len(numbers), np.int8)),
        }
        found = [
            columns.get(field.name, pa.nulls(len(numbers), field.type)) for field in ENTRY_SCHEMA
        ]
        return ManifestEntries(pa.Table.from_arrays(found, schema=ENTRY_SCHEMA))

    def _keys(self, numbers: Ints, keys: Ints) -> Column:
        if not self._is_keyed:
            return with_arity(encode_rows([], [], count=len(numbers)), 0)
        return _rows([_int64(keys)], self._types[1:2])

    def _bounds(self, numbers: Ints, days: Column, *, is_low: bool) -> Column:
        more = 0 if is_low else 1
        c1, d1 = self._c1[numbers], self._d1[numbers]
        partition = (numbers * _PARTITIONS // self._count).tolist()
        tail = "abcdefgh" if is_low else "zzzzzzzz"
        columns = [
            days,
            _int64(1_000 * numbers + 999 * more),
            _int64(c1 + 5_000_000 * more),
            _int64(numbers + 99 * more),
            _fixed(pa.float64(), d1 + 5 * more),
            _fixed(pa.float64(), d1 if more else -d1),
            _int32(numbers % 1_000 + 50 * more),
            _texts(["aardvark-minimum" if is_low else "zebra-maximum-00"] * len(numbers)),
            _texts([f"x{day:06d}-{tail}" for day in partition]),
            build_bool(np.full(len(numbers), not is_low), np.ones(len(numbers), np.bool_)),
        ]
        return _rows(columns, self._types)


def _null_counts(numbers: Ints) -> Ints:
    counts = np.zeros((len(numbers), len(_COLUMNS)), np.int64)
    counts[:, 2] = numbers % 7
    counts[:, 6] = 3
    return counts


def _rows(columns: list[Column], types: list[DataType]) -> Column:
    return with_arity(encode_rows(columns, types), len(types))


def _fixed(kind: pa.DataType, values: npt.NDArray[np.generic]) -> Column:
    return build_fixed(kind, values, np.ones(len(values), np.bool_))


def _int32(values: Ints) -> Column:
    return _fixed(pa.int32(), values.astype(np.int32))


def _int64(values: Ints) -> Column:
    return _fixed(pa.int64(), values)


def _texts(texts: list[str]) -> Column:
    data = [text.encode() for text in texts]
    ends = offsets_from_sizes(np.array([len(item) for item in data], np.int64))
    return build_var(pa.string(), ends, as_bytes(b"".join(data)), np.ones(len(data), np.bool_))


def _lists(values: Ints) -> Column:
    offsets = np.arange(len(values) + 1) * values.shape[1]
    items = _int64(values.reshape(-1))
    return build_list(pa.list_(pa.int64()), offsets, [items], np.ones(len(values), np.bool_))


def _no_texts(count: int) -> Column:
    offsets = np.zeros(count + 1, np.int64)
    return build_list(pa.list_(pa.string()), offsets, [_texts([])], np.ones(count, np.bool_))
