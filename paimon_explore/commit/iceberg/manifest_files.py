"""Reads and writes Iceberg manifests and manifest lists."""

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from io import BytesIO
from itertools import count
from math import isnan
from uuid import uuid4

import fastavro
from fastavro.types import Schema

from paimon_explore.commit.iceberg.avro_schemas import manifest_list_schema, manifest_schema
from paimon_explore.commit.iceberg.manifest_records import (
    Content,
    IcebergEntry,
    IcebergManifest,
    Record,
    Status,
    entry_of,
    manifest_of,
    with_own_row_ids,
)
from paimon_explore.commit.iceberg.schema_json import (
    SPEC_ID,
    Json,
    iceberg_schema,
    partition_fields,
)
from paimon_explore.commit.iceberg.settings import IcebergSettings
from paimon_explore.commit.iceberg.single_value import encode_value
from paimon_explore.data_types.definitions import AtomicType, RowType, TypeRoot
from paimon_explore.encoding.avro.container import (
    PROCESS_SYNC,
    read_blocks,
    read_header,
    write_block,
    write_header,
)
from paimon_explore.encoding.avro.fastavro_reader import FASTAVRO_ERRORS, without_logical_types
from paimon_explore.encoding.avro.writer import compact_json
from paimon_explore.errors import CorruptFileError
from paimon_explore.fileio.file_io import FileIO
from paimon_explore.fileio.paths import join, name
from paimon_explore.metadata.schema.table_schema import TableSchema

_MILLIS = frozenset(("timestamp-millis", "local-timestamp-millis"))


class ManifestFolder:
    """The manifests and manifest lists of one table.

    Args:
        file_io: the storage.
        settings: the settings of the table.
        schema: its latest schema.
        prefix: the folder of the metadata as the paths in it begin.

    Attributes:
        written: the paths of the files that were written, in the storage.
    """

    def __init__(
        self, file_io: FileIO, settings: IcebergSettings, schema: TableSchema, prefix: str
    ) -> None:
        self.written: list[str] = []
        self._file_io = file_io
        self._settings = settings
        self._schema = schema
        self._prefix = prefix
        self._uuid = str(uuid4())
        self._manifest_numbers = count(1)
        self._list_numbers = count(1)

    def read_list(self, path: str) -> list[IcebergManifest]:
        """Read a manifest list, which is in the folder whatever the rest of the path is.

        Raises:
            MissingFileError: the file does not exist.
            CorruptFileError: the file cannot be decoded.
        """
        path = self.stored(path)
        records = read_records(self._file_io.read(path), path)
        return [manifest_of(record, path) for record in records]

    def read(self, manifest: IcebergManifest) -> list[IcebergEntry]:
        """Read a manifest, which is in the folder whatever the rest of its path is.

        Raises:
            MissingFileError: the file does not exist.
            CorruptFileError: the file cannot be decoded.
        """
        path = self.stored(manifest.path)
        data = self._file_io.read(path)
        records = read_records(data, path)
        in_millis = _columns_in_millis(read_header(data).schema)
        entries = (entry_of(_in_micros(record, in_millis), manifest) for record in records)
        return with_own_row_ids(entries, manifest)

    def write(
        self, entries: Sequence[IcebergEntry], content: Content, snapshot_id: int
    ) -> list[IcebergManifest]:
        """Write manifests of the target size.

        Args:
            entries: their entries.
            content: what the files of the entries contain.
            snapshot_id: the snapshot that adds the manifests.

        Raises:
            StorageError: a file could not be written.
        """
        if not entries:
            return []
        data = self._encode(entries, content)
        parts = -(-len(data) // max(1, self._settings.target_bytes))
        if parts == 1 or len(entries) == 1:
            return [self._put(data, entries, content, snapshot_id)]
        step = -(-len(entries) // parts)
        chunks = [entries[start : start + step] for start in range(0, len(entries), step)]
        return [
            self._put(self._encode(chunk, content), chunk, content, snapshot_id) for chunk in chunks
        ]

    def write_list(self, manifests: Iterable[IcebergManifest]) -> str:
        """Write a manifest list and return its path, as it is written in the metadata."""
        legacy = self._settings.legacy_names
        records = [manifest.as_record(legacy_names=legacy) for manifest in manifests]
        schema = manifest_list_schema(legacy_names=legacy, row_ids=self._settings.with_row_ids)
        data = encode_records(schema, records, self._settings.codec, {})
        return self._create(f"snap-{next(self._list_numbers)}-{self._uuid}.avro", data)

    def discard(self, manifest: IcebergManifest) -> None:
        """Delete a manifest that this process has just written and that nothing refers to."""
        path = self.stored(manifest.path)
        self._file_io.delete(path)
        self.written.remove(path)

    def stored(self, path: str) -> str:
        """Return where a manifest or manifest list is, whatever the rest of its path is."""
        return join(self._settings.folder, name(path))

    def _put(
        self, data: bytes, entries: Sequence[IcebergEntry], content: Content, snapshot_id: int
    ) -> IcebergManifest:
        path = self._create(f"{self._uuid}-m{next(self._manifest_numbers)}.avro", data)
        of_status = [[e for e in entries if e.status is status] for status in _STATUSES]
        added, existing, deleted = of_status
        return IcebergManifest(
            path=path,
            length=len(data),
            content=content,
            sequence_number=snapshot_id,
            min_sequence_number=min(entry.sequence_number for entry in entries),
            snapshot_id=snapshot_id,
            files=(len(added), len(existing), len(deleted)),
            rows=(_rows(added), _rows(existing), _rows(deleted)),
            partitions=_summaries(self._schema.partition_type, [e.partition for e in entries]),
        )

    def _create(self, file_name: str, data: bytes) -> str:
        path = join(self._settings.folder, file_name)
        self._file_io.create(path, data)
        self.written.append(path)
        return join(self._prefix, file_name)

    def _encode(self, entries: Sequence[IcebergEntry], content: Content) -> bytes:
        header = {
            "schema": json.dumps(iceberg_schema(self._schema)),
            "partition-spec": json.dumps(partition_fields(self._schema)),
            "partition-spec-id": str(SPEC_ID),
            "format-version": str(self._settings.format_version),
            "content": content.name.lower(),
        }
        records = [entry.as_record() for entry in entries]
        partition_type = self._schema.partition_type
        schema = manifest_schema(partition_type, row_ids=self._settings.with_row_ids)
        return encode_records(schema, records, self._settings.codec, header)


_STATUSES = (Status.ADDED, Status.EXISTING, Status.DELETED)


def _rows(entries: Iterable[IcebergEntry]) -> int:
    return sum(entry.rows for entry in entries)


def _summaries(partition_type: RowType, partitions: Sequence[Record]) -> tuple[Record, ...]:
    """Return the summaries of the partition columns of files."""
    return tuple(
        _summary([partition.get(field.name) for partition in partitions], field.type)
        for field in partition_type
        if isinstance(field.type, AtomicType)
    )


def _summary(values: Sequence[object], data_type: AtomicType) -> Record:
    numbers = [value for value in values if not _is_nan(value)]
    known = [value for value in numbers if value is not None]
    is_decimal = data_type.root is TypeRoot.DECIMAL
    ordered = sorted(known, key=_unscaled if is_decimal else _ordinal)
    return {
        "contains_null": None in values,
        "contains_nan": len(numbers) < len(values),
        "lower_bound": encode_value(ordered[0], data_type) if ordered else None,
        "upper_bound": encode_value(ordered[-1], data_type) if ordered else None,
    }


def _is_nan(value: object) -> bool:
    return isinstance(value, float) and isnan(value)


def _ordinal(value: object) -> tuple[int | float, str | bytes]:
    """Return a key that orders the values of one type."""
    if isinstance(value, int | float):
        return value, ""
    return 0, value if isinstance(value, str | bytes) else ""


def _unscaled(value: object) -> tuple[int | float, str | bytes]:
    """Return a key that orders unscaled decimals."""
    return int.from_bytes(value, "big", signed=True) if isinstance(value, bytes) else 0, ""


def _columns_in_millis(schema: bytes) -> frozenset[str]:
    """Return the partition columns that a manifest stores in milliseconds, as Java does."""
    return frozenset(
        str(field["name"])
        for field in _partition_fields(json.loads(schema))
        for kind in _branches(field.get("type"))
        if isinstance(kind, dict) and kind.get("logicalType") in _MILLIS
    )


def _partition_fields(record: object) -> list[dict[str, object]]:
    """Return the fields of the record `partition` of the record `data_file`."""
    for wanted in ("data_file", "partition"):
        fields = record.get("fields") if isinstance(record, dict) else None
        found = [f for f in fields or [] if isinstance(f, dict) and f.get("name") == wanted]
        record = found[0].get("type") if found else None
    fields = record.get("fields") if isinstance(record, dict) else None
    return [field for field in fields or [] if isinstance(field, dict)]


def _branches(kind: object) -> list[object]:
    return kind if isinstance(kind, list) else [kind]


def _in_micros(record: Record, columns: frozenset[str]) -> Record:
    """Return a record of a manifest with timestamps of partitions in microseconds."""
    file = record.get("data_file")
    if not columns or not isinstance(file, Mapping):
        return record
    partition = {
        column: value * 1000 if column in columns and isinstance(value, int) else value
        for column, value in file["partition"].items()
    }
    return {**record, "data_file": {**file, "partition": partition}}


def read_records(data: bytes, path: str) -> list[Record]:
    """Return the records of a file.

    Raises:
        CorruptFileError: the file cannot be decoded.
    """
    try:
        return [*_records(data)]
    except FASTAVRO_ERRORS as error:
        if isinstance(error, CorruptFileError):
            raise CorruptFileError(path, error.where, error.rule) from error
        reason = str(error) or type(error).__name__
        rule = f"fastavro cannot decode the file: {reason:.200}"
        raise CorruptFileError(path, "a record", rule) from error


def _records(data: bytes) -> Iterator[Record]:
    header = read_header(data)
    source: Schema = without_logical_types(json.loads(header.schema))  # type: ignore[assignment]  # JSON
    schema = fastavro.parse_schema(source)
    for block in read_blocks(data, header):
        stream = BytesIO(block.data)
        for _ in range(block.count):
            record = fastavro.schemaless_reader(stream, schema, None)
            if not isinstance(record, Mapping):
                raise TypeError("must be a record")
            yield {str(name): value for name, value in record.items()}


def encode_records(
    schema: dict[str, Json], records: Sequence[Record], codec: str, header: Mapping[str, str]
) -> bytes:
    """Return a file.

    Args:
        schema: the schema of the records.
        records: the records.
        codec: the Avro codec of the blocks.
        header: further members of the header.
    """
    stream = BytesIO()
    fastavro.writer(stream, schema, records, "null")
    data = stream.getvalue()
    more = tuple((name, text.encode()) for name, text in header.items())
    parts = [write_header(compact_json(schema), codec, PROCESS_SYNC, more)]
    blocks = read_blocks(data, read_header(data))  # fastavro may lack the codec
    parts += [write_block(block.count, block.data, codec, PROCESS_SYNC) for block in blocks]
    return b"".join(parts)
