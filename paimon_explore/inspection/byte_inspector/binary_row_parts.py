"""Layout of binary rows in manifests: arity, row kind, null bits, slots, variable part.

Spec: concepts/spec/manifest, binary row.
"""

from collections.abc import Callable, Sequence

from paimon_explore.data_types.decimals import scaled
from paimon_explore.data_types.definitions import (
    TIMESTAMPS,
    AtomicType,
    DataField,
    DataType,
    TypeRoot,
)
from paimon_explore.data_types.formatter import type_text
from paimon_explore.errors import InvalidInputError
from paimon_explore.frozen_dataclass import dataclass
from paimon_explore.inspection.byte_inspector.primitive_encodings import Value
from paimon_explore.inspection.byte_inspector.spans import Say, Spans
from paimon_explore.inspection.rendering.number_format import time_text

_SLOT = 8
_INLINE_BIT = 0x80
_COMPACT_DIGITS = 18
_MILLIS_DIGITS = 3
_WIDE_DECIMAL = 16
_MAX_FIELDS = 1 << 15
_DAY_MS = 86_400_000
_ROW_KINDS = {0: "+I insert", 1: "-U update before", 2: "+U update after", 3: "-D delete"}
_TEXTS = {TypeRoot.CHAR: "UTF-8", TypeRoot.VARCHAR: "UTF-8"}
_BINARIES = {TypeRoot.BINARY: "bytes", TypeRoot.VARBINARY: "bytes"}

_PLAIN = {
    TypeRoot.BOOLEAN: "uint8",
    TypeRoot.TINYINT: "int8",
    TypeRoot.SMALLINT: "int16 LE",
    TypeRoot.INT: "int32 LE",
    TypeRoot.DATE: "int32 LE",
    TypeRoot.TIME: "int32 LE",
    TypeRoot.FLOAT: "float32 LE",
    TypeRoot.BIGINT: "int64 LE",
    TypeRoot.DOUBLE: "float64 LE",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class _Item:
    """A value in the variable part.

    Attributes:
        name: name of its field.
        start: offset from the first byte of the row.
        size: size in bytes without padding.
        build: builds its spans.
    """

    name: str
    start: int
    size: int
    build: Callable[[Spans], None]


def row_parts(spans: Spans, fields: Sequence[DataField] | None) -> None:
    """Build the spans of a serialized row, which starts with its arity.

    Args:
        spans: the bytes of the row.
        fields: its fields; None if unknown. If the arity differs, only slots are shown.
    """
    arity = spans.number(
        "fields", "int32 BE", rule="Number of fields; the only big-endian number of the row."
    )
    if not 0 <= arity <= _MAX_FIELDS:
        raise InvalidInputError(f"A row must have at most {_MAX_FIELDS} fields, not {arity}.")
    known = fields if fields is not None and len(fields) == arity else None
    row = _Row(spans, arity, known)
    row.header()
    row.slots()
    row.variable()


class _Row:
    """Builds the spans of one row."""

    def __init__(self, spans: Spans, arity: int, fields: Sequence[DataField] | None) -> None:
        self._spans = spans
        self._arity = arity
        self._fields = fields
        self._start = spans.position
        self._nulls = b""
        self._items: list[_Item] = []

    def header(self) -> None:
        """Build the row kind and null bits."""
        spans = self._spans
        size = (self._arity + 63 + 8) // 64 * 8
        with spans.group(
            "header",
            rule="8 bytes for up to 56 fields, and 8 more bytes for each 64 further fields.",
        ) as note:
            spans.leaf(
                "row kind",
                "uint8",
                rule="Row kind; always 0 in partitions, keys and statistics.",
                say=lambda value: f"{int(value)}: {_ROW_KINDS.get(int(value), 'invalid row kind')}",
            )
            self._nulls = bytes(spans.data[self._start : self._start + size])
            nulls = [self._name(i) for i in range(self._arity) if self._is_null(i)]
            note.about = f"null: {', '.join(nulls)}" if nulls else "no nulls"
            spans.leaf(
                "null bits",
                "bytes",
                size - 1,
                rule="Bit 8 + i of the header is set if field i is null, lowest bit first.",
            )

    def slots(self) -> None:
        """Build the slot of each field."""
        spans = self._spans
        if not self._arity:
            return
        with spans.group("slots", rule="One slot of 8 bytes per field.") as note:
            note.about = f"{self._arity} slots of {_SLOT} bytes"
            for index in range(self._arity):
                self._slot(index)

    def variable(self) -> None:
        """Build the values that do not fit into slots, in storage order."""
        spans = self._spans
        if not spans.left:
            return
        with spans.group(
            "variable part",
            rule="Values that do not fit into a slot, each padded to a multiple of 8 bytes.",
        ) as note:
            for item in sorted(self._items, key=lambda found: found.start):
                self._item(item)
            note.about = f"{len(self._items)} values"
            spans.rest(
                "reserved", "Space reserved for null values of wide decimals and timestamps."
            )

    def _item(self, item: _Item) -> None:
        spans = self._spans
        start = self._start + item.start
        if start > spans.position:
            spans.leaf(
                "reserved", "bytes", start - spans.position, rule="Bytes that no slot references."
            )
        if start < spans.position:
            raise InvalidInputError(f"Value {item.name} overlaps the previous value.")
        spans.later(item.name, item.size, item.build, about=f"{item.size} bytes")
        fill = min(-item.size % _SLOT, spans.left)
        _fill(spans, fill, "Zero padding to a multiple of 8 bytes.")

    def _name(self, index: int) -> str:
        return self._fields[index].name if self._fields is not None else f"field {index}"

    def _is_null(self, index: int) -> bool:
        bit = index + 8
        return bit >> 3 < len(self._nulls) and bool(self._nulls[bit >> 3] >> (bit & 7) & 1)

    def _slot(self, index: int) -> None:
        spans = self._spans
        name = self._name(index)
        if self._is_null(index):
            spans.leaf(name, "bytes", _SLOT, rule="The null bit is set.", say=lambda _: "null")
            return
        if self._fields is None:
            spans.leaf(name, "bytes", _SLOT, rule="Slot of a field of unknown type.")
            return
        data_type = self._fields[index].type
        with spans.group(name, rule=f"Slot of type {type_text(data_type)}.") as note:
            note.about = self._typed(name, data_type)

    def _typed(self, name: str, data_type: DataType) -> str:
        """Build the spans of one slot; returns its value as text."""
        if not isinstance(data_type, AtomicType):
            return self._pointer(name, "bytes")
        root = data_type.root
        if root in _PLAIN:
            return self._number(_PLAIN[root], _say_of(data_type))
        if root is TypeRoot.DECIMAL:
            return self._decimal(name, data_type)
        if root in TIMESTAMPS:
            precision = 6 if data_type.precision is None else data_type.precision
            is_short = precision <= _MILLIS_DIGITS
            return self._number("int64 LE", _stamp) if is_short else self._stamp(name)
        form = _TEXTS.get(root) or _BINARIES.get(root)
        mark = self._spans.data[self._spans.position + _SLOT - 1]
        if form is not None and mark & _INLINE_BIT:
            return self._inline(form, mark)
        return self._pointer(name, form or "bytes")

    def _decimal(self, name: str, data_type: AtomicType) -> str:
        if (data_type.precision or 10) <= _COMPACT_DIGITS:
            return self._number("int64 LE", _say_of(data_type))
        return self._pointer(name, "bytes", room=_WIDE_DECIMAL, say=_wide_say(data_type))

    def _number(self, form: str, say: Say | None) -> str:
        spans = self._spans
        before = spans.position
        value = spans.leaf("value", form, say=say)
        _fill(spans, _SLOT - (spans.position - before), "Zero padding of the slot.")
        return say(value) if say is not None else str(value)

    def _inline(self, form: str, mark: int) -> str:
        spans = self._spans
        size = mark & 0x7F
        if size >= _SLOT:
            raise InvalidInputError(f"A value of {size} bytes does not fit into an 8-byte slot.")
        value: Value = spans.leaf("value", form, size) if size else ""
        _fill(spans, _SLOT - 1 - size)
        rule = "Bit 7: the value is stored in the slot; other bits: the length of the value."
        spans.leaf(
            "inline flag", "uint8", rule=rule, say=lambda v: f"inline, {int(v) & 0x7F} bytes"
        )
        return f"0x{value.hex()}" if isinstance(value, bytes) else f'"{value}"'

    def _pointer(
        self, name: str, form: str, *, room: int | None = None, say: Say | None = None
    ) -> str:
        """A reference to the variable part: length in the lower half, offset in the upper half."""
        spans = self._spans
        size = spans.number("size", "uint32 LE", rule="Length of the value in bytes.")
        start = spans.number("offset", "uint32 LE", rule="Offset from the first byte of the row.")
        taken = size if room is None else room
        fits = 0 < taken <= spans.end - self._start - start

        def build(inner: Spans) -> None:
            inner.leaf("value", form, size if room is None else min(size, room), say=say)
            _fill(inner, inner.left)

        if fits:
            self._items.append(_Item(name=name, start=start, size=taken, build=build))
            raw = spans.data[self._start + start : self._start + start + min(size, 64)]
            shown = f'"{raw.decode("utf-8", "replace")}"' if form == "UTF-8" else f"0x{raw.hex()}"
            return say(raw) if say is not None else shown
        return "empty" if not taken else "the slot references bytes outside of the row"

    def _stamp(self, name: str) -> str:
        spans = self._spans
        nanos = spans.number("nanoseconds", "uint32 LE", rule="Nanoseconds within the millisecond.")
        start = spans.number("offset", "uint32 LE", rule="Offset from the first byte of the row.")
        at = self._start + start
        if at + _SLOT > spans.end:
            return "the slot references bytes outside of the row"

        def build(inner: Spans) -> None:
            inner.leaf("milliseconds", "int64 LE", say=_stamp)

        self._items.append(_Item(name=name, start=start, size=_SLOT, build=build))
        millis = int.from_bytes(spans.data[at : at + _SLOT], "little", signed=True)
        return f"{_stamp(millis)} + {nanos} ns"


def _fill(spans: Spans, size: int, rule: str = "") -> None:
    if size:
        spans.leaf("fill", "zeros", size, rule=rule)


def _stamp(value: Value) -> str:
    return f"{int(value)}: {time_text(int(value), zone='')}"


def _say_of(data_type: AtomicType) -> Say | None:
    scale = data_type.scale or 0
    match data_type.root:
        case TypeRoot.BOOLEAN:
            return lambda value: "true" if value else "false"
        case TypeRoot.DATE:
            return lambda value: f"{int(value)}: {time_text(int(value) * _DAY_MS, zone='')[:10]}"
        case TypeRoot.TIME:
            return lambda value: f"{int(value)}: {time_text(int(value), zone='')[11:]}"
        case TypeRoot.DECIMAL:
            return lambda value: f"{int(value)}: {scaled(int(value), scale):f}"
        case _:
            return None


def _wide_say(data_type: AtomicType) -> Say:
    scale = data_type.scale or 0

    def say(value: Value) -> str:
        if not isinstance(value, bytes):
            return str(value)
        number = int.from_bytes(value, "big", signed=True)
        return f"{number}: {scaled(number, scale):f}"

    return say
