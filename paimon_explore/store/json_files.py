"""Loading small JSON files that another process may be writing at this moment.

Writers without an atomic create leave a file visible before it is complete. So a file that does not
parse is read again for two seconds, but only while it is young: an old damaged file is reported at
once.
"""

import threading
import time
from collections import OrderedDict
from collections.abc import Callable
from typing import TypeVar

from paimon_explore.errors import CorruptFileError
from paimon_explore.fileio.file_io import FileIO
from paimon_explore.frozen_dataclass import dataclass
from paimon_explore.metadata.json_object import MAX_LONG

_Value = TypeVar("_Value")
_KEPT_BYTES = 16 << 10
_KEPT_VALUES = 256
_MOST_DIGITS = 19


def _now_ms() -> int:
    return time.time_ns() // 1_000_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Patience:
    """How long to wait for a file to become complete.

    Attributes:
        attempts: readings in all.
        pause_ms: between two readings.
        young_ms: age below which a file may still be in the making.
        sleep: waits for seconds.
        now_ms: the clock, milliseconds since 1970 UTC.
    """

    attempts: int = 10
    pause_ms: int = 200
    young_ms: int = 10_000
    sleep: Callable[[float], None] = time.sleep
    now_ms: Callable[[], int] = _now_ms


PATIENT = Patience()


class _Kept:
    """What bytes say; values never change, so the same bytes need not be parsed twice."""

    def __init__(self) -> None:
        self._values: OrderedDict[object, object] = OrderedDict()
        self._lock = threading.Lock()

    def find(self, key: object) -> object:
        with self._lock:
            found = self._values.get(key)
            if found is not None:
                self._values.move_to_end(key)
            return found

    def keep(self, key: object, value: object) -> None:
        with self._lock:
            self._values[key] = value
            if len(self._values) > _KEPT_VALUES:
                self._values.popitem(last=False)


_KEPT = _Kept()


def _value(parse: Callable[[bytes, str], _Value], data: bytes, path: str) -> _Value:
    """What bytes say; large files are not kept in mind."""
    found = _KEPT.find((parse, data, path))
    if found is None:
        found = parse(data, path)
        keep_value(parse, data, path, found)
    return found  # type: ignore[return-value]  # under the parser are its values


def keep_value(
    parse: Callable[[bytes, str], _Value], data: bytes, path: str, value: _Value
) -> None:
    """Keep in mind what the bytes of a file mean, such as one that was just written."""
    if len(data) <= _KEPT_BYTES:
        _KEPT.keep((parse, data, path), value)


def load_json(
    file_io: FileIO,
    path: str,
    parse: Callable[[bytes, str], _Value],
    patience: Patience = PATIENT,
) -> _Value:
    """The value of a file, read again while it is young and does not parse.

    Raises:
        MissingFileError: there is no such file.
        CorruptFileError: it does not parse and is old, or stays so.
    """
    for _ in range(patience.attempts - 1):
        try:
            value: _Value = _value(parse, file_io.read(path), path)
        except CorruptFileError:
            age_ms = patience.now_ms() - file_io.status(path).modified_ms
            if age_ms > patience.young_ms:
                raise
            patience.sleep(patience.pause_ms / 1000)
        else:
            return value
    last: _Value = _value(parse, file_io.read(path), path)
    return last


def numbered(file_io: FileIO, folder: str, prefix: str) -> list[int]:
    """The numbers of the files `<prefix><number>` in a folder, ascending.

    Numbers have 64 bits; a name with a larger one is some other file, as one with letters is.
    """
    found = []
    for status in file_io.list(folder):
        digits = status.name.removeprefix(prefix)
        is_number = digits != status.name and digits.isascii() and digits.isdigit()
        if is_number and len(digits) <= _MOST_DIGITS and int(digits) <= MAX_LONG:
            found.append(int(digits))
    return sorted(found)


def named(file_io: FileIO, folder: str, prefix: str) -> list[str]:
    """The names of the files `<prefix><name>` in a folder, in order; folders are left out."""
    return [
        status.name.removeprefix(prefix)
        for status in file_io.list(folder)
        if status.name.startswith(prefix) and not status.is_folder
    ]
