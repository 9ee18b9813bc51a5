"""Applies schema changes to a `TableSchema` in memory and checks the rules of ALTER TABLE.

The changes are values of `schema_change`; `maintenance.schema_commit` writes the result.

Spec: concepts/schema evolution, SQL ALTER pages.
"""

from collections.abc import Sequence
from dataclasses import replace
from typing import assert_never

from paimon_explore.data_types.casts.allowed_type_changes import (
    is_executable,
    is_explicit,
    is_implicit,
)
from paimon_explore.data_types.casts.cast_errors import UncastableError
from paimon_explore.data_types.default_values import default_column
from paimon_explore.data_types.definitions import (
    AtomicType,
    DataField,
    DataType,
    RowType,
    with_nullable,
)
from paimon_explore.data_types.field_ids import assigned_ids, highest_field_id
from paimon_explore.data_types.formatter import type_text
from paimon_explore.data_types.traversal import is_blob_file_type
from paimon_explore.errors import AlreadyExistsError, InvalidInputError
from paimon_explore.frozen_dataclass import dataclass
from paimon_explore.metadata.options.refused_options import warn_of_refused_options
from paimon_explore.metadata.options.table_options import (
    ADD_COLUMN_BEFORE_PARTITION,
    ALTER_COLUMN_NULL_TO_NOT_NULL_DISABLED,
    DISABLE_EXPLICIT_TYPE_CASTING,
    PK_BITMAP_INDEX_COLUMNS,
    PK_BTREE_INDEX_COLUMNS,
    PK_FULL_TEXT_INDEX_COLUMNS,
    PK_MULTIVALUE_INDEX_COLUMNS,
    PK_VECTOR_INDEX_COLUMNS,
    TableOptions,
)
from paimon_explore.metadata.schema.alter_columns import (
    Fields,
    edit_field,
    edit_siblings,
    edit_type,
    insert_field,
    move_field,
    unknown_column,
)
from paimon_explore.metadata.schema.column_directives import (
    declared_column,
    is_directive,
    options_without,
)
from paimon_explore.metadata.schema.option_changes import (
    check_option_change,
    is_unchanged,
    options_naming,
    renamed_options,
)
from paimon_explore.metadata.schema.schema_change import (
    AddColumn,
    ChangeColumnComment,
    ChangeDefault,
    ChangeNullability,
    ChangeType,
    ColumnChange,
    ColumnPath,
    DropColumn,
    DropPrimaryKey,
    MoveColumn,
    RemoveOption,
    RenameColumn,
    SchemaChange,
    SetComment,
    SetOption,
)
from paimon_explore.metadata.schema.schema_validation import (
    misspelling_violations,
    option_violations,
    violations,
    with_keys_from_options,
)
from paimon_explore.metadata.schema.table_schema import CURRENT_VERSION, TableSchema

_INDEX_OPTIONS = (
    PK_BTREE_INDEX_COLUMNS,
    PK_BITMAP_INDEX_COLUMNS,
    PK_VECTOR_INDEX_COLUMNS,
    PK_FULL_TEXT_INDEX_COLUMNS,
    PK_MULTIVALUE_INDEX_COLUMNS,
)


def apply_changes(
    schema: TableSchema,
    changes: Sequence[SchemaChange],
    *,
    has_snapshots: bool,
    time_millis: int = 0,
) -> TableSchema:
    """Apply changes in order, all or none, and return the next schema of the table.

    Args:
        schema: the latest schema.
        changes: the changes in order.
        has_snapshots: whether the table has a snapshot, after which some options are immutable.
        time_millis: the time of the change, epoch milliseconds.

    Returns:
        A schema with the next id and the current format version.

    Raises:
        InvalidInputError: a change is not allowed, or the new schema violates a rule.
        NotFoundError: a column of a change does not exist.
        AlreadyExistsError: a new column name already exists.
    """
    highest = max(schema.highest_field_id, highest_field_id(schema.fields))
    draft = replace(schema, highest_field_id=highest)
    _check_new_options(schema, changes)
    for change in changes:
        draft = _apply(_Draft(schema, draft, has_snapshots), change)
    draft = with_keys_from_options(draft)
    result = replace(draft, id=schema.id + 1, version=CURRENT_VERSION, time_millis=time_millis)
    # tables of older releases may violate newer rules: report only new violations
    broken = [rule for rule in violations(result) if rule not in violations(schema)]
    if broken:
        raise InvalidInputError(f"The table cannot be changed: {'; '.join(broken)}.")
    return result


def _check_new_options(schema: TableSchema, changes: Sequence[SchemaChange]) -> None:
    """Check names and values of options that a change sets; unchanged options are not checked."""
    options = {
        change.key: change.value
        for change in changes
        if isinstance(change, SetOption) and not is_unchanged(schema, change.key, change.value)
    }
    broken = list(option_violations(options)) if options else []
    if any(isinstance(c, SetOption | RemoveOption) and not c.key.strip() for c in changes):
        broken.append("the name of an option must not be blank")
    removed = [change.key for change in changes if isinstance(change, RemoveOption)]
    broken += misspelling_violations(key for key in removed if key not in schema.options)
    if broken:
        raise InvalidInputError(f"The table cannot be changed: {'; '.join(broken)}.")
    warn_of_refused_options(options)


@dataclass(frozen=True, slots=True)
class _Draft:
    """The schema before all changes, the schema after the changes so far, and table state."""

    before: TableSchema
    schema: TableSchema
    has_snapshots: bool


def _apply(draft: _Draft, change: SchemaChange) -> TableSchema:
    schema = draft.schema
    match change:
        case SetOption():
            if is_unchanged(schema, change.key, change.value):
                return schema
            check_option_change(
                draft.before, change.key, change.value, has_snapshots=draft.has_snapshots
            )
            return replace(schema, options={**schema.options, change.key: change.value})
        case RemoveOption():
            check_option_change(draft.before, change.key, None, has_snapshots=draft.has_snapshots)
            kept = {key: text for key, text in schema.options.items() if key != change.key}
            return replace(schema, options=kept)
        case SetComment():
            return replace(schema, comment=change.comment)
        case DropPrimaryKey():
            if draft.has_snapshots:
                raise InvalidInputError(
                    "The primary key cannot be changed once the table has a snapshot."
                )
            return replace(schema, primary_keys=())
        case _:
            return _apply_column_change(schema, change)


def _apply_column_change(schema: TableSchema, change: ColumnChange) -> TableSchema:
    match change:
        case AddColumn():
            return _add_column(schema, change)
        case RenameColumn():
            return _rename_column(schema, change)
        case DropColumn():
            return _drop_column(schema, change)
        case ChangeType() | ChangeNullability():
            return _change_type(schema, change)
        case ChangeColumnComment() | ChangeDefault():
            return _change_comment_or_default(schema, change)
        case MoveColumn():
            fields = move_field(schema.fields, change.column, change.move)
            return replace(schema, fields=fields)
        case _:
            assert_never(change)


def _add_column(schema: TableSchema, change: AddColumn) -> TableSchema:
    name = _dotted(change.column)
    if not change.type.nullable:
        raise InvalidInputError(
            f"Column {name!r} must be nullable: existing rows have no value for it."
        )
    if not change.column[-1].strip():
        raise InvalidInputError(
            f"The name of the new column or field {change.column[-1]!r} is blank."
        )
    field = DataField(id=0, name=change.column[-1], type=change.type, description=change.comment)
    is_nested, options = len(change.column) > 1, dict(schema.options)
    if is_nested:
        _check_no_directive(change.column, change.comment)
    elif is_directive(change.comment):
        field, options = declared_column(field, options)
    (field,) = assigned_ids((field,), schema.highest_field_id)

    def edit(fields: Fields, _: str) -> Fields:
        end = len(fields) if is_nested else _end_of_columns(schema)
        return insert_field(fields, field, change.move, end=end)

    fields = edit_siblings(schema.fields, change.column, edit)
    highest = highest_field_id((field,))
    return replace(schema, fields=fields, highest_field_id=highest, options=options)


def _check_no_directive(column: ColumnPath, comment: str | None) -> None:
    if is_directive(comment):
        raise InvalidInputError(
            f"The comment of {_dotted(column)!r} cannot declare a type: only those of new columns "
            "can, not of fields of rows."
        )


def _end_of_columns(schema: TableSchema) -> int:
    if TableOptions(schema.options).value(ADD_COLUMN_BEFORE_PARTITION):
        for index, field in enumerate(schema.fields):
            if field.name in schema.partition_keys:
                return index
    return len(schema.fields)


def _rename_column(schema: TableSchema, change: RenameColumn) -> TableSchema:
    is_nested = len(change.column) > 1
    _check_new_name(change.column, change.name)
    if not is_nested:
        _check_not_partition(schema, change.column, "renamed")
        _check_not_indexed(schema, change.column, "renamed")
        _check_not_blob(schema, change.column, "renamed")

    def edit(fields: Fields, name: str) -> Fields:
        if any(field.name == change.name for field in fields):
            raise AlreadyExistsError("column", _dotted((*change.column[:-1], change.name)))
        return edit_field(fields, name, lambda field: replace(field, name=change.name))

    fields = edit_siblings(schema.fields, change.column, edit)
    if is_nested:
        return replace(schema, fields=fields)
    names = {change.column[0]: change.name}
    return replace(
        schema,
        fields=fields,
        primary_keys=tuple(names.get(key, key) for key in schema.primary_keys),
        options=renamed_options(schema.options, names),
    )


def _check_new_name(column: ColumnPath, name: str) -> None:
    """Check a new column name; a dot would make it a path to a field of a row."""
    old = _dotted(column)
    if not name.strip():
        raise InvalidInputError(f"The new name of column {old!r} is blank.")
    if "." in name:
        last = name.rpartition(".")[2] or name.strip(".")
        raise InvalidInputError(
            f"The new name {name!r} of column {old!r} must not contain a dot, which separates "
            "fields of rows.",
            hint=f"Give only the last name, such as {last!r}.",
        )


def _drop_column(schema: TableSchema, change: DropColumn) -> TableSchema:
    if len(change.column) == 1:
        _check_not_partition(schema, change.column, "dropped")
        _check_not_primary_key(schema, change.column, "dropped")
        _check_not_indexed(schema, change.column, "dropped")
        field = schema.field(change.column[0])
        if field is not None:
            schema = replace(schema, options=options_without(field, schema.options))
        _check_not_in_options(schema, change.column, "dropped")

    def edit(fields: Fields, name: str) -> Fields:
        kept = tuple(field for field in fields if field.name != name)
        if len(kept) == len(fields):
            raise unknown_column(_dotted(change.column), name, fields)
        if not kept:
            parent = "table" if len(change.column) == 1 else "ROW"
            raise InvalidInputError(
                f"Column {_dotted(change.column)!r} cannot be dropped: the {parent} has no other "
                "column."
            )
        return kept

    return replace(schema, fields=edit_siblings(schema.fields, change.column, edit))


def _change_type(schema: TableSchema, change: ChangeType | ChangeNullability) -> TableSchema:
    column = change.column
    if isinstance(change, ChangeType):
        if len(column) == 1:
            _check_not_partition(schema, column, "changed to another type")
            _check_not_primary_key(schema, column, "changed to another type")
            _check_not_indexed(schema, column, "changed to another type")
            _check_not_blob(schema, column, "changed to another type", change.type)
    elif change.nullable and len(column) == 1:
        _check_not_primary_key(schema, column, "made nullable")
    options = TableOptions(schema.options)

    def edit(field: DataField, before: DataType) -> DataType:
        if isinstance(change, ChangeNullability):
            after = with_nullable(before, nullable=change.nullable)
        elif change.keep_nullability:
            after = with_nullable(change.type, nullable=before.nullable)
        else:
            after = change.type
        _check_nullability(options, column, before, after)
        if isinstance(change, ChangeType):
            _check_cast(options, column, before, after)
            if before == field.type:
                _check_default(column, after, field.default_value)
        return after

    return replace(schema, fields=edit_type(schema.fields, column, edit))


def _check_nullability(
    options: TableOptions, column: ColumnPath, before: DataType, after: DataType
) -> None:
    is_disabled = options.value(ALTER_COLUMN_NULL_TO_NOT_NULL_DISABLED)
    if is_disabled and before.nullable and not after.nullable:
        raise InvalidInputError(
            f"Column {_dotted(column)!r} cannot become NOT NULL: existing rows may contain null.",
            hint=f"Set {ALTER_COLUMN_NULL_TO_NOT_NULL_DISABLED.key!r} = 'false' to allow it.",
        )


def _check_cast(
    options: TableOptions, column: ColumnPath, before: DataType, after: DataType
) -> None:
    is_strict = options.value(DISABLE_EXPLICIT_TYPE_CASTING)
    is_allowed = is_implicit(before, after) if is_strict else is_explicit(before, after)
    if isinstance(before, RowType) and isinstance(after, RowType):
        raise InvalidInputError(
            f"ROW column {_dotted(column)!r} cannot be changed as a whole, only field by field.",
            hint=f"Change a field by its path, such as {_dotted((*column, before.names[0]))!r}.",
        )
    if not isinstance(before, AtomicType) and not isinstance(after, AtomicType):
        is_allowed = is_allowed and with_nullable(after, nullable=before.nullable) == before
    if not is_allowed or not is_executable(before, after):
        raise InvalidInputError(
            f"Column {_dotted(column)!r} of type {type_text(before)} cannot be changed to "
            f"{type_text(after)}: there is no {'implicit ' if is_strict else ''}cast."
        )


def _change_comment_or_default(
    schema: TableSchema, change: ChangeColumnComment | ChangeDefault
) -> TableSchema:
    def edit(field: DataField) -> DataField:
        if isinstance(change, ChangeColumnComment):
            _check_no_directive(change.column, change.comment)
            return replace(field, description=change.comment)
        _check_default(change.column, field.type, change.default_value)
        return replace(field, default_value=change.default_value)

    def edit_level(fields: Fields, name: str) -> Fields:
        return edit_field(fields, name, edit, change.column)

    return replace(schema, fields=edit_siblings(schema.fields, change.column, edit_level))


def _check_default(column: ColumnPath, data_type: DataType, text: str | None) -> None:
    if text is None:
        return
    try:
        default_column(text, data_type)
    except UncastableError as error:
        raise InvalidInputError(
            f"The default value of column {_dotted(column)!r} is invalid: {error.reason}."
        ) from error


def _check_not_partition(schema: TableSchema, column: ColumnPath, done: str) -> None:
    if column[0] in schema.partition_keys:
        raise InvalidInputError(f"Partition column {column[0]!r} cannot be {done}.")


def _check_not_primary_key(schema: TableSchema, column: ColumnPath, done: str) -> None:
    if column[0] in schema.primary_keys:
        raise InvalidInputError(f"Primary key column {column[0]!r} cannot be {done}.")


def _check_not_indexed(schema: TableSchema, column: ColumnPath, done: str) -> None:
    options = TableOptions(schema.options)
    for option in _INDEX_OPTIONS:
        if column[0] in options.value(option):
            raise InvalidInputError(
                f"Column {column[0]!r} cannot be {done}: option {option.key!r} refers to the "
                "column."
            )


def _check_not_in_options(schema: TableSchema, column: ColumnPath, done: str) -> None:
    keys = options_naming(schema.options, column[0])
    if keys:
        raise InvalidInputError(
            f"Column {column[0]!r} cannot be {done}: option {keys[0]!r} refers to the column.",
            hint="Change or remove the option first.",
        )


def _check_not_blob(
    schema: TableSchema, column: ColumnPath, done: str, after: DataType | None = None
) -> None:
    field = schema.field(column[0])
    types = [after] if after is not None else []
    types += [] if field is None else [field.type]
    if any(map(is_blob_file_type, types)):
        raise InvalidInputError(f"BLOB column {column[0]!r} cannot be {done}.")


def _dotted(column: ColumnPath) -> str:
    return ".".join(column)
