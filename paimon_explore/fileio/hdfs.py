"""HDFS, through pyarrow and Hadoop's own native client (libhdfs), where the user has them.

How `create` keeps its promise: the bytes go to a hidden file in the same folder, and HDFS gives it
the final name, which its rename refuses if the name is taken: the same step that Java's committers
take. pyarrow's `move` would not do: it deletes what has the name and tries again. So this one call
goes to libhdfs directly, the library that pyarrow has loaded already.

`replace` (hints, tags that move) deletes and renames: for a moment there is no such file.

Spec: Hadoop, FileSystem.rename and libhdfs (hdfs.h).
"""

import ctypes
import os
import sys
import uuid
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
from paimon_explore.fileio.file_io import FileStatus
from paimon_explore.fileio.streams import naming_stream
from paimon_explore.frozen_dataclass import dataclass

Options = tuple[tuple[str, str], ...]
Rename = Callable[[str, str], bool]
"""Gives a file another name; False if the name is taken."""

_INSTALL = (
    "Install Hadoop's client and Java, and set JAVA_HOME, HADOOP_HOME (or ARROW_LIBHDFS_DIR, the "
    "folder of libhdfs) and CLASSPATH, to what `hadoop classpath --glob` prints."
)
_NOT_LOADED = ("Unable to load", "could not load", "cannot open shared object")


@dataclass(frozen=True, slots=True, kw_only=True)
class HdfsClient:
    """A connection to one cluster.

    Attributes:
        files: everything but commits.
        rename: the step that commits.
    """

    files: fs.FileSystem
    rename: Rename


def connected(authority: str, options: Options) -> HdfsClient:
    """The cluster of a location.

    Args:
        authority: `host:port`, the name of a nameservice, or nothing for the default one.
        options: `user`, `kerb_ticket`, `replication`, and any setting of Hadoop's.

    Raises:
        UnsupportedFeatureError: Java or Hadoop's client is not installed.
        StorageError: the cluster does not answer.
    """
    return _connected(authority, options)


@lru_cache(maxsize=16)
def _connected(authority: str, options: Options) -> HdfsClient:
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
                f"HDFS without Hadoop's native client ({first})", hint=_INSTALL
            ) from error
        raise StorageError("connect to", f"hdfs://{authority}", first) from error
    return HdfsClient(files=files, rename=native.rename)


class NativeHdfs:
    """The one call that pyarrow does not pass on: a rename that overwrites nothing.

    Args:
        host: the name node or nameservice, or `default`.
        port: 0 for the default one.
        user: on whose behalf.
        ticket: the file of a Kerberos ticket.
        settings: of Hadoop.

    Raises:
        OSError: the library is not there, or the cluster does not answer.
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
        told: list[tuple[str, tuple[str, ...]]] = [("hdfsBuilderSetNameNode", (host,))]
        told += [("hdfsBuilderSetUserName", (user,))] if user else []
        told += [("hdfsBuilderSetKerbTicketCachePath", (ticket,))] if ticket else []
        told += [("hdfsBuilderConfSetStr", pair) for pair in settings.items()]
        # the builder keeps pointers to these bytes until it connects
        kept = [(name, [text.encode() for text in texts]) for name, texts in told]
        for name, texts in kept:
            library[name](builder, *texts)
        library.hdfsBuilderSetNameNodePort(builder, ctypes.c_uint16(port))
        self._library = library
        self._connection = ctypes.c_void_p(library.hdfsBuilderConnect(builder))
        if self._connection.value is None:
            raise OSError(ctypes.get_errno(), f"no connection to {host}")

    def rename(self, source: str, target: str) -> bool:
        """Give a file a name that is free; False if it is taken.

        Raises:
            OSError: neither worked.
        """
        old, new = source.encode(), target.encode()
        if self._library.hdfsRename(self._connection, old, new) == 0:
            return True
        number = ctypes.get_errno()
        if self._library.hdfsExists(self._connection, new) == 0:
            return False
        raise OSError(number, os.strerror(number))


def library_path() -> str:
    """Where libhdfs is, of the places where pyarrow looks; else its mere name."""
    name = "libhdfs.dylib" if sys.platform == "darwin" else "libhdfs.so"
    folders = [Path(folder) for folder in [os.environ.get("ARROW_LIBHDFS_DIR")] if folder]
    if home := os.environ.get("HADOOP_HOME"):
        folders.append(Path(home) / "lib" / "native")
    found = [folder / name for folder in folders if (folder / name).exists()]
    return str(found[0]) if found else name


@dataclass(frozen=True, slots=True)
class HdfsFileIO:
    """Files of any HDFS cluster that the same settings open.

    Attributes:
        options: settings as sorted pairs; see `connected`.
        connect: gives the cluster of `host:port`.
    """

    options: Options = ()
    connect: Callable[[str, Options], HdfsClient] = connected

    def read(self, path: str) -> bytes:
        """The whole content of a file."""
        with self.open(path) as file, _naming("read", path):
            return bytes(file.read())

    def read_range(self, path: str, offset: int, length: int) -> bytes:
        """Bytes [offset, offset + length) of a file; fewer when the file ends before."""
        with self.open(path) as file, _naming("read", path):
            file.seek(min(offset, file.size()))
            return bytes(file.read(length))

    def open(self, path: str) -> pa.NativeFile:
        """A file for random reading; the caller closes it."""
        client, inner = self._locate(path)
        with _naming("open", path):
            return client.files.open_input_file(inner)

    def status(self, path: str) -> FileStatus:
        """Size and time of a file or folder."""
        client, inner = self._locate(path)
        with _naming("look at", path):
            found = client.files.get_file_info(inner)
        if found.type == fs.FileType.NotFound:
            raise MissingFileError("look at", path)
        return _status(path, found)

    def exists(self, path: str) -> bool:
        """Whether a file or folder is there."""
        try:
            self.status(path)
        except MissingFileError:
            return False
        return True

    def list(self, folder: str) -> list[FileStatus]:
        """What lies directly in a folder, by name; hidden files too; nothing when it is absent."""
        return sorted(self._found(folder, deep=False), key=lambda status: status.name)

    def walk(self, folder: str) -> Iterator[FileStatus]:
        """All files (not folders) below a folder, at any depth, in no order."""
        yield from (found for found in self._found(folder, deep=True) if not found.is_folder)

    def create(self, path: str, data: bytes) -> bool:
        """Make a file that is not there yet, in one step; make missing parent folders."""
        client, inner = self._locate(path)
        hidden = _hidden_sibling(inner)
        with _naming("create", path):
            try:
                _write(client.files, hidden, data)
                return client.rename(hidden, inner)
            finally:
                with suppress(OSError):  # it is gone if it has its name now
                    client.files.delete_file(hidden)

    def replace(self, path: str, data: bytes) -> None:
        """Write a file whether or not it exists; for a moment it may be absent."""
        client, inner = self._locate(path)
        hidden = _hidden_sibling(inner)
        with _naming("replace", path):
            _write(client.files, hidden, data)
            client.files.move(hidden, inner)

    @contextmanager
    def create_stream(self, path: str) -> Iterator[pa.NativeFile]:
        """A new file to write piece by piece; complete when the block ends, gone if it raises."""
        client, inner = self._locate(path)
        with _naming("create", path):
            stream = _new_file(client.files, inner)
        try:
            with naming_stream(path), stream:
                yield stream
        except BaseException:
            with suppress(OSError):
                client.files.delete_file(inner)
            raise

    def delete(self, path: str) -> None:
        """Remove a file; not an error if it is absent."""
        client, inner = self._locate(path)
        with _naming("delete", path), suppress(FileNotFoundError):
            if client.files.get_file_info(inner).type != fs.FileType.NotFound:
                client.files.delete_file(inner)

    def delete_folder(self, path: str) -> None:
        """Remove a folder with everything in it; not an error if it is absent."""
        client, inner = self._locate(path)
        with _naming("delete", path), suppress(FileNotFoundError):
            if client.files.get_file_info(inner).type != fs.FileType.NotFound:
                client.files.delete_dir(inner)

    def rename_folder(self, source: str, target: str) -> None:
        """Move a folder in one step; the target must be absent."""
        client, inner = self._locate(source)
        goal = self._locate(target)[1]
        with _naming("rename", source):
            client.files.create_dir(paths.parent(goal), recursive=True)
            client.files.move(inner, goal)

    def make_folder(self, path: str) -> None:
        """Make a folder and its parents."""
        client, inner = self._locate(path)
        with _naming("make", path):
            client.files.create_dir(inner, recursive=True)

    def _locate(self, path: str) -> tuple[HdfsClient, str]:
        if paths.scheme(path) not in paths.HADOOP_SCHEMES:
            raise StorageError("reach", path, "the table's storage has no files of this scheme")
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
        with _naming("list", folder):
            found = client.files.get_file_info(selector)
        root = inner.rstrip("/")
        return [_status(paths.join(folder, _behind(info.path, root)), info) for info in found]


def _behind(path: str, root: str) -> str:
    """What stands behind the root in a path; a cluster may put its own name in front."""
    place = path.find(f"{root}/")
    return path[place + len(root) + 1 :] if place >= 0 else path


def _status(path: str, info: fs.FileInfo) -> FileStatus:
    is_folder = info.type == fs.FileType.Directory
    return FileStatus(
        path=path,
        name=paths.name(path),
        size=0 if is_folder else info.size or 0,
        is_folder=is_folder,
        modified_ms=0 if is_folder else (info.mtime_ns or 0) // 1_000_000,
    )


def _hidden_sibling(final: str) -> str:
    folder, _, name = final.rpartition("/")
    return f"{folder}/.{name}.{uuid.uuid4()}.tmp"


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
def _naming(operation: str, path: str) -> Iterator[None]:
    """Turn the client's errors into ours, with what was done to which path."""
    try:
        yield
    except FileNotFoundError as error:
        raise MissingFileError(operation, path) from error
    except StorageError:
        raise
    except (OSError, pa.ArrowException) as error:
        raise StorageError(operation, path, str(error).partition("\n")[0]) from safe_cause(error)
