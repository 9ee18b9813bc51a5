"""Arrow columns of any type as VARIANT values, and variants as an Arrow column."""

import struct
from collections.abc import Iterable, Iterator, Sequence

import numpy as np
import pyarrow as pa
import pyarrow.types as pat

from paimon_explore.data_types.arrow import VARIANT_ARROW, is_variant_storage
from paimon_explore.data_types.arrow_buffers import (
    Column,
    MapColumn,
    as_python,
    build_struct,
    list_offsets,
    valid_mask,
)
from paimon_explore.encoding.variant.decoder import Kind, VariantReader, decode_keys
from paimon_explore.encoding.variant.encoder import primitive
from paimon_explore.encoding.variant.tree import NULL, TREES, Primitive, Tree, encode_tree
from paimon_explore.encoding.variant.variant import tree_of
from paimon_explore.errors import InvalidInputError


def variant_column(trees: Iterable[Tree | None]) -> Column:
    """Encode variants as a column of `VARIANT_ARROW`; None becomes null."""
    return stored_column([None if tree is None else encode_tree(tree) for tree in trees])


def stored_column(pairs: Sequence[tuple[bytes, bytes] | None]) -> Column:
    """Build a column of `VARIANT_ARROW` of values and metadata; None becomes null."""
    valid = np.array([pair is not None for pair in pairs], np.bool_)
    parts: list[Column] = [
        pa.array([b"" if pair is None else pair[at] for pair in pairs], pa.binary())
        for at in range(len(VARIANT_ARROW))
    ]
    return build_struct(VARIANT_ARROW, parts, valid)


def trees_of(array: Column) -> list[Tree | None]:  # noqa: PLR0911 - one for each kind of type
    """Convert values of any type to variants; null is None, and a null variant below lists.

    Variants stay as they are; structs and maps of texts become objects.

    Raises:
        InvalidInputError: a variant cannot store the type.
        CorruptFileError: a variant is damaged.
    """
    if isinstance(array, pa.ExtensionArray):
        return trees_of(array.storage)
    if isinstance(array, pa.DictionaryArray):
        return trees_of(array.dictionary_decode())
    if is_variant_storage(array.type):
        readers = variant_readers(array)
        return [None if reader is None else reader.read(TREES) for _, reader in readers]
    if isinstance(array, pa.StructArray):
        return _objects(array)
    if isinstance(array, pa.MapArray):
        return _maps(array)
    if pat.is_nested(array.type):
        return _arrays(array.cast(pa.list_(array.type.field(0))))
    if pat.is_float32(array.type):
        return [_single(value) for value in as_python(array)]
    if isinstance(array.type, pa.TimestampType) and array.type.unit == "ns":
        array = _microseconds(array, array.type.tz)
    return [None if value is None else tree_of(value) for value in as_python(array)]


def variant_readers(variants: Column) -> Iterator[tuple[bytes, VariantReader | None]]:
    """Yield the metadata and a reader of each variant; None for null."""
    known: dict[bytes, tuple[str, ...]] = {}
    for variant in as_python(variants):
        if not isinstance(variant, dict):
            yield b"", None
            continue
        metadata = variant["metadata"]
        if metadata not in known:
            known[metadata] = decode_keys(metadata, path="")
        yield metadata, VariantReader(variant["value"], known[metadata], "")


def _single(value: object) -> Tree | None:
    if not isinstance(value, float):
        return None
    return Primitive(primitive(Kind.FLOAT, struct.pack("<f", value)))


def _microseconds(array: Column, zone: str | None) -> Column:
    try:
        return array.cast(pa.timestamp("us", zone))
    except pa.ArrowInvalid as error:
        raise InvalidInputError(
            "A timestamp in a variant has microseconds, but a value has nanoseconds.",
            hint="Round the timestamps first.",
        ) from error


def _objects(array: pa.StructArray) -> list[Tree | None]:
    names = [field.name for field in array.type]
    members = [_nulls(trees_of(child)) for child in array.flatten()]
    rows = zip(*members, strict=True) if members else [()] * len(array)
    return [
        dict(zip(names, row, strict=True)) if there else None
        for there, row in zip(valid_mask(array).tolist(), rows, strict=True)
    ]


def _nulls(trees: Sequence[Tree | None]) -> list[Tree]:
    return [NULL if tree is None else tree for tree in trees]


def _ranges(array: Column) -> list[slice | None]:
    """Return where the elements of each list are; None for null."""
    offsets = list_offsets(array).tolist()
    ranges = map(slice, offsets[:-1], offsets[1:])
    return [
        part if there else None
        for part, there in zip(ranges, valid_mask(array).tolist(), strict=True)
    ]


def _arrays(array: Column) -> list[Tree | None]:
    assert isinstance(array, pa.ListArray)  # noqa: S101 - the caller has cast it
    elements = _nulls(trees_of(array.values))
    return [None if part is None else elements[part] for part in _ranges(array)]


def _maps(array: MapColumn) -> list[Tree | None]:
    keys = as_python(array.keys)
    if not pat.is_string(array.type.key_type):
        raise InvalidInputError(
            f"A key of a variant must be a string, not {array.type.key_type}.",
            hint="Cast the keys to strings.",
        )
    items = _nulls(trees_of(array.items))
    return [
        None if part is None else dict(zip(map(str, keys[part]), items[part], strict=True))
        for part in _ranges(array)
    ]
