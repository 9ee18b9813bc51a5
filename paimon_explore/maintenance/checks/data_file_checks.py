"""Checks of data files: they exist, are readable, and contain the recorded rows.

Checks of the rows of a data file against its manifest entry.

Spec: concepts/spec/manifest, data file meta; concepts/spec/datafile.
"""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import field
from typing import TypeVar

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from paimon_explore import arrow_compute as pc
from paimon_explore.data_types.arrow import PER_SECOND
from paimon_explore.data_types.arrow_buffers import Column, Ints, int64_values, list_offsets
from paimon_explore.data_types.definitions import DataField, TypeRoot
from paimon_explore.data_types.traversal import is_root, unknown_types
from paimon_explore.encoding.binary_row.decoder import decode_rows
from paimon_explore.encoding.binary_row.row_encoder import encode_rows
from paimon_explore.encoding.blob.blob_references import REFERENCES_SUFFIX
from paimon_explore.encoding.bucket_function import bucket_of
from paimon_explore.encoding.file_index.container import decode_container
from paimon_explore.errors import (
    MissingFileError,
    PaimonError,
    UnsupportedFeatureError,
    UnsupportedVersionError,
)
from paimon_explore.fileio.file_io import FileStatus
from paimon_explore.frozen_dataclass import dataclass
from paimon_explore.maintenance.checks.findings import Finding, Severity
from paimon_explore.merge.keys.normalized_keys import normalized_keys
from paimon_explore.metadata.manifest.manifest_entry import ManifestEntries
from paimon_explore.metadata.options.table_options import (
    BUCKET_FUNCTION,
    PK_CLUSTERING_OVERRIDE,
    SEQUENCE_SNAPSHOT_ORDERING,
    TableOptions,
)
from paimon_explore.metadata.schema.fixed_buckets import has_rows_of_old_keys
from paimon_explore.metadata.schema.table_schema import TableSchema
from paimon_explore.metadata.table_paths import file_index_path
from paimon_explore.read.data_file import (
    DataFileSource,
    ReadRequest,
    SystemColumn,
    read_data_file,
    result_schema,
)
from paimon_explore.scan.manifest_arrays import binary, column
from paimon_explore.scan.manifest_arrays import numbers as frame_numbers
from paimon_explore.scan.pruning.file_statistics import value_stats
from paimon_explore.scan.splits.file_locations import data_file_paths
from paimon_explore.scan.splits.row_id_ranges import is_blob_file
from paimon_explore.store.table_store import TableStore

ROWS = "a data file has the recorded number of rows"
READS = "a data file can be read"
INDEX_READS = "the file index of a data file can be read"


@dataclass(frozen=True, slots=True, kw_only=True)
class DataFiles:
    """The data files of a table.

    Attributes:
        store: the branch.
        options: the table's options.
        present: the files in the folder of the table, by path.
        schemas: all schemas by id.
        seen: paths of the files that have been checked.
    """

    store: TableStore
    options: TableOptions
    present: Mapping[str, FileStatus]
    schemas: Mapping[int, TableSchema]
    seen: set[str]
    _outside: dict[str, FileStatus | None] = field(default_factory=dict)

    def status(self, path: str) -> FileStatus | None:
        """Return size and time of a file; None if it does not exist."""
        found = self.present.get(path)
        if found is None and path in self._outside:
            return self._outside[path]
        if found is None:
            with suppress(MissingFileError):
                found = self.store.file_io.status(path)
            self._outside[path] = found
        return found

    def suspects(self, entries: ManifestEntries) -> Iterator[tuple[int, str, int | None]]:
        """Yield data files that do not exist with the recorded size, then such extra files.

        Extra files that refer to other files are always yielded.

        Yields:
            The number of the entry, the path, and the recorded size, which extra files do not have.

        Raises:
            FormatError: a partition cannot be decoded.
            StorageError: a storage does not tell whether a file exists.
        """
        if not len(entries):
            return
        schema = next(iter(self.schemas.values()))
        paths = data_file_paths(entries, schema, self.options, self.store.paths).to_pylist()
        sizes = frame_numbers(entries.table, "file_size").tolist()
        for number, (path, size) in enumerate(zip(map(str, paths), sizes, strict=True)):
            found = self.status(path)
            if found is None or found.size != size:
                yield number, path, size
        extras = column(entries.table, "extra_files")
        for number in np.flatnonzero(np.diff(list_offsets(extras))).tolist():
            folder = str(paths[number]).rpartition("/")[0]
            for name in extras[number].as_py():
                path = f"{folder}/{name}"
                if name.endswith(REFERENCES_SUFFIX) or self.status(path) is None:
                    yield number, path, None

    def check_rows(self, entries: ManifestEntries) -> Iterator[Finding]:
        """Check the rows of files that have not been checked yet."""
        if not len(entries):
            return
        schema = next(iter(self.schemas.values()))
        paths = [
            str(path.as_py())
            for path in data_file_paths(entries, schema, self.options, self.store.paths)
        ]
        for index, (path, row) in enumerate(zip(paths, entries.rows(), strict=True)):
            has_schema = row["schema_id"] in self.schemas  # else another check has reported it
            if path in self.seen or self.status(path) is None or not has_schema:
                continue
            self.seen.add(path)
            yield from self._check_index(path, row["extra_files"])
            try:
                rows = self._rows(path, row)
            except PaimonError as error:
                is_refused = isinstance(error, UnsupportedFeatureError)
                severity = Severity.WARNING if is_refused else Severity.ERROR
                yield Finding(rule=READS, path=path, what=str(error), severity=severity)
                continue
            if rows.num_rows != row["row_count"]:
                what = (
                    f"the file has {rows.num_rows} rows, but the manifest records "
                    f"{row['row_count']}"
                )
                yield Finding(rule=ROWS, path=path, what=what)
            schema_id = row["schema_id"]
            assert isinstance(schema_id, int)  # noqa: S101 - of an integer column
            schema = self.schemas[schema_id]
            older = (one for one in self.schemas.values() if one.id <= schema_id)
            read = FileRows(
                table=rows,
                entry=entries.slice(index, 1),
                schema=schema,
                options=self.options,
                has_old_keys=has_rows_of_old_keys(schema, older),
            )
            for rule, what in read.broken():
                yield Finding(rule=rule, path=path, what=what)

    def _check_index(self, path: str, extra_files: object) -> Iterator[Finding]:
        """Decode the head of the file index beside a data file."""
        names = map(str, extra_files) if isinstance(extra_files, list) else ()
        index = file_index_path(path, names)
        if index is None or self.status(index) is None:
            return
        try:
            with suppress(UnsupportedVersionError):  # readers ignore the index
                decode_container(self.store.file_io.read(index), path=index)
        except PaimonError as error:
            yield Finding(rule=INDEX_READS, path=index, what=str(error))

    def _rows(self, path: str, row: Mapping[str, object]) -> pa.Table:
        schema_id, columns, partition = row["schema_id"], row["write_cols"], row["partition"]
        assert isinstance(schema_id, int)  # noqa: S101 - of an integer column
        schema = self.schemas[schema_id]
        source = DataFileSource(
            file_io=self.store.file_io,
            path=path,
            schema=schema,
            write_cols=tuple(map(str, columns)) if isinstance(columns, list) else None,
            partition=partition if isinstance(partition, bytes) else None,
        )
        keyed = bool(schema.primary_keys)
        system = (SystemColumn.SEQUENCE_NUMBER, SystemColumn.VALUE_KIND) if keyed else ()
        fields = tuple(f for f in source.stored_fields if not any(unknown_types(f.type)))
        request = ReadRequest(
            fields=fields, system_columns=system, from_keys=keyed, stored_partition=True
        )
        batches = read_data_file(source, request)
        return pa.Table.from_batches(batches, result_schema(request))


KEY_ORDER = "the rows of a file are sorted by key without duplicates"
KEY_BOUNDS = "all keys are within the recorded minimum and maximum key"
SEQUENCES = "all sequence numbers are within the recorded minimum and maximum"
DELETES = "the recorded number of retract rows is correct"
STATISTICS = "all values are within the minimum and maximum of the column statistics"
NULLS = "the recorded null count of a column is correct"
BUCKET = "every row is in the bucket of its bucket key"
PARTITION = "every row is in its partition"

SEQUENCE_NUMBER = "_SEQUENCE_NUMBER"
VALUE_KIND = "_VALUE_KIND"
_RETRACTS = (1, 3)


@dataclass(frozen=True, slots=True, kw_only=True)
class FileRows:
    """All rows of a data file, with its metadata.

    Attributes:
        table: the columns of the file; in a primary-key table also sequence number and kind.
        entry: the manifest entry of the file.
        schema: the schema that the file was written with.
        options: the table's options.
        has_old_keys: whether rows may be in other buckets than those of their bucket keys.
    """

    table: pa.Table
    entry: ManifestEntries
    schema: TableSchema
    options: TableOptions
    has_old_keys: bool = False

    def broken(self) -> Iterator[tuple[str, str]]:
        """Yield each broken rule, and what was found instead."""
        if not self.table.num_rows:
            return
        row = self.entry.rows()[0]
        bucket, total = row["bucket"], row["total_buckets"]
        if self.schema.primary_keys and self._has(self.schema.trimmed_primary_keys):
            if isinstance(bucket, int) and bucket >= 0:
                yield from self._keys()
            yield from self._records(row)
        yield from self._statistics()
        if isinstance(total, int) and total > 0 and isinstance(bucket, int):
            yield from self._buckets(bucket, total)
        yield from self._partition()

    def _reads_as_written(self, names: Sequence[str]) -> bool:
        """Whether values are read as written: CHAR is padded in ORC, and trimmed when read."""
        has_char = any(is_root(field.type, TypeRoot.CHAR) for field in self._fields(names))
        return not (self._is_orc and has_char)

    @property
    def _file_name(self) -> str:
        return str(self.entry.rows()[0]["file_name"])

    @property
    def _is_orc(self) -> bool:
        return self._file_name.endswith(".orc")

    def _has(self, names: Sequence[str]) -> bool:
        return set(names) <= set(self.table.column_names)

    def _fields(self, names: Sequence[str]) -> list[DataField]:
        found = (self.schema.field(name) for name in names)
        return [field for field in found if field is not None]

    def _columns(self, names: Sequence[str], rows: pa.Table | None = None) -> list[Column]:
        source = self.table if rows is None else rows
        return [source.column(name).combine_chunks() for name in names]

    def _encoded(self, names: Sequence[str], rows: pa.Table) -> pa.BinaryArray:
        types = [field.type for field in self._fields(names)]
        return encode_rows(self._columns(names, rows), types, count=rows.num_rows)

    def _keys(self) -> Iterator[tuple[str, str]]:
        names = self.schema.trimmed_primary_keys
        if self.options.value(PK_CLUSTERING_OVERRIDE) or not self._reads_as_written(names):
            return
        keys = self.table.select(names)
        wrong = np.flatnonzero(_order(keys) != np.arange(keys.num_rows))
        if len(wrong):
            yield KEY_ORDER, f"the key of row {wrong[0]} is out of order"
            return
        images = self._encoded(names, keys)
        same = pc.equal(images.slice(1), images.slice(0, len(images) - 1))
        if pc.any(same).as_py():
            yield (
                KEY_ORDER,
                f"row {pc.index(same, True).as_py() + 1} has the key of the previous row",
            )
        for name, is_outside in self._key_bounds(keys):
            if is_outside:
                side = (
                    "below the recorded minimum"
                    if name == "min_key"
                    else "above the recorded maximum"
                )
                yield KEY_BOUNDS, f"a key is {side} key"

    def _key_bounds(self, keys: pa.Table) -> Iterator[tuple[str, bool]]:
        """Yield whether the first key is below `_MIN_KEY`, and the last one above `_MAX_KEY`."""
        names = self.schema.trimmed_primary_keys
        types = [field.type for field in self._fields(names)]
        ends = {"min_key": keys.slice(0, 1), "max_key": keys.slice(keys.num_rows - 1)}
        for name, end in ends.items():
            bound = decode_rows(binary(self.entry.table, name), types, where=name)
            stated = pa.Table.from_arrays(bound, schema=keys.schema)
            pair = [stated, end] if name == "min_key" else [end, stated]
            yield name, bool(_order(pa.concat_tables(pair))[0])

    def _records(self, row: dict[str, object]) -> Iterator[tuple[str, str]]:
        numbers = self._sequence_numbers()
        if len(numbers):
            minimum, maximum = int(numbers.min()), int(numbers.max())
            low, high = row["min_sequence_number"], row["max_sequence_number"]
            assert isinstance(low, int)  # noqa: S101 - of an integer column
            assert isinstance(high, int)  # noqa: S101 - of an integer column
            if minimum < low or maximum > high:
                yield (
                    SEQUENCES,
                    (
                        f"the file has sequence numbers {minimum} to {maximum}, but the manifest "
                        f"records {low} to {high}"
                    ),
                )
        stated = row["delete_row_count"]
        if stated and self._has([VALUE_KIND]):
            wanted = pa.array(_RETRACTS, pa.int8())
            retracts = _count_true(pc.is_in(self.table.column(VALUE_KIND), value_set=wanted))
            if retracts != stated:
                yield (
                    DELETES,
                    f"the file has {retracts} retract rows, but the manifest records {stated}",
                )

    def _sequence_numbers(self) -> npt.NDArray[np.int64]:
        """Return the sequence numbers of the file, unless the snapshot id replaces them."""
        if not self._has([SEQUENCE_NUMBER]) or self.options.value(SEQUENCE_SNAPSHOT_ORDERING):
            return np.empty(0, np.int64)
        return frame_numbers(self.table, SEQUENCE_NUMBER)

    def _statistics(self) -> Iterator[tuple[str, str]]:
        if is_blob_file(self._file_name):  # readers do not use them; pypaimon counts no nulls
            return
        fields = [field for field in self.schema.fields if self._has([field.name])]
        frame = value_stats(self.entry, lambda _: self.schema, fields)
        for name, stats in frame.columns.items():
            values = self.table.column(name)
            nulls = stats.null_count[0].as_py()
            if nulls is not None and nulls != values.null_count:
                yield (
                    NULLS,
                    (
                        f"column {name} has {values.null_count} nulls, but the manifest records "
                        f"{nulls}"
                    ),
                )
            for bound, compare in ((stats.minimum, pc.less), (stats.maximum, pc.greater)):
                if not bound[0].is_valid:
                    continue
                outside = _count_true(compare(values, bound[0]))
                if outside:
                    side = "below the minimum" if compare is pc.less else "above the maximum"
                    what = "1 value is" if outside == 1 else f"{outside:,} values are"
                    yield STATISTICS, f"{what} {side} of column {name}"

    def _buckets(self, bucket: int, total: int) -> Iterator[tuple[str, str]]:
        names = self.schema.bucket_keys
        if self.has_old_keys or not names or not self._has(names):
            return
        if not self._reads_as_written(names):
            return
        types = [field.type for field in self._fields(names)]
        function = self.options.value(BUCKET_FUNCTION)
        try:
            found = bucket_of(self._columns(names), types, total, function.value)
        except PaimonError as error:
            yield BUCKET, str(error)
            return
        wrong = np.flatnonzero(found != bucket)
        if len(wrong):
            yield (
                BUCKET,
                (
                    f"{len(wrong):,} of {len(found):,} rows belong to another bucket, the first of "
                    f"them to bucket {found[wrong[0]]}"
                ),
            )

    def _partition(self) -> Iterator[tuple[str, str]]:
        names = self.schema.partition_keys
        if not names or not self._has(names):
            return
        types = [field.type for field in self._fields(names)]
        expected = decode_rows(binary(self.entry.table, "partition"), types, where="_PARTITION")
        for name, data_type, recorded in zip(names, types, expected, strict=True):
            if self._is_orc and _is_moved_by_orc(recorded):
                continue
            value, values = recorded, self.table.column(name)
            if is_root(data_type, TypeRoot.CHAR):  # padded in ORC, trimmed when read
                value, values = _trimmed(value), _trimmed(values)
            if value[0].is_valid:
                others = len(values) - _count_true(pc.equal(values, value[0]))
            else:
                others = len(values) - values.null_count
            if others:
                what = f"{others:,} of {len(values):,} rows have another value of {name}"
                yield PARTITION, f"{what} than the partition"


_Texts = TypeVar("_Texts", Column, "pa.ChunkedArray[pa.Scalar[pa.DataType]]")


def _order(keys: pa.Table) -> Ints:
    """Return the positions of keys in the order of a data file."""
    columns = [column.combine_chunks() for column in keys.columns]
    parts = [source(None) for column in columns for source in normalized_keys(column)]
    return np.lexsort([*parts[::-1], np.zeros(keys.num_rows, np.int8)])  # equal texts have no parts


def _is_moved_by_orc(value: Column) -> bool:
    """Whether a value is of the last second before 1970, which Java's ORC files store as later."""
    if not isinstance(value.type, pa.TimestampType):
        return False
    return bool(-PER_SECOND[value.type.unit] < int64_values(value)[0] < 0)


def _trimmed(texts: _Texts) -> _Texts:
    found: _Texts = pc.call_function("utf8_rtrim", [texts], pc.TrimOptions(" "))
    return found


def _count_true(answers: "Column | pa.ChunkedArray[pa.Scalar[pa.DataType]]") -> int:
    """Count the values that are true."""
    return int(pc.sum(pc.cast(answers, pa.int64())).as_py() or 0)
