"""Units of a row view: files, or splits that have to be merged, in the order of the rows.

The rows of a file are counted by its manifest entry and its deletion vector, so a row is found by
its number without reading the rows before it. How many rows a merge returns is known only after
it; such a unit has a maximum. Large splits are divided: into sections of disjoint key ranges, and
sections into ranges of the first key column, at the files, row groups and pages of the longest
sorted run. This reads footers of data files, so only the first large splits of a plan are divided.
"""

from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import replace
from itertools import pairwise

import numpy as np
import pyarrow as pa

from paimon_explore.data_types.arrow_buffers import Column, Ints, as_python, offsets_from_sizes
from paimon_explore.data_types.definitions import INTEGERS, AtomicType, RowType, TypeRoot
from paimon_explore.data_types.traversal import is_root
from paimon_explore.encoding.binary_row.decoder import decode_rows
from paimon_explore.errors import PaimonError
from paimon_explore.frozen_dataclass import dataclass
from paimon_explore.scan.manifest_arrays import binary, numbers, text
from paimon_explore.scan.predicate.binder import bind
from paimon_explore.scan.predicate.builder import col
from paimon_explore.scan.predicate.expression import TRUE, Expression, conjunction
from paimon_explore.scan.splits.data_split import DataSplit, DeletionFile, Split, Splits
from paimon_explore.scan.splits.key_range_sections import key_ranks, sections, sorted_runs

LARGE_ROWS = 500_000
"""Number of stored rows above which a split that has to be merged is divided."""
MAX_DIVIDED = 32
"""Number of large splits that are divided; the others are units of their own."""
RANGED_TYPES = INTEGERS | {TypeRoot.VARCHAR, TypeRoot.DATE, TypeRoot.DECIMAL}
"""Types of key columns whose ranges are pushed down to files."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RowUnit:
    """Consecutive rows of a view that are read together.

    Attributes:
        split: the split to read, or the one that has the file.
        most: maximum number of rows; for a part of a section an equal share of its maximum.
        is_exact: whether there are exactly so many rows.
        files: indices of the files in the split; None for all.
        vector: the deletion vector of a single file.
        within: condition on the key that selects the rows of the unit.
        bytes: size of the files.
    """

    split: Split
    most: int
    is_exact: bool
    files: tuple[int, ...] | None = None
    vector: DeletionFile | None = None
    within: Expression = TRUE
    bytes: int = 0

    @property
    def is_file(self) -> bool:
        """Whether the rows are those of a single file, so that they have positions."""
        return self.is_exact and self.files is not None

    @property
    def to_read(self) -> Split:
        """The split of only this unit's files."""
        if self.files is None or not isinstance(self.split, DataSplit):
            return self.split
        return self.split.only(np.array(self.files, np.int64))


PointsOf = Callable[[DataSplit, int], list[object]]
"""Returns values of the first key column that divide a file of a split."""


@dataclass(frozen=True, slots=True, kw_only=True)
class KeyedTable:
    """What divides large splits of a table with a primary key.

    Attributes:
        row_type: the columns of the table.
        keys: the trimmed primary key.
        points_of: divides a file.
    """

    row_type: RowType
    keys: RowType
    points_of: PointsOf


def units_of(splits: Sequence[Split], keyed: KeyedTable | None) -> list[RowUnit]:
    """The units of a plan, in the order in which a read returns their rows.

    Args:
        splits: of the plan.
        keyed: divides large splits; None for append tables.
    """
    known: dict[int, _Files] = {}
    divided = 0
    found: list[RowUnit] = []
    for split in splits:
        if not isinstance(split, DataSplit):
            found.append(RowUnit(split=split, most=split.row_count, is_exact=False))
            continue
        files = known.get(id(split.of))
        if files is None:
            files = known[id(split.of)] = _Files(split.of)
        if split.raw_convertible:
            found.extend(files.raw(split))
        elif keyed is None or split.row_count <= LARGE_ROWS or divided >= MAX_DIVIDED:
            found.append(files.whole(split))
        else:
            divided += 1
            found.extend(_divided(files, split, keyed))
    return found


class _Files:
    """The columns of manifest entries that describe units, for all splits of a plan."""

    def __init__(self, splits: Splits) -> None:
        table = splits.source.entries.table
        self._rows = numbers(table, "row_count")
        self._sizes = numbers(table, "file_size")
        self._ends = memoryview(offsets_from_sizes(self._sizes).data).cast("B").cast("q")
        self._vectors = splits.source.vectors

    def raw(self, split: DataSplit) -> Iterator[RowUnit]:
        """A unit per file, or per group of files with columns of the same rows."""
        same = split.same_rows or tuple(range(split.count))
        members: dict[int, list[int]] = {}
        for at, number in enumerate(same):
            members.setdefault(number, []).append(at)
        for files in members.values():
            if len(files) == 1:
                yield self._file(split, files[0])
            else:  # parts of the same rows
                yield self.merged(split, files, most=np.max)

    def _file(self, split: DataSplit, at: int) -> RowUnit:
        row = split.start + at
        rows = int(self._rows[row])
        vector = self._vectors[row]
        deleted = 0 if vector is None else vector.cardinality
        return RowUnit(
            split=split,
            most=rows - (deleted or 0),
            is_exact=deleted is not None,
            files=(at,),
            vector=vector,
            bytes=int(self._sizes[row]),
        )

    def whole(self, split: DataSplit) -> RowUnit:
        """All rows of a split, merged."""
        size = self._ends[split.start + split.count] - self._ends[split.start]
        return RowUnit(split=split, most=split.row_count, is_exact=False, bytes=size)

    def merged(
        self,
        split: DataSplit,
        files: Sequence[int],
        within: Expression = TRUE,
        most: Callable[[Ints], np.int64] = np.sum,
    ) -> RowUnit:
        """Some files of a split, which are read together."""
        rows = [split.start + at for at in files]
        return RowUnit(
            split=split,
            most=int(most(self._rows[rows])),
            is_exact=False,
            files=tuple(files),
            within=within,
            bytes=int(self._sizes[rows].sum()),
        )


def _divided(files: _Files, split: DataSplit, keyed: KeyedTable) -> Iterator[RowUnit]:
    """The units of a large split: its sections, or parts of them, in key order."""
    lows, highs = key_ranks(split.files, keyed.keys)
    rows = numbers(split.files.table, "row_count")
    for section in sections(lows, highs):
        if rows[section].sum() <= LARGE_ROWS or not is_root(
            keyed.keys.fields[0].type, *RANGED_TYPES
        ):
            yield files.merged(split, section.tolist())
            continue
        runs = sorted_runs(section, lows, highs)
        longest = max(runs, key=lambda run: int(rows[run].sum()))
        starts = [_value(_first_column(split, keyed.keys)[0], at) for at in longest[1:]]
        for at in longest:
            if rows[at] > LARGE_ROWS:
                # the page that reads an unreadable file shows the error
                with suppress(PaimonError):
                    starts += keyed.points_of(split, at)
        parts = list(_ranges(files, split, section.tolist(), starts, keyed))
        share = -(-int(rows[section].sum()) // len(parts))
        yield from (replace(part, most=share) for part in parts)


def _ranges(
    files: _Files, split: DataSplit, section: list[int], starts: list[object], keyed: KeyedTable
) -> Iterator[RowUnit]:
    """A section divided at values of the first key column."""
    name = keyed.keys.fields[0].name
    first, last = _first_column(split, keyed.keys)
    bounds = [None, *sorted(set(starts)), None]  # type: ignore[type-var]  # values of one column
    for low, high in pairwise(bounds):
        conditions = [] if low is None else [(col(name) >= low).expression]
        conditions += [] if high is None else [(col(name) < high).expression]
        overlapping = [
            at
            for at in section
            if (high is None or _value(first, at) < high)  # type: ignore[operator]  # of one column
            and (low is None or _value(last, at) >= low)  # type: ignore[operator]  # likewise
        ]
        if overlapping:
            yield files.merged(split, overlapping, bind(conjunction(conditions), keyed.row_type))


def _first_column(split: DataSplit, keys: RowType) -> tuple[Column, Column]:
    """The first key column of the first and the last key of each file."""
    types = [field.type for field in keys]
    table = split.files.table
    first = decode_rows(binary(table, "min_key"), types, where="_MIN_KEY")[0]
    last = decode_rows(binary(table, "max_key"), types, where="_MAX_KEY")[0]
    return first, last


def _value(column: Column, at: int) -> object:
    return column[at].as_py()


def file_units(splits: Splits) -> list[RowUnit]:
    """A unit per file with all its stored rows, deleted ones too."""
    if not len(splits):
        return []
    split = splits[0]
    rows = numbers(split.files.table, "row_count").tolist()
    sizes = numbers(split.files.table, "file_size").tolist()
    names = as_python(text(split.files.table, "file_name"))
    vectors = split.deletion_files
    return [
        RowUnit(
            split=split,
            most=count,
            is_exact=True,
            files=(at,),
            vector=vectors.get(str(name)),
            bytes=size,
        )
        for at, (count, size, name) in enumerate(zip(rows, sizes, names, strict=True))
    ]


def key_condition(keys: pa.Table, row_type: RowType) -> Expression:
    """A condition that is true for at least the given keys: a range per key column."""
    parts = []
    for name in keys.column_names:
        field = row_type.field(name)
        if field is None or not isinstance(field.type, AtomicType):
            continue
        if field.type.root in RANGED_TYPES:
            values = [value for value in keys.column(name).to_pylist() if value is not None]
            if values:
                parts.append(col(name).between(min(values), max(values)).expression)
    return bind(conjunction(parts), row_type) if parts else TRUE
