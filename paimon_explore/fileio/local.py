"""The local file system.

`create` is atomic: it writes a hidden file with a random name in the same folder, calls `fsync`,
and gives it the final name by `link`, which fails if the name exists (`rename` would replace it). A
crash leaves at most the hidden file, which readers ignore and orphan file removal deletes. If the
file system has no hard links, the final file is opened exclusively and written in one call.

A commit makes about forty system calls. Creating a `pathlib.Path` takes longer than most of them,
so the functions that commits use call `os` with strings.

Windows refuses to change a file that another program has open: such operations are repeated for a
quarter of a second, which is enough for readers of small files.
"""

import builtins
import errno
import os
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from stat import S_ISDIR, S_ISREG
from typing import TYPE_CHECKING, TypeVar

import pyarrow as pa

from paimon_explore.errors import InvalidInputError, MissingFileError, StorageError
from paimon_explore.fileio import paths
from paimon_explore.fileio.file_io import FileStatus, translate_stream_errors
from paimon_explore.frozen_dataclass import dataclass

if TYPE_CHECKING:
    from pathlib import Path

_BINARY = getattr(os, "O_BINARY", 0)
"""Without it, Windows replaces each line feed that is written by two characters."""
_READING = os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | _BINARY
_NEW = os.O_WRONLY | os.O_CREAT | os.O_EXCL | _BINARY
_READ_BYTES = 1 << 20
_BUFFER_BYTES = 1 << 16
"""Write buffer size: libraries write small files in many small calls."""
_DELETE_RETRIES = 20
"""Retries of the deletion of a folder in which others create files."""
_MISSING_ERRORS = {errno.ENOENT, errno.ENOTDIR, errno.EBADF, errno.ELOOP}
_INVALID_NAME = 123
"""Error of Windows for names with characters such as `*`, which no file can have."""
_SHARING_VIOLATION = 32
_OPEN_HINT = "A program or an unfinished scan has the file open; Windows keeps it until then."
_WAITS_S = (0.002, 0.01, 0.05, 0.2) if os.name == "nt" else ()
"""Waits for a file that another program has open or replaces: Windows refuses to change it."""
T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class LocalFileIO:
    """Files of the local machine; paths may have the scheme `file:`.

    Attributes:
        durable: whether `create` calls `fsync`.
    """

    durable: bool = True

    def read(self, path: str) -> bytes:
        """Return the content of a file."""
        with _TranslateErrors("read", path):
            handle, size = _open_for_reading(local_path(path))
            try:
                return _content(handle, size)
            finally:
                os.close(handle)

    def read_range(self, path: str, offset: int, length: int) -> bytes:
        """Return the bytes [offset, offset + length) of a file; fewer at the end of the file."""
        with _TranslateErrors("read", path):
            handle, _ = _open_for_reading(local_path(path))
            try:
                return _read_at(handle, length, offset)
            finally:
                os.close(handle)

    def open(self, path: str) -> pa.NativeFile:
        """Open a file for random access; the caller closes it."""
        with _TranslateErrors("open", path):
            name = local_path(path)
            _check_regular(os.stat(name))  # noqa: PTH116 - as above
            return LocalFile(name)

    def status(self, path: str) -> FileStatus:
        """Return the metadata of a file or folder."""
        with _TranslateErrors("access", path):
            return _status(path, os.stat(local_path(path)))  # noqa: PTH116 - as above

    def exists(self, path: str) -> bool:
        """Return whether a file or folder exists."""
        with _TranslateErrors("access", path):
            return _exists(local_path(path))

    def list(self, folder: str) -> builtins.list[FileStatus]:
        """List a folder, including hidden files, sorted by name; empty if it does not exist."""
        with _TranslateErrors("list", folder):
            return sorted(_entries(folder), key=lambda status: status.name)

    def walk(self, folder: str) -> Iterator[FileStatus]:
        """Yield all files (not folders) below a folder recursively, in no particular order.

        Links to files and folders are skipped, because their targets may be outside the folder.
        """
        pending = [folder]
        while pending:
            with _TranslateErrors("list", folder):
                found = list(_entries(pending.pop(), follows=False))
            for status in found:
                if status.is_folder:
                    pending.append(status.path)
                else:
                    yield status

    def create(self, path: str, data: bytes) -> bool:
        """Create a new file atomically, and missing parent folders."""
        with _TranslateErrors("create", path):
            final = local_path(path)
            hidden = paths.hidden_sibling(final)
            write_new(hidden, data, durable=self.durable)
            try:
                return link_to_final_name(hidden, final, data, durable=self.durable)
            finally:
                with suppress(OSError):  # it has another name, or the error of the link is raised
                    _when_free(lambda: os.unlink(hidden))  # noqa: PTH108 - as above

    def replace(self, path: str, data: bytes) -> None:
        """Create or replace a file. Readers see the old or the new content."""
        with _TranslateErrors("replace", path):
            final = local_path(path)
            if not change_in_place(final, data):
                hidden = paths.hidden_sibling(final)
                write_new(hidden, data, durable=False)
                try:
                    _when_free(lambda: os.replace(hidden, final))  # noqa: PTH105 - as above
                except BaseException:
                    with suppress(OSError):
                        os.unlink(hidden)  # noqa: PTH108 - as above
                    raise

    @contextmanager
    def create_stream(self, path: str) -> Iterator[pa.NativeFile]:
        """Open a new file for writing; it is complete after the block, or deleted if it raises."""
        final = local_path(path)
        with _TranslateErrors("create", path):
            stream = _stream(final)
        try:
            with translate_stream_errors(path):
                yield stream
                stream.close()
        except BaseException:
            with suppress(OSError):
                stream.close()  # may fail to write the buffer
            with suppress(OSError):
                _path(final).unlink()
            raise

    def delete(self, path: str) -> None:
        """Delete a file, if it exists."""
        with _TranslateErrors("delete", path):
            _when_free(lambda: _path(path).unlink(missing_ok=True))

    def delete_folder(self, path: str) -> None:
        """Delete a folder recursively, if it exists; also files that others create meanwhile."""
        import shutil  # noqa: PLC0415 - loads codecs of archives, which readers do not need

        with _TranslateErrors("delete", path), suppress(FileNotFoundError):
            target = _path(path.rstrip("/"))
            if target.is_symlink():
                target.unlink()  # only the link, not its target
                return
            for retries in range(_DELETE_RETRIES, -1, -1):
                try:
                    _when_free(lambda: shutil.rmtree(target))
                except OSError as error:
                    if error.errno != errno.ENOTEMPTY or not retries:
                        raise
                else:
                    return

    def rename_folder(self, source: str, target: str) -> None:
        """Move a folder atomically; the target must not exist or be empty."""
        with _TranslateErrors("rename", source):
            target_path = _path(target)
            target_path.parent.mkdir(parents=True, exist_ok=True)
            if os.name == "nt":  # where the target must not exist
                with suppress(OSError):
                    target_path.rmdir()
            _when_free(lambda: _path(source).rename(target_path))

    def make_folder(self, path: str) -> None:
        """Create a folder and its parents."""
        with _TranslateErrors("make", path):
            _path(path).mkdir(parents=True, exist_ok=True)


class LocalFile(pa.OSFile):
    """A file for random access, of which many parts can be read by one system call."""

    def __init__(self, path: str) -> None:
        self._path = path

    def read_into(self, parts: Sequence[memoryview | pa.Buffer], offset: int) -> int:
        """Fill buffers, one after the other, with the bytes from an offset on.

        Returns:
            The number of bytes; 0 where the system has no such call, or if the file was deleted
            since: then it can only be read where it is open.

        Raises:
            OSError: the file cannot be opened or read.
        """
        if not hasattr(os, "preadv"):
            return 0
        try:
            handle, _ = _open_for_reading(self._path)
        except FileNotFoundError:
            return 0
        try:
            return os.preadv(handle, parts, offset)
        finally:
            os.close(handle)


def local_path(path: str) -> str:
    """Return a path without the `file:` scheme and its slashes.

    Raises:
        StorageError: the path has another scheme.

    >>> local_path("file:///tmp/t"), local_path("file:/tmp/t"), local_path("/tmp/t")
    ('/tmp/t', '/tmp/t', '/tmp/t')
    >>> local_path("FILE://localhost/tmp/t")
    '/tmp/t'
    """
    if os.sep != "/":
        path = paths.with_slashes(path)
        path += "/" if path[1:] == ":" else ""  # without it, the current folder of the drive
    kind = "" if path.startswith("/") else paths.scheme(path)
    if not kind:
        return path
    if kind != "file":
        raise StorageError(
            "access", path, "the file system of the table does not support this URL scheme"
        )
    rest = path[len("file:") :].removeprefix("//localhost/").lstrip("/")
    return rest if os.name == "nt" and rest[1:2] == ":" else "/" + rest


def without_file_scheme(path: str) -> str:
    """Return a path without the scheme `file:`; paths of other storages stay as they are."""
    return local_path(path) if paths.scheme(path) in {"", "file"} else path


def absolute_path(path: str) -> str:
    """Return the absolute form of a local path, as `pathlib` does: `..` and links stay.

    Raises:
        InvalidInputError: the path starts with `~` and the name of an unknown user, or is relative
            in a folder that does not exist any more.

    >>> absolute_path("/tmp//t/./u/")
    '/tmp/t/u'
    """
    if not path.startswith("/") or os.sep != "/":
        try:
            return _path(path).expanduser().absolute().as_posix()
        except RuntimeError as error:
            raise InvalidInputError(
                f"{path[:80]!r} starts with '~', and no home folder is known for it.",
                hint=f"Write {'./' + path[:80]!r} for a folder of that name.",
            ) from error
        except FileNotFoundError as error:
            raise InvalidInputError(
                f"The path {path[:80]!r} is relative, and the current folder was deleted.",
                hint="Write an absolute path, or change to another folder.",
            ) from error
    return "/" + "/".join([part for part in path.split("/") if part not in {"", "."}])


def _when_free(operation: Callable[[], T]) -> T:
    """Run an operation; on Windows again, while another program has the file open."""
    for wait_s in _WAITS_S:
        try:
            return operation()
        except PermissionError:
            time.sleep(wait_s)
    return operation()


def _path(path: str) -> "Path":
    from pathlib import Path  # noqa: PLC0415 - takes as long as to plan a scan, and reads need none

    return Path(local_path(path))


class _TranslateErrors:
    """Converts errors of the operating system to `StorageError` with operation and path."""

    __slots__ = ("_operation", "_path")

    def __init__(self, operation: str, path: str) -> None:
        self._operation = operation
        self._path = path

    def __enter__(self) -> None:
        pass

    def __exit__(self, kind: object, error: BaseException | None, trace: object) -> None:
        if error is None or isinstance(error, StorageError):
            return
        if isinstance(error, FileNotFoundError):
            raise MissingFileError(self._operation, self._path) from error
        if isinstance(error, OSError):
            reason = error.strerror or str(error)
            hint = _OPEN_HINT if _windows_code(error) == _SHARING_VIOLATION else ""
            raise StorageError(self._operation, self._path, reason, hint=hint) from error
        if isinstance(error, ValueError):
            raise StorageError(
                self._operation, self._path, f"the path is invalid: {error}"
            ) from error


def _windows_code(error: OSError) -> int:
    """Return the error code of Windows; 0 on other systems, whose errors have none."""
    return int(getattr(error, "winerror", 0) or 0)


def _exists(path: str) -> bool:
    try:
        os.stat(path)  # noqa: PTH116 - as above
    except OSError as error:
        if error.errno not in _MISSING_ERRORS and _windows_code(error) != _INVALID_NAME:
            raise
        return False
    except ValueError:  # not a valid file name
        return False
    return True


def _stream(path: str) -> pa.NativeFile:
    """Open a file for writing; create its folder if missing."""
    try:
        file = pa.OSFile(path, "wb")
    except FileNotFoundError:
        os.makedirs(_path(path).parent, exist_ok=True)  # noqa: PTH103 - faster than of a path
        file = pa.OSFile(path, "wb")
    return pa.BufferedOutputStream(file, _BUFFER_BYTES)


def _check_regular(found: os.stat_result) -> None:
    """Refuse what is neither a file nor a folder: reading a pipe or device would never end."""
    if not S_ISREG(found.st_mode) and not S_ISDIR(found.st_mode):
        raise OSError(errno.EINVAL, "the path is not a regular file")


def _open_for_reading(path: str) -> tuple[int, int]:
    """Open a file for reading; returns handle and size. Pipes are refused without waiting."""
    handle = _when_free(lambda: os.open(path, _READING))
    found = os.fstat(handle)
    try:
        _check_regular(found)
    except OSError:
        os.close(handle)
        raise
    return handle, found.st_size


def _read_at(handle: int, length: int, offset: int) -> bytes:
    """Read a part of a file that nobody else reads by this handle."""
    if hasattr(os, "pread"):
        return os.pread(handle, length, offset)
    os.lseek(handle, offset, os.SEEK_SET)  # on Windows
    return os.read(handle, length)


def _content(handle: int, size: int) -> bytes:
    """Read a file of about `size` bytes; reading a folder raises the error of the system."""
    parts = [os.read(handle, size + 1)]
    while parts[-1] and (len(parts) > 1 or len(parts[0]) != size):
        parts.append(os.read(handle, _READ_BYTES))
    return parts[0] if len(parts) == 1 else b"".join(parts)


def _entries(folder: str, *, follows: bool = True) -> Iterator[FileStatus]:
    """Yield the entries of a folder; links are followed or skipped."""
    try:
        found = os.scandir(local_path(folder))
    except FileNotFoundError:
        return
    except NotADirectoryError:
        if _path(folder).exists():
            raise
        return  # the parent is a file
    with found:
        for entry in found:
            if not follows and entry.is_symlink():
                continue
            with suppress(FileNotFoundError):  # deleted during the listing
                yield _status(paths.join(folder, entry.name), entry.stat())


def _status(path: str, stat: os.stat_result) -> FileStatus:
    if S_ISDIR(stat.st_mode):
        return FileStatus(path=path, is_folder=True)
    return FileStatus(path=path, size=stat.st_size, modified_ms=stat.st_mtime_ns // 1_000_000)


_CHANGING = os.O_RDWR | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0) | _BINARY
_SMALL_BYTES = 32
_NO_LINK_ERRORS = {errno.EPERM, errno.ENOTSUP, errno.EOPNOTSUPP, errno.ENOSYS, errno.EMLINK}
_NO_LINK_CODES = {1, 50, 1142}
"""Errors of Windows: the disk has no such function (exFAT), no such request, or too many links."""


def change_in_place(path: str, data: bytes) -> bool:
    """Change the last byte of a small file in place if nothing else differs; True if done.

    A hint is a counter: in nine of ten cases only its last digit changes, and readers see the old
    or the new byte. This avoids creating and freeing a file: file systems check recently freed
    files when they create the next one, so frequent replacement slows down file creation. Only the
    last byte is ever changed in place, so the result of two writers is the content of one of them.
    Files with more than one hard link are not changed in place.
    """
    if not 0 < len(data) <= _SMALL_BYTES:
        return False
    try:
        handle = os.open(path, _CHANGING)
    except OSError:
        return False
    try:
        found = os.fstat(handle)
        is_own = S_ISREG(found.st_mode) and found.st_nlink == 1 and found.st_size == len(data)
        if not is_own or os.read(handle, len(data))[:-1] != data[:-1]:
            return False
        os.lseek(handle, len(data) - 1, os.SEEK_SET)
        return os.write(handle, data[-1:]) == 1
    finally:
        os.close(handle)


def write_new(path: str, data: bytes, *, durable: bool) -> None:
    """Write a file that must not exist; create its folder if missing."""
    try:
        handle = os.open(path, _NEW, 0o666)
    except FileNotFoundError:
        _path(path).parent.mkdir(parents=True, exist_ok=True)
        handle = os.open(path, _NEW, 0o666)
    try:
        view = memoryview(data)
        while view:
            view = view[os.write(handle, view) :]
        if durable:
            os.fsync(handle)
    except BaseException:
        with suppress(OSError):
            _path(path).unlink()
        raise
    finally:
        os.close(handle)


def link_to_final_name(hidden: str, final: str, data: bytes, *, durable: bool) -> bool:
    """Give a written file its final name; False if the name is taken."""
    try:
        _when_free(lambda: os.link(hidden, final))
    except FileExistsError:
        return False
    except OSError as error:
        if error.errno not in _NO_LINK_ERRORS and _windows_code(error) not in _NO_LINK_CODES:
            raise
        try:
            write_new(final, data, durable=durable)
        except FileExistsError:
            return False
    return True
