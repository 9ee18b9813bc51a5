"""The change of each partition by a commit, which a catalog server receives with the snapshot."""

from collections.abc import Sequence
from datetime import UTC, datetime

import numpy as np

from paimon_explore.encoding.binary_row.decoder import decode_rows
from paimon_explore.metadata.manifest.manifest_entry import FileKind, ManifestEntries
from paimon_explore.metadata.options.table_options import (
    PARTITION_DEFAULT_NAME,
    PARTITION_LEGACY_NAME,
    TableOptions,
)
from paimon_explore.metadata.partition_path import partition_texts
from paimon_explore.metadata.partition_statistics import PartitionStatistics
from paimon_explore.metadata.schema.table_schema import TableSchema


def partition_changes(
    entries: ManifestEntries, schema: TableSchema, options: TableOptions
) -> list[PartitionStatistics]:
    """Sum the files of a commit by partition; removed files count negative.

    Args:
        entries: the new manifest entries of the commit.
        schema: the table's schema.
        options: the table's options.
    """
    table = entries.table
    if not table.num_rows:
        return []
    encoded = table.column("partition").combine_chunks().dictionary_encode()
    codes = np.asarray(encoded.indices)
    specs = _specs(encoded.dictionary, schema, options)
    signs = np.where(np.asarray(table.column("kind")) == FileKind.ADD, 1, -1)
    sizes = signs * np.asarray(table.column("file_size"))
    rows = signs * np.asarray(table.column("row_count"))
    created = table.column("creation_time").to_pylist()
    buckets = np.asarray(table.column("total_buckets"))
    return [
        PartitionStatistics(
            spec=spec,
            record_count=int(rows[codes == code].sum()),
            file_size_in_bytes=int(sizes[codes == code].sum()),
            file_count=int(signs[codes == code].sum()),
            last_file_creation_time=_newest(
                [created[place] for place in np.flatnonzero(codes == code)]
            ),
            total_buckets=int(buckets[codes == code][-1]),
        )
        for code, spec in enumerate(specs)
    ]


def partition_specs(
    entries: ManifestEntries, schema: TableSchema, options: TableOptions
) -> list[dict[str, str]]:
    """Return the distinct partitions of manifest entries as text by column."""
    if not entries.table.num_rows:
        return []
    column = entries.table.column("partition").combine_chunks()
    return _specs(column.dictionary_encode().dictionary, schema, options)


def _specs(partitions: object, schema: TableSchema, options: TableOptions) -> list[dict[str, str]]:
    row_type = schema.partition_type
    if not len(row_type):
        return [{}]
    types = [field.type for field in row_type]
    texts = partition_texts(
        decode_rows(partitions, types, where="_PARTITION"),  # type: ignore[arg-type]  # an array
        types,
        legacy_names=options.value(PARTITION_LEGACY_NAME),
    )
    default = options.value(PARTITION_DEFAULT_NAME)
    return [
        {
            name: text if text is not None and text.strip() else default
            for name, text in zip(row_type.names, values, strict=True)
        }
        for values in zip(*texts, strict=True)
    ]


def _newest(created: Sequence[int | None]) -> int:
    """Return the newest creation time as epoch milliseconds; the stored times are local."""
    local = max((time_ms for time_ms in created if time_ms is not None), default=0)
    moment = datetime.fromtimestamp(local / 1000, UTC).replace(tzinfo=None)
    return int(moment.astimezone().timestamp() * 1000) if local else 0
