"""Manifest lists, manifests and index manifests in Avro, compared with what fastavro reads."""

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
    data: bytes, path: str, decoded: MetadataRecords, most_records: int | None = None
) -> CrossCheck:
    """Compare the records that were decoded from a file with those that fastavro decodes.

    Args:
        data: the file, in Avro.
        path: its path, for messages.
        decoded: all its records, as the table uses them.
        most_records: compare only so many records from the first one on; None for all.
    """
    return cross_check(data, path, _stored(data, path, decoded), most_records)


def _stored(data: bytes, path: str, decoded: MetadataRecords) -> Columns:
    """The columns under the names of the file, timestamps as the integers that are stored.

    A timestamp in another unit than milliseconds is rounded on reading, so it is left out.
    """
    layout = _layout(decoded)
    in_file = pa.struct(avro_fields(data, path))
    columns: dict[FieldPath, pa.ChunkedArray[pa.Scalar[pa.DataType]]] = {}
    for name in decoded.table.schema.names:
        column = decoded.table.column(name)
        place = layout.fields[name]
        if pa.types.is_timestamp(column.type):
            if not _is_milliseconds(in_file, place):
                continue
            column = column.cast(pa.int64())
        elif name in layout.read_types:
            kind = layout.read_types[name]
            chunks = [with_field_names(chunk, kind) for chunk in column.chunks]
            column = pa.chunked_array(chunks, kind)  # type: ignore[call-overload]  # in stubs
        columns[place] = column
    return columns


def _layout(decoded: MetadataRecords) -> Layout:
    match decoded:
        case ManifestFiles():
            return LIST_LAYOUT
        case ManifestEntries():
            return ENTRY_LAYOUT
        case IndexEntries():
            return INDEX_LAYOUT


def _is_milliseconds(kind: pa.DataType, place: FieldPath) -> bool:
    for name in place:
        if not isinstance(kind, pa.StructType) or kind.get_field_index(name) < 0:
            return True  # null on both sides
        kind = kind.field(kind.get_field_index(name)).type
    return isinstance(kind, pa.TimestampType) and kind.unit == "ms"
