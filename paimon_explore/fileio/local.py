"""The local disk.

How `create` keeps its promise: the bytes go to a hidden file of a random name in the same folder,
are forced to disk, and get the final name by `link`, which fails if the name is taken (`rename`
would replace it). A crash leaves at worst the hidden file, which readers ignore and orphan removal
finds. Where links are not possible the final name is opened exclusively and written in one call.

A commit makes some forty calls of the system. Most take less time than a `pathlib` path takes to be
made, so where commits pass, the functions of `os` get the text as it is.
"""

import errno
import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from stat import S_ISDIR, S_ISREG
from types import TracebackType

import pyarrow as pa

from paimon_explore.errors import MissingFileError, StorageError
from paimon_explore.fileio import paths
from paimon_explore.fileio.file_io import FileStatus
from paimon_explore.fileio.streams import naming_stream
from paimon_explore.frozen_dataclass import dataclass

_READING = os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0)
_CHANGING = os.O_RDWR | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0)
_SMALL_BYTES = 32
_PIECE = 1 << 20
_STREAM_BYTES = 1 << 16
"""What is gathered before it is written: libraries write small files in many small pieces."""
_NOT_THERE = {errno.ENOENT, errno.ENOTDIR, errno.EBADF, errno.ELOOP}
_NO_LINKS = {errno.EPERM, errno.ENOTSUP, errno.EOPNOTSUPP, errno.ENOSYS, errno.EMLINK}


@dataclass(frozen=True, slots=True)
class LocalFileIO:
    """Files of this machine; paths may carry the scheme `file:`.

    Attributes:
        durable: whether `create` waits until the bytes are on the disk.
    """

    durable: bool = True

    def read(self, path: str) -> bytes:
        """The whole content of a file."""
        with _Naming("read", path):
            handle, size = _opened(local_path(path))
            try:
                return _content(handle, size)
            finally:
                os.close(handle)

    def read_range(self, path: str, offset: int, length: int) -> bytes:
        """Bytes [offset, offset + length) of a file; fewer when the file ends before."""
        with _Naming("read", path):
            handle, _ = _opened(local_path(path))
            try:
                return os.pread(handle, length, offset)
            finally:
                os.close(handle)

    def open(self, path: str) -> pa.NativeFile:
        """A file for random reading; the caller closes it."""
        with _Naming("open", path):
            return pa.OSFile(str(_regular(local_path(path))), "rb")

    def status(self, path: str) -> FileStatus:
        """Size and time of a file or folder."""
        with _Naming("look at", path):
            return _status(path, paths.name(path), os.stat(local_path(path)))  # noqa: PTH116 - as above

    def exists(self, path: str) -> bool:
        """Whether a file or folder is there."""
        with _Naming("look at", path):
            return _is_there(local_path(path))

    def list(self, folder: str) -> list[FileStatus]:
        """What lies directly in a folder, by name; hidden files too; nothing when it is absent."""
        with _Naming("list", folder):
            return sorted(_entries(folder), key=lambda status: status.name)

    def walk(self, folder: str) -> Iterator[FileStatus]:
        """All files (not folders) below a folder, at any depth, in no order.

        Links are left out, be they to files or folders: what they lead to lies elsewhere.
        """
        pending = [folder]
        while pending:
            with _Naming("list", folder):
                found = list(_entries(pending.pop(), follows=False))
            for status in found:
                if status.is_folder:
                    pending.append(status.path)
                else:
                    yield status

    def create(self, path: str, data: bytes) -> bool:
        """Make a file that is not there yet, in one step; make missing parent folders."""
        with _Naming("create", path):
            final = local_path(path)
            hidden = _hidden_sibling(final)
            _write_new(hidden, data, durable=self.durable)
            try:
                return _link(hidden, final, data, durable=self.durable)
            finally:
                os.unlink(hidden)  # noqa: PTH108 - as above

    def replace(self, path: str, data: bytes) -> None:
        """Write a file whether or not it exists. Readers see the old or the new content."""
        with _Naming("replace", path):
            final = local_path(path)
            if not _changed_in_place(final, data):
                hidden = _hidden_sibling(final)
                _write_new(hidden, data, durable=False)
                os.replace(hidden, final)  # noqa: PTH105 - as above

    @contextmanager
    def create_stream(self, path: str) -> Iterator[pa.NativeFile]:
        """A new file to write piece by piece; complete when the block ends, gone if it raises."""
        final = local_path(path)
        with _Naming("create", path):
            stream = _stream(final)
        try:
            with naming_stream(path):
                yield stream
                stream.close()
        except BaseException:
            with suppress(OSError):
                stream.close()  # which may fail to write what has been gathered
            with suppress(OSError):
                Path(final).unlink()
            raise

    def delete(self, path: str) -> None:
        """Remove a file; not an error if it is absent."""
        with _Naming("delete", path):
            Path(local_path(path)).unlink(missing_ok=True)

    def delete_folder(self, path: str) -> None:
        """Remove a folder with everything in it; not an error if it is absent."""
        import shutil  # noqa: PLC0415 - loads codecs of archives, which readers do not need

        with _Naming("delete", path), suppress(FileNotFoundError):
            target = Path(local_path(path.rstrip("/")))
            if target.is_symlink():
                target.unlink()  # not what it leads to
            else:
                shutil.rmtree(target)

    def rename_folder(self, source: str, target: str) -> None:
        """Move a folder in one step; the target must be absent or empty."""
        with _Naming("rename", source):
            goal = Path(local_path(target))
            goal.parent.mkdir(parents=True, exist_ok=True)
            Path(local_path(source)).rename(goal)

    def make_folder(self, path: str) -> None:
        """Make a folder and its parents."""
        with _Naming("make", path):
            Path(local_path(path)).mkdir(parents=True, exist_ok=True)


def local_path(path: str) -> str:
    """The path the operating system knows: without `file:` and its slashes.

    Raises:
        StorageError: the path is of another storage, or not absolute.

    >>> local_path("file:///tmp/t"), local_path("file:/tmp/t"), local_path("/tmp/t")
    ('/tmp/t', '/tmp/t', '/tmp/t')
    >>> local_path("FILE://localhost/tmp/t")
    '/tmp/t'
    """
    kind = "" if path.startswith("/") else paths.scheme(path)
    if not kind:
        return path
    if kind != "file":
        raise StorageError("reach", path, "the table's storage has no files of this scheme")
    rest = path[len("file:") :]
    return "/" + rest.removeprefix("//localhost/").lstrip("/")


class _Naming:
    """Turns the system's errors into ours, with what was done to which path."""

    __slots__ = ("_operation", "_path")

    def __init__(self, operation: str, path: str) -> None:
        self._operation = operation
        self._path = path

    def __enter__(self) -> None:
        pass

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if error is None or isinstance(error, StorageError):
            return
        if isinstance(error, FileNotFoundError):
            raise MissingFileError(self._operation, self._path) from error
        if isinstance(error, OSError):
            told = error.strerror or str(error)
            raise StorageError(self._operation, self._path, told) from error
        if isinstance(error, ValueError):
            raise StorageError(self._operation, self._path, f"not a valid path: {error}") from error


def _is_there(path: str) -> bool:
    try:
        os.stat(path)  # noqa: PTH116 - as above
    except OSError as error:
        if error.errno not in _NOT_THERE:
            raise
        return False
    except ValueError:  # no name that the system could have
        return False
    return True


def _stream(path: str) -> pa.NativeFile:
    """A file to write; its folder is made when it turns out to be missing."""
    try:
        file = pa.OSFile(path, "wb")
    except FileNotFoundError:
        Path(path).parent.mkdir(parents=True, exist_ok=True)
        file = pa.OSFile(path, "wb")
    return pa.BufferedOutputStream(file, _STREAM_BYTES)


def _regular(path: str) -> Path:
    """A file to read; a pipe or device would never end."""
    found = Path(path)
    mode = found.stat().st_mode
    if S_ISREG(mode) or S_ISDIR(mode):
        return found
    raise OSError(errno.EINVAL, "not a regular file")


def _opened(path: str) -> tuple[int, int]:
    """A handle to read a file by, and its size; opening a pipe does not wait, and is refused."""
    handle = os.open(path, _READING)
    found = os.fstat(handle)
    if S_ISREG(found.st_mode) or S_ISDIR(found.st_mode):
        return handle, found.st_size
    os.close(handle)
    raise OSError(errno.EINVAL, "not a regular file")


def _content(handle: int, size: int) -> bytes:
    """All bytes of a file that is about that large; reading a folder fails as the system says."""
    parts = [os.read(handle, size + 1)]
    while parts[-1] and (len(parts) > 1 or len(parts[0]) != size):
        parts.append(os.read(handle, _PIECE))
    return parts[0] if len(parts) == 1 else b"".join(parts)


def _entries(folder: str, *, follows: bool = True) -> Iterator[FileStatus]:
    """What lies in a folder; links as what they lead to, or not at all."""
    try:
        found = os.scandir(local_path(folder))
    except FileNotFoundError:
        return
    except NotADirectoryError:
        if Path(local_path(folder)).exists():
            raise
        return  # below a file there is nothing
    with found:
        for entry in found:
            if not follows and entry.is_symlink():
                continue
            with suppress(FileNotFoundError):  # removed since the listing began
                yield _status(paths.join(folder, entry.name), entry.name, entry.stat())


def _status(path: str, name: str, stat: os.stat_result) -> FileStatus:
    is_folder = S_ISDIR(stat.st_mode)
    return FileStatus(
        path=path,
        name=name,
        size=0 if is_folder else stat.st_size,
        is_folder=is_folder,
        modified_ms=0 if is_folder else stat.st_mtime_ns // 1_000_000,
    )


def _hidden_sibling(final: str) -> str:
    folder, _, name = final.rpartition("/")
    return f"{folder}/.{name}.{os.urandom(16).hex()}.tmp"


def _changed_in_place(path: str, data: bytes) -> bool:
    """Change the last byte of a small file, if nothing else differs.

    A hint counts up: nine times of ten that is one byte, which readers see old or new, never half.
    It takes no new file, and frees none: file systems look at each file freed of late when they
    make the next, so that replacing a file again and again makes all others slower to create.
    Nothing before the last byte ever changes in place, so two writers leave what one of them wrote.
    Where the file has another name as well, such as in a copy made of links, it stays as it is.
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
        if not is_own or os.pread(handle, len(data), 0)[:-1] != data[:-1]:
            return False
        return os.pwrite(handle, data[-1:], len(data) - 1) == 1
    finally:
        os.close(handle)


def _write_new(path: str, data: bytes, *, durable: bool) -> None:
    """Write a file that must not exist; its folder is made when it turns out to be missing."""
    try:
        handle = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o666)
    except FileNotFoundError:
        Path(path).parent.mkdir(parents=True, exist_ok=True)
        handle = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o666)
    try:
        view = memoryview(data)
        while view:
            view = view[os.write(handle, view) :]
        if durable:
            os.fsync(handle)
    except BaseException:
        with suppress(OSError):
            Path(path).unlink()
        raise
    finally:
        os.close(handle)


def _link(hidden: str, final: str, data: bytes, *, durable: bool) -> bool:
    try:
        os.link(hidden, final)
    except FileExistsError:
        return False
    except OSError as error:
        if error.errno not in _NO_LINKS:
            raise
        try:
            _write_new(final, data, durable=durable)
        except FileExistsError:
            return False
    return True
