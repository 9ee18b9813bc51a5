"""The content of one index file, and that of btree and bitmap indexes."""

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


def sorted_index(rows: IndexedRows, keys: GlobalIndexKeys, index_type: str) -> IndexContent:
    """Return the content of a btree or bitmap index.

    Args:
        rows: the rows by key.
        keys: of the column.
        index_type: `btree` or `bitmap`.
    """
    encode = encode_btree if index_type == BTREE else encode_bitmap_index
    meta = SortedIndexMeta(
        first=rows.keys[0] if rows.keys else None,
        last=rows.keys[-1] if rows.keys else None,
        has_nulls=bool(rows.nulls),
    )
    return IndexContent(
        data=b"".join(encode(rows.groups(), rows.nulls, keys)),
        row_count=len(rows),
        meta=encode_index_meta(meta, keys),
    )
