"""Reader of many small files at once.

A file of a few kilobytes is decoded in a tenth of a millisecond, but preparing its columns, its
batches and a merge costs several times that. Files of up to `MAX_FILE_BYTES` are therefore fetched
whole, in one request each, and the files of one schema are converted as one batch: consecutive
files of raw splits, and all files of several splits that have to be merged. The number of the split
is then a part of the merge key, so one merge serves many buckets.

Whatever is not usual (other formats than Parquet, deletion vectors, columns written separately, a
damaged file) is left to the reader of single files.
"""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import partial

import numpy as np
import pyarrow as pa

from paimon_explore import arrow_compute as pc
from paimon_explore.data_types.arrow import arrow_schema
from paimon_explore.data_types.arrow_buffers import (
    as_python,
    bool_values,
    list_offsets,
    take_rows,
    valid_mask,
)
from paimon_explore.data_types.definitions import DataField
from paimon_explore.encoding.binary_row.decoder import decode_rows
from paimon_explore.encoding.parquet.small_files import SmallParquetFiles, open_small_files
from paimon_explore.errors import PaimonError, StorageError
from paimon_explore.fileio.concurrent_requests import at_once, max_requests
from paimon_explore.fileio.file_io import FileIO
from paimon_explore.frozen_dataclass import dataclass
from paimon_explore.limits import memory_limit
from paimon_explore.merge.merge_spec import MergeSpec, needed_columns
from paimon_explore.merge.section_merge import Task, functions_of, kinds_of, merge_whole
from paimon_explore.metadata.options.effective_options import needs_lookup
from paimon_explore.metadata.options.option_enums import MergeEngine
from paimon_explore.metadata.options.table_options import (
    FILE_INDEX_READ_ENABLED,
    MERGE_ENGINE,
    SEQUENCE_SNAPSHOT_ORDERING,
)
from paimon_explore.read.data_file import ReadRequest, ResultColumns, SystemColumn
from paimon_explore.read.deletion_vector_filter import RowFilter
from paimon_explore.read.split_reader import SplitFile, SplitReader
from paimon_explore.scan.manifest_arrays import Mask, Rows, column, numbers, row_array
from paimon_explore.scan.predicate.expression import TRUE
from paimon_explore.scan.splits.data_split import DataSplit, Split, Splits
from paimon_explore.scan.splits.key_range_sections import may_tie

MAX_FILE_BYTES = 1 << 20
"""Maximum size of a small file."""
_MAX_FILE_ROWS = 1 << 16
_MAX_ROWS = 1 << 18
"""Maximum number of rows that are converted or merged at once."""
_MAX_BYTES = 16 << 20
"""Maximum size of the files that are read at once."""
_MAX_FILES = 512
_FIRST_FILES = 4
"""Number of files that are read at once at first; then four times as many, up to `_MAX_FILES`."""
_SPLIT = "_SPLIT"
"""The column with the number of the split that a row is from."""
_ENGINES_THAT_SELECT = (MergeEngine.DEDUPLICATE, MergeEngine.FIRST_ROW)

Group = Sequence[Split]
"""Splits that are read at once: consecutive ones of a plan, or a single one."""


def groups(reader: SplitReader, splits: Sequence[Split]) -> Iterator[Group]:
    """Groups splits whose files are small and can be read at once; other splits stay alone."""
    if len(splits) < 2 or not _supports(reader):  # noqa: PLR2004 - a group has at least two
        yield from ([split] for split in splits)
        return
    known: dict[int, _SmallSplits] = {}
    group: list[DataSplit] = []
    size = _FIRST_FILES
    for split in splits:
        small = None
        if isinstance(split, DataSplit):
            small = known.get(id(split.of))
            if small is None:
                small = known[id(split.of)] = _SmallSplits.of(reader, split.of)
        fits = small is not None and small.fits(group, split, min(size, _MAX_FILES))
        if group and not fits:
            yield group
            group = []
            size *= 4
        if small is not None and small.all[split.number]:  # type: ignore[union-attr]  # a data split
            group.append(split)  # type: ignore[arg-type]  # likewise
        else:
            yield [split]
    if group:
        yield group


def read_group(reader: SplitReader, group: Group) -> Iterator[pa.RecordBatch]:
    """Reads the rows of a group of splits, in their order; see `SplitReader.read`."""
    first, last = group[0], group[-1]
    if len(group) == 1 or not isinstance(first, DataSplit) or not isinstance(last, DataSplit):
        return read_split(reader, first)
    if first.raw_convertible:
        found = _raw_files(reader, first.of, first.start, last.start + last.count)
        return reader.with_contents(found)
    merged = _merged_rows(reader, first.of, first.number, last.number + 1)
    if merged is None:
        return (batch for split in group for batch in reader.read(split))
    return reader.with_contents(merged)


def read_all(reader: SplitReader, splits: Sequence[Split]) -> Iterator[pa.RecordBatch]:
    """Reads the rows of splits one after another; see `SplitReader.read`.

    Small files are read at once; those of a remote storage are requested ahead instead.
    """
    if max_requests(reader.target.store.file_io) > 1:
        yield from reader.read_each(splits)
    else:
        for group in groups(reader, splits):
            yield from read_group(reader, group)


def read_split(reader: SplitReader, split: Split) -> Iterator[pa.RecordBatch]:
    """Reads the rows of a split, small files at once; see `SplitReader.read`."""
    if not isinstance(split, DataSplit) or split.count == 1 or split.same_rows:
        return reader.read(split)
    if split.raw_convertible:
        found = _raw_files(reader, split.of, split.start, split.start + split.count)
        return reader.with_contents(found)
    merged = None
    if _is_small_split(reader, split):
        merged = _merged_rows(reader, split.of, split.number, split.number + 1)
    return reader.read(split) if merged is None else reader.with_contents(merged)


def read_files(reader: SplitReader, split: Split, files: range) -> Iterator[pa.RecordBatch]:
    """Reads consecutive files, numbered as in the split, of a split that needs no merge.

    Raises:
        ValueError: the rows of the split's files are not the table's rows.
    """
    if not isinstance(split, DataSplit) or not split.raw_convertible or split.same_rows:
        raise ValueError("read_files needs a split whose files can be read one by one.")
    found = _raw_files(reader, split.of, split.start + files.start, split.start + files.stop)
    return reader.with_contents(found)


@dataclass(frozen=True, slots=True)
class _SmallSplits:
    """The splits of a plan whose files are all small.

    Attributes:
        all: whether all files of a split are small and have the same schema.
        schemas: the schema id of its first file.
        files: number of files.
        rows: their rows.
        bytes: their size.
    """

    all: Mask
    schemas: Rows
    files: Rows
    rows: Rows
    bytes: Rows

    @classmethod
    def of(cls, reader: SplitReader, splits: Splits) -> "_SmallSplits":
        """The small splits among all splits of a plan."""
        table = splits.source.entries.table
        small, schemas = _small(reader, splits, slice(0, len(table)))
        starts = splits.bounds[:-1]
        same = np.minimum.reduceat(schemas, starts) == np.maximum.reduceat(schemas, starts)
        if not splits.raw.all() and not _merges(reader):
            same &= splits.raw
        if splits.same_rows is not None:
            same[:] = False
        return cls(
            all=np.logical_and.reduceat(small, starts) & same,
            schemas=schemas[starts],
            files=np.diff(splits.bounds),
            rows=np.add.reduceat(numbers(table, "row_count"), starts),
            bytes=np.add.reduceat(numbers(table, "file_size"), starts),
        )

    def fits(self, group: Sequence[DataSplit], split: Split, max_files: int) -> bool:
        """Whether a split can be added to a group."""
        if not group:
            return True
        first = group[0]
        if not isinstance(split, DataSplit) or split.of is not first.of:
            return False
        same = split.raw_convertible == first.raw_convertible
        if not same or not self.all[split.number] or split.number != group[-1].number + 1:
            return False
        part = slice(first.number, split.number + 1)
        return bool(
            self.schemas[split.number] == self.schemas[first.number]
            and self.files[part].sum() <= max_files
            and self.rows[part].sum() <= _MAX_ROWS
            and self.bytes[part].sum() <= _MAX_BYTES
        )


def _supports(reader: SplitReader) -> bool:
    """Whether the columns of a reader can be read from several files at once."""
    return set(reader.system_columns) <= {SystemColumn.VALUE_KIND}


def _merges(reader: SplitReader) -> bool:
    """Whether a merge of the table can read several files at once."""
    options = reader.target.options
    if bool(reader.system_columns) or options.value(SEQUENCE_SNAPSHOT_ORDERING):
        return False
    return options.value(MERGE_ENGINE) in _ENGINES_THAT_SELECT or not needs_lookup(options)


def _small(reader: SplitReader, splits: Splits, part: slice) -> tuple[Mask, Rows]:
    """Which files of a plan are small, and the schema id of each."""
    table = splits.source.entries.slice(part.start, part.stop - part.start).table
    sizes, rows = numbers(table, "file_size"), numbers(table, "row_count")
    small = (sizes > 0) & (sizes <= MAX_FILE_BYTES) & (rows >= 0) & (rows <= _MAX_FILE_ROWS)
    small &= rows * sizes <= memory_limit()  # else `open_small_files` refuses them
    names = column(table, "file_name")
    parquet = pc.call_function("ends_with", [names], pc.MatchSubstringOptions(".parquet"))
    small &= bool_values(parquet)
    small &= ~valid_mask(column(table, "write_cols"))
    if splits.files.deletion_files:
        small &= np.array([one is None for one in splits.source.vectors[part]], np.bool_)
    if reader.predicate != TRUE and reader.target.options.value(FILE_INDEX_READ_ENABLED):
        small &= np.diff(list_offsets(column(table, "extra_files"))) == 0
        small &= ~valid_mask(column(table, "embedded_file_index"))
    return small, numbers(table, "schema_id")


# ---------------------------------------------------------------- raw files


def _raw_files(
    reader: SplitReader, splits: Splits, start: int, stop: int
) -> Iterator[pa.RecordBatch]:
    """Reads consecutive files of raw splits, of which some may not be small.

    Args:
        reader: the reader.
        splits: of a plan.
        start: the first file, in the order of the splits.
        stop: the file after the last one.
    """
    if not _supports(reader):
        small, schemas = np.zeros(stop - start, np.bool_), np.zeros(stop - start, np.int64)
    else:
        small, schemas = _small(reader, splits, slice(start, stop))
    table = splits.source.entries.slice(start, stop - start).table
    rows, sizes = numbers(table, "row_count"), numbers(table, "file_size")
    limit = min(reader.batch_rows, _MAX_ROWS)
    most, at = _FIRST_FILES, 0
    alone = (np.flatnonzero(~small) + start).tolist()
    with reader.files_ahead.of_files(splits.source, alone):
        while at < stop - start:
            part = slice(at, at + most)
            may = small[part] & (schemas[part] == schemas[at])
            count = _count_at_once(may, rows[part], sizes[part], limit)
            files = range(start + at, start + at + count)
            found = _raw_rows(reader, splits, files) if count > 1 else None
            if found is None:
                for file in files:
                    yield from reader.plain_file(*_located(splits, file))
            else:
                yield from found
            at, most = at + count, min(most * 4, _MAX_FILES)


def _count_at_once(may: Mask, rows: Rows, sizes: Rows, max_rows: int) -> int:
    """How many of the next files are read at once, at least one."""
    before = np.cumsum(rows) - rows
    within = may & (before < max_rows) & (np.cumsum(rows) <= _MAX_ROWS)
    within &= np.cumsum(sizes) <= _MAX_BYTES
    refused = np.flatnonzero(~within)
    return max(int(refused[0]) if len(refused) else len(within), 1)


def _raw_rows(reader: SplitReader, splits: Splits, files: range) -> Sequence[pa.RecordBatch] | None:
    """The rows of small files that are read at once; None if one of them needs its own reader."""
    fields, wanted = reader.fields, len(reader.columns)
    names = [field.name for field in fields]
    is_known = set(names) <= set(reader.target.schema.partition_keys)
    if names and is_known and not reader.system_columns:
        return [*reader.filtered(iter([_partition_rows(reader, splits, files, names)]))]
    request = ReadRequest(
        fields=fields[:wanted],
        filter_fields=fields[wanted:],
        system_columns=reader.system_columns,
        predicate=None if reader.predicate == TRUE else reader.predicate,
        batch_rows=reader.batch_rows,
        stored_partition=True,
    )
    try:
        found = _Opened.of(reader, splits, files, request)
        return None if found is None else found.batches()
    except StorageError:
        raise
    except (PaimonError, pa.ArrowException, OSError, ValueError):
        return None  # the reader of single files names the file


def _partition_rows(
    reader: SplitReader, splits: Splits, files: range, names: Sequence[str]
) -> pa.RecordBatch:
    """The partition columns of all rows of files, by their manifest entries."""
    row_type = reader.target.schema.partition_type
    table = splits.source.entries.slice(files.start, len(files)).table
    types = [field.type for field in row_type]
    values = decode_rows(column(table, "partition"), types, where="_PARTITION")
    of_row = np.repeat(np.arange(len(files)), numbers(table, "row_count"))
    taken = [take_rows(value, of_row) for value in values]
    whole = pa.RecordBatch.from_arrays(taken, schema=arrow_schema(row_type))
    return whole.select(list(names))


def _located(splits: Splits, file: int) -> tuple[DataSplit, int]:
    """The split of a file of a plan, and the number of the file in it."""
    number = int(np.searchsorted(splits.bounds, file, side="right")) - 1
    split = DataSplit(splits, number)
    return split, file - split.start


# ---------------------------------------------------------------- merges


def _merged_rows(
    reader: SplitReader, splits: Splits, first: int, stop: int
) -> Iterator[pa.RecordBatch] | None:
    """Merges the small files of consecutive splits at once.

    Args:
        reader: the reader.
        splits: of a plan.
        first: the number of the first split.
        stop: the number of the split after the last one.

    Returns:
        The rows, split by split; None if a file needs its own reader.
    """
    begin, end = int(splits.bounds[first]), int(splits.bounds[stop])
    files = splits.source.entries.slice(begin, end - begin)
    table = files.table
    split_of = np.repeat(np.arange(first, stop), np.diff(splits.bounds[first : stop + 1]))
    oldest, newest = (numbers(table, f"{name}_sequence_number") for name in ("min", "max"))
    order = np.lexsort((newest, split_of))
    same = split_of[order][1:] == split_of[order][:-1]
    spec = reader.spec
    by_age = bool((~same | (newest[order][:-1] < oldest[order][1:])).all())
    by_age = by_age and not spec.sequence_fields
    if (
        not by_age
        and may_tie(splits.source.entries.slice(begin, end - begin), split_of - first).any()
    ):
        return None
    request = _merge_request(reader, spec, with_sequence=not by_age)
    try:
        found = _Opened.of(reader, splits, (order + begin).tolist(), request)
        read = None if found is None else found.batches()
    except StorageError:
        raise
    except (PaimonError, pa.ArrowException, OSError, ValueError):
        return None  # the reader of single files names the file
    if found is None or read is None or len(read) > 1:
        return None  # several batches: a file without rows, or more rows than recorded
    if not read:
        return iter(())
    whole = _without_inserts(read[0])
    counts = [span.rows for span in found.file.spans]
    keys = spec.keys
    if stop - first > 1:
        whole = whole.append_column(_SPLIT, row_array(np.repeat(split_of[order], counts)))
        keys = (_SPLIT, *keys)
    task = Task(
        spec=replace(spec, keys=keys),
        functions=functions_of(spec),
        by_run_order=by_age,
        key_order=False,
    )
    merged = merge_whole(whole, [count for count in counts if count], task)
    parts = (
        batch.slice(at, reader.batch_rows)
        for batch in merged
        for at in range(0, batch.num_rows, reader.batch_rows)
    )
    return reader.filtered(parts)


def _is_small_split(reader: SplitReader, split: DataSplit) -> bool:
    """Whether all files of a split that has to be merged can be read at once."""
    if split.row_count > _MAX_ROWS or split.count > _MAX_FILES:
        return False
    if not (_supports(reader) and _merges(reader)):
        return False
    part = slice(split.start, split.start + split.count)
    small, schemas = _small(reader, split.of, part)
    sizes = numbers(split.files.table, "file_size")
    return bool(small.all() and (schemas == schemas[0]).all() and sizes.sum() <= _MAX_BYTES)


def _merge_request(reader: SplitReader, spec: MergeSpec, *, with_sequence: bool) -> ReadRequest:
    fields: tuple[DataField, ...] = reader.target.schema.project(needed_columns(spec)).fields
    system = (SystemColumn.SEQUENCE_NUMBER,) if with_sequence else ()
    return ReadRequest(
        fields=fields,
        system_columns=(*system, SystemColumn.VALUE_KIND),
        from_keys=True,
        batch_rows=_MAX_ROWS + _MAX_FILE_ROWS,
        stored_partition=True,
    )


def _without_inserts(whole: pa.RecordBatch) -> pa.RecordBatch:
    """Drops the row kinds if all are +I."""
    at = whole.schema.get_field_index(SystemColumn.VALUE_KIND)
    return whole if kinds_of(whole).any() else whole.remove_column(at)


# ---------------------------------------------------------------- contents


@dataclass(frozen=True, slots=True)
class _Opened:
    """Small files, opened together.

    Attributes:
        file: the files as one file.
        columns: the columns of a result.
        request: the columns and rows to read.
    """

    file: SmallParquetFiles
    columns: ResultColumns
    request: ReadRequest

    @classmethod
    def of(
        cls, reader: SplitReader, splits: Splits, files: Sequence[int], request: ReadRequest
    ) -> "_Opened | None":
        """Fetches and opens files of one schema; None if they cannot be read together."""
        start, stop = min(files), max(files) + 1
        sizes = numbers(splits.source.entries.slice(start, stop - start).table, "file_size")
        paths = [str(path) for path in as_python(splits.source.paths.slice(start, stop - start))]
        wanted = [(paths[file - start], int(sizes[file - start])) for file in files]
        opened = open_small_files(_contents(reader.target.store.file_io, wanted), wanted[0][0])
        if opened is None:
            return None
        split, row = _located(splits, files[0])
        source = SplitFile(split=split, row=row, reader=reader).source()
        if SystemColumn.SEQUENCE_NUMBER in request.system_columns and (
            SystemColumn.SEQUENCE_NUMBER not in opened.names
        ):
            return None
        if not opened.names.issuperset(source.schema.partition_keys):
            return None  # their values depend on the file
        return cls(opened, ResultColumns.of(source, request, opened.names), request)

    def batches(self) -> list[pa.RecordBatch]:
        """Reads the rows that may match."""
        rows = self.columns.rows(self.file, RowFilter.of(None, None), self.request)
        return [self.columns.result(batch, positions) for batch, positions in rows]


def _contents(file_io: FileIO, files: Sequence[tuple[str, int]]) -> list[bytes]:
    """Fetches files of known sizes; those of a store several at a time."""
    return at_once(file_io, [partial(file_io.read_range, path, 0, size) for path, size in files])
