"""Reads JSON metadata files with type checks, and writes them in Java's layout.

Every metadata file is a JSON object. Invalid content raises a `CorruptFileError` with the file, the
key and the rule; the `parse_...` functions of the file kinds return only typed values.
"""

import json
import re
from collections.abc import Iterable, Mapping
from typing import TypeVar

from paimon_explore.data_types.type_parser import excerpt
from paimon_explore.errors import CorruptFileError
from paimon_explore.frozen_dataclass import dataclass
from paimon_explore.metadata.path_safety import FILE_NAME_RULE, escapes_folder

_Value = TypeVar("_Value")

_SURROGATE = re.compile(rb"\\u[dD][89a-fA-F]")

_TEXTS = json.JSONEncoder(ensure_ascii=False)

MAX_LONG = 2**63 - 1
MIN_LONG = -(2**63)


@dataclass(frozen=True, slots=True, kw_only=True)
class JsonObject:
    """A JSON object of a file with typed access to its members.

    Attributes:
        path: the file, for messages.
        values: the object's members.
        where: the path of keys to the object; empty for the top-level object.
    """

    path: str
    values: Mapping[str, object]
    where: str = ""

    def optional_integer(self, key: str, *, minimum: int = MIN_LONG) -> int | None:
        """Return a 64-bit integer, or None if the key is absent or null."""
        value = self.values.get(key)
        if value is None:
            return None
        if not isinstance(value, int) or isinstance(value, bool):
            raise self._must_be(key, "an integer", value)
        if not minimum <= value <= MAX_LONG:
            least = f" of at least {minimum}" if minimum > MIN_LONG else ""
            raise self._must_be(key, f"a 64-bit integer{least}", value)
        return value

    def integer(self, key: str, *, default: int | None = None, minimum: int = MIN_LONG) -> int:
        """Return a 64-bit integer; required if there is no default."""
        value = self.optional_integer(key, minimum=minimum)
        return self._present(key, default if value is None else value)

    def optional_text(self, key: str) -> str | None:
        """Return a string, or None if the key is absent or null."""
        value = self.values.get(key)
        if value is None or isinstance(value, str):
            return value
        raise self._must_be(key, "a string", value)

    def text(self, key: str) -> str:
        """Return a required string."""
        return self._present(key, self.optional_text(key))

    def optional_name(self, key: str) -> str | None:
        """Return a file name without directories, or None if the key is absent or null."""
        value = self.optional_text(key)
        if value and escapes_folder(value):
            raise self.error(key, f"{FILE_NAME_RULE}, not {excerpt(value)}")
        return value

    def name(self, key: str) -> str:
        """Return a required file name."""
        return self._present(key, self.optional_name(key))

    def boolean(self, key: str, *, default: bool | None = None) -> bool:
        """Return a bool; required if there is no default."""
        value = self.values.get(key)
        if value is None and default is not None:
            return default
        if not isinstance(value, bool):
            raise self.error(key, "must be true or false")
        return value

    def names(self, key: str) -> tuple[str, ...]:
        """Return a list of strings; empty if the key is absent or null."""
        value = self.values.get(key)
        if value is None:
            return ()
        if not isinstance(value, list) or not all(isinstance(name, str) for name in value):
            raise self._must_be(key, "a list of strings", value)
        return tuple(value)

    def required_object(self, key: str) -> "JsonObject":
        """Return a required nested object."""
        return self._present(key, self.optional_object(key))

    def optional_object(self, key: str) -> "JsonObject | None":
        """Return a nested object, or None if the key is absent or null."""
        value = self.values.get(key)
        if value is None:
            return None
        if not isinstance(value, dict):
            raise self._must_be(key, "an object", value)
        return JsonObject(path=self.path, values=value, where=self.place_of(key))

    def objects(self, key: str) -> "list[JsonObject]":
        """Return the objects in a required list."""
        found = self.values.get(key)
        if not isinstance(found, list) or not all(isinstance(one, dict) for one in found):
            raise self.error(key, "must be a list of objects")
        return [
            JsonObject(path=self.path, values=one, where=f"{key}[{at}]")
            for at, one in enumerate(found)
        ]

    def optional_texts(self, key: str) -> Mapping[str, str] | None:
        """Return a nested object of strings, or None if the key is absent or null."""
        inner = self.optional_object(key)
        return None if inner is None else {name: inner.text(name) for name in inner.values}

    def texts(self, key: str) -> dict[str, str]:
        """Return a nested object of strings without those that are null; empty if it is absent."""
        inner = self.optional_object(key)
        if inner is None:
            return {}
        return {name: inner.text(name) for name, value in inner.values.items() if value is not None}

    def optional_integers(self, key: str) -> Mapping[str, int] | None:
        """Return a nested object of integers, or None if the key is absent or null."""
        inner = self.optional_object(key)
        return None if inner is None else {name: inner.integer(name) for name in inner.values}

    def unknown(self, known: Iterable[str]) -> Mapping[str, object]:
        """Return the members whose keys are not in `known`."""
        names = frozenset(known)
        return {key: value for key, value in self.values.items() if key not in names}

    def require(self, *keys: str) -> None:
        """Refuse an object without one of the keys, whose value may be null."""
        for key in keys:
            if key not in self.values:
                raise self.error(key, "must be present")

    def error(self, key: str, rule: str) -> CorruptFileError:
        """Return the error for a key that violates a rule."""
        return CorruptFileError(self.path, self.place_of(key), rule)

    def _present(self, key: str, value: _Value | None) -> _Value:
        if value is None:
            raise self.error(key, "must be present")
        return value

    def _must_be(self, key: str, wanted: str, found: object) -> CorruptFileError:
        return self.error(key, f"must be {wanted}, not {excerpt(found)}")

    def place_of(self, key: str) -> str:
        """Return the path of keys to a member."""
        return f"{self.where}.{key}" if self.where else key


def parse_object(data: bytes, path: str) -> JsonObject:
    """Parse a file that contains a JSON object.

    Raises:
        CorruptFileError: the file is not UTF-8, not JSON (or incomplete), or not an object.
    """
    try:
        value: object = json.loads(data.decode("utf-8"))
    except UnicodeDecodeError as error:
        raise CorruptFileError(
            path, f"byte {error.start}", "the file must be UTF-8 text"
        ) from error
    except json.JSONDecodeError as error:
        place = f"line {error.lineno}, column {error.colno}"
        raise CorruptFileError(path, place, f"the file is not valid JSON: {error.msg}") from error
    except (ValueError, RecursionError) as error:
        raise CorruptFileError(path, "the file", f"cannot be read as JSON: {error}") from error
    if not isinstance(value, dict):
        raise CorruptFileError(path, "the JSON", f"must be an object, not {excerpt(value)}")
    _check_texts(data, value, path)
    return JsonObject(path=path, values=value)


def _check_texts(data: bytes, value: object, path: str) -> None:
    """Check that no string has a lone surrogate, which a JSON escape can produce."""
    if not _SURROGATE.search(data):
        return
    try:
        json.dumps(value, ensure_ascii=False).encode()
    except (UnicodeEncodeError, RecursionError) as error:
        raise CorruptFileError(path, "the file", f"must be valid Unicode: {error}") from error


def render_object(values: Mapping[str, object]) -> bytes:
    """Encode a JSON object in Java's layout; members that are None are omitted.

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
    """Encode a member; strings and integers directly, because `json` with indent is slow."""
    if isinstance(value, str):
        return _TEXTS.encode(value)
    if type(value) is int:
        return str(value)
    text = json.dumps(value, indent=2, separators=(",", " : "), ensure_ascii=False)
    return text.replace("\n", "\n  ")
