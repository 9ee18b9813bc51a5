"""Compares the rows of two tables by primary key, or as multisets, in bounded memory.

The rows of both tables are divided by a hash of the key into parts, which are stored in temporary
files if there is more than one, and compared part by part. Each table is read once.
"""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import pyarrow as pa
import pyarrow.types as pat

from paimon_explore import arrow_compute as pc
from paimon_explore.data_types.arrow import row_type_from_arrow
from paimon_explore.data_types.arrow_buffers import Ints
from paimon_explore.encoding.bucket_function import key_hashes
from paimon_explore.frozen_dataclass import dataclass
from paimon_explore.inspection.compare.schema_comparison import ComparedColumns
from paimon_explore.inspection.compare.table_side import TableSide
from paimon_explore.inspection.views.row_diff import ROWKIND, difference_of
from paimon_explore.merge.keys.value_equality import codes
from paimon_explore.read.small_files import read_split
from paimon_explore.read.snapshot_diff import changed_splits
from paimon_explore.read.split_reader import SplitReader
from paimon_explore.scan.branch_scan import plan_table
from paimon_explore.scan.manifest_arrays import column, numbers
from paimon_explore.scan.splits.data_split import PlainSplit

DIFFERS = "differs"
"""Column of the sample: the names of the columns that differ, in changed rows."""
PART_BYTES = 32 * 1024 * 1024
"""Size of data files, compressed, that are compared at once."""
MAX_PLANNED = 100_000
"""Files of both sides above which rows are compared only on request: planning takes too long."""
_MAX_PARTS = 256


@dataclass(frozen=True, slots=True, kw_only=True)
class RowsToRead:
    """What a comparison of rows reads.

    Attributes:
        a: splits of the first table.
        b: splits of the second table.
        skipped: whether files that both sides have are left out.
    """

    a: Sequence[PlainSplit]
    b: Sequence[PlainSplit]
    skipped: bool

    @property
    def files(self) -> int:
        """Number of data files to read."""
        return sum(len(split.files) for split in (*self.a, *self.b))

    @property
    def bytes(self) -> int:
        """Size of the data files to read."""
        return sum(
            int(numbers(split.files.table, "file_size").sum()) for split in (*self.a, *self.b)
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class RowComparison:
    """The rows that differ.

    Attributes:
        columns: the compared columns.
        rows_a: number of rows of the first table that were read.
        rows_b: number of rows of the second table that were read.
        only_a: rows, or keys, of the first table only.
        only_b: rows, or keys, of the second table only.
        changed: keys with different rows; 0 without a common primary key.
        changed_columns: by column the number of changed keys in which it differs.
        sample: some of the differing rows: `rowkind` (`-D` only in a, `+I` only in b, `-U` and
            `+U` the rows of a changed key in a and b), `differs`, and the columns.
        partly: whether files that both sides have were not read.
    """

    columns: ComparedColumns
    rows_a: int
    rows_b: int
    only_a: int
    only_b: int
    changed: int
    changed_columns: Mapping[str, int]
    sample: pa.Table
    partly: bool

    @property
    def equal(self) -> bool:
        """Whether no row differs in the compared columns."""
        return not (self.only_a or self.only_b or self.changed)


def rows_to_read(a: TableSide, b: TableSide) -> RowsToRead:
    """Plan a comparison; files that both sides share are left out.

    Raises:
        PaimonError: a manifest cannot be read.
    """
    if same_state(a, b):
        return RowsToRead(a=(), b=(), skipped=True)
    targets = [a.target, b.target]
    plans = [list(plan_table(target).splits) for target in targets]
    related = (
        a.view.location == b.view.location
        and targets[0].schema.fields == targets[1].schema.fields
        and dict(targets[0].options) == dict(targets[1].options)
    )
    if related:
        keyed = bool(targets[0].schema.primary_keys)
        found = changed_splits(plans[0], plans[1], whole_buckets=keyed)
        kept = [len(s.files) for part in found for s in part]
        everything = [len(s.files) for part in plans for s in part]
        return RowsToRead(a=found[0], b=found[1], skipped=sum(kept) < sum(everything))
    return RowsToRead(a=plans[0], b=plans[1], skipped=False)


def same_state(a: TableSide, b: TableSide) -> bool:
    """Whether both sides are the same snapshot of the same branch, read with the same schema."""
    return (
        a.snapshot is not None
        and a.snapshot == b.snapshot
        and (a.view.location, a.view.branch, a.travelled)
        == (b.view.location, b.view.branch, b.travelled)
        and dict(a.target.options) == dict(b.target.options)
    )


def compare_rows(
    a: TableSide,
    b: TableSide,
    columns: ComparedColumns,
    reads: RowsToRead,
    *,
    sample: int,
    part_bytes: int = PART_BYTES,
) -> RowComparison:
    """Compare the rows of two tables.

    Args:
        a: the first table.
        b: the second table.
        columns: the columns to compare.
        reads: the splits to read.
        sample: maximum number of differing keys or rows to return.
        part_bytes: size of data files that are compared at once.

    Raises:
        PaimonError: a file cannot be read.
    """
    count = min(max(-(-reads.bytes // part_bytes), 1), _MAX_PARTS)
    hashed = _hashed_columns(columns)
    result = _Result(columns, sample)
    with TemporaryDirectory(prefix="paimon-compare-") as folder:
        sides = (_batches(a, reads.a, columns), _batches(b, reads.b, columns))
        if count == 1 or not hashed:
            result.add(*(pa.Table.from_batches(part, columns.schema) for part in sides))
        else:
            for name, batches in zip("ab", sides, strict=True):
                _divide(
                    batches, columns.schema, hashed, [_part(folder, name, i) for i in range(count)]
                )
            for i in range(count):
                result.add(_stored(_part(folder, "a", i)), _stored(_part(folder, "b", i)))
    return result.comparison(partly=reads.skipped)


def _part(folder: str, side: str, number: int) -> Path:
    return Path(folder) / f"{side}-{number}.arrow"


def _batches(
    side: TableSide, splits: Sequence[PlainSplit], columns: ComparedColumns
) -> Iterator[pa.RecordBatch]:
    target = side.target
    names = tuple(columns.schema.names)
    reader = SplitReader(target=target, columns=names)
    for split in splits:
        for batch in read_split(reader, split):
            arrays = [
                pc.cast(batch.column(one.name), one.type, safe=False)
                if not batch.column(one.name).type.equals(one.type)
                else batch.column(one.name)
                for one in columns.schema
            ]
            yield pa.RecordBatch.from_arrays(arrays, schema=columns.schema)


def _hashed_columns(columns: ComparedColumns) -> tuple[str, ...]:
    """The columns whose hash divides the rows; equal values must have equal bytes."""
    names = columns.keys or tuple(columns.schema.names)
    return tuple(name for name in names if _is_hashed(columns.schema.field(name).type))


def _is_hashed(kind: pa.DataType) -> bool:
    checks = (pat.is_integer, pat.is_string, pat.is_boolean, pat.is_date32, pat.is_binary)
    return any(check(kind) for check in checks)


def _divide(
    batches: Iterator[pa.RecordBatch],
    schema: pa.Schema,
    hashed: Sequence[str],
    paths: Sequence[Path],
) -> None:
    types = [
        field.type for field in row_type_from_arrow(pa.schema([schema.field(n) for n in hashed]))
    ]
    with ExitStack() as stack:
        writers = [stack.enter_context(pa.ipc.new_stream(str(path), schema)) for path in paths]
        for batch in batches:
            hashes = key_hashes([batch.column(name) for name in hashed], types).astype(np.int64)
            parts: Ints = hashes % len(paths)
            for number in np.unique(parts).tolist():
                writers[number].write_batch(batch.filter(pa.array(parts == number)))


def _stored(path: Path) -> pa.Table:
    with pa.OSFile(str(path), "rb") as source:
        return pa.ipc.open_stream(source).read_all()


class _Result:
    """The comparison so far.

    Args:
        columns: the compared columns.
        sample: maximum number of differing keys or rows to keep.
    """

    def __init__(self, columns: ComparedColumns, sample: int) -> None:
        self._columns = columns
        self._left = sample
        self._counts = dict.fromkeys(("+I", "-D", "+U", "a", "b"), 0)
        self._changed = dict.fromkeys(columns.schema.names, 0)
        self._samples: list[pa.Table] = []

    def add(self, a: pa.Table, b: pa.Table) -> None:
        """Compare one part."""
        self._counts["a"] += a.num_rows
        self._counts["b"] += b.num_rows
        if not (a.num_rows or b.num_rows) or not len(self._columns.schema):
            return
        found = difference_of(a, b, self._columns.keys)
        kinds = found.column(ROWKIND).to_pylist()
        for kind in kinds:
            if kind in self._counts:
                self._counts[kind] += 1
        differs = self._differing(found)
        ends = [end for end, kind in enumerate(kinds, 1) if kind != "-U"]  # of keys, in order
        if self._left and ends:
            end = ends[min(self._left, len(ends)) - 1]
            names = pa.array(differs[:end], pa.list_(pa.string()))
            self._samples.append(found.slice(0, end).add_column(1, DIFFERS, names))
        self._left = max(self._left - len(ends), 0)

    def _differing(self, found: pa.Table) -> list[list[str] | None]:
        """Per row the columns that differ; None for rows that only one side has."""
        kinds = np.array(found.column(ROWKIND).to_pylist(), object)
        old, new = np.flatnonzero(kinds == "-U"), np.flatnonzero(kinds == "+U")
        changed: dict[int, list[str]] = {row: [] for row in (*old.tolist(), *new.tolist())}
        for name in self._columns.schema.names:
            values = codes(column(found, name))
            other = values[old] != values[new]
            self._changed[name] += int(other.sum())
            for row in (*old[other].tolist(), *new[other].tolist()):
                changed[row].append(name)
        return [changed.get(row) for row in range(len(kinds))]

    def comparison(self, *, partly: bool) -> RowComparison:
        """The result."""
        fields = [pa.field(ROWKIND, pa.string()), pa.field(DIFFERS, pa.list_(pa.string()))]
        schema = pa.schema([*fields, *self._columns.schema])
        sample = [part.cast(schema) for part in self._samples]
        return RowComparison(
            columns=self._columns,
            rows_a=self._counts["a"],
            rows_b=self._counts["b"],
            only_a=self._counts["-D"],
            only_b=self._counts["+I"],
            changed=self._counts["+U"],
            changed_columns={name: n for name, n in self._changed.items() if n},
            sample=pa.concat_tables(sample) if sample else schema.empty_table(),
            partly=partly,
        )
