"""The content of one index file, and that of btree and bitmap indexes."""

from collections.abc import Iterable, Iterator
from io import BytesIO

from pyroaring import BitMap64

from paimon_explore.encoding.global_index.bitmap_writer import encode_bitmap_index
from paimon_explore.encoding.global_index.btree_writer import encode_btree
from paimon_explore.encoding.global_index.column_keys import IndexedRows
from paimon_explore.encoding.global_index.index_keys import GlobalIndexKeys
from paimon_explore.encoding.global_index.index_meta import SortedIndexMeta, encode_index_meta
from paimon_explore.frozen_dataclass import dataclass
from paimon_explore.scan.index_lookups import BTREE


@dataclass(frozen=True, slots=True, kw_only=True)
class IndexContent:
    """The content of an index file.

    Attributes:
        data: its bytes.
        row_count: number of rows, with nulls.
        meta: what the index manifest records of it.
    """

    data: bytes
    row_count: int
    meta: bytes


def sorted_index(
    parts: Iterable[IndexedRows], nulls: BitMap64, keys: GlobalIndexKeys, index_type: str
) -> IndexContent:
    """Return the content of a btree or bitmap index.

    Args:
        parts: the rows by ascending key; parts are taken one after the other.
        nulls: row ids of the rows with a null.
        keys: of the column.
        index_type: `btree` or `bitmap`.
    """
    ends: list[bytes] = []
    row_count = len(nulls)

    def seen() -> Iterator[IndexedRows]:
        nonlocal row_count
        for part in parts:
            if len(part.row_ids):
                row_count += len(part.row_ids)
                ends[1:] = [part.keys[0].as_py(), part.keys[-1].as_py()][not ends and 0 :]
                yield part

    encode = encode_btree if index_type == BTREE else encode_bitmap_index
    data = BytesIO()
    data.writelines(encode(seen(), nulls))
    meta = SortedIndexMeta(
        first=keys.decode(ends[0]) if ends else None,
        last=keys.decode(ends[-1]) if ends else None,
        has_nulls=bool(nulls),
    )
    return IndexContent(
        data=data.getvalue(), row_count=row_count, meta=encode_index_meta(meta, keys)
    )
