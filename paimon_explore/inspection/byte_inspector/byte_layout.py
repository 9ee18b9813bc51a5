"""The bytes of one file explained: `t.bytes("manifest-…")`, `pe.inspect.bytes(path)`.

How bytes are counted: every byte of the file lies in exactly one leaf. What a packed leaf (an Avro
block, a footer of ORC) unpacks to is an address space of its own, where again every byte lies in
exactly one leaf; its bytes are not bytes of the file and are counted apart. `encoded` makes the
bytes of a space again from the values of its leaves: for the file that is the file, for a packed
leaf its packed bytes as they are, for the space below the unpacked bytes.
"""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import field
from itertools import islice

import pyarrow as pa

from paimon_explore.errors import InvalidInputError
from paimon_explore.frozen_dataclass import dataclass
from paimon_explore.inspection.byte_inspector.cross_check import NOT_AVRO, Agreement
from paimon_explore.inspection.byte_inspector.spans import STRANGE, Space, Span, gaps, leaves
from paimon_explore.inspection.byte_inspector.value_encodings import FORMS
from paimon_explore.inspection.rendering.report import Grid, Note, Sheet, facts, grid
from paimon_explore.inspection.rendering.result import Result

INSIDE = "@"
"""The step of a path that leads from a leaf into what it unpacks to."""

PAGE = 200
"""Spans are handed out in pages of so many."""
MOST_HEX_BYTES = 1 << 16
_FEW_ROWS = 60
_DEEPEST = 64


@dataclass(frozen=True, slots=True, kw_only=True)
class Place:
    """A span with its place.

    Attributes:
        path: positions among siblings from the root down, `@` where a leaf is unpacked: `1.0.@.3`.
        space: its address space.
        span: itself.
    """

    path: str
    space: Space
    span: Span

    def state(self) -> dict[str, object]:
        """The place as JSON."""
        span = self.span
        return {
            "path": self.path,
            "name": span.name,
            "offset": span.offset,
            "length": span.length,
            "text": self.space.text(span)[:_LONGEST],
            "rule": span.rule,
            "form": span.form,
            "says": FORMS[span.form].says if span.form else "",
            "opens": span.grow is not None or span.inside is not None,
            "packed": span.inside is not None,
            "strange": span.name == STRANGE,
        }


_LONGEST = 400


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class ByteMap(Result):
    """The bytes of a file as fields.

    Attributes:
        name: of the file.
        path: where it lies.
        layout: what it is, in words.
        rules: where its format is written down.
        space: the file's bytes.
        cross_checked: tells what a second decoder reads of it.
    """

    name: str
    path: str
    layout: str
    rules: str = ""
    space: Space = field(repr=False)
    cross_checked: Callable[[], Agreement] = field(default=lambda: NOT_AVRO, compare=False)

    @property
    def kind(self) -> str:
        """Its name in the explorer."""
        return "bytes"

    @property
    def size(self) -> int:
        """Bytes of the file."""
        return self.space.root.length

    def at(self, offset: int, within: str = "") -> "Explanation":
        """Explain a byte.

        Args:
            offset: of the byte, from 0; below 0 it counts from the end.
            within: path of the packed leaf whose unpacked bytes are meant; the file by default.

        Raises:
            InvalidInputError: there is no such byte.
        """
        base = self._space(within)
        wanted = offset if offset >= 0 else base.root.length + offset
        prefix = f"{within}.{INSIDE}" if within else ""
        places: list[Place] = []
        steps = [prefix] if prefix else []
        for number, (index, span) in enumerate(base.path_to(wanted)):
            if number:
                steps.append(str(index))
            places.append(Place(path=".".join(steps), space=base, span=span))
        byte = base.reader.read(wanted, 1)
        return Explanation(
            offset=wanted,
            byte=byte[0],
            places=tuple(places),
            code=self.code,
            screen=self.screen,
            name=self.name,
        )

    def children(self, path: str = "", first: int = 0) -> tuple[list[Place], int]:
        """A page of the spans below one, and how many there are.

        Args:
            path: of the span; the file by default.
            first: number of the first wanted.
        """
        place = self.place(path)
        if place.span.inside is not None:
            inner = place.span.inside()
            prefix = f"{place.path}.{INSIDE}"
            return [Place(path=prefix, space=inner, span=inner.root)][first:], 1
        below = place.span.children()
        start = f"{place.path}." if place.path else ""
        page = [
            Place(path=f"{start}{first + i}", space=place.space, span=span)
            for i, span in enumerate(below[first : first + PAGE])
        ]
        return page, len(below)

    def place(self, path: str = "") -> Place:
        """The span at a path.

        Raises:
            InvalidInputError: there is none.
        """
        space, span = self.space, self.space.root
        for step in path.split(".") if path else ():
            if step == INSIDE and span.inside is not None:
                space = span.inside()
                span = space.root
                continue
            below = span.children()
            if not step.isdecimal() or len(step) > 9 or int(step) >= len(below):  # noqa: PLR2004
                raise InvalidInputError(f"{path[:60]!r} is not a field of {self.name}.")
            span = below[int(step)]
        return Place(path=path, space=space, span=span)

    def read(self, offset: int, length: int, within: str = "") -> bytes:
        """Some of the bytes, at most `MOST_HEX_BYTES`; see `at` for the arguments."""
        return self._space(within).reader.read(max(offset, 0), min(length, MOST_HEX_BYTES))

    def encoded(self, within: str = "") -> bytes:
        """The bytes made again from the values of all leaves; see `at` for the argument."""
        space = self._space(within)
        return b"".join(space.encode(space.root))

    def problems(self) -> list[str]:
        """What is wrong with the file or its anatomy.

        These are bytes that break the layout, gaps, and values of an Avro file that fastavro reads
        in another way than our decoder.
        """
        strange = [
            f"{space.name}, byte {span.offset:,}: {span.rule}"
            for space, span in leaves(self.space)
            if span.name == STRANGE
        ]
        return [*gaps(self.space), *strange, *self.cross_checked().problems]

    def fields(self, depth: int = _DEEPEST) -> Iterator[Place]:
        """All spans down to a depth, each before those below it; unpacked ones included."""
        return self._below(Place(path="", space=self.space, span=self.space.root), depth)

    def sheet(self) -> Sheet:
        """What the file is, and its first fields."""
        shown = list(islice(self._short(), _FEW_ROWS))
        return Sheet(
            title=f"{self.name}: {self.layout}, {self.size:,} bytes",
            sections=(
                facts(
                    ("path", self.path),
                    ("format", self.rules or None),
                    ("second decoder", self.cross_checked().text or None),
                ),
                self._grid(shown),
                Note(text="Ask for one byte with .at(offset), for all with .to_arrow()."),
            ),
        )

    def to_arrow(self) -> pa.Table:
        """A row for each leaf: space, path, field, offset, length, form, value, rule."""
        return self._table(self.fields())

    def figures(self) -> dict[str, object]:
        """The first level of fields, as JSON."""
        page, total = self.children()
        return {
            "name": self.name,
            "path": self.path,
            "layout": self.layout,
            "rules": self.rules,
            "crossCheck": self.cross_checked().text,
            "size": self.size,
            "fields": [place.state() for place in page],
            "total": total,
            "open": self._first_open(),
        }

    def _first_open(self) -> list[str]:
        """Paths of the groups to open at first: what most people look for in a file."""
        path: list[str] = []
        opened: list[str] = []
        names = _OPENED.get(self.layout, ())
        for name in names:
            page, _ = self.children(".".join(path))
            found = next((p for p in page if p.span.name.startswith(name)), None)
            if found is None:
                break
            opened.append(found.path)
            path = found.path.split(".")
        return opened

    def _space(self, within: str) -> Space:
        if not within:
            return self.space
        span = self.place(within).span
        if span.inside is None:
            raise InvalidInputError(f"{within[:60]!r} is not a packed field of {self.name}.")
        return span.inside()

    def _below(self, place: Place, depth: int) -> Iterator[Place]:
        yield place
        if depth <= 0:
            return
        span, path = place.span, place.path
        if span.inside is not None:
            inner = span.inside()
            step = f"{path}.{INSIDE}" if path else INSIDE
            yield from self._below(Place(path=step, space=inner, span=inner.root), depth - 1)
        for index, child in enumerate(span.children()):
            step = f"{path}.{index}" if path else str(index)
            yield from self._below(Place(path=step, space=place.space, span=child), depth - 1)

    def _short(self) -> Iterator[Place]:
        """The fields for a first look, without marks between JSON members and a schema's text."""
        hidden = "-"
        for place in self.fields(_FIRST_LOOK):
            if not place.path or place.path.startswith(hidden):
                continue
            if place.span.name in _LENGTHY:
                hidden = f"{place.path}."
            if place.span.form != "JSON" or place.span.name not in _MARKS:
                yield place

    def _grid(self, places: list[Place]) -> Grid:
        rows = [
            (
                f"{place.span.offset:,}",
                f"{place.span.length:,}",
                f"{'  ' * place.path.count('.')}{place.span.name}",
                place.space.text(place.span),
                place.span.form,
            )
            for place in places
        ]
        return grid("first fields", ("byte#", "length#", "field", "value", "form"), rows)

    def _table(self, places: Iterator[Place]) -> pa.Table:
        found = [place for place in places if place.span.form]
        texts = [place.space.text(place.span) for place in found]
        return pa.table(
            {
                "space": pa.array([place.space.name for place in found], pa.string()),
                "path": pa.array([place.path for place in found], pa.string()),
                "field": pa.array([_text(place.span.name) for place in found], pa.string()),
                "offset": pa.array([place.span.offset for place in found], pa.int64()),
                "length": pa.array([place.span.length for place in found], pa.int64()),
                "form": pa.array([place.span.form for place in found], pa.string()),
                "value": pa.array([_text(text) for text in texts], pa.string()),
                "rule": pa.array([place.span.rule for place in found], pa.string()),
            }
        )


_RECORDS = ("block 0", "packed", "block 0 unpacked", "record 0")
_OPENED: Mapping[str, tuple[str, ...]] = {
    "manifest": _RECORDS,
    "manifest list": _RECORDS,
    "index manifest": _RECORDS,
    "deletion vectors": ("vector 0", "data"),
    "hash index": ("hashes",),
    **dict.fromkeys(("snapshot", "schema", "changelog", "tag", "consumer", "stat"), ("value",)),
}
"""By layout the names of the groups to open at first, from the top down."""

_FIRST_LOOK = 6
_LENGTHY = ("avro.schema", "avro.codec")
_MARKS = ("opens", "closes", "space", "key", "colon", "comma", "value")


def _text(text: str) -> str:
    """Text that has an encoding: half surrogate pairs become question marks."""
    return text.encode("utf-8", "replace").decode("utf-8")


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class Explanation(Result):
    """What one byte is.

    Attributes:
        name: of the file.
        offset: of the byte in its address space.
        byte: its value.
        places: the spans that hold it, from the whole down to the leaf.
    """

    name: str
    offset: int
    byte: int
    places: tuple[Place, ...]

    @property
    def kind(self) -> str:
        """Its name in the explorer."""
        return "byte"

    @property
    def leaf(self) -> Place:
        """The field."""
        return self.places[-1]

    def sheet(self) -> Sheet:
        """The field, its value and rule, and the groups around it."""
        place = self.leaf
        span = place.span
        where = f"byte {self.offset - span.offset + 1} of {span.length:,}"
        around = [
            (p.span.name, f"{p.span.offset:,}", f"{p.span.length:,}", p.space.text(p.span))
            for p in self.places
        ]
        return Sheet(
            title=f"byte {self.offset:,} of {place.space.name} = 0x{self.byte:02x}: {span.name}",
            sections=(
                facts(
                    ("field", f"{span.name}, {where}"),
                    ("value", place.space.text(span)),
                    ("stored as", FORMS[span.form].says if span.form else "a group"),
                    (
                        "rule",
                        next((p.span.rule for p in reversed(self.places) if p.span.rule), None),
                    ),
                ),
                grid("inside of", ("field", "byte#", "length#", "holds"), around),
            ),
        )

    def to_arrow(self) -> pa.Table:
        """A row for each span that holds the byte, the whole first."""
        return pa.table(
            {
                "field": pa.array([_text(p.span.name) for p in self.places], pa.string()),
                "offset": pa.array([p.span.offset for p in self.places], pa.int64()),
                "length": pa.array([p.span.length for p in self.places], pa.int64()),
                "value": pa.array([_text(p.space.text(p.span)) for p in self.places], pa.string()),
                "rule": pa.array([p.span.rule for p in self.places], pa.string()),
            }
        )

    def figures(self) -> dict[str, object]:
        """The spans that hold the byte, as JSON."""
        return {
            "offset": self.offset,
            "byte": self.byte,
            "places": [place.state() for place in self.places],
        }
