"""Avro schemas of Iceberg manifests and manifest lists, with the field ids of the specification.

Spec: the Iceberg table specification, manifests and manifest lists. The record names, and decimals
as bytes, are those of Java Paimon.
"""

import re

from paimon_explore.commit.iceberg.schema_json import FIRST_PARTITION_ID, NUMBER_NAMES, Json
from paimon_explore.data_types.definitions import (
    BYTES,
    TEXTS,
    AtomicType,
    DataType,
    RowType,
    TypeRoot,
)
from paimon_explore.errors import UnsupportedFeatureError

FIRST_ROW_ID = "first_row_id"
_PLAIN = {**NUMBER_NAMES, **dict.fromkeys(TEXTS, "string"), **dict.fromkeys(BYTES, "bytes")}
_MICROS = 6
_AVRO_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")


def manifest_schema(partition_type: RowType, *, row_ids: bool) -> dict[str, Json]:
    """Return the schema of manifests of a table with these partition columns.

    Args:
        partition_type: the partition columns.
        row_ids: whether rows have ids, as in format version 3.

    Raises:
        UnsupportedFeatureError: manifests cannot contain values of a partition column.
    """
    partition = _record(
        "r102",
        [
            _field(FIRST_PARTITION_ID + position, field.name, _partition(field.type, field.name))
            for position, field in enumerate(partition_type)
        ],
    )
    data_file = _record(
        "r2",
        [
            _field(134, "content", "int"),
            _field(100, "file_path", "string"),
            _field(101, "file_format", "string"),
            _field(102, "partition", partition),
            _field(103, "record_count", "long"),
            _field(104, "file_size_in_bytes", "long"),
            _field(110, "null_value_counts", _optional(_map(121, 122, "long"))),
            _field(125, "lower_bounds", _optional(_map(126, 127, "bytes"))),
            _field(128, "upper_bounds", _optional(_map(129, 130, "bytes"))),
            _field(143, "referenced_data_file", _optional("string")),
            _field(144, "content_offset", _optional("long")),
            _field(145, "content_size_in_bytes", _optional("long")),
            *([_field(142, FIRST_ROW_ID, _optional("long"))] if row_ids else []),
        ],
    )
    return _record(
        "manifest_entry",
        [
            _field(0, "status", "int"),
            _field(1, "snapshot_id", _optional("long")),
            _field(3, "sequence_number", _optional("long")),
            _field(4, "file_sequence_number", _optional("long")),
            _field(2, "data_file", data_file),
        ],
    )


def manifest_list_schema(*, legacy_names: bool, row_ids: bool) -> dict[str, Json]:
    """Return the schema of manifest lists.

    Args:
        legacy_names: whether the counts of files have the names of Iceberg 1.4.
        row_ids: whether rows have ids, as in format version 3.
    """
    files = "data_files" if legacy_names else "files"
    summary = _record(
        "r508",
        [
            _field(509, "contains_null", "boolean"),
            _field(518, "contains_nan", _optional("boolean")),
            _field(510, "lower_bound", _optional("bytes")),
            _field(511, "upper_bound", _optional("bytes")),
        ],
    )
    partitions: Json = {"type": "array", "items": _optional(summary), "element-id": 508}
    return _record(
        "manifest_file",
        [
            _field(500, "manifest_path", "string"),
            _field(501, "manifest_length", "long"),
            _field(502, "partition_spec_id", "int"),
            _field(517, "content", "int"),
            _field(515, "sequence_number", "long"),
            _field(516, "min_sequence_number", "long"),
            _field(503, "added_snapshot_id", _optional("long")),
            _field(504, f"added_{files}_count", "int"),
            _field(505, f"existing_{files}_count", "int"),
            _field(506, f"deleted_{files}_count", "int"),
            _field(512, "added_rows_count", "long"),
            _field(513, "existing_rows_count", "long"),
            _field(514, "deleted_rows_count", "long"),
            _field(507, "partitions", _optional(partitions)),
            *([_field(520, FIRST_ROW_ID, _optional("long"))] if row_ids else []),
        ],
    )


def _record(name: str, fields: list[Json]) -> dict[str, Json]:
    return {"type": "record", "name": name, "fields": fields}


def _field(field_id: int, name: str, kind: Json) -> dict[str, Json]:
    if isinstance(kind, list):
        return {"name": name, "type": kind, "default": None, "field-id": field_id}
    return {"name": name, "type": kind, "field-id": field_id}


def _optional(kind: Json) -> Json:
    return ["null", kind]


def _map(key_id: int, value_id: int, value: str) -> Json:
    """Return the schema of a map with integer keys: an array of pairs."""
    pair = _record(
        f"k{key_id}_v{value_id}", [_field(key_id, "key", "int"), _field(value_id, "value", value)]
    )
    return {"type": "array", "items": pair, "logicalType": "map"}


def _partition(data_type: DataType, name: str) -> Json:
    if not isinstance(data_type, AtomicType):
        raise UnsupportedFeatureError("a nested partition column in Iceberg metadata", name)
    if not _AVRO_NAME.fullmatch(name):
        raise UnsupportedFeatureError("the name of a partition column in Iceberg metadata", name)
    kind: Json
    match data_type.root:
        case root if root in _PLAIN:
            kind = _PLAIN[root]
        case TypeRoot.DATE:
            kind = {"type": "int", "logicalType": "date"}
        case TypeRoot.TIME:
            kind = {"type": "int", "logicalType": "time-millis"}
        case TypeRoot.TIMESTAMP | TypeRoot.TIMESTAMP_LTZ if (data_type.precision or 0) <= _MICROS:
            has_zone = data_type.root is TypeRoot.TIMESTAMP_LTZ
            kind = {"type": "long", "logicalType": "timestamp-micros", "adjust-to-utc": has_zone}
        case TypeRoot.DECIMAL:
            kind = {
                "type": "bytes",
                "logicalType": "decimal",
                "precision": data_type.precision or 0,
                "scale": data_type.scale or 0,
            }
        case _:
            raise UnsupportedFeatureError(
                f"a partition column of type {data_type.root.value} in Iceberg metadata", name
            )
    return _optional(kind) if data_type.nullable else kind
