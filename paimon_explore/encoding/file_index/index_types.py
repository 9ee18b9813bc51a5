"""Decoding and building of file indexes of any kind, by name."""

import pyarrow as pa
from pyroaring import BitMap

from paimon_explore.data_types.arrow import to_arrow
from paimon_explore.data_types.arrow_buffers import Column, empty_array
from paimon_explore.data_types.definitions import DataType
from paimon_explore.encoding.file_index import bitmap, bloom_filter, bsi, range_bitmap
from paimon_explore.encoding.file_index.index_condition import Condition, FileIndex, Relation
from paimon_explore.encoding.file_index.index_keys import key_codec
from paimon_explore.errors import UnsupportedFeatureError, choices
from paimon_explore.frozen_dataclass import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class IndexSettings:
    """Settings of index builders; each applies to one kind of index.

    Attributes:
        items: expected number of distinct values of a bloom filter.
        fpp: false positive probability of a bloom filter.
        version: version of a bitmap index, 1 or 2.
        block_bytes: maximum bytes of a block of a bitmap index.
        chunk_bytes: maximum bytes of a chunk of a range bitmap; None for Java's default.
    """

    items: int = bloom_filter.DEFAULT_ITEMS
    fpp: float = bloom_filter.DEFAULT_FPP
    version: int = 2
    block_bytes: int = bitmap.DEFAULT_BLOCK_BYTES
    chunk_bytes: int | None = None


class EmptyIndex:
    """Index of a column in which all rows are null."""

    def rows(self, condition: Condition) -> BitMap | None:
        """Return no rows; None for IS NULL, as the number of rows is unknown."""
        return None if condition.relation is Relation.IS_NULL else BitMap()

    def may_match(self, condition: Condition) -> bool:
        """Return whether any row may satisfy the condition."""
        return condition.relation is Relation.IS_NULL


def decode_index(kind: str, data: bytes | None, data_type: DataType, *, path: str) -> FileIndex:
    """Decode an index.

    Args:
        kind: its name in the container.
        data: its bytes; None if the column has only nulls.
        data_type: the column's type in the schema of the data file; for a map its value type.
        path: path of the file, for errors.

    Raises:
        FormatError: the index is damaged, or its version is unknown.
        UnsupportedFeatureError: the kind is unknown, or does not support the column type; readers
            can ignore the index.
    """
    if data is None:
        return EmptyIndex()
    match kind:
        case bloom_filter.KIND:
            return bloom_filter.decode_bloom(data, data_type, path=path)
        case bitmap.KIND:
            return bitmap.decode_bitmap_index(data, data_type, path=path)
        case bsi.KIND:
            return bsi.decode_bsi(data, data_type, path=path)
        case range_bitmap.KIND:
            return range_bitmap.decode_range_bitmap(data, data_type, path=path)
        case _:
            kinds = choices(one.KIND for one in (bloom_filter, bitmap, bsi, range_bitmap))
            raise UnsupportedFeatureError(
                f"file index kind {kind!r}", path, hint=f"Supported: {kinds}."
            )


class IndexBuilder:
    """Builds the index of a column batch by batch.

    Args:
        kind: the kind of index.
        data_type: the type of the column.
        settings: settings of the kind.

    Raises:
        UnsupportedFeatureError: the index kind does not support the column type.
    """

    def __init__(self, kind: str, data_type: DataType, settings: IndexSettings) -> None:
        key_codec(kind, data_type)
        self._kind = kind
        self._type = data_type
        self._settings = settings
        self._columns: list[Column] = []
        self._bloom = None
        if kind == bloom_filter.KIND:
            self._bloom = bloom_filter.BloomBuilder(
                data_type, items=settings.items, fpp=settings.fpp
            )

    def add(self, column: Column) -> None:
        """Add the next rows, in `to_arrow(data_type)`."""
        if self._bloom is not None:
            self._bloom.add(column)
        else:
            self._columns.append(column)

    def encode(self) -> bytes:
        """Encode the index of all rows added so far."""
        if self._bloom is not None:
            return self._bloom.encode()
        column = pa.concat_arrays([empty_array(to_arrow(self._type)), *self._columns])
        if self._kind == bsi.KIND:
            return bsi.encode_bsi(column, self._type)
        if self._kind == range_bitmap.KIND:
            chunk_bytes = self._settings.chunk_bytes
            return range_bitmap.encode_range_bitmap(column, self._type, chunk_bytes=chunk_bytes)
        return bitmap.encode_bitmap_index(
            column,
            self._type,
            version=self._settings.version,
            block_bytes=self._settings.block_bytes,
        )
