"""Skipping of missing and corrupt data files, to read what is left of a damaged table.

`scan.ignore-lost-files` skips missing files, `scan.ignore-corrupt-files` those that cannot be
decoded, each with a warning. Their rows are then missing, and where files are merged, older
versions of rows may reappear. Only scans use these options, not writes.
Spec: maintenance/configurations.
"""

import warnings
from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from paimon_explore.errors import FormatError, MissingFileError, PaimonError, ResourceLimitError
from paimon_explore.metadata.options.table_options import (
    SCAN_IGNORE_CORRUPT_FILES,
    SCAN_IGNORE_LOST_FILES,
)
from paimon_explore.read.data_file import ReadRequest, read_data_file
from paimon_explore.read.split_reader import SplitFile, SplitReader
from paimon_explore.scan.splits.data_split import DataSplit, LayeredSplit, PlainSplit


def readable_splits(splits: Sequence[PlainSplit], reader: SplitReader) -> Sequence[PlainSplit]:
    """Removes missing or corrupt files from splits, as the options of the reader specify.

    Args:
        splits: of a plan.
        reader: with the columns to read.
    """
    lost, corrupt = (
        reader.target.options.value(option)
        for option in (SCAN_IGNORE_LOST_FILES, SCAN_IGNORE_CORRUPT_FILES)
    )
    ignored = ((MissingFileError,) if lost else ()) + ((FormatError,) if corrupt else ())
    if not ignored:
        return splits
    return [kept for split in splits if (kept := _readable(split, reader, ignored))]


_Errors = tuple[type[PaimonError], ...]


def _readable(split: PlainSplit, reader: SplitReader, ignored: _Errors) -> PlainSplit | None:
    if isinstance(split, LayeredSplit):
        layers = [_readable_files(layer, reader, ignored) for layer in split.layers]
        kept = tuple(layer for layer in layers if layer is not None)
        return replace(split, layers=kept) if kept else None
    return _readable_files(split, reader, ignored)


def _readable_files(split: DataSplit, reader: SplitReader, ignored: _Errors) -> DataSplit | None:
    rows = [row for row in range(split.count) if _is_readable(split, row, reader, ignored)]
    if len(rows) == split.count:
        return split
    return split.only(np.array(rows, np.int64)) if rows else None


def _is_readable(split: DataSplit, row: int, reader: SplitReader, ignored: _Errors) -> bool:
    file = SplitFile(split=split, row=row, reader=reader)
    try:
        if FormatError in ignored:
            for _ in read_data_file(file.source(), ReadRequest(fields=reader.fields)):
                pass
        elif not reader.target.store.file_io.exists(file.path):
            raise MissingFileError("read", file.path)
    except ResourceLimitError:
        raise  # the file may be intact: do not skip rows because memory is insufficient
    except ignored as error:
        warnings.warn(f"The scan skips an unreadable file. {error}", RuntimeWarning, stacklevel=2)
        return False
    return True
