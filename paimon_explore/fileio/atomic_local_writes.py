"""Atomic writes on the local file system: put-if-absent by `link`, and changes in place.

See `local` for the order of the steps. If the file system has no hard links, the final file is
opened exclusively and written in one call.
"""

import errno
import os
from contextlib import suppress
from pathlib import Path
from stat import S_ISREG

_CHANGING = os.O_RDWR | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0)
_SMALL_BYTES = 32
_NO_LINK_ERRORS = {errno.EPERM, errno.ENOTSUP, errno.EOPNOTSUPP, errno.ENOSYS, errno.EMLINK}


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
        if not is_own or os.pread(handle, len(data), 0)[:-1] != data[:-1]:
            return False
        return os.pwrite(handle, data[-1:], len(data) - 1) == 1
    finally:
        os.close(handle)


def write_new(path: str, data: bytes, *, durable: bool) -> None:
    """Write a file that must not exist; create its folder if missing."""
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


def link_to_final_name(hidden: str, final: str, data: bytes, *, durable: bool) -> bool:
    """Give a written file its final name; False if the name is taken."""
    try:
        os.link(hidden, final)
    except FileExistsError:
        return False
    except OSError as error:
        if error.errno not in _NO_LINK_ERRORS:
            raise
        try:
            write_new(final, data, durable=durable)
        except FileExistsError:
            return False
    return True
