"""Vectorized reader of Avro files.

Blocks of one or many files with the same schema are decompressed into a buffer of some megabytes;
the starts of the records are determined (`record_offsets`), then all records are decoded at once,
column by column, while positions advance over the buffer (`column_decoder`). There is no Python
object per record. Decoding groups of blocks limits memory and uses the CPU caches.
"""

from collections.abc import Callable, Iterator, Sequence
from functools import lru_cache
from typing import NamedTuple, TypeAlias

import numpy as np
import pyarrow as pa

from paimon_explore.data_types.arrow import to_arrow
from paimon_explore.data_types.arrow_buffers import Column, Ints, offsets_from_sizes
from paimon_explore.encoding.avro.column_decoder import natural_field, take_fields
from paimon_explore.encoding.avro.container import Block, read_blocks, read_header
from paimon_explore.encoding.avro.few_records import FEW_RECORDS, few_columns
from paimon_explore.encoding.avro.record_offsets import branch_taken, misfit, record_starts
from paimon_explore.encoding.avro.schema import (
    AvroNode,
    OptionalNode,
    RecordNode,
    generic_nodes,
    leaf_count,
    parse_avro_schema,
    refuse_generic,
    top_record,
)
from paimon_explore.encoding.avro.vectorized_varint import PAD, PaddedBuffer, Positions
from paimon_explore.encoding.data_file_reader import (
    WHOLE_FILE,
    PositionedBatch,
    Span,
    StoredColumn,
    decoding,
)
from paimon_explore.encoding.positional_batches import rows_without_columns, sliced
from paimon_explore.errors import CorruptFileError, ResourceLimitError
from paimon_explore.frozen_dataclass import dataclass
from paimon_explore.limits import check_size, within_memory

_GROUP_BYTES = 4 << 20
_CHUNK_RECORDS = 16_384

REASONS = 16
"""Exclusive maximum of the numbers that a choice returns."""

Fields: TypeAlias = "Sequence[pa.Field[pa.DataType]]"
Choice: TypeAlias = "tuple[Fields, Callable[[list[Column]], Ints]]"
"""Columns, and a function that returns for each of n records 0 to keep it, else a reason."""
StartFinder: TypeAlias = Callable[[PaddedBuffer, AvroNode, Ints, Ints, Ints], Positions]


@dataclass(frozen=True, slots=True, kw_only=True)
class _Group:
    """Blocks that are decoded at once.

    Attributes:
        node: type of their records.
        blocks: each with the index of its file.
    """

    node: AvroNode
    blocks: tuple[tuple[int, Block], ...]


class _Decoded(NamedTuple):
    """Decoded columns in chunks, and the number of records per reason of each choice."""

    chunks: list[list[Column]]
    tallies: Ints


_UNSUSPICIOUS_RECORDS = 1 << 18
_BYTES_PER_VALUE = 24
"""Approximate memory per value during decoding: position, end and value."""


def read_avro(data: bytes, wanted: pa.Schema | None, where: str) -> Iterator[pa.RecordBatch]:
    """Read the rows of an Avro data file in batches.

    Args:
        data: the whole file.
        wanted: names and types of the columns to read, in order; columns that are missing in the
            file are null. None: all columns, in the types of the file
            (timestamps: Avro's `timestamp-*` have no zone and `local-timestamp-*` are UTC instants,
            as Paimon has it).
        where: path of the file, for errors.

    Yields:
        Batches with the wanted schema; none for a file without rows.

    Raises:
        CorruptFileError: the file is malformed, or a type is incompatible.
    """
    fields = list(wanted) if wanted is not None else avro_fields(data, where)
    schema = wanted if wanted is not None else pa.schema(fields)
    for part in _columnar_parts(data, schema.names, where):
        for _, group in _grouped([(where, part)]):
            for columns in _decoded(group, fields, (where,), record_starts).chunks:
                yield pa.RecordBatch.from_arrays(columns, schema=schema)


def _columnar_parts(data: bytes, names: Sequence[str], where: str) -> Iterator[bytes]:
    """The file, or files with the same rows if its schema is generic Avro."""
    if not is_generic(data, where):
        yield data
        return
    from paimon_explore.encoding.avro.generic_reader import columnar_files  # noqa: PLC0415 - hardly ever

    yield from columnar_files(data, frozenset(names), where)


def read_columns(
    files: Sequence[tuple[str, bytes]], fields: Fields, *, starts: StartFinder = record_starts
) -> tuple[pa.Table, list[int]]:
    """Read the records of many files, such as manifests, as one table.

    Args:
        files: path and content of each.
        fields: wanted columns; records inside records are structs.
        starts: how the records' beginnings are found.

    Returns:
        The records in the files' order, and the number of records of each file.

    Raises:
        CorruptFileError: names the file that is damaged.
    """
    schema = pa.schema(fields)
    names = tuple(path for path, _ in files)
    counts = [0] * len(files)
    batches: list[pa.RecordBatch] = []
    for rows, group in _grouped(files):
        for index, count in rows:
            counts[index] += count
        chunks = _few(group, fields) or _decoded(group, fields, names, starts).chunks
        batches.extend(pa.RecordBatch.from_arrays(columns, schema=schema) for columns in chunks)
    return pa.Table.from_batches(batches, schema=schema), counts


def read_chosen(
    files: Sequence[tuple[str, bytes]],
    fields: Fields,
    choices: Sequence[Choice],
    starts: StartFinder,
    needles: Sequence[bytes] = (),
) -> tuple[pa.Table, Ints]:
    """Read the records of many files that pass filters, which are applied in order.

    Of rejected records, only the fields up to the columns of the filter are decoded.

    Args:
        files: path and content of each.
        fields: wanted columns; records inside records are structs.
        choices: filters: their columns and functions.
        starts: how the records' beginnings are found.
        needles: if not empty, the first filter keeps only records that contain one of these byte
            strings; a block without any is not decoded and counted as dropped for reason 1.

    Returns:
        The records that all filters keep, and a row for each filter: how often it returned each
        number.

    Raises:
        CorruptFileError: names the file that is damaged.
    """
    schema = pa.schema(fields)
    names = tuple(path for path, _ in files)
    batches: list[pa.RecordBatch] = []
    tallies = np.zeros((len(choices), REASONS), np.int64)
    dropped = 0

    def skips(block: Block) -> bool:
        nonlocal dropped
        # rfind takes less than half the time of find
        if not needles or any(block.data.rfind(needle) >= 0 for needle in needles):
            return False
        dropped += block.count
        return True

    for _, group in _grouped(files, skips):
        found = _decoded(group, fields, names, starts, choices)
        batches.extend(
            pa.RecordBatch.from_arrays(columns, schema=schema) for columns in found.chunks
        )
        tallies += found.tallies
    tallies[:1, 1] += dropped
    return pa.Table.from_batches(batches, schema=schema), tallies


def field_names(data: bytes, where: str) -> tuple[str, ...]:
    """The names of the columns of an Avro file."""
    return tuple(name for name, _ in _record(data, where).fields)


def is_generic(data: bytes, where: str) -> bool:
    """Whether the schema of an Avro file has enums, wide unions or recursive records."""
    _record(data, where)  # names the file if it cannot be read
    return _has_generic_nodes(read_header(data).schema)


def _record(data: bytes, where: str) -> RecordNode:
    with_path = _naming(where)
    try:
        return top_record(_schema_node(read_header(data).schema))
    except CorruptFileError as error:
        raise with_path(error) from error


def avro_fields(data: bytes, where: str) -> list["pa.Field[pa.DataType]"]:
    """Return the columns of an Avro file in the types of the file."""
    record = _record(data, where)
    if is_generic(data, where):
        from paimon_explore.encoding.avro.generic_reader import (  # noqa: PLC0415 - hardly ever
            columnar_record,
        )

        record = columnar_record(record, None, where)
    return [natural_field(name, node) for name, node in record.fields]


@lru_cache(maxsize=64)
def _schema_node(text: bytes) -> AvroNode:
    node = parse_avro_schema(text)
    top_record(node)
    return node


@lru_cache(maxsize=64)
def _has_generic_nodes(text: bytes) -> bool:
    return any(generic_nodes(_schema_node(text)))


def _never(block: Block) -> bool:
    del block
    return False


def _grouped(
    files: Sequence[tuple[str, bytes]], skips: Callable[[Block], bool] = _never
) -> Iterator[tuple[list[tuple[int, int]], _Group]]:
    """Yield groups in order, each with (file, records) of its blocks."""
    blocks: list[tuple[int, Block]] = []
    size = 0
    current: AvroNode | None = None
    for index, (path, data) in enumerate(files):
        with_path = _naming(path)
        try:
            header = read_header(data)
            node = _schema_node(header.schema)
            if node is not current and _has_generic_nodes(header.schema):
                refuse_generic(node, path)
            for block in read_blocks(data, header):
                if current is not None and blocks and (node is not current or size > _GROUP_BYTES):
                    yield _closed(current, blocks)
                    blocks, size = [], 0
                if skips(block):
                    continue
                _check_records(block, node)
                current = node
                blocks.append((index, block))
                size += len(block.data)
        except CorruptFileError as error:
            raise with_path(error) from error
    if current is not None and blocks:
        yield _closed(current, blocks)


def _check_records(block: Block, node: AvroNode) -> None:
    """Reject a block whose decoded records would exceed memory; a record may have only one byte."""
    if block.count > _UNSUSPICIOUS_RECORDS:
        size = block.count * leaf_count(node) * _BYTES_PER_VALUE
        what = f"{block.count:,} records"
        check_size(size, "", f"block at byte {block.offset}", what)


def _closed(
    node: AvroNode, blocks: list[tuple[int, Block]]
) -> tuple[list[tuple[int, int]], _Group]:
    rows = [(index, block.count) for index, block in blocks]
    return rows, _Group(node=node, blocks=tuple(blocks))


def _naming(path: str) -> Callable[[CorruptFileError], CorruptFileError]:
    def with_path(error: CorruptFileError) -> CorruptFileError:
        if error.path:
            return error
        if isinstance(error, ResourceLimitError):
            return error.at(path)
        return CorruptFileError(path, error.where, error.rule)

    return with_path


def _decoded(
    group: _Group,
    fields: Fields,
    names: tuple[str, ...],
    starts: StartFinder,
    choices: Sequence[Choice] = (),
) -> _Decoded:
    """Decode the records of a group to chunks of columns; errors name the file."""
    try:
        blocks = [block for _, block in group.blocks]
        with within_memory("", f"block at byte {blocks[0].offset}"):
            return _chunks(group.node, blocks, fields, starts, choices)
    except ResourceLimitError as error:
        raise _naming(names[group.blocks[0][0]])(error) from error
    except (CorruptFileError, IndexError) as error:
        if starts is not record_starts:  # the search may be wrong, walking is not
            return _decoded(group, fields, names, record_starts, choices)
        files = sorted({index for index, _ in group.blocks})
        if len(files) == 1:
            raise _as_corrupt(error, names[files[0]]) from error
        for index in files:  # decoding the blocks one by one raises the error with the file
            own = tuple(pair for pair in group.blocks if pair[0] == index)
            _decoded(_Group(node=group.node, blocks=own), fields, names, starts, choices)
        raise


def _few(group: _Group, fields: Fields) -> list[list[Column]] | None:
    """Decode the records of a group one by one; None if they are many, or not as expected."""
    blocks = [block for _, block in group.blocks]
    if sum(block.count for block in blocks) > FEW_RECORDS:
        return None
    columns = few_columns(blocks, group.node, fields)
    return None if columns is None else [columns]


def _as_corrupt(error: CorruptFileError | IndexError, path: str) -> CorruptFileError:
    if isinstance(error, CorruptFileError):
        return _naming(path)(error)
    return CorruptFileError(path, "a block", "the records extend beyond the end of the block")


def _chunks(
    node: AvroNode,
    blocks: Sequence[Block],
    fields: Fields,
    starts: StartFinder,
    choices: Sequence[Choice],
) -> _Decoded:
    buffer = PaddedBuffer([block.data for block in blocks])
    sizes = (
        offsets_from_sizes(np.array([len(block.data) for block in blocks], dtype=np.int64)) + PAD
    )
    counts = np.array([block.count for block in blocks], dtype=np.int64)
    begins = starts(buffer, node, sizes[:-1], sizes[1:], counts)
    stops = np.append(begins[1:], buffer.end)
    tallies = np.zeros((len(choices), REASONS), np.int64)
    for tally, choice in zip(tallies, choices, strict=True):
        reasons = _reasons(buffer, node, begins, choice)
        tally[:] = np.bincount(reasons, minlength=REASONS)
        kept = reasons == 0
        begins, stops = begins[kept], stops[kept]
    chunks: list[list[Column]] = []
    for first in range(0, len(begins), _CHUNK_RECORDS):
        part = slice(first, first + _CHUNK_RECORDS)
        record, at = _records_at(buffer, node, begins[part])
        columns, behind = take_fields(buffer, record, fields, at, "")
        if not np.array_equal(behind, stops[part]):
            raise misfit()
        chunks.append(columns)
    buffer.release()
    return _Decoded(chunks, tallies)


def _reasons(buffer: PaddedBuffer, node: AvroNode, begins: Positions, choice: Choice) -> Ints:
    """Apply a filter to records; decodes no fields after the columns of the filter."""
    fields, decide = choice
    record, at = _records_at(buffer, node, begins)
    columns, _ = take_fields(buffer, _head(record, fields), fields, at, "")
    return decide(columns)


def _head(record: RecordNode, fields: Fields) -> RecordNode:
    """Return the record type up to the last of the fields, likewise for nested records."""
    wanted = {field.name: field.type for field in fields}
    last = max((i for i, (name, _) in enumerate(record.fields) if name in wanted), default=-1)
    kept = list(record.fields[: last + 1])
    if kept:
        name, inner = kept[-1]
        below = wanted[name]
        if isinstance(inner, RecordNode) and isinstance(below, pa.StructType):
            members = [below.field(index) for index in range(below.num_fields)]
            kept[-1] = (name, _head(inner, members))
    return RecordNode(name=record.name, fields=tuple(kept))


def _records_at(
    buffer: PaddedBuffer, node: AvroNode, begins: Positions
) -> tuple[RecordNode, Positions]:
    """Return the record type, and the position of the first field of each record."""
    if not isinstance(node, OptionalNode):
        return top_record(node), begins
    if branch_taken(buffer, node, begins) is not None:
        raise CorruptFileError("", "a record", "must not be null")
    return top_record(node), begins + 1


class AvroDataFile:
    """An Avro file in memory; see `OpenDataFile`."""

    spans = WHOLE_FILE

    def __init__(self, data: bytes, path: str) -> None:
        self._data = data
        self._path = path
        with decoding(path, "Avro file"):
            self.names = frozenset(field_names(data, path))

    def batches(
        self, columns: Sequence[StoredColumn], spans: Sequence[int], batch_rows: int
    ) -> Iterator[PositionedBatch]:
        """Yield all rows; see `OpenDataFile`."""
        if not spans:
            return
        if not columns:
            rows = sum(block.count for block in read_blocks(self._data, read_header(self._data)))
            yield from rows_without_columns([Span(first=0, rows=rows)], batch_rows)
            return
        wanted = pa.schema([pa.field(column.name, to_arrow(column.type)) for column in columns])
        first = 0
        for batch in read_avro(self._data, wanted, self._path):
            yield from sliced(batch.columns, first, batch.num_rows, batch_rows)
            first += batch.num_rows
