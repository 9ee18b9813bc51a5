"""Index files of all key types, and questions to damaged ones."""

import zlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np
import pyarrow as pa
from pyroaring import BitMap64

from paimon_explore.data_types.arrow import to_arrow
from paimon_explore.data_types.type_parser import parse_type_text
from paimon_explore.encoding.global_index.bitmap_file import BitmapIndexFile
from paimon_explore.encoding.global_index.bitmap_writer import encode_bitmap_index
from paimon_explore.encoding.global_index.blocks import IndexFileBytes
from paimon_explore.encoding.global_index.btree_file import BTreeIndexFile
from paimon_explore.encoding.global_index.btree_writer import encode_btree
from paimon_explore.encoding.global_index.column_keys import IndexedRows, indexed_rows
from paimon_explore.encoding.global_index.index_keys import Key, global_index_keys
from paimon_explore.encoding.global_index.key_ranges import EVERY_KEYS, KeyRange, KeySet


def _with_checksums(data: bytes) -> IndexFileBytes:
    """A file whose blocks have right checksums, whatever the bytes are."""

    def read(offset: int, size: int) -> bytes:
        part = data[offset : offset + size]
        is_footer = offset + size == len(data)
        return part if is_footer else part[:-4] + zlib.crc32(part[:-4]).to_bytes(4, "little")

    return IndexFileBytes(read, len(data), "f")


KEYED: Mapping[str, Sequence[Key]] = {
    "BIGINT": (-1, 2, 5),
    "STRING": (b"", b"a", b"bb"),
    "TIMESTAMP(6)": (0, 1500, 10**15),
}
"""Keys by their type."""


def ask_index_file(
    kind: type[BTreeIndexFile | BitmapIndexFile], text: str
) -> Callable[[bytes], object]:
    """What looks up nulls, all keys and some keys in a file, if its checksums were right."""
    keys = global_index_keys(parse_type_text(text))
    low, _, high = KEYED[text]

    def ask(data: bytes) -> None:
        file = kind(_with_checksums(data), keys)
        file.null_rows()
        for wanted in (EVERY_KEYS, KeySet.of(KeyRange(low, high))):
            file.rows(wanted)

    return ask


def index_files(text: str) -> Iterator[bytes]:
    """A btree and a bitmap index of the keys of a type."""
    data_type = parse_type_text(text)
    values = pa.array(list[Any](KEYED[text]))
    column = pa.chunked_array([values.cast(to_arrow(data_type))])
    keys = indexed_rows(column, global_index_keys(data_type))[0].keys
    row_ids = [row for at in range(len(keys)) for row in (at, at + 9, 2**33)]
    found = [IndexedRows(keys, np.arange(0, len(row_ids) + 1, 3), np.array(row_ids))]
    yield b"".join(encode_btree(found, BitMap64([3, 2**33 + 1]), block_bytes=20))
    yield b"".join(encode_bitmap_index(found, BitMap64([3, 2**33 + 1])))
