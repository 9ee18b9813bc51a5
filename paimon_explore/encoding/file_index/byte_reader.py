"""Bounds-checked reader of the big-endian values of file indexes."""

from collections.abc import Sequence
from typing import NoReturn

from pyroaring import BitMap

from paimon_explore.encoding.roaring_bitmap import BitmapReader
from paimon_explore.errors import CorruptFileError, UnsupportedVersionError


class ByteStream:
    """Reads consecutive values from bytes.

    Attributes:
        data: the bytes.
        path: path of the file, for errors.
        position: position of the next value.
    """

    def __init__(self, data: bytes, path: str, position: int = 0) -> None:
        self.data = data
        self.path = path
        self.position = position

    def fail(self, rule: str) -> NoReturn:
        """Raise an error for the current position.

        Raises:
            CorruptFileError: always.
        """
        raise CorruptFileError(self.path, f"file index, byte {self.position}", rule)

    def take(self, size: int) -> bytes:
        """Read the next `size` bytes."""
        if not 0 <= size <= len(self.data) - self.position:
            rest = len(self.data) - self.position
            self.fail(f"{size} bytes are required, but only {rest} bytes follow")
        start = self.position
        self.position += size
        return self.data[start : self.position]

    def number(self, size: int = 4) -> int:
        """Read the next signed number."""
        return int.from_bytes(self.take(size), "big", signed=True)

    def count(self, limit: int | None = None) -> int:
        """Read a 4-byte count, by default of items of at least one byte that follow."""
        found = self.number()
        highest = len(self.data) - self.position if limit is None else limit
        if not 0 <= found <= highest:
            self.position -= 4
            self.fail(f"a count must be 0 to {highest}, not {found}")
        return found

    def version(self, what: str, known: Sequence[int]) -> int:
        """Read the version byte.

        Raises:
            UnsupportedVersionError: the version is not known.
        """
        found = self.number(1)
        if found not in known:
            raise UnsupportedVersionError(what, found, known, self.path)
        return found

    def flag(self) -> bool:
        """Read the next byte as a boolean."""
        return self.take(1) != b"\0"

    def utf(self) -> str:
        """Read a 2-byte length and a text in Java's modified UTF-8."""
        size = int.from_bytes(self.take(2), "big")
        try:
            return decode_modified_utf8(self.take(size))
        except UnicodeError:
            self.fail("text must be UTF-8")

    def bitmap(self, row_count: int) -> BitMap:
        """Read the next bitmap, of rows below `row_count`."""
        reader = BitmapReader(self.data, self.path, self.position)
        bitmap = reader.take()
        if bitmap and bitmap.max() >= row_count:
            self.fail(f"the row numbers of a bitmap must be below {row_count}")
        self.position = reader.position
        return bitmap


def int32(value: int) -> bytes:
    """Encode a big-endian int32."""
    return value.to_bytes(4, "big", signed=True)


def decode_modified_utf8(data: bytes) -> str:
    """Decode the text format of Java's DataInput: NUL as two bytes, surrogate pairs."""
    text = data.replace(b"\xc0\x80", b"\0").decode("utf-8", "surrogatepass")
    return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le")


def encode_modified_utf8(text: str) -> bytes:
    """Encode a 2-byte length and the text in Java's modified UTF-8."""
    units = text.encode("utf-16-le")
    parts = (chr(int.from_bytes(units[i : i + 2], "little")) for i in range(0, len(units), 2))
    data = "".join(parts).encode("utf-8", "surrogatepass").replace(b"\0", b"\xc0\x80")
    return len(data).to_bytes(2, "big") + data
