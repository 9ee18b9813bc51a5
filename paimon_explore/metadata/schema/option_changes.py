"""Rules for changing table options, and changes of options that come with columns.

The comment of a new column may declare a BLOB or VECTOR, for engines without such types:

    __BLOB_FIELD; text    __BLOB_DESCRIPTOR_FIELD    __BLOB_VIEW_FIELD    __VECTOR_FIELD;128; text

Bytes become a BLOB (with `__BLOB_FIELD` also in arrays and as values of maps), an array becomes a
VECTOR of that length, an option names the column, and the text remains as the comment.

Spec: maintenance/configurations, SQL ALTER pages; multimodal-table/blob, vector.
"""

import re
from collections.abc import Mapping
from dataclasses import replace

from paimon_explore.data_types.definitions import (
    ArrayType,
    AtomicType,
    DataField,
    DataType,
    MapType,
    TypeRoot,
    VectorType,
)
from paimon_explore.data_types.formatter import type_text
from paimon_explore.data_types.traversal import is_blob_file_type
from paimon_explore.errors import InvalidInputError, choices
from paimon_explore.metadata.options.column_options import (
    MAP_MAX_COLUMNS,
    MAP_PLACEMENT_POLICY,
    MAP_STORAGE_LAYOUT,
    NESTED_KEY,
    SEQUENCE_GROUP,
)
from paimon_explore.metadata.options.option_definition import Option
from paimon_explore.metadata.options.option_reference import ALL_OPTIONS
from paimon_explore.metadata.options.table_options import (
    BLOB_DESCRIPTOR_FIELD,
    BLOB_FIELD,
    BLOB_VIEW_FIELD,
    BUCKET,
    BUCKET_KEY,
    CHANGELOG_PRODUCER_ROW_DEDUPLICATE_IGNORE_FIELDS,
    CLUSTERING_COLUMNS,
    DELETION_VECTORS_ENABLED,
    DELETION_VECTORS_MODIFIABLE,
    DYNAMIC_BUCKET,
    IGNORE_DELETE,
    IGNORE_UPDATE_BEFORE,
    PARTIAL_UPDATE_REMOVE_RECORD_ON_SEQUENCE_GROUP,
    PARTITION,
    PATH,
    PK_CLUSTERING_OVERRIDE,
    PRIMARY_KEY,
    RECORD_LEVEL_TIME_FIELD,
    ROWKIND_FIELD,
    SEQUENCE_FIELD,
    TYPE,
    VECTOR_FIELD,
    TableOptions,
)
from paimon_explore.metadata.schema.table_schema import TableSchema

_PREFIX = "fields."
_COLUMN_LIST_KEYS = frozenset(
    key
    for option in (
        *(BUCKET_KEY, SEQUENCE_FIELD, CLUSTERING_COLUMNS, RECORD_LEVEL_TIME_FIELD, ROWKIND_FIELD),
        *(CHANGELOG_PRODUCER_ROW_DEDUPLICATE_IGNORE_FIELDS, VECTOR_FIELD),
        PARTIAL_UPDATE_REMOVE_RECORD_ON_SEQUENCE_GROUP,
    )
    for key in (option.key, *option.fallback_keys)
)
_BLOB_DIRECTIVES = {
    "__BLOB_FIELD": BLOB_FIELD,
    "__BLOB_DESCRIPTOR_FIELD": BLOB_DESCRIPTOR_FIELD,
    "__BLOB_VIEW_FIELD": BLOB_VIEW_FIELD,
}
_VECTOR_DIRECTIVE = "__VECTOR_FIELD"
_DIRECTIVES = {**_BLOB_DIRECTIVES, _VECTOR_DIRECTIVE: VECTOR_FIELD}
_BYTES = frozenset({TypeRoot.BINARY, TypeRoot.VARBINARY})
_MAP_OPTIONS = (MAP_STORAGE_LAYOUT, MAP_MAX_COLUMNS, MAP_PLACEMENT_POLICY)
_INDEX_COLUMNS = re.compile(r"file-index\.[^.]+\.columns")
_INDEX_SETTING = re.compile(r"(file-index\.[^.]+\.)(.+)(\.[^.]+)")
_COLUMN_LIST_SETTINGS = (SEQUENCE_GROUP.option.key, NESTED_KEY.option.key)


def check_option_change(
    schema: TableSchema, key: str, value: str | None, *, has_snapshots: bool
) -> None:
    """Check that an option may be changed to a value, or to its default if None.

    Raises:
        InvalidInputError: the change is not allowed.
    """
    if key in {TYPE.key, PATH.key}:
        raise _not_changeable(key, "its value is fixed when the table is created")
    if not has_snapshots:
        return
    declared = ALL_OPTIONS.get(key)
    if declared is not None and declared.is_immutable:
        raise _not_changeable(key, "its value is fixed once the table has a snapshot")
    before = TableOptions(schema.options)
    after = before.changed({} if value is None else {key: value})
    if value is None:
        after = TableOptions({name: text for name, text in before.items() if name != key})
    if key == BUCKET.key:
        _check_bucket(before, after, is_removed=value is None)
    elif key == DELETION_VECTORS_ENABLED.key:
        _check_deletion_vectors(before, after)
    elif key in {IGNORE_DELETE.key, IGNORE_UPDATE_BEFORE.key}:
        _check_ignored(
            IGNORE_DELETE if key == IGNORE_DELETE.key else IGNORE_UPDATE_BEFORE, before, after
        )
    elif key == CLUSTERING_COLUMNS.key and PK_CLUSTERING_OVERRIDE.key in before:
        raise _not_changeable(
            key, f"with {PK_CLUSTERING_OVERRIDE.key!r}, the files are sorted by these columns"
        )


def _check_bucket(before: TableOptions, after: TableOptions, *, is_removed: bool) -> None:
    if is_removed:
        raise _not_changeable(
            BUCKET.key, "the option cannot be removed once the table has a snapshot"
        )
    if DYNAMIC_BUCKET in {before.value(BUCKET), after.value(BUCKET)}:
        raise _not_changeable(
            BUCKET.key,
            "the buckets of a table stay dynamic (-1) or of a fixed number; create a new table and "
            "copy the rows",
        )


def _check_deletion_vectors(before: TableOptions, after: TableOptions) -> None:
    option = DELETION_VECTORS_ENABLED
    is_changed = before.value(option) is not after.value(option)
    if is_changed and not before.value(DELETION_VECTORS_MODIFIABLE):
        raise _not_changeable(
            option.key,
            "without a full compaction, reads could return rows twice; "
            f"{DELETION_VECTORS_MODIFIABLE.key!r} = 'true' allows the change",
        )


def _check_ignored(option: Option[bool], before: TableOptions, after: TableOptions) -> None:
    if before.value(option) and not after.value(option):
        raise _not_changeable(option.key, "a change from true to false is not possible")


def _not_changeable(key: str, rule: str) -> InvalidInputError:
    return InvalidInputError(f"Option {key!r} cannot be changed: {rule}.")


def is_unchanged(schema: TableSchema, key: str, value: str) -> bool:
    """Return whether an option has the value already; keys and type are stored outside options."""
    if schema.options.get(key) == value:
        return True
    if key in schema.options:
        return False
    if key == PRIMARY_KEY.key:
        return PRIMARY_KEY.parse(value) == schema.primary_keys
    if key == PARTITION.key:
        return PARTITION.parse(value) == schema.partition_keys
    return key == TYPE.key and value.lower() == TYPE.default.value


def renamed_options(options: Mapping[str, str], names: Mapping[str, str]) -> dict[str, str]:
    """Rename columns in option keys and in option values that are lists of columns.

    Args:
        options: the table options.
        names: old name -> new name.
    """
    return {
        _renamed_key(key, names): _renamed_list(text, names) if _is_column_list(key) else text
        for key, text in options.items()
    }


def options_naming(options: Mapping[str, str], column: str) -> list[str]:
    """Return the keys of options that refer to a column in their key or in a list of columns."""
    renamed = {column: f"{column}\0"}  # not a valid column name
    return [
        key
        for key in options
        if renamed_options({key: options[key]}, renamed) != {key: options[key]}
    ]


def _renamed_key(key: str, names: Mapping[str, str]) -> str:
    if key.startswith(_PREFIX):
        columns, dot, setting = key[len(_PREFIX) :].partition(".")
        return f"{_PREFIX}{_renamed_list(columns, names)}{dot}{setting}" if dot else key
    match = _INDEX_SETTING.fullmatch(key)
    return key if match is None else f"{match[1]}{_renamed(match[2], names)}{match[3]}"


def _is_column_list(key: str) -> bool:
    if key in _COLUMN_LIST_KEYS or _INDEX_COLUMNS.fullmatch(key):
        return True
    return key.startswith(_PREFIX) and key.endswith(
        tuple(f".{name}" for name in _COLUMN_LIST_SETTINGS)
    )


def _renamed_list(text: str, names: Mapping[str, str]) -> str:
    return ",".join(_renamed(name, names) for name in text.split(","))


def _renamed(text: str, names: Mapping[str, str]) -> str:
    """Return the new name for `column` or `column[key]`; other texts are unchanged."""
    column, bracket, rest = text.strip().partition("[")
    return f"{names[column]}{bracket}{rest}" if column in names else text


def is_directive(comment: str | None) -> bool:
    """Return whether the comment of a column declares a BLOB or VECTOR."""
    return (comment or "").strip().startswith(("__BLOB", "__VECTOR"))


def declared_column(
    field: DataField, options: Mapping[str, str]
) -> tuple[DataField, Mapping[str, str]]:
    """Return a new column as its comment declares it, and the options that name it.

    Raises:
        InvalidInputError: the comment or the type of the column is none that declares a type.

    >>> from paimon_explore.data_types.type_parser import parse_type_text
    >>> field = DataField(id=0, name="b", type=parse_type_text("BYTES"), description="__BLOB_FIELD")
    >>> declared_column(field, {})[1]
    {'blob-field': 'b'}
    """
    if not is_directive(field.description):
        return field, options
    name, _, rest = (field.description or "").strip().partition(";")
    option = _DIRECTIVES.get(name)
    if option is None:
        raise InvalidInputError(
            f"The comment of column {field.name!r} begins with {name!r}, which declares no type.",
            hint=f"Begin it with {choices(_DIRECTIVES)}, or with another text.",
        )
    if name == _VECTOR_DIRECTIVE:
        length, _, rest = rest.partition(";")
        kind: DataType = _declared_vector(field, length.strip())
    else:
        kind = as_blob(field.type)
        is_blob = is_blob_file_type(kind) and (option is BLOB_FIELD or isinstance(kind, AtomicType))
        if not is_blob:
            raise _not_declared(field, name, "bytes")
    listed = list(option.value_in(options) or ())
    others = {key: text for key, text in options.items() if key not in option.fallback_keys}
    named = ",".join(dict.fromkeys([*listed, field.name]))
    column = replace(field, type=kind, description=rest.strip() or None)
    return column, {**others, option.key: named}


def _declared_vector(field: DataField, length: str) -> VectorType:
    if not (length.isascii() and length.isdecimal() and int(length)):
        raise InvalidInputError(
            f"The comment of column {field.name!r} has {length!r} as length of a vector.",
            hint=f"Write it as in '{_VECTOR_DIRECTIVE};128'.",
        )
    if not isinstance(field.type, ArrayType):
        raise _not_declared(field, _VECTOR_DIRECTIVE, "an array")
    return VectorType(element=field.type.element, length=int(length), nullable=field.type.nullable)


def _not_declared(field: DataField, name: str, wanted: str) -> InvalidInputError:
    return InvalidInputError(
        f"The comment {name!r} needs {wanted}; column {field.name!r} is {type_text(field.type)}."
    )


def as_blob(kind: DataType) -> DataType:
    """Return a type with BLOB in place of bytes, also as elements of arrays and values of maps."""
    match kind:
        case ArrayType():
            return replace(kind, element=as_blob(kind.element))
        case MapType():
            return replace(kind, value=as_blob(kind.value))
        case AtomicType(root=root) if root in _BYTES:
            return AtomicType(root=TypeRoot.BLOB, nullable=kind.nullable)
        case _:
            return kind


def options_without(options: Mapping[str, str], field: DataField) -> dict[str, str]:
    """Return the options of a table that drops a column, without those of BLOB, VECTOR and MAP."""
    kept = dict(options)
    if is_blob_file_type(field.type):
        for option in _BLOB_DIRECTIVES.values():
            for key in (option.key, *option.fallback_keys):
                _remove_name(kept, key, field.name)
    elif isinstance(field.type, VectorType):
        _remove_name(kept, VECTOR_FIELD.key, field.name)
        kept.pop(f"field.{field.name}.vector-dim", None)
    elif isinstance(field.type, MapType):
        for setting in _MAP_OPTIONS:
            kept.pop(f"{_PREFIX}{field.name}.{setting.option.key}", None)
    return kept


def _remove_name(options: dict[str, str], key: str, name: str) -> None:
    names = [one.strip() for one in options.get(key, "").split(",")]
    if name in names:
        rest = ",".join(one for one in names if one not in ("", name))
        options.pop(key)
        if rest:
            options[key] = rest
