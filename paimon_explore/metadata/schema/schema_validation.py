"""What a schema must fulfil, and new schemas that do.

Spec: concepts/spec/schema, SQL DDL pages. Both engines and this package refuse the rest.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import replace

import pyarrow as pa

from paimon_explore.data_types.arrow import row_type_from_arrow
from paimon_explore.data_types.definitions import DataField, RowType, with_nullable
from paimon_explore.data_types.field_ids import assigned_ids, highest_field_id
from paimon_explore.errors import InvalidInputError
from paimon_explore.metadata.options.option_definition import Option
from paimon_explore.metadata.options.option_spelling import misspelt_names
from paimon_explore.metadata.options.table_options import (
    ALL_OPTIONS,
    PARTITION,
    PRIMARY_KEY,
    PRIMARY_KEY_NULLABLE,
    TableOptions,
)
from paimon_explore.metadata.schema.key_validation import (
    bucket_violations,
    column_violations,
    key_violations,
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
    vector_violations,
)
from paimon_explore.metadata.schema.table_schema import TableSchema

_RULES: tuple[Callable[[TableSchema, TableOptions], Iterator[str]], ...] = (
    column_violations,
    key_violations,
    bucket_violations,
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
    map_layout_violations,
    blob_violations,
    vector_violations,
    row_tracking_violations,
    clustering_violations,
    chain_violations,
)


def violations(schema: TableSchema) -> tuple[str, ...]:
    """Every rule that the schema breaks, as sentences without a full stop.

    Raises:
        InvalidInputError: an option's text is no value of it.
    """
    options = TableOptions(schema.options)
    return tuple(sentence for rule in _RULES for sentence in rule(schema, options))


def validate_create(schema: TableSchema) -> None:
    """Check a schema before its table is created.

    Raises:
        InvalidInputError: it breaks rules; the message names all of them.
    """
    broken = (*option_violations(schema.options), *violations(schema))
    if broken:
        raise InvalidInputError(f"The table cannot be created: {'; '.join(broken)}.")


def check_dynamic_options(schema: TableSchema, options: Mapping[str, str]) -> None:
    """Check options that a caller gives on top of those of a table.

    Raises:
        InvalidInputError: one is misspelt or has a wrong value; the message names all of them.
    """
    if not options:
        return
    found = list(option_violations(options))
    found = found or list(path_violations(schema, TableOptions(options)))
    if found:
        raise InvalidInputError(f"The table options cannot be used: {'; '.join(found)}.")


def option_violations(options: Mapping[str, str]) -> Iterator[str]:
    """Options that are misspelt, or whose texts are no values of them, as sentences."""
    yield from misspelt_sentences(options)
    for option in ALL_OPTIONS.values():
        if TableOptions(options).has(option):
            try:
                option.value_in(options)
            except InvalidInputError as error:
                yield str(error).rstrip(".")


def misspelt_sentences(keys: Iterable[str]) -> Iterator[str]:
    """A sentence per key that is close to an option and is none."""
    for key, meant in misspelt_names(keys).items():
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
    """The first schema of a new table, checked against all rules.

    Args:
        columns: the columns in order; fresh field ids replace theirs.
        primary_key: names of the key columns, which become NOT NULL.
        partition_by: names of the partition columns, in the order of the directories.
        options: table options; `primary-key` and `partition` go to the places they stand for.
        comment: the table's comment.
        time_millis: the time of creation, epoch milliseconds.

    Raises:
        InvalidInputError: a column has no Paimon type, or a rule is broken.
    """
    row_type = columns if isinstance(columns, RowType) else row_type_from_arrow(columns)
    fields = assigned_ids(row_type.fields)
    schema = with_declared_keys(
        TableSchema(
            id=0,
            fields=fields,
            highest_field_id=highest_field_id(fields),
            partition_keys=tuple(partition_by),
            primary_keys=tuple(primary_key),
            options=dict(options or {}),
            comment=comment,
            time_millis=time_millis,
        )
    )
    validate_create(schema)
    return schema


def with_declared_keys(schema: TableSchema) -> TableSchema:
    """The schema with keys that options declare in their places, and key columns NOT NULL.

    Raises:
        InvalidInputError: an option declares keys that the schema has already.
    """
    texts = dict(schema.options)
    keys = _moved(texts, PRIMARY_KEY, schema.primary_keys)
    partitions = _moved(texts, PARTITION, schema.partition_keys)
    is_nullable = TableOptions(texts).value(PRIMARY_KEY_NULLABLE)
    fields = tuple(
        _key_column(field, is_nullable=is_nullable) if field.name in keys else field
        for field in schema.fields
    )
    return replace(
        schema, fields=fields, primary_keys=keys, partition_keys=partitions, options=texts
    )


def _moved(
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
