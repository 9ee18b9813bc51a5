"""JSON metadata files: from bytes to checked values, and to the text that Java writes.

Every metadata file is a JSON object. What has the wrong shape is a `CorruptFileError` that names
the file, the key and the rule; nothing untyped leaves the `parse_...` function of a file kind.
"""

import json
import re
from collections.abc import Iterable, Mapping
from typing import TypeVar

from paimon_explore.errors import CorruptFileError
from paimon_explore.frozen_dataclass import dataclass
from paimon_explore.metadata.path_safety import RULE, leads_out

_Value = TypeVar("_Value")

_SURROGATE = re.compile(rb"\\u[dD][89a-fA-F]")

_TEXTS = json.JSONEncoder(ensure_ascii=False)

MAX_LONG = 2**63 - 1
MIN_LONG = -(2**63)


@dataclass(frozen=True, slots=True, kw_only=True)
class JsonObject:
    """One JSON object of a file, read key by key.

    Attributes:
        path: the file, for messages.
        values: the object's members.
        where: keys that lead to the object; empty for the file's own.
    """

    path: str
    values: Mapping[str, object]
    where: str = ""

    def optional_integer(self, key: str) -> int | None:
        """A 64-bit integer, or None where the key is absent or null."""
        value = self.values.get(key)
        if value is None:
            return None
        if not isinstance(value, int) or isinstance(value, bool):
            raise self._wrong(key, "an integer", value)
        if not MIN_LONG <= value <= MAX_LONG:
            raise self._wrong(key, "an integer of 64 bits", value)
        return value

    def integer(self, key: str) -> int:
        """A 64-bit integer that must be there."""
        return self._present(key, self.optional_integer(key))

    def optional_text(self, key: str) -> str | None:
        """Text, or None where the key is absent or null."""
        value = self.values.get(key)
        if value is None or isinstance(value, str):
            return value
        raise self._wrong(key, "a string", value)

    def text(self, key: str) -> str:
        """Text that must be there."""
        return self._present(key, self.optional_text(key))

    def optional_name(self, key: str) -> str | None:
        """The name of a file of a folder that the format knows; None as for `optional_text`."""
        value = self.optional_text(key)
        if value and leads_out(value):
            raise self.error(key, f"{RULE}: {shown(value)}")
        return value

    def name(self, key: str) -> str:
        """The name of a file that must be there."""
        return self._present(key, self.optional_name(key))

    def optional_object(self, key: str) -> "JsonObject | None":
        """An object inside this one, or None where the key is absent or null."""
        value = self.values.get(key)
        if value is None:
            return None
        if not isinstance(value, dict):
            raise self._wrong(key, "an object", value)
        return JsonObject(path=self.path, values=value, where=self._place(key))

    def optional_texts(self, key: str) -> Mapping[str, str] | None:
        """An object of texts, or None where the key is absent or null."""
        inner = self.optional_object(key)
        return None if inner is None else {name: inner.text(name) for name in inner.values}

    def optional_integers(self, key: str) -> Mapping[str, int] | None:
        """An object of integers, or None where the key is absent or null."""
        inner = self.optional_object(key)
        return None if inner is None else {name: inner.integer(name) for name in inner.values}

    def unknown(self, known: Iterable[str]) -> Mapping[str, object]:
        """The members with other keys than the known ones."""
        names = frozenset(known)
        return {key: value for key, value in self.values.items() if key not in names}

    def error(self, key: str, rule: str) -> CorruptFileError:
        """The error for a key that breaks a rule."""
        return CorruptFileError(self.path, self._place(key), rule)

    def _present(self, key: str, value: _Value | None) -> _Value:
        if value is None:
            raise self.error(key, "is required")
        return value

    def _wrong(self, key: str, wanted: str, found: object) -> CorruptFileError:
        return self.error(key, f"must be {wanted}, not {shown(found)}")

    def _place(self, key: str) -> str:
        return f"{self.where}.{key}" if self.where else key


def parse_object(data: bytes, path: str) -> JsonObject:
    """The object that a file holds.

    Raises:
        CorruptFileError: not UTF-8, not JSON (a file that is still being written, too), no object.
    """
    try:
        value: object = json.loads(data.decode("utf-8"))
    except UnicodeDecodeError as error:
        raise CorruptFileError(path, f"byte {error.start}", "must be UTF-8 text") from error
    except json.JSONDecodeError as error:
        place = f"line {error.lineno}, column {error.colno}"
        raise CorruptFileError(path, place, f"must be JSON: {error.msg}") from error
    except (ValueError, RecursionError) as error:
        raise CorruptFileError(path, "the file", f"must be readable JSON: {error}") from error
    if not isinstance(value, dict):
        raise CorruptFileError(path, "the file", f"must be a JSON object, not {shown(value)}")
    _check_texts(data, value, path)
    return JsonObject(path=path, values=value)


def _check_texts(data: bytes, value: object, path: str) -> None:
    """Refuse half a surrogate pair, which only an escape can smuggle in: it is no text."""
    if not _SURROGATE.search(data):
        return
    try:
        json.dumps(value, ensure_ascii=False).encode()
    except (UnicodeEncodeError, RecursionError) as error:
        raise CorruptFileError(path, "the file", f"must be valid Unicode: {error}") from error


def render_object(values: Mapping[str, object]) -> bytes:
    """The bytes of a metadata file, laid out as Java writes it; keys with None are left out.

    >>> print(render_object({"version": 3, "watermark": None}).decode())
    {
      "version" : 3
    }
    """
    members = [
        f"  {_rendered(key)} : {_rendered(value)}"
        for key, value in values.items()
        if value is not None
    ]
    return ("{\n" + ",\n".join(members) + "\n}" if members else "{}").encode()


def _rendered(value: object) -> str:
    """A value below the top; laid out by hand, for `json` takes long over what it indents."""
    if isinstance(value, str):
        return _TEXTS.encode(value)
    if type(value) is int:
        return str(value)
    text = json.dumps(value, indent=2, separators=(",", " : "), ensure_ascii=False)
    return text.replace("\n", "\n  ")


def shown(value: object, limit: int = 60) -> str:
    """A found value for a message, cut short."""
    text = repr(value)
    return text if len(text) <= limit else text[: limit - 3] + "..."
