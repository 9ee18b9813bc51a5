"""Compares decoded Avro manifests with the records that fastavro decodes."""

from typing import TypeAlias

import pyarrow as pa

from paimon_explore.encoding.avro.cross_check import Columns, CrossCheck, FieldPath, cross_check
from paimon_explore.encoding.avro.reader import avro_fields
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

MetadataRecords: TypeAlias = ManifestFiles | ManifestEntries | IndexEntries


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
    layout = _layout(decoded)
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


def _layout(decoded: MetadataRecords) -> Layout:
    match decoded:
        case ManifestFiles():
            return LIST_LAYOUT
        case ManifestEntries():
            return ENTRY_LAYOUT
        case IndexEntries():
            return INDEX_LAYOUT


def _is_milliseconds(kind: pa.DataType, field_path: FieldPath) -> bool:
    for name in field_path:
        if not isinstance(kind, pa.StructType) or kind.get_field_index(name) < 0:
            return True  # null on both sides
        kind = kind.field(kind.get_field_index(name)).type
    return isinstance(kind, pa.TimestampType) and kind.unit == "ms"
