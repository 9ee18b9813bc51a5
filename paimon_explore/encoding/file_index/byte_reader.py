"""Big-endian numbers and text taken from bytes one after the other, with every bound checked."""

from typing import NoReturn

from pyroaring import BitMap

from paimon_explore.encoding.roaring.portable_bitmap import BitmapReader
from paimon_explore.errors import CorruptFileError


class ByteStream:
    """Takes values from bytes.

    Attributes:
        data: the bytes.
        path: the file, for errors.
        position: where the next value starts.
    """

    def __init__(self, data: bytes, path: str, position: int = 0) -> None:
        self.data = data
        self.path = path
        self.position = position

    def fail(self, rule: str) -> NoReturn:
        """Refuse what starts at the current position.

        Raises:
            CorruptFileError: always.
        """
        raise CorruptFileError(self.path, f"file index, byte {self.position}", rule)

    def take(self, size: int) -> bytes:
        """The next `size` bytes."""
        if not 0 <= size <= len(self.data) - self.position:
            self.fail(f"{size} bytes follow")
        start = self.position
        self.position += size
        return self.data[start : self.position]

    def number(self, size: int = 4) -> int:
        """The next signed number."""
        return int.from_bytes(self.take(size), "big", signed=True)

    def count(self, limit: int | None = None) -> int:
        """The next 4-byte number, which counts things of at least one byte that follow."""
        found = self.number()
        highest = len(self.data) - self.position if limit is None else limit
        if not 0 <= found <= highest:
            self.position -= 4
            self.fail(f"a count from 0 to {highest} follows, not {found}")
        return found

    def flag(self) -> bool:
        """The next byte as a truth value."""
        return self.take(1) != b"\0"

    def utf(self) -> str:
        """The next text in Java's modified UTF-8 behind a 2-byte length."""
        size = int.from_bytes(self.take(2), "big")
        try:
            return decode_modified_utf8(self.take(size))
        except UnicodeError:
            self.fail("text is UTF-8")

    def bitmap(self, row_count: int) -> BitMap:
        """The next bitmap, of rows below `row_count`."""
        reader = BitmapReader(self.data, self.path, self.position)
        bitmap = reader.take()
        if bitmap and bitmap.max() >= row_count:
            self.fail(f"a bitmap holds rows below {row_count}")
        self.position = reader.position
        return bitmap


def decode_modified_utf8(data: bytes) -> str:
    """Java's DataInput text: NUL as two bytes, supplementary characters as surrogate pairs."""
    text = data.replace(b"\xc0\x80", b"\0").decode("utf-8", "surrogatepass")
    return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le")


def encode_modified_utf8(text: str) -> bytes:
    """The text as Java's DataOutput writes it, behind its 2-byte length."""
    units = text.encode("utf-16-le")
    parts = (chr(int.from_bytes(units[i : i + 2], "little")) for i in range(0, len(units), 2))
    data = "".join(parts).encode("utf-8", "surrogatepass").replace(b"\0", b"\xc0\x80")
    return len(data).to_bytes(2, "big") + data
