"""The byte layout of a file: `t.inspect.bytes("manifest-…")`, `pe.inspect.bytes(path)`.

Every byte of the file belongs to exactly one leaf. The decompressed bytes of a compressed leaf (an
Avro block, an ORC footer) form a separate address space, in which again every byte belongs to
exactly one leaf. `encoded` encodes the values of all leaves of an address space again: for the file
this gives the file, with compressed leaves unchanged; for an inner space the decompressed bytes.

Compares the Avro decoder with fastavro on a file, for the byte inspector.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import field
from itertools import islice

import pyarrow as pa

from paimon_explore.data_types.arrow import schema_from_text
from paimon_explore.encoding.avro.container import SYNC_SIZE, read_header, read_long
from paimon_explore.encoding.avro.reader import is_generic
from paimon_explore.errors import CorruptFileError, InvalidInputError, PaimonError
from paimon_explore.frozen_dataclass import dataclass
from paimon_explore.inspection.byte_inspector.primitive_encodings import FORMS
from paimon_explore.inspection.byte_inspector.spans import (
    MAX_SECONDS,
    STRANGE,
    Space,
    Span,
    gaps,
    leaves,
)
from paimon_explore.inspection.rendering.code_snippet import Code, call_code
from paimon_explore.inspection.rendering.report import (
    Columns,
    Grid,
    Note,
    Report,
    facts,
    grid,
    listing,
)
from paimon_explore.inspection.rendering.result import Result, rows_table

RECORDS_TO_COMPARE = 1000
"""Minimum number of compared records; the last block is always compared completely."""
_MAX_BLOCK_RECORDS = 100_000
_MAX_BLOCK_BYTES = 1 << 20


@dataclass(frozen=True, slots=True, kw_only=True)
class Agreement:
    """Result of decoding a file with two decoders.

    Attributes:
        text: the result in one line; empty if the file is not an Avro file.
        problems: the differences.
    """

    text: str = ""
    problems: tuple[str, ...] = ()


NOT_AVRO = Agreement()


def agreement(data: bytes, path: str) -> Agreement:
    """Decode the first records of an Avro file twice, and compare them."""
    from paimon_explore.encoding.avro.cross_check import (  # noqa: PLC0415 - loads fastavro
        cross_check_beginning,
    )
    from paimon_explore.encoding.avro.fastavro_reader import fastavro_records  # noqa: PLC0415 - as above

    try:
        end = _end_of_blocks(data)
        if end is None:
            return Agreement(text="not compared with fastavro: the first block is too large")
        if is_generic(data, path):  # our decoder has no columns for it
            records = sum(1 for _ in fastavro_records(data[:end], path))
            what = "all" if end == len(data) else "the first"
            return Agreement(text=f"generic Avro file: fastavro decodes {what} {records:,} records")
        found = cross_check_beginning(data, path, end, most_seconds=MAX_SECONDS)
    except PaimonError as error:
        text = f"the first records cannot be decoded: {error.message}"
        return Agreement(text=text, problems=(text,))
    return Agreement(text=str(found), problems=tuple(map(str, found.disagreements)))


def _end_of_blocks(data: bytes) -> int | None:
    """The end of the block with record `RECORDS_TO_COMPARE`; None if a block is too large."""
    position = start = read_header(data).size
    records = 0
    while position < len(data) and records < RECORDS_TO_COMPARE:
        block = position
        count, position = read_long(data, position)
        size, position = read_long(data, position)
        if count < 0 or size < 0:
            raise CorruptFileError("", f"block at byte {block}", "must be within the file")
        if count > _MAX_BLOCK_RECORDS or size > _MAX_BLOCK_BYTES:
            return None if block == start else block
        position += size + SYNC_SIZE
        records += count
    return min(position, len(data))


INSIDE = "@"
"""The path element that leads from a leaf to its decompressed bytes."""

PAGE = 200
"""Number of spans per page."""
MAX_HEX_BYTES = 1 << 16
_FEW_ROWS = 60
_DEEPEST = 64


@dataclass(frozen=True, slots=True, kw_only=True)
class LocatedSpan:
    """A span with its path.

    Attributes:
        path: indexes among siblings from the root, `@` for decompressed bytes: `1.0.@.3`.
        space: its address space.
        span: the span.
    """

    path: str
    space: Space
    span: Span

    def child(self, index: int, span: Span) -> "LocatedSpan":
        """A child of the span."""
        path = f"{self.path}.{index}" if self.path else str(index)
        return LocatedSpan(path=path, space=self.space, span=span)

    def inside(self) -> "LocatedSpan | None":
        """The decompressed bytes; None if the span is not compressed."""
        if self.span.inside is None:
            return None
        space = self.span.inside()
        return LocatedSpan(path=f"{self.path}.{INSIDE}", space=space, span=space.root)

    def state(self) -> dict[str, object]:
        """The span as JSON."""
        span = self.span
        return {
            "path": self.path,
            "name": span.name,
            "offset": span.offset,
            "length": span.length,
            "text": self.space.text(span)[:_LONGEST],
            "rule": span.rule,
            "form": span.form,
            "says": FORMS[span.form].description if span.form else "",
            "opens": span.grow is not None or span.inside is not None,
            "packed": span.inside is not None,
            "strange": span.name == STRANGE,
        }


_LONGEST = 400


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class ByteLayout(Result):
    """The bytes of a file as a tree of fields.

    Attributes:
        name: the file name.
        path: the file path.
        layout: kind of file.
        rules: the specification of its format.
        space: the address space of the file.
        cross_checked: compares the values with those of a second decoder.
    """

    name: str
    path: str
    layout: str
    rules: str = ""
    space: Space = field(repr=False)
    cross_checked: Callable[[], Agreement] = field(default=lambda: NOT_AVRO, compare=False)
    kind = "bytes"

    @property
    def size(self) -> int:
        """Size of the file in bytes."""
        return self.space.root.length

    def at(self, offset: int, within: str = "") -> "Explanation":
        """Explain a byte.

        Args:
            offset: offset of the byte; negative offsets count from the end.
            within: path of a compressed leaf, to address its decompressed bytes; by default the
                file.

        Raises:
            InvalidInputError: the offset is out of range.
        """
        base = self._space(within)
        position = offset if offset >= 0 else base.root.length + offset
        prefix = f"{within}.{INSIDE}" if within else ""
        places: list[LocatedSpan] = []
        steps = [prefix] if prefix else []
        for number, (index, span) in enumerate(base.path_to(position)):
            if number:
                steps.append(str(index))
            places.append(LocatedSpan(path=".".join(steps), space=base, span=span))
        byte = base.reader.read(position, 1)
        given = call_code("at", position, *([within] if within else []))
        return Explanation(
            offset=position,
            byte=byte[0],
            places=tuple(places),
            code=Code(python=f"{self.code.python}.{given}"),
            name=self.name,
        )

    def children(self, path: str = "", first: int = 0) -> tuple[list[LocatedSpan], int]:
        """A page of the children of a span, and their total number.

        Args:
            path: path of the span; by default the file.
            first: index of the first child.
        """
        place = self.place(path)
        inner = place.inside()
        if inner is not None:
            return [inner][first:], 1
        below = place.span.children()
        page = [place.child(first + i, s) for i, s in enumerate(below[first : first + PAGE])]
        return page, len(below)

    def place(self, path: str = "") -> LocatedSpan:
        """The span at a path.

        Raises:
            InvalidInputError: the path does not exist.
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
        return LocatedSpan(path=path, space=space, span=span)

    def read(self, offset: int, length: int, within: str = "") -> bytes:
        """A range of at most `MAX_HEX_BYTES` bytes; see `at` for the arguments."""
        return self._space(within).reader.read(max(offset, 0), min(length, MAX_HEX_BYTES))

    def encoded(self, within: str = "") -> bytes:
        """Encode the values of all leaves again; see `at` for the argument."""
        space = self._space(within)
        return b"".join(space.encode(space.root))

    def problems(self) -> list[str]:
        """Bytes that violate the layout, gaps between spans, and differences to fastavro."""
        strange = [
            f"{space.name}, byte {span.offset:,}: {span.rule}"
            for space, span in leaves(self.space)
            if span.name == STRANGE
        ]
        return [*gaps(self.space), *strange, *self.cross_checked().problems]

    def fields(self, depth: int = _DEEPEST) -> Iterator[LocatedSpan]:
        """All spans to a depth in pre-order, including decompressed ones."""
        return self._below(LocatedSpan(path="", space=self.space, span=self.space.root), depth)

    def to_report(self) -> Report:
        """The kind of file and its first fields."""
        shown = list(islice(self._short(), _FEW_ROWS))
        return Report(
            title=f"{self.name}: {self.layout}, {self.size:,} bytes",
            sections=(
                facts(
                    ("path", self.path),
                    ("format", self.rules or None),
                    ("second decoder", self.cross_checked().text or None),
                ),
                self._grid(shown),
                Note(text="Use .at(offset) to explain one byte, .to_arrow() for all fields."),
            ),
        )

    def to_arrow(self) -> pa.Table:
        """One row per leaf: space, path, field, offset, length, form, value, rule."""
        return _table([place for place in self.fields() if place.span.form])

    def figures(self) -> dict[str, object]:
        """The top-level fields as JSON."""
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
        """Paths of the groups that are expanded initially."""
        opened: list[str] = []
        for name in _OPENED.get(self.layout, ()):
            page, _ = self.children(opened[-1] if opened else "")
            found = next((p for p in page if p.span.name.startswith(name)), None)
            if found is None:
                break
            opened.append(found.path)
        return opened

    def _space(self, within: str) -> Space:
        if not within:
            return self.space
        span = self.place(within).span
        if span.inside is None:
            raise InvalidInputError(f"{within[:60]!r} is not a compressed field of {self.name}.")
        return span.inside()

    def _below(self, place: LocatedSpan, depth: int) -> Iterator[LocatedSpan]:
        yield place
        if depth <= 0:
            return
        inner = place.inside()
        if inner is not None:
            yield from self._below(inner, depth - 1)
        for index, span in enumerate(place.span.children()):
            yield from self._below(place.child(index, span), depth - 1)

    def _short(self) -> Iterator[LocatedSpan]:
        """The most important fields, without JSON punctuation and schema texts."""
        hidden = "-"
        for place in self.fields(_FIRST_LOOK):
            if not place.path or place.path.startswith(hidden):
                continue
            if place.span.name in _LENGTHY:
                hidden = f"{place.path}."
            if place.span.form != "JSON" or place.span.name not in _MARKS:
                yield place

    def _grid(self, places: list[LocatedSpan]) -> Grid:
        columns: Columns[LocatedSpan] = {
            "byte#": lambda place: f"{place.span.offset:,}",
            "length#": lambda place: f"{place.span.length:,}",
            "field": lambda place: f"{'  ' * place.path.count('.')}{place.span.name}",
            "value": lambda place: place.space.text(place.span),
            "form": lambda place: place.span.form,
        }
        return listing("First fields", places, columns)


FIELDS = schema_from_text(
    "space string, path string, field string, offset int64, length int64, form string, "
    "value string, rule string"
)
"""One row per field of a file."""


def _table(places: Sequence[LocatedSpan]) -> pa.Table:
    rows = []
    for place in places:
        span, text = place.span, _text(place.space.text(place.span))
        name = (place.space.name, place.path, _text(span.name))
        rows.append((*name, span.offset, span.length, span.form, text, span.rule))
    return rows_table(rows, FIELDS)


_RECORDS = ("block 0", "packed", "block 0 decompressed", "record 0")
_OPENED: Mapping[str, tuple[str, ...]] = {
    "manifest": _RECORDS,
    "manifest list": _RECORDS,
    "index manifest": _RECORDS,
    "deletion vectors": ("vector 0", "data"),
    "hash index": ("hashes",),
    **dict.fromkeys(("snapshot", "schema", "changelog", "tag", "consumer", "stat"), ("value",)),
}
"""Names of the groups that are expanded initially, by layout."""

_FIRST_LOOK = 6
_LENGTHY = ("avro.schema", "avro.codec")
_MARKS = ("opens", "closes", "space", "key", "colon", "comma", "value")


def _text(text: str) -> str:
    """The text with unpaired surrogates replaced by question marks."""
    return text.encode("utf-8", "replace").decode("utf-8")


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class Explanation(Result):
    """Explanation of one byte.

    Attributes:
        name: the file name.
        offset: offset of the byte in its address space.
        byte: its value.
        places: the spans that contain it, from the root to the leaf.
    """

    name: str
    offset: int
    byte: int
    places: tuple[LocatedSpan, ...]
    kind = "byte"

    @property
    def leaf(self) -> LocatedSpan:
        """The leaf that contains the byte."""
        return self.places[-1]

    def to_report(self) -> Report:
        """The field, its value and rule, and the enclosing groups."""
        place = self.leaf
        span = place.span
        where = f"byte {self.offset - span.offset + 1} of {span.length:,}"
        rule = next((p.span.rule for p in reversed(self.places) if p.span.rule), None)
        around = [
            (p.span.name, f"{p.span.offset:,}", f"{p.span.length:,}", p.space.text(p.span))
            for p in self.places
        ]
        return Report(
            title=f"byte {self.offset:,} of {place.space.name} = 0x{self.byte:02x}: {span.name}",
            sections=(
                facts(
                    ("field", f"{span.name}, {where}"),
                    ("value", place.space.text(span)),
                    ("stored as", FORMS[span.form].description if span.form else "group of fields"),
                    ("rule", rule),
                ),
                grid("Enclosing groups", ("field", "byte#", "length#", "content"), around),
            ),
        )

    def to_arrow(self) -> pa.Table:
        """One row per span that contains the byte, from the root to the leaf."""
        return _table(self.places).select(["field", "offset", "length", "value", "rule"])

    def figures(self) -> dict[str, object]:
        """The spans that contain the byte, as JSON."""
        return {
            "offset": self.offset,
            "byte": self.byte,
            "places": [place.state() for place in self.places],
        }
