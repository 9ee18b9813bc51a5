"""Schemas and partition specs of Iceberg as JSON values, from table schemas.

Spec: the Iceberg table specification, appendix C. Ids of fields and elements are those in data
files.
"""

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from typing import TypeAlias

from paimon_explore.data_types.definitions import (
    BYTES,
    TEXTS,
    ArrayType,
    AtomicType,
    DataField,
    DataType,
    MapType,
    MultisetType,
    RowType,
    TypeRoot,
    VectorType,
)
from paimon_explore.data_types.field_ids import element_id, map_key_id
from paimon_explore.errors import UnsupportedFeatureError
from paimon_explore.metadata.schema.table_schema import TableSchema

Json: TypeAlias = "str | int | bool | list[Json] | dict[str, Json] | None"

SPEC_ID = 0
FIRST_PARTITION_ID = 1000
_MILLIS, _MICROS, _NANOS = 3, 6, 9
NUMBER_NAMES: Mapping[TypeRoot, str] = {
    TypeRoot.BOOLEAN: "boolean",
    **dict.fromkeys((TypeRoot.TINYINT, TypeRoot.SMALLINT, TypeRoot.INT), "int"),
    TypeRoot.BIGINT: "long",
    TypeRoot.FLOAT: "float",
    TypeRoot.DOUBLE: "double",
}
"""Names of types in schemas of tables and in Avro."""
_PLAIN: Mapping[TypeRoot, str] = {
    **NUMBER_NAMES,
    TypeRoot.DATE: "date",
    **dict.fromkeys(TEXTS, "string"),
    **dict.fromkeys(BYTES, "binary"),
}


def iceberg_schema(schema: TableSchema) -> dict[str, Json]:
    """Return the Iceberg schema of a table schema.

    Raises:
        UnsupportedFeatureError: Iceberg has no type for a column.
    """
    fields: list[Json] = [_field(field, field.name) for field in schema.fields]
    return {"type": "struct", "schema-id": schema.id, "fields": fields}


def name_mapping(schemas: Sequence[Json], schema_id: int) -> list[Json]:
    """Return the names of columns in files without field ids, such as ORC files and added files.

    A column has its name, and earlier names that no other one had. Spec: the Iceberg table
    specification, column projection.

    Args:
        schemas: the schemas.
        schema_id: the id of the current one.
    """
    names = defaultdict[Json, set[str]](set)
    current: Json = None
    for schema in schemas:
        _add_names(schema, names)
        if isinstance(schema, dict) and schema["schema-id"] == schema_id:
            current = schema
    return _mapped(current, names)


def _add_names(data_type: Json, names: defaultdict[Json, set[str]]) -> None:
    for number, name, inner in _inside(data_type):
        names[number].add(name)
        _add_names(inner, names)


def _mapped(data_type: Json, names: Mapping[Json, set[str]]) -> list[Json]:
    found: list[Json] = []
    inside = _inside(data_type)
    used = Counter(name for number, _, _ in inside for name in names[number])
    taken = {name for _, name, _ in inside}
    for number, name, inner in inside:
        earlier = sorted(one for one in names[number] - taken if used[one] == 1)
        entry: dict[str, Json] = {"field-id": number, "names": [name, *earlier]}
        if fields := _mapped(inner, names):
            entry["fields"] = fields
        found.append(entry)
    return found


def _inside(data_type: Json) -> list[tuple[Json, str, Json]]:
    """Return id, name and type of the fields of a struct, or of what a list or map contains."""
    if not isinstance(data_type, dict):
        return []
    fields = data_type.get("fields")
    if isinstance(fields, list):
        return [(f["id"], str(f["name"]), f["type"]) for f in fields if isinstance(f, dict)]
    parts = [part for part in ("element", "key", "value") if part in data_type]
    return [(data_type[f"{part}-id"], part, data_type[part]) for part in parts]


def partition_fields(schema: TableSchema) -> list[Json]:
    """Return the fields of the only partition spec."""
    return [
        {
            "name": field.name,
            "transform": "identity",
            "source-id": field.id,
            "field-id": FIRST_PARTITION_ID + position,
        }
        for position, field in enumerate(schema.partition_type)
    ]


def _field(field: DataField, path: str) -> dict[str, Json]:
    found: dict[str, Json] = {
        "id": field.id,
        "name": field.name,
        "required": not field.type.nullable,
        "type": _type(field.type, field.id, 0, path),
    }
    if field.description is not None:
        found["doc"] = field.description
    return found


def _type(data_type: DataType, field_id: int, depth: int, path: str) -> Json:
    match data_type:
        case AtomicType():
            return _atomic(data_type, path)
        case RowType():
            inner: list[Json] = [_field(f, f"{path}.{f.name}") for f in data_type.fields]
            return {"type": "struct", "fields": inner}
        case ArrayType():
            return {
                "type": "list",
                "element-id": element_id(field_id, depth + 1),
                "element-required": not data_type.element.nullable,
                "element": _type(data_type.element, field_id, depth + 1, f"{path}.element"),
            }
        case MapType() | MultisetType():
            return _map(data_type, field_id, depth + 1, path)
        case VectorType():
            raise _without_type(data_type, path)


def _map(data_type: MapType | MultisetType, field_id: int, depth: int, path: str) -> Json:
    """Return the type of a map, or of a multiset: a map from elements to counts."""
    key = data_type.key if isinstance(data_type, MapType) else data_type.element
    value: Json = "int"
    required = True
    if isinstance(data_type, MapType):
        value = _type(data_type.value, field_id, depth, f"{path}.value")
        required = not data_type.value.nullable
    return {
        "type": "map",
        "key-id": map_key_id(field_id, depth),
        "key": _type(key, field_id, depth, f"{path}.key"),
        "value-id": element_id(field_id, depth),
        "value-required": required,
        "value": value,
    }


def _atomic(data_type: AtomicType, path: str) -> str:
    plain = _PLAIN.get(data_type.root)
    if plain is not None:
        return plain
    precision = data_type.precision or 0
    match data_type.root:
        case TypeRoot.DECIMAL:
            return f"decimal({precision}, {data_type.scale or 0})"
        case TypeRoot.TIME if precision <= _MILLIS:
            return "time"
        case TypeRoot.TIMESTAMP | TypeRoot.TIMESTAMP_LTZ if _MILLIS <= precision <= _NANOS:
            zone = "tz" if data_type.root is TypeRoot.TIMESTAMP_LTZ else ""
            return f"timestamp{zone}{'_ns' if precision > _MICROS else ''}"
        case TypeRoot.GEOMETRY | TypeRoot.GEOGRAPHY:
            return f"{data_type.root.value.lower()}({', '.join(data_type.parameters)})"
        case _:
            raise _without_type(data_type, path)


def _without_type(data_type: DataType, path: str) -> UnsupportedFeatureError:
    from paimon_explore.data_types.formatter import type_text  # noqa: PLC0415 - for an error

    return UnsupportedFeatureError(
        f"type {type_text(data_type)} in Iceberg metadata",
        f"column {path}",
        hint="Change the type, or set 'metadata.iceberg.storage' to 'disabled'.",
    )
