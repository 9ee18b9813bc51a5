"""BLOB and VECTOR columns that comments or options declare, as SQL without these types does.

The comment `__BLOB_FIELD; a photo` makes bytes a BLOB, `__VECTOR_FIELD;128; an embedding` makes an
array a VECTOR of 128 elements. Such a directive is not stored: the column gets the rest of the
comment and is added to the option `blob-field` or `vector-field`, from which dropping it removes
it.

Spec: multimodal tables, blob and vector; as Java 2.0 does in each engine.
"""

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
from paimon_explore.errors import InvalidInputError
from paimon_explore.metadata.options.column_options import (
    MAP_MAX_COLUMNS,
    MAP_PLACEMENT_POLICY,
    MAP_STORAGE_LAYOUT,
)
from paimon_explore.metadata.options.option_definition import Option
from paimon_explore.metadata.options.table_options import (
    BLOB_DESCRIPTOR_FIELD,
    BLOB_FIELD,
    BLOB_VIEW_FIELD,
    VECTOR_FIELD,
    TableOptions,
)

_BLOBS = {
    "__BLOB_FIELD": BLOB_FIELD,
    "__BLOB_DESCRIPTOR_FIELD": BLOB_DESCRIPTOR_FIELD,
    "__BLOB_VIEW_FIELD": BLOB_VIEW_FIELD,
}
_VECTOR = "__VECTOR_FIELD"
_STARTS = ("__BLOB", "__VECTOR")
_BYTES = frozenset({TypeRoot.BINARY, TypeRoot.VARBINARY, TypeRoot.BLOB})
_MAP_SETTINGS = (MAP_STORAGE_LAYOUT, MAP_MAX_COLUMNS, MAP_PLACEMENT_POLICY)


def is_directive(comment: str | None) -> bool:
    """Return whether a comment starts as a directive does."""
    return comment is not None and comment.strip().startswith(_STARTS)


def declared_column(
    field: DataField, options: Mapping[str, str]
) -> tuple[DataField, dict[str, str]]:
    """Return a new column as its comment or an option declares it, and the options with it.

    Raises:
        InvalidInputError: the directive is unknown or incomplete, or the column has a type that
            cannot become BLOB or VECTOR.
    """
    if is_directive(field.description):
        return _by_directive(field, options)
    return _by_options(field, TableOptions(options)), dict(options)


def options_without(field: DataField, options: Mapping[str, str]) -> dict[str, str]:
    """Return the options of a table after a column is dropped: without what declares its type."""
    found, key = dict(options), f"fields.{field.name}."
    if is_blob_file_type(field.type):
        lists: tuple[Option[tuple[str, ...]], ...] = tuple(_BLOBS.values())
    elif isinstance(field.type, VectorType):
        lists = (VECTOR_FIELD,)
        found.pop(_length_key(field.name), None)
    else:
        lists = ()
        for setting in _MAP_SETTINGS if isinstance(field.type, MapType) else ():
            found.pop(f"{key}{setting.option.key}", None)
    for option in lists:
        for name in (option.key, *option.fallback_keys):
            if field.name in option.parse(found.get(name, "")):
                kept = [one for one in option.parse(found.pop(name)) if one != field.name]
                found |= {name: ",".join(kept)} if kept else {}
    return found


def _by_directive(field: DataField, options: Mapping[str, str]) -> tuple[DataField, dict[str, str]]:
    given = (field.description or "").strip()
    word, _, rest = given.partition(";")
    if word == _VECTOR:
        option, (length, _, rest) = VECTOR_FIELD, rest.partition(";")
        if not isinstance(field.type, ArrayType):
            raise _refused(field, f"{word} needs an ARRAY, not {type_text(field.type)}")
        if not (length.strip().isdecimal() and int(length)):
            hint = f"Write the number of elements: '{word};128', or '{word};128; a comment'."
            raise _refused(field, f"{given!r} has no length", hint)
        kind: DataType = VectorType(
            element=field.type.element, length=int(length), nullable=field.type.nullable
        )
    elif word in _BLOBS:
        option, blob = _BLOBS[word], _as_blob(field.type)
        if blob is None or (option is not BLOB_FIELD and not isinstance(blob, AtomicType)):
            parts = ", or an ARRAY or MAP of such values" if option is BLOB_FIELD else ""
            allowed = f"BYTES, BINARY or BLOB{parts}"
            raise _refused(field, f"{word} needs {allowed}, not {type_text(field.type)}")
        kind = blob
    else:
        known = ", ".join(f"'{word};'" for word in (*_BLOBS, _VECTOR))
        hint = f"A comment that starts with __ sets the type of a column, by {known}."
        raise _refused(field, f"{given!r} is no directive", hint)
    found = dict(options)
    names = [text for key in (option.key, *option.fallback_keys) if (text := found.pop(key, ""))]
    columns = dict.fromkeys((*option.parse(names[0] if names else ""), field.name))
    found[option.key] = ",".join(columns)
    return replace(field, type=kind, description=rest.strip() or None), found


def _by_options(field: DataField, options: TableOptions) -> DataField:
    if field.name in options.value(VECTOR_FIELD) and isinstance(field.type, ArrayType):
        key = _length_key(field.name)
        length = options.get(key, "")
        if not length.isdecimal():
            msg = f"Column {field.name!r} of {VECTOR_FIELD.key!r} has no length."
            raise InvalidInputError(msg, hint=f"Set {key!r} to the number of its elements.")
        element, nullable = field.type.element, field.type.nullable
        return replace(
            field, type=VectorType(element=element, length=int(length), nullable=nullable)
        )
    is_blob = any(field.name in options.value(option) for option in _BLOBS.values())
    return replace(field, type=_as_blob(field.type) or field.type) if is_blob else field


def _as_blob(kind: DataType) -> DataType | None:
    """Return bytes, or an array or map of them, as BLOB; None for other types."""
    match kind:
        case AtomicType(root=root) if root in _BYTES:
            return AtomicType(root=TypeRoot.BLOB, nullable=kind.nullable)
        case ArrayType(element=AtomicType()):
            element = _as_blob(kind.element)
            return None if element is None else replace(kind, element=element)
        case MapType(value=AtomicType()):
            value = _as_blob(kind.value)
            return None if value is None else replace(kind, value=value)
        case _:
            return None


def _length_key(column: str) -> str:
    return f"field.{column}.vector-dim"


def _refused(field: DataField, problem: str, hint: str = "") -> InvalidInputError:
    return InvalidInputError(f"The comment of column {field.name!r}: {problem}.", hint=hint)
