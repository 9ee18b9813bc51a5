"""The data files of one snapshot, as text, HTML and Arrow.

SQL conditions on data files: partition columns and file properties.

The properties are bucket, level, rows, size, schema, created, added, removed and file. If a
partition column has the same name, the property is called `file_<name>`. Sizes may have a unit:
`size < 1 MB`.
"""

import re
from collections.abc import Iterator, Sequence

import numpy as np
import pyarrow as pa

from paimon_explore.data_types.arrow_buffers import (
    Bools,
    Column,
    Ints,
    bool_values,
    build_fixed,
    string_array,
    valid_mask,
)
from paimon_explore.data_types.arrow_buffers import (
    take_rows as take_entries,
)
from paimon_explore.data_types.definitions import AtomicType, DataField, RowType, TypeRoot
from paimon_explore.encoding.binary_row.decoder import decode_rows
from paimon_explore.errors import FormatError, UnsupportedFeatureError
from paimon_explore.frozen_dataclass import dataclass
from paimon_explore.inspection.history.file_history import FileLifetimes
from paimon_explore.inspection.history.timeline import Timeline
from paimon_explore.inspection.rendering.chart import BarChart, Series, Tone, Unit
from paimon_explore.inspection.rendering.escape import truncate
from paimon_explore.inspection.rendering.number_format import bytes_text, plural, short_plural
from paimon_explore.inspection.rendering.report import MAX_ROWS, Cell, Entry, Report, Section, grid
from paimon_explore.inspection.rendering.report_text import aligned_lines
from paimon_explore.inspection.rendering.result import TableResult
from paimon_explore.inspection.rendering.value_text import binary_column, value_texts
from paimon_explore.metadata.manifest.manifest_table import Chunks, take_rows
from paimon_explore.sanitize import sanitized, visible
from paimon_explore.scan.predicate.binder import bind
from paimon_explore.scan.predicate.evaluator import evaluate
from paimon_explore.scan.predicate.sql_parser import parse_where

_SHOWN = ("partition", "bucket", "level", "row_count", "file_size", "added_by", "file_name")
_MAX_LINES = 20
_MAX_BARS = 40


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class FilesView(TableResult):
    """Data files, one row per file.

    Attributes:
        table: partition (text), bucket, level, row_count, file_size, min_key, max_key (text),
            added_by, removed_by (snapshot ids, null for expired snapshots and live files),
            schema_id, creation_time (the writer's wall clock), file_name, external_path.
        title: description of the files.
    """

    title: str
    kind = "files"

    def figures(self) -> dict[str, object]:
        """The files as JSON, one row per file."""
        times = self.table.column("creation_time").cast(pa.int64())
        at = self.table.schema.get_field_index("creation_time")
        return {"files": self.table.set_column(at, "creation_time", times).to_pylist()}

    def to_report(self) -> Report:
        """A chart of bytes by partition and level, and the first files."""
        heads = ("partition", "bucket#", "level#", "rows#", "size#", "added by#", "file")
        rows = self.table.select(_SHOWN).slice(0, MAX_ROWS).to_pylist()
        first = grid("Files", heads, [_report_row(row) for row in rows], total=len(self))
        return Report(title=self.title, sections=(*_size_chart(self.table), first))

    def __repr__(self) -> str:
        """The files as text, with their whole names."""
        rows = self.table.select(_SHOWN).slice(0, _MAX_LINES).to_pylist()
        cells = [list(_SHOWN), *([visible(cell) for cell in _cells(row)] for row in rows)]
        lines = [sanitized(self.title), *aligned_lines(cells, [False] * len(_SHOWN))]
        rest = len(self) - _MAX_LINES
        return "\n".join([*lines, f"… {plural(rest, 'more file')}"] if rest > 0 else lines)


def _report_row(row: dict[str, object]) -> list[Entry]:
    name = str(row["file_name"])
    partition, bucket, level, count, size, added, _ = _cells(row)
    return [partition, bucket, f"L{level}", f"{int(count):,}", size, added, file_cell(name)]


def _cells(row: dict[str, object]) -> list[str]:
    cells = {**row, "file_size": bytes_text(float(str(row["file_size"])))}
    return [truncate("" if cells[name] is None else str(cells[name]), 60) for name in _SHOWN]


def file_cell(name: str) -> Cell:
    """A cell with the file name, which selects the file."""
    return Cell(text=name, selects=f"file:{name}")


def _size_chart(table: pa.Table) -> Iterator[Section]:
    """A bar per partition, stacked by level; the largest partitions only."""
    sums: dict[str, dict[int, int]] = {}
    columns = (table.column(name).to_pylist() for name in ("partition", "level", "file_size"))
    for partition, level, size in zip(*columns, strict=True):
        own = sums.setdefault(partition, {})
        own[level] = own.get(level, 0) + size
    largest = sorted(sums, key=lambda name: -sum(sums[name].values()))[:_MAX_BARS]
    levels = sorted({level for name in largest for level in sums[name]})
    if not largest:
        return
    yield BarChart(
        title=f"Bytes by partition and level{_of_all(len(largest), len(sums))}",
        categories=tuple(name or "unpartitioned" for name in largest),
        series=tuple(
            Series(
                name=f"L{level}",
                values=tuple(sums[name].get(level, 0) for name in largest),
                tone=Tone.WARN if level == 0 and len(levels) > 1 else Tone.PLAIN,
            )
            for level in levels
        ),
        unit=Unit.BYTES,
    )


def _of_all(shown: int, known: int) -> str:
    return f" ({shown} largest of {known:,} partitions)" if shown < known else ""


def files_view(
    lifetimes: FileLifetimes, timeline: Timeline, rows: Ints, keys: RowType, title: str
) -> FilesView:
    """Build the view of some files.

    Args:
        lifetimes: all files.
        timeline: gives the snapshot ids.
        rows: row numbers of the files to show, in order.
        keys: the trimmed primary key.
        title: description of the files.
    """
    files = take_rows(lifetimes.files, rows)
    lows, highs = key_texts(files, keys)
    texts = lifetimes.partitions.texts
    size, count = column_sum(files, "file_size"), column_sum(files, "row_count")
    columns: dict[str, Column | Chunks] = {
        "partition": string_array([texts[code] for code in lifetimes.partitions.codes[rows]]),
        **{n: files.column(n) for n in ("bucket", "level", "row_count", "file_size")},
        "min_key": string_array(lows),
        "max_key": string_array(highs),
        "added_by": snapshot_ids(lifetimes.added[rows], timeline),
        "removed_by": snapshot_ids(lifetimes.removed[rows], timeline),
        "schema_id": files.column("schema_id"),
        "creation_time": files.column("creation_time").cast(pa.timestamp("ms")),
        "file_name": files.column("file_name"),
        "external_path": files.column("external_path"),
    }
    whole = f"{plural(len(rows), 'file')}, {bytes_text(size)}, {short_plural(count, 'row')}"
    table = pa.Table.from_arrays([*columns.values()], names=[*columns])
    return FilesView(table=table, title=f"{title}: {whole}")


def key_texts(files: pa.Table, keys: RowType) -> tuple[list[str], list[str]]:
    """Minimum and maximum key of each file as `1, a`; empty if missing or corrupt."""
    first, last = (_key_texts(files, name, keys) for name in ("min_key", "max_key"))
    return first, last


def _key_texts(files: pa.Table, column: str, keys: RowType) -> list[str]:
    rows = binary_column(files, column)
    if not len(keys) or not len(rows):
        return [""] * len(rows)
    try:
        columns = decode_rows(rows, [field.type for field in keys], where=column)
    except (FormatError, UnsupportedFeatureError):
        return [""] * len(rows)
    texts = [value_texts(c, f.type) for c, f in zip(columns, keys.fields, strict=True)]
    return [", ".join("null" if t is None else t for t in row) for row in zip(*texts, strict=True)]


def column_sum(files: pa.Table, name: str) -> int:
    """The sum of an integer column."""
    return sum(value for value in files.column(name).to_pylist() if isinstance(value, int))


_INT = AtomicType(root=TypeRoot.INT)
_LONG = AtomicType(root=TypeRoot.BIGINT)
_TIME = AtomicType(root=TypeRoot.TIMESTAMP, precision=3)
_TEXT = AtomicType(root=TypeRoot.VARCHAR, length=2**31 - 1)

PROPERTIES = {
    "bucket": _INT,
    "level": _INT,
    "rows": _LONG,
    "size": _LONG,
    "schema": _LONG,
    "created": _TIME,
    "added": _LONG,
    "removed": _LONG,
    "file": _TEXT,
}
"""The file properties that a condition may use. `added` and `removed` are snapshot ids."""

_UNITS = {"B": 1, "KB": 10**3, "MB": 10**6, "GB": 10**9, "TB": 10**12}
_TOKEN = re.compile(r"'(?:[^']|'')*'|`[^`]*`|\"[^\"]*\"|\b(\d+(?:\.\d+)?)\s*([kKMGT]?B)\b")


def without_units(text: str) -> str:
    """The condition with sizes converted to bytes.

    >>> without_units("size < 1.5 MB and dt = '3 MB'")
    "size < 1500000 and dt = '3 MB'"
    """
    return _TOKEN.sub(_plain, text)


def _plain(found: re.Match[str]) -> str:
    number, unit = found.groups()
    return found.group() if number is None else str(round(float(number) * _UNITS[unit.upper()]))


def matching_files(
    lifetimes: FileLifetimes, timeline: Timeline, partition_type: RowType, text: str
) -> Bools:
    """The files that match a condition.

    Args:
        lifetimes: n files.
        timeline: gives the snapshot ids of `added` and `removed`.
        partition_type: types of the partition columns.
        text: the condition; empty for all files.

    Returns:
        n booleans; False where the condition is NULL.

    Raises:
        InvalidInputError: the condition is invalid; the message has the position.
    """
    if not text.strip():
        return np.ones(len(lifetimes), np.bool_)
    parsed = parse_where(without_units(text))
    row_type = _row_type(partition_type if lifetimes.partitions.columns is not None else None)
    bound = bind(parsed, row_type)
    truth = evaluate(bound, _table(lifetimes, timeline, row_type), row_type)
    combined: Column = truth.combine_chunks() if isinstance(truth, pa.ChunkedArray) else truth
    return bool_values(combined) & valid_mask(combined)


def _row_type(partition_type: RowType | None) -> RowType:
    partition = () if partition_type is None else partition_type.fields
    taken = [field.name for field in partition]
    own = [
        DataField(id=-1 - i, name=property_name(n, taken), type=t)
        for i, (n, t) in enumerate(PROPERTIES.items())
    ]
    return RowType(fields=(*partition, *own))


def property_name(name: str, partition_keys: Sequence[str]) -> str:
    """The name of a file property in conditions on the files of a table.

    >>> property_name("level", ["dt"]), property_name("level", ["level"])
    ('level', 'file_level')
    """
    return f"file_{name}" if name in partition_keys else name


def _table(lifetimes: FileLifetimes, timeline: Timeline, row_type: RowType) -> pa.Table:
    codes = lifetimes.partitions.codes
    partition: list[Column | Chunks] = [
        take_entries(column, codes) for column in lifetimes.partitions.columns or ()
    ]
    files = lifetimes.files
    own: list[Column | Chunks] = [
        *(files.column(n) for n in ("bucket", "level", "row_count", "file_size", "schema_id")),
        files.column("creation_time").cast(pa.timestamp("ms")),
        snapshot_ids(lifetimes.added, timeline),
        snapshot_ids(lifetimes.removed, timeline),
        files.column("file_name"),
    ]
    return pa.Table.from_arrays([*partition, *own], names=list(row_type.names))


def snapshot_ids(positions: Ints, timeline: Timeline) -> Column:
    """Snapshot ids of `added` or `removed`; null for expired snapshots and live files."""
    ids = np.array([0, *(mark.snapshot_id for mark in timeline.marks), 0], np.int64)
    valid = (positions > 0) & (positions <= len(timeline))
    return build_fixed(pa.int64(), ids[positions], valid)
