"""The functions of a catalog in SQL: `sys.max_pt`, those of buckets and those of BLOB columns.

All but `sys.max_pt` are functions of the engine without the database `sys`. A column that
`blob_view` names becomes its field id; a call with constants becomes its value, since Spark calls
no function of Python in VALUES.

The function `sys.max_pt('db.t')`: the largest value of a table's first partition column.

Partitions without data files do not count, nor does the null partition. As in Java the result is
a string, and the function is replaced by it before the query runs.
"""

from collections.abc import Iterator, Sequence
from datetime import date, datetime

from paimon_explore.commit.overwrite import all_files
from paimon_explore.encoding.blob.blob_descriptor import (
    TO_THE_END,
    BlobDescriptor,
    encode_descriptor,
)
from paimon_explore.encoding.blob.blob_view import BlobView, encode_view
from paimon_explore.errors import InvalidInputError, NotFoundError
from paimon_explore.scan.manifest_arrays import byte_rows
from paimon_explore.sql_statements.quoted_names import text_constant
from paimon_explore.sql_statements.scalar_functions import SYS_FUNCTIONS
from paimon_explore.sql_statements.table_references import spliced
from paimon_explore.sql_statements.table_resolution import Warehouse
from paimon_explore.sql_statements.tokenizer import Kind, Reader, Token, tokens_of
from paimon_explore.table.latest_schema import latest_schema
from paimon_explore.table.table import Table
from paimon_explore.table.table_base import store_of

_VIEW = "BLOB_VIEW"
_NAME = "MAX_PT"
_FUNCTIONS = {name.upper() for name in SYS_FUNCTIONS} - {_NAME}


def with_catalog_functions(warehouse: Warehouse, source: str) -> str:
    """Return a statement whose functions of the catalog are values or functions of the engine.

    Raises:
        NotFoundError: a table that a function names does not exist.
        InvalidInputError: the arguments of a function are wrong.
    """
    source = with_max_partitions(warehouse, source)
    if not any(name in source.upper() for name in _FUNCTIONS):
        return source
    return spliced(source, list(_replacements(warehouse, tokens_of(source))))


def _replacements(warehouse: Warehouse, tokens: Sequence[Token]) -> Iterator[tuple[int, int, str]]:
    for at, token in enumerate(tokens[:-1]):
        if token.word not in _FUNCTIONS or tokens[at + 1].sign != "(":
            continue
        first = first_of_name(tokens, at)
        if first is None:
            continue
        name, arguments = tokens[first], [*tokens[at + 2 : at + 8], *[tokens[-1]] * 6][:6]
        texts = [one.text for one in arguments]
        is_text = [one.kind is Kind.TEXT for one in arguments]
        if token.word == "PATH_TO_DESCRIPTOR" and is_text[0] and arguments[1].sign == ")":
            descriptor = BlobDescriptor(uri=texts[0], offset=0, length=TO_THE_END)
            yield name.start, arguments[1].end, f"X'{encode_descriptor(descriptor).hex()}'"
            continue
        if token.word != _VIEW or is_text[:3] != [True, False, True]:
            yield name.start, token.end, token.text
            continue
        field_id = _field_id(warehouse, texts[0], texts[2])
        if texts[4].isdecimal() and texts[5] == ")":
            view = BlobView(table=texts[0], field_id=field_id, row_id=int(texts[4]))
            yield name.start, arguments[5].end, f"X'{encode_view(view).hex()}'"
        else:
            yield name.start, token.end, token.text
            yield arguments[2].start, arguments[2].end, str(field_id)


def _field_id(warehouse: Warehouse, name: str, column: str) -> int:
    table = warehouse.base(warehouse.named(Reader(name).path("the table")))
    field = latest_schema(store_of(table)).field(column)
    if field is None:
        raise InvalidInputError(f"blob_view: table {table.name} has no column {column!r}.")
    return field.id


_QUALIFIERS = ((), ("SYS",), ("PAIMON", "SYS"))
_HINT = "Write sys.max_pt('database.table')."


def with_max_partitions(warehouse: Warehouse, source: str) -> str:
    """Return a statement with the calls of `max_pt` replaced by their results.

    Raises:
        NotFoundError: the table does not exist, or has no partition with rows.
        InvalidInputError: the argument is not the name of a partitioned table.
    """
    if warehouse.catalog is None or _NAME.lower() not in source.lower():
        return source
    tokens = tokens_of(source)
    replacements = []
    for at, token in enumerate(tokens):
        if token.word == _NAME and tokens[min(at + 1, len(tokens) - 1)].sign == "(":
            first = first_of_name(tokens, at)
            if first is not None:
                argument, close = tokens[at + 2 : at + 4]
                if argument.kind is not Kind.TEXT or close.sign != ")":
                    msg = "max_pt requires the name of a table as a string."
                    raise InvalidInputError(msg, hint=_HINT)
                text = text_constant(_max_partition(warehouse, argument.text))
                replacements.append((tokens[first].start, close.end, text))
    return spliced(source, replacements)


def first_of_name(tokens: Sequence[Token], at: int) -> int | None:
    """Return the first token of the qualified name; None if it is another function."""
    qualifier: list[str] = []
    first = at
    while first >= 2 and tokens[first - 1].sign == ".":  # noqa: PLR2004 - a name and a dot
        first -= 2
        qualifier.insert(0, tokens[first].text.upper())
    return first if tuple(qualifier) in _QUALIFIERS else None


def _max_partition(warehouse: Warehouse, name: str) -> str:
    table = warehouse.base(warehouse.named(Reader(name).path("the table")))
    schema = latest_schema(store_of(table))
    if not schema.partition_keys:
        msg = f"max_pt: table {table.name} is not partitioned."
        raise InvalidInputError(msg, hint=f"It needs a partitioned table. {_HINT}")
    found = [value for value in _values(table) if value is not None]
    if not found:
        msg = f"max_pt: table {table.name} has no partition with rows."
        raise NotFoundError("partition", schema.partition_keys[0], table.name, message=msg)
    largest: object = max(found)  # type: ignore[type-var] # values of one type
    if isinstance(largest, str):
        return largest
    return str(warehouse.engine.evaluate(f"CAST({_constant(largest)} AS STRING)"))


def _constant(value: object) -> str:
    """Return a value of a partition as a constant in SQL."""
    if isinstance(value, datetime):
        name = "TIMESTAMP_NTZ" if value.tzinfo is None else "TIMESTAMP"
        return f"{name} '{value.isoformat(' ')}'"
    if isinstance(value, date):
        return f"DATE '{value.isoformat()}'"
    return f"{value!r}D" if isinstance(value, float) else str(value)


def _values(table: Table) -> list[object]:
    """Return the values of the first partition column that have data files."""
    from paimon_explore.maintenance.rewrites.rewrite_commit import partition_specs  # noqa: PLC0415 - large

    schema, snapshot = latest_schema(store_of(table)), store_of(table).snapshots.latest()
    if snapshot is None:
        return []
    entries = all_files(store_of(table), schema, snapshot)
    rows = sorted(set(byte_rows(entries.column("partition").combine_chunks())))
    return [spec[schema.partition_keys[0]] for spec in partition_specs(schema, rows)]
