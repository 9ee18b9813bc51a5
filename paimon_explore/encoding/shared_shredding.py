"""MAP columns in the storage layout `shared-shredding`, which stores a map as a struct.

    ROW<__field_mapping ARRAY<INT>, __col_0 V, ..., __col_<k-1> V, __overflow MAP<INT, V>>

A dictionary in the metadata of the column assigns a number to each key of the file. The values of a
row are distributed over k physical columns, which all keys share: for each of them,
`__field_mapping` has the number of the key whose value it contains, or -1. Further entries are in
`__overflow`, by key number. A null map is a null struct; an empty map has -1 for all columns.

The metadata of the column is in the Arrow schema in the footer of Parquet and ORC files, under the
key `ARROW:schema`.

Spec: option `fields.<column>.map.storage-layout`, release 2.0. Seen in: files of Java 2.0.0 and
pypaimon 2.1.0.

Encoder of MAP columns in the storage layout `shared-shredding`.

Each key gets a number when it first appears in the file. The number of physical columns is chosen
when the file is opened. A key whose number is less than that always has the same column. Other keys
use the columns that are free in their row, and the overflow if there are none. Java places keys by
the option `map.shared-shredding.column-placement-policy`; readers do not depend on it.

Spec: option `fields.<column>.map.storage-layout`, release 2.0.
"""

import base64
import json
from collections.abc import Mapping

import cramjam
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
    fixed_values,
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
from paimon_explore.errors import CorruptFileError, UnsupportedFeatureError
from paimon_explore.frozen_dataclass import dataclass

ARROW_SCHEMA = b"ARROW:schema"
LAYOUT = "map.storage-layout"

_PREFIX = b"paimon.map."
LAYOUT_KEY = _PREFIX + b"storage-layout"
_SHREDDING = _PREFIX + b"shared-shredding."
VERSION_KEY = _SHREDDING + b"version"
DICTIONARY_KEY = _SHREDDING + b"field-dict"
COMPRESSION_KEY = _SHREDDING + b"field-dict-compression"
SIZE_KEY = _SHREDDING + b"field-dict-original-size"
COLUMNS_KEY = _SHREDDING + b"num-columns"
FIELD_COLUMNS_KEY = _SHREDDING + b"field-columns"
OVERFLOW_KEYS_KEY = _SHREDDING + b"overflow-set"
WIDEST_ROW_KEY = _SHREDDING + b"max-row-width"
KNOWN_LAYOUT = b"shared-shredding"
KNOWN_VERSION = b"1"
MAPPING, COLUMN, OVERFLOW = "__field_mapping", "__col_", "__overflow"
ABSENT = -1
_MAX_BYTES = 256 << 20
_LZ4_HEADER = 8


@dataclass(frozen=True, slots=True, kw_only=True)
class Shredding:
    """Shredding metadata of a column of a file.

    Attributes:
        names: map keys by number.
        columns: number of physical columns.
    """

    names: Mapping[int, str]
    columns: int


def assembled_map(array: Column, schema: pa.Schema, *, path: str, column: str) -> Column:
    """Assemble the maps of a column that a file stores as structs.

    Args:
        array: n structs.
        schema: the file's Arrow schema with the metadata of its fields.
        path: path of the file, for errors.
        column: name of the column.

    Raises:
        CorruptFileError: the metadata or the structs violate the layout.
        UnsupportedFeatureError: the layout, version or compression is unknown.
    """
    place = schema.get_field_index(column)
    metadata = None if place < 0 else schema.field(place).metadata
    return assembled(array, shredding_of(metadata or {}, path, column), path=path, column=column)


def schema_in(text: bytes) -> pa.Schema:
    """Decode the Arrow schema in a file's footer.

    Raises:
        ValueError, pa.ArrowException: the text is not an Arrow schema.
    """
    return pa.ipc.read_schema(pa.py_buffer(base64.b64decode(text)))


def shredding_of(metadata: Mapping[bytes, bytes], path: str, column: str) -> Shredding:
    """Parse the shredding metadata of an Arrow field.

    Raises:
        CorruptFileError: the metadata violates the layout.
        UnsupportedFeatureError: the layout, version or compression is unknown.
    """
    where = f"column {column!r}"
    layout, version = metadata.get(LAYOUT_KEY, b"unknown"), metadata.get(VERSION_KEY)
    if layout != KNOWN_LAYOUT or version != KNOWN_VERSION:
        feature = f"option 'fields.{column}.{LAYOUT}' = {layout.decode(errors='replace')[:80]!r}"
        if layout == KNOWN_LAYOUT:
            found = (version or b"none").decode(errors="replace")
            feature = f"version {found[:80]!r} of {feature}"
        raise UnsupportedFeatureError(feature, path)
    try:
        columns, size = int(metadata[COLUMNS_KEY]), int(metadata[SIZE_KEY])
        packed = metadata[DICTIONARY_KEY].decode("utf-8").encode("latin-1")
        compression = metadata.get(COMPRESSION_KEY, b"zstd").decode()
        known = json.loads(_decompressed(packed, compression, size, path))
        names = {int(number): str(name) for name, number in known.items()}
        texts = "".join(names.values()).encode()  # fails on unpaired surrogates
    except KeyError as error:
        raise CorruptFileError(path, where, f"the metadata must have the key {error}") from error
    except (ValueError, TypeError, AttributeError, RecursionError) as error:
        raise CorruptFileError(
            path, where, f"the dictionary of map keys is malformed: {error}"
        ) from error
    if columns < 0:
        raise CorruptFileError(
            path, where, f"the number of columns must be 0 or more, not {columns}"
        )
    if len(texts) > _MAX_BYTES:
        raise CorruptFileError(path, where, f"the map keys must have at most {_MAX_BYTES} bytes")
    if len(names) != len(known):
        raise CorruptFileError(path, where, "each map key must have a distinct number")
    return Shredding(names=names, columns=columns)


def _decompressed(packed: bytes, compression: str, size: int, path: str) -> bytes:
    if not 0 <= size <= _MAX_BYTES:
        raise ValueError(f"its size must be 0 to {_MAX_BYTES} bytes, not {size}")
    name = compression.lower()
    try:
        if name == "none":
            found = packed
        elif name == "zstd":
            with zstandard.ZstdDecompressor().stream_reader(packed) as reader:
                found = reader.read(size + 1)
        elif name == "lz4":
            room = bytearray(size)
            count = cramjam.lz4.decompress_block_into(packed[_LZ4_HEADER:], output=room)
            found = bytes(room[:count])
        else:
            raise UnsupportedFeatureError(
                f"compression {name[:40]!r} of the map key dictionary", path
            )
    except (zstandard.ZstdError, cramjam.DecompressionError) as error:
        raise ValueError(str(error)) from error
    if len(found) != size:
        raise ValueError(f"it must have {size} bytes when it is decompressed")
    return found


def assembled(array: Column, shredding: Shredding, *, path: str, column: str) -> Column:
    """Assemble maps from structs; entries are in the order of physical columns, then overflow.

    Args:
        array: n structs.
        shredding: the shredding metadata.
        path: path of the file, for errors.
        column: name of the column, for errors.

    Raises:
        CorruptFileError: the structs do not fit the metadata.
    """
    where = f"column {column!r}"
    if not isinstance(array, pa.StructArray):
        raise CorruptFileError(path, where, f"a shredded map must be a struct, not {array.type}")
    members = {array.type.field(i).name: array.field(i) for i in range(array.type.num_fields)}
    wanted = [MAPPING, *(f"{COLUMN}{number}" for number in range(shredding.columns))]
    lacking = [name for name in wanted if name not in members]
    if lacking:
        raise CorruptFileError(path, where, f"the shredded map must have the field {lacking[0]}")
    valid = valid_mask(array)
    physical = [members[name] for name in wanted[1:]]
    sources = [_column_entries(members[MAPPING], valid, shredding.columns, (path, where))]
    overflow = members.get(OVERFLOW)
    if overflow is not None:
        base = len(array) * shredding.columns
        sources.append(_overflow_entries(overflow, valid, base, (path, where)))
        physical.append(overflow.items)  # type: ignore[attr-defined]  # a map array
    rows, numbers, places = (np.concatenate(parts) for parts in zip(*sources, strict=True))
    order = np.argsort(rows, kind="stable")
    offsets = offsets_from_sizes(np.bincount(rows, minlength=len(array)).astype(np.int64))
    keys = _names(numbers[order], shredding, (path, where))
    pool = pa.concat_arrays(physical) if physical else pa.nulls(0, pa.int32())
    return _maps(offsets, valid, keys, take_rows(pool, places[order]))


_Entries = tuple[Ints, Ints, Ints]
"""Map entries: their rows, key numbers, and positions of their values."""


def _column_entries(mapping: Column, valid: Bools, columns: int, at: tuple[str, str]) -> _Entries:
    if not isinstance(mapping, pa.ListArray) or not pa.types.is_integer(mapping.type.value_type):
        raise CorruptFileError(*at, f"{MAPPING} must be a list of integers, not {mapping.type}")
    offsets = list_offsets(mapping)
    if (np.diff(offsets)[valid] != columns).any() or not valid_mask(mapping)[valid].all():
        raise CorruptFileError(*at, f"each list in {MAPPING} must have {columns} numbers")
    present = np.flatnonzero(valid)
    if not columns or not len(present):
        return _no_entries()
    items = mapping.values
    taken = offsets[:-1][present][:, None] + np.arange(columns)
    if items.null_count and not valid_mask(items)[taken].all():
        raise CorruptFileError(*at, f"{MAPPING} must not contain null")
    numbers = fixed_values(items, f"i{items.type.byte_width}").astype(np.int64)[taken]
    row, column = np.nonzero(numbers != ABSENT)
    rows = present[row]
    return rows, numbers[row, column], column * len(valid) + rows


def _overflow_entries(overflow: Column, valid: Bools, base: int, at: tuple[str, str]) -> _Entries:
    if not isinstance(overflow, pa.MapArray) or not pa.types.is_integer(overflow.type.key_type):
        raise CorruptFileError(
            *at, f"{OVERFLOW} must be a map with integer keys, not {overflow.type}"
        )
    offsets = list_offsets(overflow)
    counts = np.where(valid & valid_mask(overflow), np.diff(offsets), 0)
    rows = np.repeat(np.arange(len(valid)), counts)
    within = np.arange(len(rows)) - np.repeat(offsets_from_sizes(counts)[:-1], counts)
    items = np.repeat(offsets[:-1], counts) + within
    keys = fixed_values(overflow.keys, f"i{overflow.type.key_type.byte_width}")
    return rows, keys.astype(np.int64)[items], base + items


def _no_entries() -> _Entries:
    empty = np.zeros(0, np.int64)
    return empty, empty, empty


def _names(numbers: Ints, shredding: Shredding, at: tuple[str, str]) -> Column:
    known = np.array(sorted(shredding.names), np.int64)
    places = np.searchsorted(known, numbers)
    places[places == len(known)] = 0
    if len(numbers) and (not len(known) or (known[places] != numbers).any()):
        raise CorruptFileError(*at, "each key number must be in the dictionary")
    names = pa.array([shredding.names[number] for number in known.tolist()], pa.string())
    return take_rows(names, places)


def _maps(offsets: Ints, valid: Bools, keys: Column, values: Column) -> Column:
    starts = build_fixed(pa.int32(), offsets.astype(np.int32), np.append(valid, True))
    maps: Column = pa.MapArray.from_arrays(starts, keys, values)  # type: ignore[call-overload]  # in stubs
    return maps


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
