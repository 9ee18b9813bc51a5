"""HDFS through pyarrow and Hadoop's native client (libhdfs), which must be installed.

`create` is atomic: it writes a hidden file in the same folder and renames it; the rename of HDFS
fails if the target exists. Java's committers do the same. pyarrow's `move` cannot be used because
it deletes an existing target, so the rename calls libhdfs directly, which pyarrow has loaded.

`replace` (hints, tags) deletes and renames, so the file is missing for a moment.

Spec: Hadoop, FileSystem.rename and libhdfs (hdfs.h).
"""

import builtins
import ctypes
import os
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from functools import lru_cache
from pathlib import Path

import pyarrow as pa
from pyarrow import fs

from paimon_explore.errors import (
    MissingFileError,
    StorageError,
    UnsupportedFeatureError,
    safe_cause,
)
from paimon_explore.fileio import paths
from paimon_explore.fileio.file_io import FileStatus, translate_stream_errors
from paimon_explore.frozen_dataclass import dataclass

Options = tuple[tuple[str, str], ...]
Rename = Callable[[str, str], bool]
"""Renames a file; False if the target exists."""

_INSTALL = (
    "Install the Hadoop client and Java, and set JAVA_HOME, HADOOP_HOME (or ARROW_LIBHDFS_DIR, the "
    "folder of libhdfs) and CLASSPATH (the output of `hadoop classpath --glob`)."
)
_NOT_LOADED = ("Unable to load", "could not load", "cannot open shared object")


@dataclass(frozen=True, slots=True, kw_only=True)
class HdfsClient:
    """A connection to one cluster.

    Attributes:
        files: pyarrow's file system.
        rename: the atomic rename of `create`.
    """

    files: fs.FileSystem
    rename: Rename


@lru_cache(maxsize=16)
def hdfs_client(authority: str, options: Options) -> HdfsClient:
    """Return the client for a cluster.

    Args:
        authority: `host:port`, the name of a nameservice, or "" for the default one.
        options: `user`, `kerb_ticket`, `replication`, and any Hadoop setting.

    Raises:
        UnsupportedFeatureError: Java or Hadoop's client is not installed.
        StorageError: the cluster does not respond.
    """
    host, _, port = authority.rpartition(":")
    if not port.isdigit():
        host, port = authority, "0"
    given = dict(options)
    user, ticket = given.pop("user", None), given.pop("kerb_ticket", None)
    replication = int(given.pop("replication", "3"))
    try:
        files = fs.HadoopFileSystem(
            host or "default",
            int(port),
            user=user,
            replication=replication,
            kerb_ticket=ticket,
            extra_conf=given or None,
        )
        native = NativeHdfs(host or "default", int(port), user=user, ticket=ticket, settings=given)
    except OSError as error:
        first = str(error).partition("\n")[0]
        if any(text in str(error) for text in _NOT_LOADED):
            raise UnsupportedFeatureError(
                f"access to HDFS without Hadoop's native library libhdfs ({first})", hint=_INSTALL
            ) from error
        raise StorageError("connect to", f"hdfs://{authority}", first) from error
    return HdfsClient(files=files, rename=native.rename)


class NativeHdfs:
    """A libhdfs connection for the rename without overwrite, which pyarrow does not offer.

    Args:
        host: the name node or nameservice, or `default`.
        port: 0 for the default port.
        user: the user name.
        ticket: path of a Kerberos ticket cache.
        settings: Hadoop settings.

    Raises:
        OSError: the library is not found, or the cluster does not respond.
    """

    def __init__(
        self,
        host: str,
        port: int,
        *,
        user: str | None,
        ticket: str | None,
        settings: dict[str, str],
    ) -> None:
        library = ctypes.CDLL(library_path(), use_errno=True)
        library.hdfsNewBuilder.restype = ctypes.c_void_p
        library.hdfsBuilderConnect.restype = ctypes.c_void_p
        builder = ctypes.c_void_p(library.hdfsNewBuilder())
        calls: list[tuple[str, tuple[str, ...]]] = [("hdfsBuilderSetNameNode", (host,))]
        calls += [("hdfsBuilderSetUserName", (user,))] if user else []
        calls += [("hdfsBuilderSetKerbTicketCachePath", (ticket,))] if ticket else []
        calls += [("hdfsBuilderConfSetStr", pair) for pair in settings.items()]
        # the builder keeps pointers to these bytes until it connects
        encoded = [(name, [text.encode() for text in texts]) for name, texts in calls]
        for name, texts in encoded:
            library[name](builder, *texts)
        library.hdfsBuilderSetNameNodePort(builder, ctypes.c_uint16(port))
        self._library = library
        self._connection = ctypes.c_void_p(library.hdfsBuilderConnect(builder))
        if self._connection.value is None:
            raise OSError(ctypes.get_errno(), f"the name node {host} did not accept the connection")

    def rename(self, source: str, target: str) -> bool:
        """Rename a file; False if the target exists.

        Raises:
            OSError: the rename failed for another reason.
        """
        old, new = source.encode(), target.encode()
        if self._library.hdfsRename(self._connection, old, new) == 0:
            return True
        number = ctypes.get_errno()
        if self._library.hdfsExists(self._connection, new) == 0:
            return False
        raise OSError(number, os.strerror(number))


def library_path() -> str:
    """Return the path of libhdfs in the folders that pyarrow searches, or else its file name."""
    name = "libhdfs.dylib" if sys.platform == "darwin" else "libhdfs.so"
    folders = [Path(folder) for folder in [os.environ.get("ARROW_LIBHDFS_DIR")] if folder]
    if home := os.environ.get("HADOOP_HOME"):
        folders.append(Path(home) / "lib" / "native")
    found = [folder / name for folder in folders if (folder / name).exists()]
    return str(found[0]) if found else name


@dataclass(frozen=True, slots=True)
class HdfsFileIO:
    """Files of HDFS clusters with the same settings.

    Attributes:
        options: settings as sorted pairs; see `hdfs_client`.
        connect: returns the client for `host:port`.
    """

    options: Options = ()
    connect: Callable[[str, Options], HdfsClient] = hdfs_client

    def read(self, path: str) -> bytes:
        """Return the content of a file."""
        with self.open(path) as file, _translate_errors("read", path):
            return bytes(file.read())

    def read_range(self, path: str, offset: int, length: int) -> bytes:
        """Return the bytes [offset, offset + length) of a file; fewer at the end of the file."""
        with self.open(path) as file, _translate_errors("read", path):
            file.seek(min(offset, file.size()))
            return bytes(file.read(length))

    def open(self, path: str) -> pa.NativeFile:
        """Open a file for random access; the caller closes it."""
        with self._at("open", path) as (client, inner):
            return client.files.open_input_file(inner)

    def status(self, path: str) -> FileStatus:
        """Return the metadata of a file or folder."""
        with self._at("access", path) as (client, inner):
            found = client.files.get_file_info(inner)
        if found.type == fs.FileType.NotFound:
            raise MissingFileError("access", path)
        return _status(path, found)

    def exists(self, path: str) -> bool:
        """Return whether a file or folder exists."""
        try:
            self.status(path)
        except MissingFileError:
            return False
        return True

    def list(self, folder: str) -> builtins.list[FileStatus]:
        """List a folder, including hidden files, sorted by name; empty if it does not exist."""
        return sorted(self._found(folder, deep=False), key=lambda status: status.name)

    def walk(self, folder: str) -> Iterator[FileStatus]:
        """Yield all files (not folders) below a folder recursively, in no particular order."""
        yield from (found for found in self._found(folder, deep=True) if not found.is_folder)

    def create(self, path: str, data: bytes) -> bool:
        """Create a new file atomically, and missing parent folders."""
        with self._at("create", path) as (client, inner):
            hidden = paths.hidden_sibling(inner)
            try:
                _write(client.files, hidden, data)
                return client.rename(hidden, inner)
            finally:
                with suppress(OSError):  # missing after a successful rename
                    client.files.delete_file(hidden)

    def replace(self, path: str, data: bytes) -> None:
        """Create or replace a file; it may be missing for a moment."""
        with self._at("replace", path) as (client, inner):
            hidden = paths.hidden_sibling(inner)
            _write(client.files, hidden, data)
            client.files.move(hidden, inner)

    @contextmanager
    def create_stream(self, path: str) -> Iterator[pa.NativeFile]:
        """Open a new file for writing; it is complete after the block, or deleted if it raises."""
        with self._at("create", path) as (client, inner):
            stream = _new_file(client.files, inner)
        try:
            with translate_stream_errors(path), stream:
                yield stream
        except BaseException:
            with suppress(OSError):
                client.files.delete_file(inner)
            raise

    def delete(self, path: str) -> None:
        """Delete a file, if it exists."""
        with self._at("delete", path) as (client, inner), suppress(FileNotFoundError):
            if client.files.get_file_info(inner).type != fs.FileType.NotFound:
                client.files.delete_file(inner)

    def delete_folder(self, path: str) -> None:
        """Delete a folder recursively, if it exists."""
        with self._at("delete", path) as (client, inner), suppress(FileNotFoundError):
            if client.files.get_file_info(inner).type != fs.FileType.NotFound:
                client.files.delete_dir(inner)

    def rename_folder(self, source: str, target: str) -> None:
        """Move a folder atomically; the target must not exist."""
        target_path = self._locate(target)[1]
        with self._at("rename", source) as (client, inner):
            client.files.create_dir(paths.parent(target_path), recursive=True)
            client.files.move(inner, target_path)

    def make_folder(self, path: str) -> None:
        """Create a folder and its parents."""
        with self._at("make", path) as (client, inner):
            client.files.create_dir(inner, recursive=True)

    @contextmanager
    def _at(self, operation: str, path: str) -> Iterator[tuple[HdfsClient, str]]:
        """Yield the client of a path and its path there; convert errors of the client."""
        client, inner = self._locate(path)
        with _translate_errors(operation, path):
            yield client, inner

    def _locate(self, path: str) -> tuple[HdfsClient, str]:
        if paths.scheme(path) not in paths.HADOOP_SCHEMES:
            raise StorageError(
                "access", path, "the table is opened on HDFS, which has no files of this URL scheme"
            )
        rest = path.partition(":")[2]
        if not rest.startswith("//"):
            return self.connect("", self.options), rest
        authority, slash, inner = rest[2:].partition("/")
        if paths.scheme(path) == "viewfs":
            authority = f"viewfs://{authority}"
        return self.connect(authority, self.options), f"{slash}{inner}".rstrip("/") or "/"

    def _found(self, folder: str, *, deep: bool) -> Sequence[FileStatus]:
        client, inner = self._locate(folder)
        selector = fs.FileSelector(inner, allow_not_found=True, recursive=deep)
        with _translate_errors("list", folder):
            found = client.files.get_file_info(selector)
        root = inner.rstrip("/")
        return [
            _status(paths.join(folder, _relative_path(info.path, root)), info) for info in found
        ]


def _relative_path(path: str, root: str) -> str:
    """Return a path relative to the root; the cluster may prefix paths with its address."""
    place = path.find(f"{root}/")
    return path[place + len(root) + 1 :] if place >= 0 else path


def _status(path: str, info: fs.FileInfo) -> FileStatus:
    if info.type == fs.FileType.Directory:
        return FileStatus(path=path, is_folder=True)
    modified_ms = (info.mtime_ns or 0) // 1_000_000
    return FileStatus(path=path, size=info.size or 0, modified_ms=modified_ms)


def _new_file(files: fs.FileSystem, path: str) -> pa.NativeFile:
    try:
        return files.open_output_stream(path, compression=None)
    except FileNotFoundError:
        files.create_dir(paths.parent(path), recursive=True)
        return files.open_output_stream(path, compression=None)


def _write(files: fs.FileSystem, path: str, data: bytes) -> None:
    with _new_file(files, path) as stream:
        stream.write(data)


@contextmanager
def _translate_errors(operation: str, path: str) -> Iterator[None]:
    """Convert errors of the client to `StorageError` with operation and path."""
    try:
        yield
    except FileNotFoundError as error:
        raise MissingFileError(operation, path) from error
    except StorageError:
        raise
    except (OSError, pa.ArrowException) as error:
        raise StorageError(operation, path, str(error).partition("\n")[0]) from safe_cause(error)
