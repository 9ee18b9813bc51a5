"""Sentences on what a table is: keys, merge engine, partitions, buckets, changelog, vectors."""

from collections.abc import Iterator

from paimon_explore.errors import InvalidInputError
from paimon_explore.inspection.rendering.chart import Tone
from paimon_explore.inspection.rendering.number_format import plural
from paimon_explore.inspection.rendering.report import Cell, Sentence, sentence
from paimon_explore.inspection.table_view import TableView
from paimon_explore.metadata.options.option_enums import ChangelogProducer, MergeEngine
from paimon_explore.metadata.options.table_options import (
    BUCKET,
    CHANGELOG_PRODUCER,
    DELETION_VECTORS_ENABLED,
    DYNAMIC_BUCKET,
    MERGE_ENGINE,
    POSTPONE_BUCKET,
    SEQUENCE_FIELD,
    WRITE_ONLY,
    TableOptions,
)
from paimon_explore.metadata.schema.table_schema import TableSchema

_ENGINES = {
    MergeEngine.DEDUPLICATE: "the last row of a key replaces the earlier ones",
    MergeEngine.PARTIAL_UPDATE: "each row updates the columns in which it is not null",
    MergeEngine.AGGREGATION: "the columns of the rows of a key are aggregated",
    MergeEngine.FIRST_ROW: "the first row of a key is kept",
}
_PRODUCERS = {
    ChangelogProducer.NONE: "No changelog files are written",
    ChangelogProducer.INPUT: "The input rows are also written as changelog files",
    ChangelogProducer.LOOKUP: "Changelog files are written by lookup before a commit",
    ChangelogProducer.FULL_COMPACTION: "Changelog files are written by full compactions",
}


def definition_sentences(view: TableView) -> Iterator[Sentence]:
    """What the latest schema and options say about a table; nothing is read."""
    schema = view.schema
    if schema is None:
        yield sentence(Cell(text="The schema of the table cannot be read.", tone=Tone.REMOVE))
        return
    yield _keys(view, schema)
    try:
        yield from _optional(schema, view.options)
    except InvalidInputError as error:
        text = f"The options of the table are invalid: {error.message}"
        yield sentence(Cell(text=text, selects="schema:", tone=Tone.REMOVE))
    yield sentence(
        "It has ",
        Cell(text=plural(len(schema.fields), "column"), selects="schema:"),
        f"; the latest schema version is {schema.id}.",
    )


def _keys(view: TableView, schema: TableSchema) -> Sentence:
    name = f"{view.short_name} is "
    if schema.primary_keys:
        kind = Cell(text="a primary-key table", selects="schema:")
        return sentence(name, kind, f": one row for each value of {_names(schema.primary_keys)}.")
    kind = Cell(text="an append table", selects="schema:")
    return sentence(name, kind, ": it has no primary key, and rows are not merged.")


def _optional(schema: TableSchema, options: TableOptions) -> Iterator[Sentence]:
    keyed = bool(schema.primary_keys)
    if keyed:
        yield _engine(options)
    if schema.partition_keys:
        link = Cell(text="partitioned", selects="partitions:")
        yield sentence("It is ", link, f" by {_names(schema.partition_keys)}.")
    else:
        yield sentence("It is not partitioned.")
    yield sentence(_buckets(schema, options.value(BUCKET)))
    if keyed:
        producer = options.value(CHANGELOG_PRODUCER)
        yield sentence(f"{_PRODUCERS[producer]} (changelog-producer = {producer.value}).")
    if options.value(DELETION_VECTORS_ENABLED):
        yield sentence(
            "Deletion vectors mark deleted rows",
            "; reads skip level 0 and do not merge." if keyed else ".",
        )
    if options.value(WRITE_ONLY):
        yield sentence("Writers do not compact (write-only = true); a separate job has to.")


def _engine(options: TableOptions) -> Sentence:
    engine = options.value(MERGE_ENGINE)
    fields = options.value(SEQUENCE_FIELD)
    order = f"ordered by the sequence field {_names(fields)}" if fields else "in commit order"
    link = Cell(text=f"Merge engine {engine.value}", selects="key:")
    return sentence(link, f": {_ENGINES[engine]}, {order}.")


def _buckets(schema: TableSchema, bucket: int) -> str:
    keyed = bool(schema.primary_keys)
    if bucket == POSTPONE_BUCKET:
        return "New rows wait in bucket -2 until a compaction assigns them to buckets."
    if bucket == DYNAMIC_BUCKET:
        if keyed:
            return "Buckets are dynamic: an index assigns each key to a bucket."
        return "Files are not divided into buckets."
    whole = "Each partition" if schema.partition_keys else "The table"
    text = f"{whole} has {plural(bucket, 'bucket')}"
    keys = schema.bucket_keys
    return f"{text}; the hash of {_names(keys)} selects the bucket." if keys else f"{text}."


def _names(names: tuple[str, ...]) -> str:
    return ", ".join(names)
