"""Cancellation of ADD and DELETE manifest entries, as Java's `FileEntry.mergeEntries`.

`live_entries` reduces all entries of a snapshot to its live data files. `merge_entries` reduces the
entries of manifests that are rewritten. Entries cancel if they have the same identity: partition,
bucket, level, file name, extra files, embedded index and external path.
"""

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from paimon_explore import arrow_compute as pc
from paimon_explore.data_types.arrow_buffers import (
    Column,
    binary_scalar,
    bool_values,
    fixed_values,
    string_scalar,
)
from paimon_explore.errors import CorruptFileError
from paimon_explore.metadata.manifest.manifest_entry import FileKind, ManifestEntries
from paimon_explore.metadata.manifest.manifest_table import Chunks, as_array

_NO_TEXT = string_scalar("")
_SLASH = string_scalar("/")
_NO_BYTES = binary_scalar(b"")
_NUL = binary_scalar(b"\x00")


def live_entries(entries: ManifestEntries) -> ManifestEntries:
    """Return the live files of a snapshot: every ADD entry without a DELETE of the same identity.

    Like Java, this assumes that each identity is added once and deleted at most once.

    Args:
        entries: of the base list, then of the delta list.

    Returns:
        ADD entries in the given order.
    """
    deleted = entries.of_kind(FileKind.DELETE)
    added = entries.of_kind(FileKind.ADD) if len(deleted) else entries
    if len(deleted):
        candidates = _is_in(added.column("file_name"), _one(deleted, "file_name"))
        keys = entry_identities(added.filter(candidates))
        is_cancelled = _is_in(keys, as_array(entry_identities(deleted)))
        cancelled = _mask(candidates)
        cancelled[cancelled] = _mask(is_cancelled)
        added = added.filter(~cancelled)
    return added


def merge_entries(entries: ManifestEntries, *, path: str = "") -> ManifestEntries:
    """Remove pairs of ADD and DELETE entries of the same identity; the order is preserved.

    A DELETE without an ADD is kept, because its ADD is in another manifest.

    Args:
        entries: in the order of their manifests.
        path: for messages.

    Raises:
        CorruptFileError: an identity is added although it is present or already deleted.
    """
    keys = pc.call_function("dictionary_encode", [as_array(entry_identities(entries))])
    codes = fixed_values(keys.indices, np.int32)
    kinds = fixed_values(_one(entries, "kind"), np.int8)
    adds = np.bincount(codes[kinds == FileKind.ADD], minlength=len(keys.dictionary))
    deletes = np.bincount(codes[kinds == FileKind.DELETE], minlength=len(keys.dictionary))
    repeated = (adds + deletes > 1)[codes]
    kept = ~repeated
    open_adds: dict[int, int] = {}
    # A Python loop is fast enough: only identities that occur more than once.
    for row in np.flatnonzero(repeated).tolist():
        code, kind = int(codes[row]), kinds[row]
        before = open_adds.get(code)
        if kind == FileKind.ADD:
            if before is not None:
                raise _twice_added(entries, row, path)
            open_adds[code], kept[row] = row, True
        elif before is None:
            kept[row], open_adds[code] = True, row
        else:
            kept[before] = False
            del open_adds[code]
    return entries.filter(kept)


def _twice_added(entries: ManifestEntries, row: int, path: str) -> CorruptFileError:
    name = entries.column("file_name")[row].as_py()
    return CorruptFileError(
        path, f"file {name}", "must be added only once, but two entries add the file"
    )


def entry_identities(entries: ManifestEntries) -> Chunks:
    """Return one binary value per entry that is equal if and only if the identities are equal.

    File names contain neither NUL nor "/", so the parts before the partition are unambiguous; the
    partition's length separates it from the embedded index.
    """
    call = pc.call_function
    partition = entries.column("partition")
    extra = call("binary_join", [entries.column("extra_files"), _SLASH])
    parts = [
        _cast(entries.column("level"), pa.string()),
        _cast(entries.column("bucket"), pa.string()),
        entries.column("file_name"),
        call("coalesce", [extra, _NO_TEXT]),
        call("coalesce", [entries.column("external_path"), _NO_TEXT]),
        _cast(call("binary_length", [partition]), pa.string()),
    ]
    tail = call("coalesce", [entries.column("embedded_file_index"), _NO_BYTES])
    texts = [_cast(part, pa.binary()) for part in parts]
    keys: Chunks = call("binary_join_element_wise", [*texts, partition, tail, _NUL])
    return keys


def _cast(values: Chunks, target: pa.DataType) -> Chunks:
    return pc.call_function("cast", [values], pc.CastOptions.safe(target))  # type: ignore[no-any-return]  # in stubs


def _is_in(values: Chunks, known: Column) -> Chunks:
    options = pc.SetLookupOptions(value_set=known, skip_nulls=False)
    return pc.call_function("is_in", [values], options)  # type: ignore[no-any-return]  # in stubs


def _one(entries: ManifestEntries, name: str) -> Column:
    return as_array(entries.column(name))


def _mask(column: "Column | Chunks") -> npt.NDArray[np.bool_]:
    """Return a boolean column without nulls as a writable numpy mask."""
    if isinstance(column, pa.ChunkedArray):
        column = as_array(column)
    return np.array(bool_values(column))
