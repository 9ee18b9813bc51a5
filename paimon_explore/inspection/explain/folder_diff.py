"""Compares two listings of a table's folder.

>>> before = {"/t/snapshot/LATEST": ListedFile(size=1, modified_ms=5)}
>>> after = {"/t/snapshot/LATEST": ListedFile(size=2, modified_ms=9)}
>>> [(c.what, c.kind) for c in changes_between("/t", before, after)]
[('changed', 'hint')]
"""

import re
from collections.abc import Mapping, Sequence

import pyarrow as pa

from paimon_explore.data_types.arrow import schema_from_text
from paimon_explore.fileio.file_io import FileIO
from paimon_explore.frozen_dataclass import dataclass
from paimon_explore.inspection.rendering.chart import Tone
from paimon_explore.inspection.rendering.number_format import bytes_text, plural
from paimon_explore.inspection.rendering.report import Cell, Grid, Section, grid
from paimon_explore.inspection.rendering.result import rows_table

KINDS: tuple[tuple[str, str], ...] = (
    ("snapshot", r"(.*/)?snapshot/snapshot-\d+"),
    ("hint", r"(.*/)?(snapshot|changelog)/(LATEST|EARLIEST)"),
    ("schema", r"(.*/)?schema/schema-\d+"),
    ("index manifest", r"manifest/index-manifest-.*"),
    ("manifest list", r"manifest/manifest-list-.*"),
    ("manifest", r"manifest/.*"),
    ("tag", r"(.*/)?tag/.*"),
    ("consumer", r"(.*/)?consumer/.*"),
    ("long-lived changelog", r"(.*/)?changelog/changelog-\d+"),
    ("statistics", r"statistics/.*"),
    ("index", r"index/.*|(.*/)?bucket-[^/]+/index-.*"),
    ("changelog file", r"(.*/)?bucket-[^/]+/changelog-.*"),
    ("data file index", r"(.*/)?bucket-[^/]+/.*\.index"),
    ("data file", r"(.*/)?bucket-[^/]+/.*"),
)
"""Kinds of files by patterns of the path relative to the table location; the first match counts."""

OTHER = "other"
_TONES = {"added": Tone.ADD, "removed": Tone.REMOVE, "changed": Tone.MOVE}
_SIGNS = {"added": "+", "removed": "-", "changed": "~"}
_MAX_FILES_SHOWN = 60


@dataclass(frozen=True, slots=True, kw_only=True)
class ListedFile:
    """Size and modification time of a listed file."""

    size: int
    modified_ms: int


Listing = Mapping[str, ListedFile]
"""The files of a folder by path."""


@dataclass(frozen=True, slots=True, kw_only=True)
class FileChange:
    """A file that was added, removed or changed.

    Attributes:
        what: `added`, `removed` or `changed`.
        kind: kind of file.
        path: relative to the table location.
        size: current size in bytes, or the last one of a removed file.
        size_before: previous size in bytes; 0 for added files.
    """

    what: str
    kind: str
    path: str
    size: int
    size_before: int


def listing(file_io: FileIO, root: str) -> Listing:
    """All files below a folder."""
    return {
        status.path: ListedFile(size=status.size, modified_ms=status.modified_ms)
        for status in file_io.walk(root)
    }


def kind_of(path: str) -> str:
    """The kind of file at a path relative to the table location.

    >>> kind_of("snapshot/snapshot-3"), kind_of("dt=1/bucket-0/data-1.orc")
    ('snapshot', 'data file')
    """
    return next((kind for kind, shape in KINDS if re.fullmatch(shape, path)), OTHER)


def changes_between(root: str, before: Listing, after: Listing) -> tuple[FileChange, ...]:
    """The changes between two listings, ordered by kind and path."""
    found = []
    for path in {*before, *after}:
        old, new = before.get(path), after.get(path)
        if old == new:
            continue
        what = "added" if old is None else "removed" if new is None else "changed"
        below = path.removeprefix(f"{root}/")
        found.append(
            FileChange(
                what=what,
                kind=kind_of(below),
                path=below,
                size=(new or old or _NOTHING).size,
                size_before=old.size if old is not None else 0,
            )
        )
    order = {kind: place for place, (kind, _) in enumerate(KINDS)}
    return tuple(sorted(found, key=lambda c: (order.get(c.kind, len(order)), c.path)))


_NOTHING = ListedFile(size=0, modified_ms=0)


def change_sections(changes: Sequence[FileChange]) -> tuple[Section, ...]:
    """Totals by kind, and the changed files."""
    if not changes:
        return (grid("Changed files", ("file",), []),)
    return (_totals(changes), _files(changes))


def _totals(changes: Sequence[FileChange]) -> Grid:
    rows = []
    for kind in dict.fromkeys(change.kind for change in changes):
        own = [change for change in changes if change.kind == kind]
        counts = [sum(change.what == what for change in own) for what in _SIGNS]
        size = sum(c.size - c.size_before if c.what != "removed" else -c.size for c in own)
        sign = "" if size < 0 else "+"
        rows.append((kind, *[count or None for count in counts], f"{sign}{bytes_text(size)}"))
    columns = ("kind", "added#", "removed#", "changed#", "size change#")
    return grid("Changed files by kind", columns, rows)


def _files(changes: Sequence[FileChange]) -> Grid:
    rows = [
        (
            change_cell(change.what),
            change.kind,
            Cell(text=change.path, selects=f"bytes:{change.path}"),
            bytes_text(change.size),
        )
        for change in changes[:_MAX_FILES_SHOWN]
    ]
    title, heads = plural(len(changes), "changed file"), ("change", "kind", "file", "size#")
    return grid(title, heads, rows, total=len(changes))


def change_cell(what: str, word: str = "") -> Cell:
    """How a file changed, with its sign and colour; another word may say so."""
    return Cell(text=f"{_SIGNS[what]} {word or what}", tone=_TONES[what])


CHANGES = schema_from_text(
    "table string, change string, kind string, path string, size int64, size_before int64"
)
"""One row per changed file."""


def change_table(changes: Sequence[FileChange], tables: Sequence[str]) -> pa.Table:
    """One row per changed file: table, change, kind, path, size, size_before."""
    rows = (
        (table, c.what, c.kind, c.path, c.size, c.size_before)
        for table, c in zip(tables, changes, strict=True)
    )
    return rows_table(rows, CHANGES)
