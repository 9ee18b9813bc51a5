"""The kinds of indexes by their names: one door to decode and to make them."""

import pyarrow as pa
from pyroaring import BitMap

from paimon_explore.data_types.arrow import to_arrow
from paimon_explore.data_types.arrow_buffers import Column, empty_array
from paimon_explore.data_types.definitions import DataType
from paimon_explore.encoding.file_index import bitmap, bloom, bsi, range_bitmap
from paimon_explore.encoding.file_index.index_condition import Condition, FileIndex, Relation
from paimon_explore.encoding.file_index.index_keys import key_codec
from paimon_explore.errors import UnsupportedFeatureError
from paimon_explore.frozen_dataclass import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class IndexSettings:
    """How to make an index; each setting belongs to one kind, see there.

    Attributes:
        items: expected distinct values of a bloom filter.
        fpp: share of false hits of a bloom filter.
        version: layout of a bitmap index, 1 or 2.
        block_bytes: most bytes of a block of a bitmap index.
        chunk_bytes: most bytes of a chunk of a range bitmap; None is Java's choice for the type.
    """

    items: int = bloom.DEFAULT_ITEMS
    fpp: float = bloom.DEFAULT_FPP
    version: int = 2
    block_bytes: int = bitmap.DEFAULT_BLOCK_BYTES
    chunk_bytes: int | None = None


class EmptyIndex:
    """The index of a column that got no value: all rows are null."""

    def rows(self, condition: Condition) -> BitMap | None:
        """No row, but for IS NULL, where the number of rows is not known here."""
        return None if condition.relation is Relation.IS_NULL else BitMap()

    def may_match(self, condition: Condition) -> bool:
        """Whether any row may satisfy the condition."""
        return condition.relation is Relation.IS_NULL


def decode_index(kind: str, data: bytes | None, data_type: DataType, *, path: str) -> FileIndex:
    """An index out of its bytes.

    Args:
        kind: its name in the container.
        data: its bytes; None when it got no value.
        data_type: of the column, as in the schema of the data file; of a map the value type.
        path: the file, for errors.

    Raises:
        FormatError: it is damaged, or of a version not known here.
        UnsupportedFeatureError: a kind not known here, or not for such a column; a reader can do
            without the index then.
    """
    if data is None:
        return EmptyIndex()
    match kind:
        case bloom.KIND:
            return bloom.decode_bloom(data, data_type, path=path)
        case bitmap.KIND:
            return bitmap.decode_bitmap_index(data, data_type, path=path)
        case bsi.KIND:
            return bsi.decode_bsi(data, data_type, path=path)
        case range_bitmap.KIND:
            return range_bitmap.decode_range_bitmap(data, data_type, path=path)
        case _:
            raise UnsupportedFeatureError(f"file index kind {kind!r}", path)


class IndexBuilder:
    """Makes the index of one column batch by batch.

    Args:
        kind: its name.
        data_type: of the column.
        settings: of the kind.

    Raises:
        UnsupportedFeatureError: no such index can be on such a column.
    """

    def __init__(self, kind: str, data_type: DataType, settings: IndexSettings) -> None:
        key_codec(kind, data_type)
        self._kind = kind
        self._type = data_type
        self._settings = settings
        self._columns: list[Column] = []
        self._bloom = None
        if kind == bloom.KIND:
            self._bloom = bloom.BloomBuilder(data_type, items=settings.items, fpp=settings.fpp)

    def add(self, column: Column) -> None:
        """Take up the next rows, of the Arrow type that `data_types.arrow` gives."""
        if self._bloom is not None:
            self._bloom.add(column)
        else:
            self._columns.append(column)

    def encode(self) -> bytes:
        """The index of all rows so far."""
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
