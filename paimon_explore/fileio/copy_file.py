"""Copies and links of whole files between storages."""

import os
from pathlib import Path

from paimon_explore.errors import StorageError, UnsupportedFeatureError
from paimon_explore.fileio import paths
from paimon_explore.fileio.file_io import FileIO
from paimon_explore.fileio.local import LocalFileIO

_CHUNK_BYTES = 8 << 20


def copy_file(source_io: FileIO, source: str, target_io: FileIO, target: str) -> None:
    """Copy a file in parts; the copy has a new name and appears when it is complete.

    Raises:
        StorageError: a file cannot be read or written.
    """
    try:
        with source_io.open(source) as read, target_io.create_stream(target) as written:
            while data := read.read(_CHUNK_BYTES):
                written.write(data)
    except StorageError:
        raise
    except OSError as error:
        raise StorageError("copy", source, str(error)) from error


def link_file(source_io: FileIO, source: str, target_io: FileIO, target: str) -> None:
    """Create a second name (hard link) of a local file, without copying its bytes.

    Raises:
        UnsupportedFeatureError: a storage is not the local disk.
        StorageError: the file cannot be linked, for example to another disk.
    """
    if not isinstance(source_io, LocalFileIO) or not isinstance(target_io, LocalFileIO):
        raise UnsupportedFeatureError(
            "a link to a file", f"{source} to {target}", hint="Copy the file: mode='copy'."
        )
    try:
        Path(paths.parent(target)).mkdir(parents=True, exist_ok=True)
        os.link(source, target)
    except OSError as error:
        hint = "Copy the file: mode='copy'."
        raise StorageError("link", source, str(error), hint=hint) from error
