"""Virtual ORC file in which all stripes have the time zone UTC.

Arrow converts timestamps to the wall clock of the writer's zone. It uses the system's time zone
database, which lacks names such as GMT+08:00, and corrects negative seconds after that, although
the Java writer rounded the instant: times within some hours of 1970 are off by a second. With GMT
in every stripe footer, Arrow returns the stored seconds, which `timestamp_fixes` converts.

Only the footers are replaced. The streams are read from the file itself; the offsets of stripes are
adjusted by the change in length of the footers before them.
"""

from bisect import bisect_right
from collections.abc import Iterator
from dataclasses import replace
from itertools import accumulate

import pyarrow as pa

from paimon_explore.encoding.orc.file_tail import OrcTail
from paimon_explore.encoding.orc.protobuf import (
    Field,
    ProtobufError,
    bytes_field,
    decode_message,
    fields_of,
    message_of,
    number,
)
from paimon_explore.encoding.orc.run_length_encoder import compressor

_POST_FOOTER, _POST_CODEC, _POST_BLOCK, _POST_METADATA = 1, 2, 3, 5
_STRIPES, _CONTENT_LENGTH = 3, 2
_OFFSET, _FOOTER_LENGTH = 1, 4
_WRITER_ZONE = 3
_NO_COMPRESSION = 0
_DEFAULT_BLOCK = 256 * 1024

Part = tuple[int, int] | bytes
"""A range of the file (start, end), or replacement bytes."""


def utc_view(file: pa.NativeFile, tail: OrcTail) -> pa.NativeFile:
    """Return a view of the file with GMT as the zone of every stripe.

    Args:
        file: opened for random access.
        tail: the tail of the file.

    Raises:
        ProtobufError: the tail does not fit the file.
    """
    view = _View(file, list(_parts(file, tail)))
    return pa.PythonFile(view, mode="r")  # type: ignore[arg-type]  # what it needs of a file


def _parts(file: pa.NativeFile, tail: OrcTail) -> Iterator[Part]:
    size = file.size()
    post_length = _read(file, size - 1, 1)[0]
    post = fields_of(_read(file, size - 1 - post_length, post_length))
    post_values = decode_message(message_of(post))
    kind, block = number(post_values, _POST_CODEC), number(post_values, _POST_BLOCK, _DEFAULT_BLOCK)
    footer_length, metadata_length = (
        number(post_values, _POST_FOOTER),
        number(post_values, _POST_METADATA),
    )
    footer_at = size - 1 - post_length - footer_length
    pack = compressor(_NO_COMPRESSION if kind == _NO_COMPRESSION else _STORED, block)
    place, moved = 0, 0
    fields: list[Field] = []
    stripe = 0
    for field in fields_of(tail.decompress(_read(file, footer_at, footer_length))):
        if field.number != _STRIPES or not isinstance(field.value, bytes):
            fields.append(field)
            continue
        at, length = tail.stripe_footers[stripe]
        stripe += 1
        if at < place:
            raise ProtobufError(f"the stripe footer at byte {at} overlaps the previous stripe")
        below = pack(_in_gmt(tail.decompress(_read(file, at, length))))
        yield (place, at)
        yield below
        place = at + length
        fields.append(replace(field, value=_moved(field.value, moved, len(below))))
        moved += len(below) - length
    yield (place, footer_at)
    footer = pack(message_of(_content(field, moved) for field in fields))
    yield footer
    sizes = {_POST_FOOTER: len(footer), _POST_METADATA: metadata_length}
    post_bytes = message_of(replace(f, value=sizes.get(f.number, f.value)) for f in post)
    yield post_bytes + bytes([len(post_bytes)])


_STORED = -1
"""Pseudo compression kind: stores every chunk uncompressed, which readers accept for any kind."""


def _in_gmt(footer: bytes) -> bytes:
    kept = [field for field in fields_of(footer) if field.number != _WRITER_ZONE]
    return message_of([*kept, bytes_field(_WRITER_ZONE, b"GMT")])


def _moved(stripe: bytes, by: int, footer_length: int) -> bytes:
    """Return the stripe information of a moved stripe."""
    fields = fields_of(stripe)
    values = {_FOOTER_LENGTH: footer_length}
    for field in fields:
        if field.number == _OFFSET and isinstance(field.value, int):
            values[_OFFSET] = field.value + by
    return message_of(replace(f, value=values.get(f.number, f.value)) for f in fields)


def _content(field: Field, moved: int) -> Field:
    if field.number == _CONTENT_LENGTH and isinstance(field.value, int):
        return replace(field, value=field.value + moved)
    return field


def _read(file: pa.NativeFile, at: int, length: int) -> bytes:
    if at < 0:
        raise ProtobufError(f"the stripe offset {at} is negative")
    file.seek(at)
    data: bytes = file.read(length)
    if len(data) < length:
        raise ProtobufError(
            f"{length} bytes are required at byte {at}, but only {len(data)} bytes follow"
        )
    return data


class _View:
    """Read-only file made of the concatenated parts."""

    closed = False

    def __init__(self, file: pa.NativeFile, parts: list[Part]) -> None:
        self._file = file
        self._parts = [part for part in parts if _length(part)]
        self._starts = list(accumulate(map(_length, self._parts), initial=0))
        self._at = 0

    def readable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return True

    def tell(self) -> int:
        return self._at

    def seek(self, offset: int, whence: int = 0) -> int:
        self._at = offset + (0, self._at, self._starts[-1])[whence]
        return self._at

    def read(self, size: int = -1) -> bytes:
        end = self._starts[-1] if size < 0 else min(self._at + size, self._starts[-1])
        found: list[bytes] = []
        while self._at < end:
            index = bisect_right(self._starts, self._at) - 1
            skip = self._at - self._starts[index]
            part = self._parts[index]
            count = min(end, self._starts[index + 1]) - self._at
            if isinstance(part, bytes):
                found.append(part[skip : skip + count])
            else:
                found.append(_read(self._file, part[0] + skip, count))
            self._at += count
        return found[0] if len(found) == 1 else b"".join(found)

    def close(self) -> None:
        """Do nothing; the caller closes the file."""


def _length(part: Part) -> int:
    return len(part) if isinstance(part, bytes) else part[1] - part[0]
