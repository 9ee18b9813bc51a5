"""Spans: the bytes of a file as a tree of fields that covers every byte exactly once.

A span has either a form, then it is a leaf with a value, or children, which lie one after the
other without gaps. Children are made when they are asked for, so that a file of a million records
costs what is looked at. Bytes that are packed (a compressed block) are a leaf of their own, and
what they unpack to is an address space of its own below it.

Whatever a layout does not account for becomes a leaf that says so: nothing is left out, nothing is
guessed at.
"""

import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import field, replace
from typing import Protocol

from paimon_explore.errors import InvalidInputError, PaimonError
from paimon_explore.frozen_dataclass import dataclass
from paimon_explore.inspection.byte_inspector.value_encodings import (
    FORMS,
    WIDTHS,
    Value,
    is_faithful,
    value_text,
)

STRANGE = "not understood"
"""Name of the leaf that holds what breaks the layout."""

_CHUNK = 256
"""Long rows of equal things are shown in groups of so many."""
_MAX_DEPTH = 200


UNOPENED = "not taken apart"
"""Name of the leaf that holds what would take too long."""
MOST_SPANS = 200_000
"""Parts that are made at once."""
MOST_SECONDS = 5


class EnoughError(InvalidInputError):
    """A group of bytes has more parts than are made at once."""


class Reader(Protocol):
    """Bytes by their place."""

    @property
    def size(self) -> int:
        """How many there are."""
        ...

    def read(self, offset: int, length: int) -> bytes:
        """Bytes [offset, offset + length)."""
        ...


@dataclass(frozen=True, slots=True)
class Held:
    """Bytes in memory, as a `Reader`."""

    data: bytes = field(repr=False)

    @property
    def size(self) -> int:
        """How many there are."""
        return len(self.data)

    def read(self, offset: int, length: int) -> bytes:
        """Bytes [offset, offset + length)."""
        return self.data[offset : offset + length]


Say = Callable[[Value], str]
Grow = Callable[[], "Sequence[Span]"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Span:
    """Some bytes that mean something.

    Attributes:
        name: of the field.
        offset: of the first byte in its address space.
        length: number of bytes.
        form: of a leaf, how its value is stored (a key of `FORMS`); empty for a group.
        rule: what the format says of it.
        about: of a group, what it holds, in a few words.
        say: of a leaf, what its value stands for.
        grow: of a group, gives the children.
        inside: gives the address space that a leaf unpacks to.
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
        """The first byte behind it."""
        return self.offset + self.length

    def children(self) -> "Sequence[Span]":
        """The spans below, in order; none for a leaf."""
        return self.grow() if self.grow is not None else ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Space:
    """An address space: a file, or what a packed part of it unpacks to.

    Attributes:
        name: what it is.
        reader: gives its bytes.
        root: the span of all of them.
    """

    name: str
    reader: Reader
    root: Span

    def value(self, span: Span) -> Value:
        """The value of a leaf."""
        return FORMS[span.form].decode(self.reader.read(span.offset, span.length))

    def text(self, span: Span) -> str:
        """What a span holds, in one line."""
        if not span.form:
            return span.about
        if span.form in ("bytes", "zeros") and span.length > _CHUNK:
            shown = f"{span.length:,} bytes"
            return shown if span.say is None else span.say(self.value(span))
        value = self.value(span)
        return value_text(value) if span.say is None else span.say(value)

    def encode(self, span: Span) -> Iterator[bytes]:
        """The bytes of a span, made again from the values of its leaves."""
        if span.form:
            yield FORMS[span.form].encode(self.value(span))
        else:
            for child in span.children():
                yield from self.encode(child)

    def path_to(self, offset: int) -> list[tuple[int, Span]]:
        """From the root to the leaf that holds a byte: position among its siblings, and span.

        Raises:
            InvalidInputError: there is no such byte.
        """
        if not self.root.offset <= offset < self.root.end:
            raise InvalidInputError(f"byte {offset} is not one of {self.root.length:,} bytes.")
        found = [(0, self.root)]
        while True:
            below = found[-1][1].children()
            here = next(
                ((i, s) for i, s in enumerate(below) if s.offset <= offset < s.end),
                None,
            )
            if here is None:
                return found
            found.append(here)


class Spans:
    """Makes the spans of some bytes from the first to the last.

    Args:
        data: the bytes of the address space, or a window of them.
        position: where the first span starts.
        end: where the last one ends; the end of the data by default.
        base: where the window starts; leaves of bytes may lie outside of it.
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
        self._until = time.monotonic() + MOST_SECONDS

    @property
    def left(self) -> int:
        """Bytes that no span holds yet."""
        return self.end - self.position

    def need(self, size: int) -> None:
        """Check that so many bytes are left.

        Raises:
            InvalidInputError: there are fewer.
        """
        if not 0 <= size <= self.left:
            message = f"{size:,} bytes must follow at byte {self.position:,}, not {self.left:,}"
            raise InvalidInputError(message)

    def leaf(
        self,
        name: str,
        form: str,
        size: int | None = None,
        *,
        rule: str = "",
        say: Say | None = None,
    ) -> Value:
        """The next value, and a leaf for it.

        Args:
            name: of the field.
            form: a key of `FORMS`.
            size: bytes of it, for forms without a size of their own.
            rule: what the format says of it.
            say: what the value stands for.
        """
        self._spend()
        taken = WIDTHS.get(form) if size is None else size
        if taken is None:
            taken = self._varint_size()
        self.need(taken)
        raw = self.data[
            max(self.position - self.base, 0) : max(self.position - self.base, 0) + taken
        ]
        value = FORMS[form].decode(raw)
        faithful = taken > _CHUNK or form in ("bytes", "zeros") or is_faithful(form, raw)
        self.made.append(
            Span(
                name=name,
                offset=self.position,
                length=taken,
                form=form if faithful else "bytes",
                rule=rule if faithful else f"{rule} An unusual spelling of {value_text(value)}.",
                say=say if faithful else None,
            )
        )
        self.position += taken
        return value

    def number(self, name: str, form: str, *, rule: str = "", say: Say | None = None) -> int:
        """The next whole number."""
        value = self.leaf(name, form, rule=rule, say=say)
        assert isinstance(value, int)  # noqa: S101 - the form is one of whole numbers
        return value

    def later(
        self,
        name: str,
        size: int,
        build: "Callable[[Spans], None]",
        *,
        about: str = "",
        rule: str = "",
    ) -> None:
        """A group of known size whose children are made when they are asked for."""
        self.need(size)
        like = Span(name=name, offset=self.position, length=size)
        span = grown(self.data, build, like, self.base)
        self.add(span, about=about, rule=rule)

    def add(self, span: Span, *, about: str = "", rule: str = "") -> None:
        """A span made elsewhere, which starts here."""
        self._spend()
        given = Span(
            name=span.name,
            offset=self.position,
            length=span.length,
            form=span.form,
            rule=rule or span.rule,
            about=about or span.about,
            say=span.say,
            grow=span.grow,
            inside=span.inside,
        )
        self.made.append(given)
        self.position = given.end

    @contextmanager
    def group(self, name: str, *, rule: str = "") -> "Iterator[Group]":
        """A group around the spans that are made within the block."""
        outer, start = self.made, self.position
        self.made = []
        note = Group()
        try:
            yield note
        finally:
            made, self.made = tuple(self.made), outer
            if made:
                self.made.append(
                    Span(
                        name=name,
                        offset=start,
                        length=self.position - start,
                        rule=rule,
                        about=note.about,
                        grow=lambda: made,
                    )
                )

    def row(
        self, name: str, form: str, count: int, *, rule: str = "", say: Say | None = None
    ) -> None:
        """Many equal numbers, in groups where they are many."""
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
        build: "Callable[[Spans], None]",
        *,
        rule: str = "",
    ) -> None:
        """Many equal things of `width` bytes; more than some hundred are grouped once more."""
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
        """Count a span; a file may have more of them than anybody can look at."""
        self._count += 1
        if self._count > MOST_SPANS:
            raise EnoughError(f"there are more than {MOST_SPANS:,} parts")
        if self._count % _CHUNK == 0 and time.monotonic() > self._until:
            raise EnoughError(f"it takes longer than {MOST_SECONDS} seconds")

    def enough(self, why: str) -> None:
        """What is left, as bytes that are not taken apart."""
        self._count = 0
        self.rest(UNOPENED, f"Not taken apart any further: {why}.")

    def rest(self, name: str, rule: str) -> None:
        """What is left, as bytes."""
        if self.left:
            self.leaf(name, "bytes", self.left, rule=rule)

    def _varint_size(self) -> int:
        for size in range(1, min(self.left, 10) + 1):
            if self.data[self.position - self.base + size - 1] < 0x80:  # noqa: PLR2004 - no further byte
                return size
        message = f"a number of variable length must end by byte {self.position + 10:,}"
        raise InvalidInputError(message)


@dataclass(slots=True)
class Group:
    """What is to be said of a group once its spans are known."""

    about: str = ""


def grown(data: bytes, build: Callable[[Spans], None], like: Span, base: int = 0) -> Span:
    """A group whose children are made by `build` when they are asked for, and always cover it.

    Args:
        data: the bytes of the address space, or a window of them.
        build: makes the children.
        like: name, place, rule and words of the group.
        base: where the window starts.
    """

    def grow() -> Sequence[Span]:
        spans = Spans(data, like.offset, like.end, base)
        try:
            build(spans)
        except EnoughError as error:
            spans.enough(error.message)
        except (PaimonError, IndexError, ValueError, OverflowError, RecursionError) as error:
            what = error.message if isinstance(error, PaimonError) else str(error)
            spans.leaf(STRANGE, "bytes", spans.left, rule=f"This breaks the layout: {what}.")
        spans.rest(STRANGE, "The layout does not account for these bytes.")
        return tuple(spans.made)

    return replace(like, grow=grow)


def space_of(name: str, data: bytes, build: Callable[[Spans], None], *, rule: str = "") -> Space:
    """An address space of bytes in memory, with the spans that `build` makes."""
    like = Span(name=name, offset=0, length=len(data), rule=rule)
    return Space(name=name, reader=Held(data), root=grown(data, build, like))


def leaves(space: Space, span: Span | None = None) -> Iterator[tuple[Space, Span]]:
    """All leaves below a span, those of the spaces inside of leaves right behind these."""
    here = space.root if span is None else span
    if here.form:
        yield space, here
        if here.inside is not None:
            yield from leaves(here.inside())
        return
    for child in here.children():
        yield from leaves(space, child)


def gaps(space: Space, span: Span | None = None, depth: int = 0) -> Iterator[str]:
    """Where the children of a group do not lie one after the other; nothing in a sound anatomy.

    Looks into the spaces inside of leaves as well.
    """
    here = space.root if span is None else span
    if here.form or depth > _MAX_DEPTH:
        if here.inside is not None:
            inner = here.inside()
            if inner.root.length != inner.reader.size:
                yield f"{inner.name}: {inner.root.length} of {inner.reader.size} bytes are held"
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
