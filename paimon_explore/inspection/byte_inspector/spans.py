"""Spans: the bytes of a file as a tree of fields that covers every byte exactly once.

A span is either a leaf with a form and a value, or a group with consecutive children without gaps.
Children are built on demand, so the cost depends on the inspected part of the file. Compressed
bytes are a leaf; their decompressed bytes are a separate address space below it.

Bytes that a layout does not explain become a leaf with a reason; no byte is omitted or guessed.
"""

import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import field, replace
from typing import Protocol

from paimon_explore.errors import InvalidInputError, PaimonError
from paimon_explore.frozen_dataclass import dataclass
from paimon_explore.inspection.byte_inspector.primitive_encodings import (
    FORMS,
    WIDTHS,
    Value,
    is_faithful,
    value_text,
)

STRANGE = "invalid bytes"
"""Name of leaves with bytes that violate the layout."""

_CHUNK = 256
"""Number of items per group in long lists."""
_MAX_DEPTH = 200


UNOPENED = "unparsed bytes"
"""Name of leaves with bytes that exceed the limits of parsing."""
MAX_SPANS = 200_000
"""Maximum number of spans that are built at once."""
MAX_SECONDS = 5


class SpanLimitError(InvalidInputError):
    """A group exceeds the limit of spans or time."""


class Reader(Protocol):
    """Random access to bytes."""

    @property
    def size(self) -> int:
        """The number of bytes."""

    def read(self, offset: int, length: int) -> bytes:
        """Bytes [offset, offset + length)."""


@dataclass(frozen=True, slots=True)
class MemoryReader:
    """A `Reader` of bytes in memory."""

    data: bytes = field(repr=False)

    @property
    def size(self) -> int:
        """The number of bytes."""
        return len(self.data)

    def read(self, offset: int, length: int) -> bytes:
        """Bytes [offset, offset + length)."""
        return self.data[offset : offset + length]


Say = Callable[[Value], str]
Grow = Callable[[], "Sequence[Span]"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Span:
    """A range of bytes with a meaning.

    Attributes:
        name: name of the field.
        offset: offset of the first byte in its address space.
        length: number of bytes.
        form: encoding of the value of a leaf (a key of `FORMS`); empty for a group.
        rule: description in the specification.
        about: short description of a group.
        say: formats the value of a leaf.
        grow: gives the children of a group.
        inside: gives the address space of the decompressed bytes of a leaf.
    """

    name: str
    offset: int
    length: int
    form: str = ""
    rule: str = ""
    about: str = ""
    say: Say | None = field(default=None, repr=False, compare=False)
    grow: Grow | None = field(default=None, repr=False, compare=False)
    inside: "Callable[[], Space] | None" = field(default=None, repr=False, compare=False)

    @property
    def end(self) -> int:
        """The offset after its last byte."""
        return self.offset + self.length

    def children(self) -> "Sequence[Span]":
        """The children in order; empty for a leaf."""
        return self.grow() if self.grow is not None else ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Space:
    """An address space: a file, or the decompressed bytes of a part.

    Attributes:
        name: name of the space.
        reader: reads its bytes.
        root: the span of all bytes.
    """

    name: str
    reader: Reader
    root: Span

    def value(self, span: Span) -> Value:
        """The value of a leaf."""
        return FORMS[span.form].decode(self.reader.read(span.offset, span.length))

    def text(self, span: Span) -> str:
        """The content of a span in one line."""
        if not span.form:
            return span.about
        if span.form in ("bytes", "zeros") and span.length > _CHUNK:
            shown = f"{span.length:,} bytes"
            return shown if span.say is None else span.say(self.value(span))
        value = self.value(span)
        return value_text(value) if span.say is None else span.say(value)

    def encode(self, span: Span) -> Iterator[bytes]:
        """Encode the values of all leaves of a span again."""
        if span.form:
            yield FORMS[span.form].encode(self.value(span))
        else:
            for child in span.children():
                yield from self.encode(child)

    def path_to(self, offset: int) -> list[tuple[int, Span]]:
        """The spans from the root to the leaf that contains a byte, with their sibling indexes.

        Raises:
            InvalidInputError: the offset is out of range.
        """
        if not self.root.offset <= offset < self.root.end:
            raise InvalidInputError(
                f"Offset {offset} is out of range: there are {self.root.length:,} bytes."
            )
        found = [(0, self.root)]
        while True:
            below = found[-1][1].children()
            here = next(((i, s) for i, s in enumerate(below) if s.offset <= offset < s.end), None)
            if here is None:
                return found
            found.append(here)


class Spans:
    """Builds consecutive spans.

    Args:
        data: the bytes of the address space, or a window of them.
        position: start of the first span.
        end: end of the last span; by default the end of the data.
        base: start of the window; leaves of form bytes may be outside of it.
    """

    def __init__(
        self, data: bytes, position: int = 0, end: int | None = None, base: int = 0
    ) -> None:
        self.data = data
        self.position = position
        self.end = base + len(data) if end is None else end
        self.base = base
        self.made: list[Span] = []
        self._count = 0
        self._until = time.monotonic() + MAX_SECONDS

    @property
    def left(self) -> int:
        """Number of remaining bytes."""
        return self.end - self.position

    def need(self, size: int) -> None:
        """Check that enough bytes remain.

        Raises:
            InvalidInputError: fewer bytes remain.
        """
        if not 0 <= size <= self.left:
            raise InvalidInputError(
                f"{size:,} bytes are expected at byte {self.position:,}, "
                f"but the number of remaining bytes is {self.left:,}"
            )

    def peek(self, size: int) -> bytes:
        """The next bytes, which stay to be built.

        Raises:
            InvalidInputError: fewer bytes remain.
        """
        self.need(size)
        at = self.position - self.base
        return self.data[at : at + size]

    def leaf(
        self,
        name: str,
        form: str,
        size: int | None = None,
        *,
        rule: str = "",
        say: Say | None = None,
    ) -> Value:
        """Build a leaf and return its value.

        Args:
            name: name of the field.
            form: a key of `FORMS`.
            size: size in bytes, for forms of variable size.
            rule: description in the specification.
            say: formats the value.
        """
        self._spend()
        taken = WIDTHS.get(form) if size is None else size
        if taken is None:
            taken = self._varint_size()
        self.need(taken)
        start = max(self.position - self.base, 0)
        raw = self.data[start : start + taken]
        value = FORMS[form].decode(raw)
        faithful = taken > _CHUNK or form in ("bytes", "zeros") or is_faithful(form, raw)
        self.made.append(
            Span(
                name=name,
                offset=self.position,
                length=taken,
                form=form if faithful else "bytes",
                rule=rule
                if faithful
                else f"{rule} A non-canonical encoding of {value_text(value)}.",
                say=say if faithful else None,
            )
        )
        self.position += taken
        return value

    def number(self, name: str, form: str, *, rule: str = "", say: Say | None = None) -> int:
        """Build a leaf and return its integer value."""
        value = self.leaf(name, form, rule=rule, say=say)
        assert isinstance(value, int)  # noqa: S101 - the form is one of whole numbers
        return value

    def later(
        self,
        name: str,
        size: int,
        build: "Callable[[Spans], object]",
        *,
        about: str = "",
        rule: str = "",
    ) -> None:
        """Build a group of known size whose children are built on demand."""
        self.need(size)
        self._spend()
        like = Span(name=name, offset=self.position, length=size, rule=rule, about=about)
        self.made.append(grown(self.data, build, like, self.base))
        self.position += size

    def packed(self, name: str, size: int, inside: "Callable[[], Space]", *, rule: str) -> None:
        """Build a leaf of compressed bytes; `inside` decompresses them."""
        text = f"{size:,} bytes; the decompressed bytes are listed below"
        self.leaf(name, "bytes", size, rule=rule, say=lambda _: text)
        self.made[-1] = replace(self.made[-1], inside=inside)

    @contextmanager
    def group(self, name: str, *, rule: str = "") -> "Iterator[Group]":
        """A group of the spans that are built within the `with` block."""
        outer, start = self.made, self.position
        self.made = []
        note = Group(name, rule)
        try:
            yield note
        finally:
            made, self.made = tuple(self.made), outer
            if made:
                self.made.append(
                    Span(
                        name=note.name,
                        offset=start,
                        length=self.position - start,
                        rule=note.rule,
                        about=note.about,
                        grow=lambda: made,
                    )
                )

    def row(
        self, name: str, form: str, count: int, *, rule: str = "", say: Say | None = None
    ) -> None:
        """Build a list of numbers; long lists are grouped."""
        width = WIDTHS[form]
        self.need(width * count)

        def build(inner: Spans) -> None:
            while inner.left:
                inner.leaf(f"[{(inner.position - start) // width}]", form, rule=rule, say=say)

        start = self.position
        self.chunks(name, width, range(count), build, rule=rule)

    def chunks(
        self,
        name: str,
        width: int,
        numbers: range,
        build: "Callable[[Spans], object]",
        *,
        rule: str = "",
    ) -> None:
        """Build a list of items of `width` bytes; long lists are grouped in several levels."""
        count = len(numbers)
        if not count:
            return
        size = width * count
        about = f"{count:,}"
        if count <= _CHUNK:
            self.later(name, size, build, about=about, rule=rule)
            return
        step = _CHUNK
        while count > step * _CHUNK:
            step *= _CHUNK

        def divide(inner: Spans) -> None:
            for first in range(0, count, step):
                some = numbers[first : first + step]
                inner.chunks(f"[{some[0]}…{some[-1]}]", width, some, build)

        self.later(name, size, divide, about=about, rule=rule)

    def _spend(self) -> None:
        """Count a span against the limits."""
        self._count += 1
        if self._count > MAX_SPANS:
            raise SpanLimitError(f"The data has more than {MAX_SPANS:,} fields.")
        if self._count % _CHUNK == 0 and time.monotonic() > self._until:
            raise SpanLimitError(f"Parsing takes longer than {MAX_SECONDS} seconds.")

    def enough(self, why: str) -> None:
        """Build a leaf of the remaining bytes, which are not parsed."""
        self._count = 0
        self.rest(UNOPENED, f"Not parsed: {why}")

    def rest(self, name: str, rule: str) -> None:
        """Build a leaf of the remaining bytes."""
        if self.left:
            self.leaf(name, "bytes", self.left, rule=rule)

    def _varint_size(self) -> int:
        for size in range(1, min(self.left, 10) + 1):
            if self.data[self.position - self.base + size - 1] < 0x80:  # noqa: PLR2004 - no further byte
                return size
        message = f"A variable-length integer must end before byte {self.position + 10:,}."
        raise InvalidInputError(message)


@dataclass(slots=True)
class Group:
    """The name, rule and description of a group; may be set when its spans are known."""

    name: str
    rule: str = ""
    about: str = ""


def grown(data: bytes, build: Callable[[Spans], object], like: Span, base: int = 0) -> Span:
    """A group whose children `build` builds on demand; they always cover the group.

    Args:
        data: the bytes of the address space, or a window of them.
        build: builds the children.
        like: name, offset, length, rule and description of the group.
        base: start of the window.
    """

    def grow() -> Sequence[Span]:
        spans = Spans(data, like.offset, like.end, base)
        try:
            build(spans)
        except SpanLimitError as error:
            spans.enough(error.message)
        except (PaimonError, IndexError, ValueError, OverflowError, RecursionError) as error:
            what = error.message if isinstance(error, PaimonError) else f"{error}."
            spans.leaf(STRANGE, "bytes", spans.left, rule=f"Invalid: {what}")
        spans.rest(STRANGE, "Bytes that are not part of the layout.")
        return tuple(spans.made)

    return replace(like, grow=grow)


def space_of(name: str, data: bytes, build: Callable[[Spans], object], *, rule: str = "") -> Space:
    """An address space of bytes in memory, with the spans that `build` builds."""
    like = Span(name=name, offset=0, length=len(data), rule=rule)
    return Space(name=name, reader=MemoryReader(data), root=grown(data, build, like))


def leaves(space: Space, span: Span | None = None) -> Iterator[tuple[Space, Span]]:
    """All leaves of a span; the leaves of an inner space follow their leaf."""
    here = space.root if span is None else span
    if here.form:
        yield space, here
        if here.inside is not None:
            yield from leaves(here.inside())
        return
    for child in here.children():
        yield from leaves(space, child)


def gaps(space: Space, span: Span | None = None, depth: int = 0) -> Iterator[str]:
    """Gaps and overlaps between children of a group; empty for a correct layout.

    Includes inner spaces.
    """
    here = space.root if span is None else span
    if here.form or depth > _MAX_DEPTH:
        if here.inside is not None:
            inner = here.inside()
            if inner.root.length != inner.reader.size:
                yield f"{inner.name}: {inner.root.length} of {inner.reader.size} bytes are covered"
            yield from gaps(inner)
        return
    position = here.offset
    for child in here.children():
        if child.offset != position or child.length < 0:
            yield f"{space.name}: {child.name} starts at {child.offset}, not {position}"
        position = child.end
        yield from gaps(space, child, depth + 1)
    if position != here.end:
        yield f"{space.name}: {here.name} ends at {here.end}, its children at {position}"
