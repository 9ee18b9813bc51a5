"""Checks of Parquet metadata, before column chunks are asked for by `RowGroupMetaData.column`.

Arrow decodes the metadata of a column chunk when it is asked for. In a read an error in it is an
exception; there it ends the process.
"""

from collections.abc import Collection, Sequence

import pyarrow as pa

from paimon_explore.encoding.parquet.arrow_reader import FileMetaData, open_reader

_BUFFER_BYTES = 4096


class MetadataChecks:
    """Checks of the metadata of an open file.

    Args:
        file: opened for random access; nothing is read from it.
        metadata: its decoded footer.
    """

    def __init__(self, file: pa.NativeFile, metadata: FileMetaData) -> None:
        self._file = file
        self._metadata = metadata
        self._checked: set[tuple[int, int]] = set()

    def check_chunks(self, leaves: Collection[int], groups: Sequence[int]) -> None:
        """Check that column chunks may be asked for.

        Raises:
            pa.ArrowException, OSError: the metadata of one of them is damaged.
        """
        chunks = {(group, leaf) for group in groups for leaf in leaves} - self._checked
        if not chunks:
            return
        # buffered, so that the chunks are not read when their readers are made
        opened = open_reader(self._file, metadata=self._metadata, buffer_size=_BUFFER_BYTES)
        for group in {group for group, _ in chunks}:
            wanted = sorted(leaf for place, leaf in chunks if place == group)
            for _ in opened.iter_batches(0, [group], wanted, use_threads=False):
                pass
        self._checked |= chunks
