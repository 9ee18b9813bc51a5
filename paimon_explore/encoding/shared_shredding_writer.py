"""Encoder of MAP columns in the storage layout `shared-shredding`; see `shared_shredding`.

Each key gets a number when it first appears in the file. The number of physical columns is chosen
when the file is opened. A key whose number is less than that always has the same column. Other keys
use the columns that are free in their row, and the overflow if there are none. Java places keys by
the option `map.shared-shredding.column-placement-policy`; readers do not depend on it.

Spec: option `fields.<column>.map.storage-layout`, release 2.0.
"""

import json

import numpy as np
import pyarrow as pa
import zstandard

from paimon_explore.data_types.arrow import to_arrow
from paimon_explore.data_types.arrow_buffers import (
    Bools,
    Column,
    Ints,
    Numbers,
    as_python,
    build_fixed,
    build_list,
    build_struct,
    concat_arrays,
    expand_ranges,
    int64_values,
    list_offsets,
    offsets_from_sizes,
    take_rows,
    valid_mask,
)
from paimon_explore.data_types.definitions import (
    ArrayType,
    AtomicType,
    DataField,
    MapType,
    RowType,
    TypeRoot,
    with_nullable,
)
from paimon_explore.encoding.shared_shredding import (
    ABSENT,
    COLUMN,
    COLUMNS_KEY,
    COMPRESSION_KEY,
    DICTIONARY_KEY,
    FIELD_COLUMNS_KEY,
    KNOWN_LAYOUT,
    KNOWN_VERSION,
    LAYOUT_KEY,
    MAPPING,
    OVERFLOW,
    OVERFLOW_KEYS_KEY,
    SIZE_KEY,
    VERSION_KEY,
    WIDEST_ROW_KEY,
)

_INT = AtomicType(root=TypeRoot.INT)
_CELLS = 1 << 22
_PERCENTILE = 0.9
_CLOSE_ENTRIES, _CLOSE_RATIO = 4, 1.25


def column_count(array: Column, maximum: int) -> int:
    """Choose the number of physical columns from the first maps of a file.

    It is the size of the largest map, or the 90th percentile of the sizes if that is much smaller:
    then the few large maps use the overflow. Java applies this rule to the files before.

    Args:
        array: n maps.
        maximum: the option `map.shared-shredding.max-columns`.
    """
    sizes = np.sort(_sizes(array)[valid_mask(array)])
    if not len(sizes):
        return 1
    largest, usual = sizes[-1], sizes[int(np.ceil(_PERCENTILE * len(sizes))) - 1]
    is_close = largest - usual <= _CLOSE_ENTRIES or largest <= np.ceil(_CLOSE_RATIO * usual)
    return max(1, min(maximum, int(largest if is_close else usual)))


def _sizes(array: Column) -> Ints:
    return np.where(valid_mask(array), np.diff(list_offsets(array)), 0).astype(np.int64)


class SharedShreddingEncoder:
    """Encodes the maps of one column of a file as structs.

    Args:
        data_type: the type of the maps, with STRING keys.
        columns: number of physical columns, at least one.
    """

    def __init__(self, data_type: MapType, columns: int) -> None:
        self.physical_type = _physical_type(data_type, columns)
        """Type of the structs."""
        self._arrow = to_arrow(self.physical_type)
        self._columns = columns
        self._known: dict[str, int] = {}
        self._places: set[int] = set()  # key number * columns + column
        self._overflowing: set[int] = set()
        self._widest = 0

    def encode(self, array: Column) -> Column:
        """Convert n maps to n structs."""
        step = max(_CELLS // self._columns, 1)
        starts = range(0, max(len(array), 1), step)
        return concat_arrays([self._encode(array.slice(start, step)) for start in starts])

    def metadata(self) -> dict[bytes, bytes]:
        """Return the metadata of the column, which describes all maps encoded so far."""
        names = json.dumps(self._known, ensure_ascii=False, separators=(",", ":"), sort_keys=True)
        dictionary = names.encode()
        packed = zstandard.ZstdCompressor(level=1).compress(dictionary)
        places: dict[int, list[int]] = {}
        for place in sorted(self._places):
            places.setdefault(place // self._columns, []).append(place % self._columns)
        return {
            LAYOUT_KEY: KNOWN_LAYOUT,
            VERSION_KEY: KNOWN_VERSION,
            COMPRESSION_KEY: b"zstd",
            SIZE_KEY: b"%d" % len(dictionary),
            DICTIONARY_KEY: packed.decode("latin-1").encode(),
            FIELD_COLUMNS_KEY: json.dumps(places, separators=(",", ":")).encode(),
            OVERFLOW_KEYS_KEY: json.dumps(
                sorted(self._overflowing), separators=(",", ":")
            ).encode(),
            COLUMNS_KEY: b"%d" % self._columns,
            WIDEST_ROW_KEY: b"%d" % self._widest,
        }

    def _encode(self, array: Column) -> Column:
        valid, sizes = valid_mask(array), _sizes(array)
        rows = np.repeat(np.arange(len(array)), sizes)
        items = expand_ranges(list_offsets(array)[:-1], sizes)
        numbers = self._numbers(take_rows(array.keys, items))  # type: ignore[attr-defined]  # a map array
        cells, over = self._placed(rows, numbers, len(array))
        used = np.flatnonzero(cells >= 0)
        mapping = np.full(len(cells), ABSENT, np.int32)
        mapping[used] = numbers[cells[used]]
        positions = np.full(len(cells), -1, np.int64)
        positions[used] = items[cells[used]]
        self._places.update((numbers[cells[used]] * self._columns + used % self._columns).tolist())
        self._overflowing.update(numbers[over].tolist())
        self._widest = max(self._widest, int(sizes.max(initial=0)))
        values: Column = array.items  # type: ignore[attr-defined]  # a map array
        entries = [build_fixed(pa.int32(), numbers[over].astype(np.int32))]
        entries.append(take_rows(values, items[over]))
        children = [
            self._mapping(mapping, valid),
            *(_taken(values, positions[c :: self._columns]) for c in range(self._columns)),
            self._overflow(entries, np.bincount(rows[over], minlength=len(array))),
        ]
        return build_struct(self._arrow, children, valid)

    def _numbers(self, keys: Column) -> Ints:
        """Return the numbers of keys; new keys get the next ones."""
        encoded = keys.dictionary_encode()
        known = self._known
        names = as_python(encoded.dictionary)
        numbers = [known.setdefault(str(name), len(known)) for name in names]
        return np.array(numbers, np.int64)[int64_values(encoded.indices)]

    def _placed(self, rows: Ints, numbers: Ints, count: int) -> tuple[Ints, Ints]:
        """Assign a cell to each entry.

        Args:
            rows: rows of the entries, ascending.
            numbers: key numbers of the entries.
            count: number of rows.

        Returns:
            The entry of each of the `count` times `columns` cells or -1, and the entries without a
            cell.
        """
        cells = np.full(count * self._columns, -1, np.int64)
        fixed = np.flatnonzero(numbers < self._columns)
        own = rows[fixed] * self._columns + numbers[fixed]
        cells[own] = fixed
        is_placed = np.zeros(len(rows), np.bool_)
        is_placed[cells[own]] = True
        rest = np.flatnonzero(~is_placed)
        if not len(rest):
            return cells, rest
        free = np.flatnonzero(cells < 0)
        rest_rows, free_rows = rows[rest], free // self._columns
        rank = np.arange(len(rest)) - np.searchsorted(rest_rows, rest_rows)
        found = np.searchsorted(free_rows, rest_rows) + rank
        fits = found < np.searchsorted(free_rows, rest_rows, side="right")
        cells[free[found[fits]]] = rest[fits]
        return cells, rest[~fits]

    def _mapping(self, mapping: Numbers, valid: Bools) -> Column:
        present = mapping.reshape(len(valid), self._columns)[valid].ravel()
        numbers = build_fixed(pa.int32(), present)
        sizes = valid * np.int64(self._columns)
        return build_list(self._arrow.field(0).type, offsets_from_sizes(sizes), [numbers], valid)

    def _overflow(self, entries: list[Column], counts: Ints) -> Column:
        target = self._arrow.field(self._columns + 1).type
        pairs = pa.StructArray.from_arrays(entries, fields=[target.key_field, target.item_field])
        return build_list(target, offsets_from_sizes(counts), [pairs], counts > 0)


def _physical_type(data_type: MapType, columns: int) -> RowType:
    value = with_nullable(data_type.value, nullable=True)
    overflow = MapType(key=with_nullable(_INT, nullable=False), value=data_type.value)
    members = [
        (MAPPING, ArrayType(element=_INT)),
        *((f"{COLUMN}{number}", value) for number in range(columns)),
        (OVERFLOW, overflow),
    ]
    fields = [DataField(id=i, name=name, type=kind) for i, (name, kind) in enumerate(members)]
    return RowType(fields=tuple(fields), nullable=data_type.nullable)


def _taken(values: Column, positions: Ints) -> Column:
    """Select values; a negative position is a null."""
    index = build_fixed(pa.int64(), np.ascontiguousarray(positions), positions >= 0)
    return values.take(index)  # type: ignore[arg-type]  # in stubs
