"""The records of data files and deletion vectors in Iceberg manifests."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import groupby

import pyarrow as pa

from paimon_explore.commit.iceberg.manifest_records import Record
from paimon_explore.commit.iceberg.single_value import encode_value, has_bounds, stored_values
from paimon_explore.data_types.arrow_buffers import Column, as_python
from paimon_explore.data_types.definitions import AtomicType, DataField, RowType
from paimon_explore.encoding.binary_row.decoder import all_have_arity, decode_rows
from paimon_explore.errors import UnsupportedFeatureError
from paimon_explore.metadata.manifest.manifest_entry import ManifestEntries
from paimon_explore.metadata.schema.table_schema import TableSchema
from paimon_explore.scan.manifest_arrays import binary, column, numbers
from paimon_explore.scan.splits.data_split import DeletionFile

SchemaOf = Callable[[int], TableSchema]

_FORMATS = frozenset(("parquet", "orc", "avro"))
_DATA, _POSITION_DELETES = 0, 1
_PUFFIN = "puffin"
_UNKNOWN_SIZE = -1


def data_file_records(
    entries: ManifestEntries, paths: Sequence[str], partition_type: RowType, schema_of: SchemaOf
) -> list[Record]:
    """Return the records of data files, in their order, without members that are null.

    Args:
        entries: n files.
        paths: their paths as they are written in the metadata.
        partition_type: the partition columns.
        schema_of: returns the schema of a schema id.

    Raises:
        UnsupportedFeatureError: Iceberg does not know the format of a file.
    """
    table = entries.table
    partitions = partition_records(binary(table, "partition"), partition_type)
    statistics = _statistics(entries, schema_of)
    counts = zip(
        paths,
        partitions,
        table.column("row_count").to_pylist(),
        table.column("file_size").to_pylist(),
        statistics,
        strict=True,
    )
    return [
        {
            "content": _DATA,
            "file_path": path,
            "file_format": _format(path),
            "partition": partition,
            "record_count": rows,
            "file_size_in_bytes": size,
            **bounds,
        }
        for path, partition, rows, size, bounds in counts
    ]


def deletion_vector_record(
    vector: DeletionFile, index_path: str, data_file: Record, *, size: int = _UNKNOWN_SIZE
) -> Record:
    """Return the record of the deletion vector of a data file.

    Args:
        vector: the vector.
        index_path: the path of its index file as it is written in the metadata.
        data_file: the record of the data file.
        size: the size of the index file, if known.

    Raises:
        UnsupportedFeatureError: the number of deleted rows is unknown.
    """
    if vector.cardinality is None:
        raise UnsupportedFeatureError(
            "a deletion vector without a cardinality in Iceberg metadata", vector.path
        )
    return {
        "content": _POSITION_DELETES,
        "file_path": index_path,
        "file_format": _PUFFIN,
        "partition": data_file["partition"],
        "record_count": vector.cardinality,
        "file_size_in_bytes": size,
        "referenced_data_file": data_file["file_path"],
        "content_offset": vector.offset,
        "content_size_in_bytes": vector.length,
    }


def partition_records(partitions: pa.BinaryArray, partition_type: RowType) -> list[Record]:
    """Return the values of n partition rows by column, as Avro stores them."""
    types = [field.type for field in partition_type]
    if not types:
        return [{} for _ in range(len(partitions))]
    columns = [
        stored_values(values, data_type)
        for values, data_type in zip(
            decode_rows(partitions, types, where="_PARTITION"), types, strict=True
        )
        if isinstance(data_type, AtomicType)
    ]
    names = partition_type.names
    return [dict(zip(names, values, strict=True)) for values in zip(*columns, strict=True)]


def _format(path: str) -> str:
    """Return the format of a file by its extension.

    Raises:
        UnsupportedFeatureError: Iceberg does not know the format.
    """
    found = path.rpartition(".")[2]
    if found not in _FORMATS:
        raise UnsupportedFeatureError(f"data file format {found!r} in Iceberg metadata", path)
    return found


def _statistics(entries: ManifestEntries, schema_of: SchemaOf) -> Iterator[Record]:
    """Yield null counts and bounds of each file; adjacent files are decoded together."""
    table = entries.table
    ids = [int(schema_id) for schema_id in numbers(table, "schema_id")]
    listed = [
        tuple(map(str, names)) if isinstance(names, list) else None
        for names in as_python(column(table, "value_stats_cols"))
    ]
    start = 0
    for (schema_id, names), group in groupby(zip(ids, listed, strict=True)):
        size = sum(1 for _ in group)
        part = entries.slice(start, size)
        start += size
        yield from _group_statistics(part, schema_of(schema_id), names)


def _group_statistics(
    entries: ManifestEntries, schema: TableSchema, names: tuple[str, ...] | None
) -> list[Record]:
    """Return null counts and bounds of files with the same columns of statistics."""
    by_name = {field.name: field for field in schema.fields}
    wanted = tuple(by_name) if names is None else names
    fields = [by_name[name] for name in wanted if name in by_name]
    table, types = entries.table, [field.type for field in fields]
    minimum = binary(table, "value_min")
    if len(fields) < len(wanted) or not all_have_arity(minimum, len(types)):
        return [_NO_STATISTICS] * len(entries)
    lows = decode_rows(minimum, types, where="_VALUE_STATS")
    highs = decode_rows(binary(table, "value_max"), types, where="_VALUE_STATS")
    bounds: dict[int, tuple[Sequence[bytes | None], Sequence[bytes | None]]] = {}
    for position, field in enumerate(fields):
        data_type = field.type
        if isinstance(data_type, AtomicType) and has_bounds(data_type):
            bounds[field.id] = (
                _encoded(lows[position], data_type),
                _encoded(highs[position], data_type),
            )
    nulls = as_python(column(table, "value_null_counts"))
    return [
        {
            "null_value_counts": _pairs(_known_nulls(fields, nulls[row])),
            "lower_bounds": _pairs(_known_bounds(bounds, row, 0)),
            "upper_bounds": _pairs(_known_bounds(bounds, row, 1)),
        }
        for row in range(len(entries))
    ]


_NO_STATISTICS: Record = {"null_value_counts": [], "lower_bounds": [], "upper_bounds": []}


def _encoded(values: Column, data_type: AtomicType) -> list[bytes | None]:
    return [encode_value(value, data_type) for value in stored_values(values, data_type)]


def _known_nulls(fields: Sequence[DataField], counts: object) -> Mapping[int, object]:
    known = counts if isinstance(counts, list) else []
    return {
        field.id: count for field, count in zip(fields, known, strict=False) if count is not None
    }


def _known_bounds(
    bounds: Mapping[int, tuple[Sequence[bytes | None], Sequence[bytes | None]]],
    row: int,
    which: int,
) -> Mapping[int, object]:
    """Return the lower (0) or upper (1) bounds of a file that has both."""
    return {
        field_id: pair[which][row]
        for field_id, pair in bounds.items()
        if pair[0][row] is not None and pair[1][row] is not None
    }


def _pairs(values: Mapping[int, object]) -> list[Record]:
    return [{"key": key, "value": value} for key, value in values.items()]
