"""An ORC file seen as if all its stripes had been written in UTC.

Arrow turns timestamps into the wall clock of the writer's zone. It does so by the system's time
zone database, in which names such as GMT+08:00 are missing, and puts negative seconds right after
that, although the Java writer rounded the instant: times within some hours of 1970 are off by a
second. A view in which every stripe footer names GMT makes Arrow give the stored seconds, and
`orc_mend` converts them.

Only the footers differ. The streams are read from the file itself; what comes behind a stripe moves
by the difference in length of the footers before it.
"""

from bisect import bisect_right
from collections.abc import Iterator
from dataclasses import replace
from itertools import accumulate

import pyarrow as pa

from paimon_explore.encoding.orc.file_tail import OrcTail
from paimon_explore.encoding.orc.protobuf_decoder import ProtobufError, decode_message, number
from paimon_explore.encoding.orc.protobuf_editor import Field, bytes_field, fields_of, message_of
from paimon_explore.encoding.orc.run_length_encoding import compressor

_POST_FOOTER, _POST_CODEC, _POST_BLOCK, _POST_METADATA = 1, 2, 3, 5
_STRIPES, _CONTENT_LENGTH = 3, 2
_OFFSET, _FOOTER_LENGTH = 1, 4
_WRITER_ZONE = 3
_NO_COMPRESSION = 0
_DEFAULT_BLOCK = 256 * 1024

Piece = tuple[int, int] | bytes
"""A range of the file, from and to, or bytes that take the place of others."""


def utc_view(file: pa.NativeFile, tail: OrcTail) -> pa.NativeFile:
    """The file with GMT as the zone of every stripe.

    Args:
        file: open for random reading.
        tail: its tail.

    Raises:
        ProtobufError: the tail does not fit the file.
    """
    view = _View(file, list(_pieces(file, tail)))
    return pa.PythonFile(view, mode="r")  # type: ignore[arg-type]  # what it needs of a file


def _pieces(file: pa.NativeFile, tail: OrcTail) -> Iterator[Piece]:
    size = file.size()
    post_length = _read(file, size - 1, 1)[0]
    post = fields_of(_read(file, size - 1 - post_length, post_length))
    told = decode_message(message_of(post))
    kind, block = number(told, _POST_CODEC), number(told, _POST_BLOCK, _DEFAULT_BLOCK)
    footer_length, metadata_length = number(told, _POST_FOOTER), number(told, _POST_METADATA)
    footer_at = size - 1 - post_length - footer_length
    pack = compressor(_NO_COMPRESSION if kind == _NO_COMPRESSION else _STORED, block)
    place, moved = 0, 0
    fields: list[Field] = []
    stripe = 0
    for field in fields_of(tail.expand(_read(file, footer_at, footer_length))):
        if field.number != _STRIPES or not isinstance(field.value, bytes):
            fields.append(field)
            continue
        at, length = tail.stripe_footers[stripe]
        stripe += 1
        if at < place:
            raise ProtobufError(f"a stripe ends at byte {at}, before the one in front of it")
        below = pack(_in_gmt(tail.expand(_read(file, at, length))))
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
"""A kind of compression that leaves every chunk as it is, which readers allow with any kind."""


def _in_gmt(footer: bytes) -> bytes:
    kept = [field for field in fields_of(footer) if field.number != _WRITER_ZONE]
    return message_of([*kept, bytes_field(_WRITER_ZONE, b"GMT")])


def _moved(stripe: bytes, by: int, footer_length: int) -> bytes:
    """What the footer says of a stripe that lies elsewhere."""
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
        raise ProtobufError(f"{length} bytes at {at}")
    file.seek(at)
    data: bytes = file.read(length)
    if len(data) < length:
        raise ProtobufError(f"{length} bytes at {at}, but the file ends")
    return data


class _View:
    """Pieces one after the other, as a file that is read."""

    closed = False

    def __init__(self, file: pa.NativeFile, pieces: list[Piece]) -> None:
        self._file = file
        self._pieces = [piece for piece in pieces if _length(piece)]
        self._starts = list(accumulate(map(_length, self._pieces), initial=0))
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
        parts: list[bytes] = []
        while self._at < end:
            index = bisect_right(self._starts, self._at) - 1
            skip = self._at - self._starts[index]
            piece = self._pieces[index]
            count = min(end, self._starts[index + 1]) - self._at
            if isinstance(piece, bytes):
                parts.append(piece[skip : skip + count])
            else:
                parts.append(_read(self._file, piece[0] + skip, count))
            self._at += count
        return parts[0] if len(parts) == 1 else b"".join(parts)

    def close(self) -> None:
        """Nothing: the file belongs to who opened it."""


def _length(piece: Piece) -> int:
    return len(piece) if isinstance(piece, bytes) else piece[1] - piece[0]
