"""The function `sys.max_pt('db.t')`: the largest value of a table's first partition column.

Partitions without data files do not count, nor does the null partition. As in Java the result is
a string, and the function is replaced by it before the query runs.
"""

from collections.abc import Sequence
from datetime import date, datetime

from paimon_explore.errors import InvalidInputError, NotFoundError
from paimon_explore.scan.live_entries import PartitionFilter, live_files
from paimon_explore.scan.manifest_arrays import byte_rows
from paimon_explore.sql_statements.table_references import spliced
from paimon_explore.sql_statements.table_resolution import Warehouse
from paimon_explore.sql_statements.tokenizer import Kind, Reader, Token, tokens_of
from paimon_explore.table.latest_schema import latest_schema
from paimon_explore.table.table import Table
from paimon_explore.table.table_base import store_of

_NAME = "MAX_PT"
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
                text = _text(_max_partition(warehouse, argument.text))
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
    from paimon_explore.maintenance.rewrites.rewrite_commit import partition_values  # noqa: PLC0415 - large

    schema, snapshot = latest_schema(store_of(table)), store_of(table).snapshots.latest()
    if snapshot is None:
        return []
    every = PartitionFilter(row_type=schema.partition_type, predicate=None)
    entries = live_files(store_of(table), snapshot, every)
    rows = sorted(set(byte_rows(entries.column("partition").combine_chunks())))
    return [partition_values(schema, row)[schema.partition_keys[0]] for row in rows]


def _text(value: str) -> str:
    escaped = value.replace("\\", "\\\\").replace("'", "\\'")
    return f"'{escaped}'"
