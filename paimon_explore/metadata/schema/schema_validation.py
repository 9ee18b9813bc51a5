"""Validation of a complete schema with its options, and creation of a table's first schema.

The rules are in the `*_validation` modules of this package. `alter_schema` uses the same rules for
changed schemas. Spec: concepts/spec/schema, SQL DDL pages.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import replace

import pyarrow as pa

from paimon_explore.data_types.arrow import row_type_from_arrow
from paimon_explore.data_types.casts.cast_errors import UncastableError
from paimon_explore.data_types.default_values import default_column
from paimon_explore.data_types.definitions import (
    DataField,
    RowType,
    with_nullable,
)
from paimon_explore.data_types.field_ids import assigned_ids, highest_field_id
from paimon_explore.errors import InvalidInputError
from paimon_explore.metadata.options.option_definition import Option
from paimon_explore.metadata.options.option_reference import ALL_OPTIONS
from paimon_explore.metadata.options.option_spelling import misspelled_names
from paimon_explore.metadata.options.refused_options import warn_of_refused_options
from paimon_explore.metadata.options.table_options import (
    PARTITION,
    PRIMARY_KEY,
    PRIMARY_KEY_NULLABLE,
    TableOptions,
)
from paimon_explore.metadata.schema.column_directives import declared_column
from paimon_explore.metadata.schema.key_validation import (
    bucket_violations,
    column_violations,
    key_violations,
    manifest_sort_violations,
    primary_key_index_violations,
)
from paimon_explore.metadata.schema.merge_option_validation import (
    aggregation_violations,
    changelog_violations,
    column_setting_violations,
    deletion_vector_violations,
    named_column_violations,
    partial_update_violations,
    retention_violations,
    sequence_violations,
)
from paimon_explore.metadata.schema.path_option_validation import path_violations
from paimon_explore.metadata.schema.scan_option_validation import scan_violations
from paimon_explore.metadata.schema.storage_validation import (
    blob_violations,
    chain_violations,
    clustering_violations,
    format_violations,
    map_layout_violations,
    row_tracking_violations,
    spatial_violations,
    vector_violations,
)
from paimon_explore.metadata.schema.table_schema import TableSchema

_RULES: tuple[Callable[[TableSchema, TableOptions], Iterator[str]], ...] = (
    column_violations,
    key_violations,
    bucket_violations,
    manifest_sort_violations,
    scan_violations,
    path_violations,
    column_setting_violations,
    sequence_violations,
    partial_update_violations,
    aggregation_violations,
    changelog_violations,
    deletion_vector_violations,
    retention_violations,
    named_column_violations,
    format_violations,
    spatial_violations,
    map_layout_violations,
    blob_violations,
    vector_violations,
    row_tracking_violations,
    clustering_violations,
    chain_violations,
    primary_key_index_violations,
)


def violations(schema: TableSchema) -> tuple[str, ...]:
    """Return all rule violations of a schema, as sentences without a full stop.

    Raises:
        InvalidInputError: an option has an invalid value.
    """
    options = TableOptions(schema.options)
    return tuple(sentence for rule in _RULES for sentence in rule(schema, options))


def validate_create(schema: TableSchema) -> None:
    """Check the schema of a new table.

    Raises:
        InvalidInputError: the schema violates rules; the message lists all violations.
    """
    checks = (option_violations(schema.options), violations(schema), _default_violations(schema))
    broken = tuple(sentence for check in checks for sentence in check)
    if broken:
        raise InvalidInputError(f"The table cannot be created: {'; '.join(broken)}.")
    warn_of_refused_options(schema.options)


def _default_violations(schema: TableSchema) -> Iterator[str]:
    for field in schema.fields:
        if field.default_value is not None:
            try:
                default_column(field.default_value, field.type)
            except UncastableError as error:
                yield f"the default value of column {field.name!r} is invalid: {error.reason}"


def check_dynamic_options(schema: TableSchema, options: Mapping[str, str]) -> None:
    """Check options of a caller that override those of a table (Paimon: dynamic options).

    Raises:
        InvalidInputError: options are misspelled or have invalid values; the message lists them.
    """
    if not options:
        return
    found = list(option_violations(options))
    found = found or list(path_violations(schema, TableOptions(options)))
    if found:
        raise InvalidInputError(f"The table options cannot be used: {'; '.join(found)}.")


def option_violations(options: Mapping[str, str]) -> Iterator[str]:
    """Yield a sentence for each option that is misspelled or has an invalid value."""
    yield from misspelling_violations(options)
    for option in ALL_OPTIONS.values():
        if TableOptions(options).has(option):
            try:
                option.value_in(options)
            except InvalidInputError as error:
                text = str(error).rstrip(".")
                yield text[:1].lower() + text[1:]


def misspelling_violations(keys: Iterable[str]) -> Iterator[str]:
    """Yield a sentence for each unknown key that is similar to a known option."""
    for key, meant in misspelled_names(keys).items():
        yield f"there is no option {key!r} (did you mean {meant!r}?)"


def new_schema(
    columns: pa.Schema | RowType,
    *,
    primary_key: Iterable[str] = (),
    partition_by: Iterable[str] = (),
    options: Mapping[str, str] | None = None,
    comment: str | None = None,
    time_millis: int = 0,
) -> TableSchema:
    """Create and validate the first schema of a table.

    Args:
        columns: the columns in order; field ids are assigned anew; comments may declare types, as
            `column_directives` says.
        primary_key: names of the primary key columns, which become NOT NULL.
        partition_by: names of the partition columns, in the order of the directories.
        options: table options; `primary-key` and `partition` become keys of the schema, bytes of
            `blob-field` and the like become BLOB, arrays of `vector-field` become VECTOR.
        comment: the table's comment.
        time_millis: the time of creation, epoch milliseconds.

    Raises:
        InvalidInputError: a column type is not supported, or the schema violates a rule.
    """
    row_type = columns if isinstance(columns, RowType) else row_type_from_arrow(columns)
    given, declared = dict(options or {}), []
    for column in row_type:
        field, given = declared_column(column, given)
        declared.append(field)
    fields = assigned_ids(declared)
    schema = with_keys_from_options(
        TableSchema(
            id=0,
            fields=fields,
            highest_field_id=highest_field_id(fields),
            partition_keys=tuple(partition_by),
            primary_keys=tuple(primary_key),
            options=given,
            comment=comment,
            time_millis=time_millis,
        )
    )
    validate_create(schema)
    return schema


def with_keys_from_options(schema: TableSchema) -> TableSchema:
    """Move keys from the options `primary-key` and `partition` to the schema; make keys NOT NULL.

    Raises:
        InvalidInputError: an option defines keys that the schema already has.
    """
    texts = dict(schema.options)
    keys = _keys_from_option(texts, PRIMARY_KEY, schema.primary_keys)
    partitions = _keys_from_option(texts, PARTITION, schema.partition_keys)
    is_nullable = TableOptions(texts).value(PRIMARY_KEY_NULLABLE)
    fields = tuple(
        _key_column(field, is_nullable=is_nullable) if field.name in keys else field
        for field in schema.fields
    )
    return replace(
        schema, fields=fields, primary_keys=keys, partition_keys=partitions, options=texts
    )


def _keys_from_option(
    options: dict[str, str], option: Option[tuple[str, ...]], given: tuple[str, ...]
) -> tuple[str, ...]:
    if option.key not in options:
        return given
    if given:
        raise InvalidInputError(
            f"Option {option.key!r} defines keys that are also given as arguments.",
            hint="Remove the option.",
        )
    found = TableOptions(options).value(option)
    del options[option.key]
    return found


def _key_column(field: DataField, *, is_nullable: bool) -> DataField:
    return replace(field, type=with_nullable(field.type, nullable=is_nullable))
