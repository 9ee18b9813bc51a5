"""Rules for changing table options, and updates of options when columns are renamed.

Spec: maintenance/configurations, SQL ALTER pages.
"""

import re
from collections.abc import Mapping

from paimon_explore.errors import InvalidInputError
from paimon_explore.metadata.options.column_options import NESTED_KEY, SEQUENCE_GROUP
from paimon_explore.metadata.options.option_definition import Option
from paimon_explore.metadata.options.option_reference import ALL_OPTIONS
from paimon_explore.metadata.options.table_options import (
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
    option = _option(key)
    if option is not None and option.is_immutable:
        raise _not_changeable(key, "its value is fixed once the table has a snapshot")
    before = TableOptions(schema.options)
    after = before.changed({} if value is None else {key: value})
    if value is None:
        after = TableOptions({name: text for name, text in before.items() if name != key})
    if option is BUCKET:
        _check_bucket(before, after, is_removed=value is None)
    elif option is DELETION_VECTORS_ENABLED:
        _check_deletion_vectors(before, after)
    elif option is IGNORE_DELETE or option is IGNORE_UPDATE_BEFORE:
        if before.value(option) and not after.value(option):
            raise _not_changeable(key, "a change from true to false is not possible")
    elif option is CLUSTERING_COLUMNS and PK_CLUSTERING_OVERRIDE.key in before:
        raise _not_changeable(
            key, f"with {PK_CLUSTERING_OVERRIDE.key!r}, the files are sorted by these columns"
        )


def _option(key: str) -> Option[object] | None:
    """Return the option with a key, or with this older key; None if there is none."""
    older = (option for option in ALL_OPTIONS.values() if key in option.fallback_keys)
    return ALL_OPTIONS.get(key) or next(older, None)


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
