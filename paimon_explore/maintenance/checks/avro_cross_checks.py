"""Cross-check of Avro metadata: compare the values of our decoder with those of fastavro.

Files are collected while the other checks read them and compared at the end, when their number is
known, so that a limited number of records can be distributed. Small files are compared completely;
of larger files the first records are compared.

Compares decoded Avro manifests with the records that fastavro decodes.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import field
from functools import partial
from typing import TypeAlias

import pyarrow as pa

from paimon_explore.encoding.avro.container import is_avro
from paimon_explore.encoding.avro.cross_check import Columns, CrossCheck, FieldPath, cross_check
from paimon_explore.encoding.avro.reader import avro_fields
from paimon_explore.errors import FormatError, StorageError, UnsupportedFeatureError
from paimon_explore.fileio.file_io import FileIO
from paimon_explore.fileio.versioned_reads import read_immutable
from paimon_explore.frozen_dataclass import dataclass
from paimon_explore.maintenance.checks.findings import AvroCoverage, Finding, FsckReport
from paimon_explore.metadata.manifest.index_manifest import IndexEntries
from paimon_explore.metadata.manifest.manifest_codec import with_field_names
from paimon_explore.metadata.manifest.manifest_entry import ManifestEntries
from paimon_explore.metadata.manifest.manifest_list import ManifestFiles
from paimon_explore.metadata.manifest.record_layouts import (
    ENTRY_LAYOUT,
    INDEX_LAYOUT,
    LIST_LAYOUT,
    Layout,
)
from paimon_explore.store.table_store import TableStore

MetadataRecords: TypeAlias = ManifestFiles | ManifestEntries | IndexEntries
_LAYOUTS: Mapping[type[MetadataRecords], Layout] = {
    ManifestFiles: LIST_LAYOUT,
    ManifestEntries: ENTRY_LAYOUT,
    IndexEntries: INDEX_LAYOUT,
}


def cross_check_metadata(
    data: bytes, path: str, decoded: MetadataRecords, max_records: int | None = None
) -> CrossCheck:
    """Compare the decoded records of a file with those that fastavro decodes.

    Args:
        data: the content of the Avro file.
        path: the path, for messages.
        decoded: all decoded records of the file.
        max_records: maximum number of records to compare; None for all.
    """
    return cross_check(data, path, _stored(data, path, decoded), max_records)


def _stored(data: bytes, path: str, decoded: MetadataRecords) -> Columns:
    """Return the columns with the names of the file, and timestamps as stored integers.

    Timestamps with a unit other than milliseconds are omitted because reading rounds them.
    """
    layout = _LAYOUTS[type(decoded)]
    in_file = pa.struct(avro_fields(data, path))
    columns: dict[FieldPath, pa.ChunkedArray[pa.Scalar[pa.DataType]]] = {}
    for name in decoded.table.schema.names:
        column = decoded.table.column(name)
        field_path = layout.fields[name]
        if pa.types.is_timestamp(column.type):
            if not _is_milliseconds(in_file, field_path):
                continue
            column = column.cast(pa.int64())
        elif name in layout.read_types:
            kind = layout.read_types[name]
            chunks = [with_field_names(chunk, kind) for chunk in column.chunks]
            column = pa.chunked_array(chunks, kind)  # type: ignore[call-overload]  # in stubs
        columns[field_path] = column
    return columns


def _is_milliseconds(kind: pa.DataType, field_path: FieldPath) -> bool:
    for name in field_path:
        if not isinstance(kind, pa.StructType) or kind.get_field_index(name) < 0:
            return True  # null on both sides
        kind = kind.field(kind.get_field_index(name)).type
    return isinstance(kind, pa.TimestampType) and kind.unit == "ms"


AGREES = "fastavro and paimon_explore decode the same values"


@dataclass(slots=True)
class AvroCrossChecks:
    """Collects and compares the metadata files of a table.

    Attributes:
        max_records: maximum number of records to compare; None for no limit.
    """

    max_records: int | None
    _files: dict[str, tuple[int, FileIO, Callable[[], MetadataRecords]]] = field(
        default_factory=dict
    )

    def add(
        self,
        store: TableStore,
        name: str,
        decode: Callable[[str], MetadataRecords],
        records: int,
    ) -> None:
        """Add a readable file with its decoder and its approximate number of records."""
        path = store.paths.manifest(name)
        self._files.setdefault(path, (records, store.file_io, partial(decode, name)))

    def report(self, findings: Iterable[Finding]) -> FsckReport:
        """Compare the collected files, and append the differences to other findings."""
        found = list(findings)
        order = sorted(self._files.items(), key=lambda item: (item[1][0], item[0]))
        left = self.max_records
        results: list[CrossCheck] = []
        skipped = 0
        for index, (path, (_, file_io, decode)) in enumerate(order):
            share = None if left is None else left // (len(order) - index)
            if share == 0:
                skipped += 1
                continue
            try:
                data = read_immutable(file_io, path)
                if not is_avro(data):  # but ORC or Parquet
                    continue
                result = cross_check_metadata(data, path, decode(), share)
            except (FormatError, StorageError, UnsupportedFeatureError) as error:
                found.append(Finding(rule=AGREES, path=path, what=str(error)))
                continue
            found += [Finding(rule=AGREES, path=path, what=str(o)) for o in result.disagreements]
            results.append(result)
            left = None if left is None else left - result.records
        return FsckReport(found, _coverage(results, skipped))


def _coverage(results: Sequence[CrossCheck], skipped: int) -> AvroCoverage:
    whole = sum(result.is_whole for result in results)
    return AvroCoverage(
        records=sum(result.records for result in results),
        files=whole,
        partial_files=len(results) - whole,
        skipped_files=skipped,
    )
