"""Partitions as arguments of procedures: `dt=1,hour=2;dt=2`, or a condition on their columns."""

from collections.abc import Mapping
from datetime import timedelta

import numpy as np

from paimon_explore.commit.overwrite import all_files
from paimon_explore.data_types.local_time import system_clock
from paimon_explore.errors import choices
from paimon_explore.inspection.partition_argument import unquoted_value
from paimon_explore.maintenance.rewrites.rewrite_commit import partition_specs
from paimon_explore.metadata.options.table_options import PARTITION_DEFAULT_NAME, TableOptions
from paimon_explore.metadata.schema.table_schema import TableSchema
from paimon_explore.scan.live_entries import PartitionFilter, live_files
from paimon_explore.scan.manifest_arrays import byte_rows, numbers
from paimon_explore.scan.predicate.binder import bind
from paimon_explore.scan.predicate.expression import columns_of
from paimon_explore.scan.predicate.sql_parser import parse_where
from paimon_explore.sql_statements.clauses import constant
from paimon_explore.sql_statements.procedures.call_arguments import Call
from paimon_explore.sql_statements.quoted_names import text_constant
from paimon_explore.table.latest_schema import latest_schema
from paimon_explore.table.table import Table
from paimon_explore.table.table_base import store_of


def partitions_of(one: Call, table: Table) -> list[dict[str, object]] | None:
    """Return the partitions of the arguments `partitions` and `where`; None if neither is given.

    Raises:
        InvalidInputError: both are given, or one cannot be understood.
    """
    text, where = one.text("partitions"), one.text("where")
    if text and text.strip() and where and where.strip():
        raise one.problem("the arguments partitions and where cannot be combined")
    if where and where.strip():
        return _where(one, table, where)
    if not text or not text.strip():
        return None
    return named_partitions(one, table, text)


def named_partitions(one: Call, table: Table, text: str) -> list[dict[str, object]]:
    """Return the partitions of a text of the form `dt=1,hour=2;dt=2`."""
    found: list[dict[str, str]] = []
    for part in text.split(";"):
        pairs = [pair.partition("=") for pair in part.split(",")]
        if not all(equal for _, equal, _ in pairs):
            raise one.problem(f"partitions = {text!r} is not of the form 'a=1,b=2;a=2,b=3'")
        found.append({key.strip(): unquoted_value(value) for key, _, value in pairs})
    schema = latest_schema(store_of(table))
    return [_typed(one, schema, spec) for spec in found]


def _typed(one: Call, schema: TableSchema, spec: Mapping[str, str]) -> dict[str, object]:
    """Return partition values cast to the types of their columns."""
    default = TableOptions(schema.options).value(PARTITION_DEFAULT_NAME)
    values: dict[str, object] = {}
    for key, text in spec.items():
        if key not in schema.partition_keys:
            hint = f"Partition columns: {choices(schema.partition_keys)}."
            raise one.problem(f"{key!r} is not a partition column", hint)
        written = "NULL" if text == default else text_constant(text)
        values[key] = constant(one.warehouse, written, schema.project([key]).fields[0])
    return values


def _where(one: Call, table: Table, where: str) -> list[dict[str, object]]:
    schema = latest_schema(store_of(table))
    keys = {key.lower() for key in schema.partition_keys}
    predicate = parse_where(where)
    used = {column.path[0] for column in columns_of(predicate)}
    others = [name for name in used if name.lower() not in keys]
    if others:
        known = choices(schema.partition_keys)
        hint = f"Partition columns: {known}."
        raise one.problem(
            f"the argument where uses {others[0]!r}, which is not a partition column", hint
        )
    snapshot = store_of(table).snapshots.latest()
    wanted = PartitionFilter(
        row_type=schema.partition_type, predicate=bind(predicate, schema.partition_type)
    )
    files = None if snapshot is None else live_files(store_of(table), snapshot, wanted)
    rows = [] if files is None else byte_rows(files.column("partition").combine_chunks())
    return partition_specs(schema, sorted(set(rows)))


def idle_partitions(
    table: Table, idle: timedelta, among: list[dict[str, object]] | None
) -> list[dict[str, object]]:
    """Return the partitions whose newest file is at least so old.

    Args:
        table: the table.
        idle: the age.
        among: only partitions that match one of these; None for all.
    """
    schema, snapshot = latest_schema(store_of(table)), store_of(table).snapshots.latest()
    if snapshot is None:
        return []
    entries = all_files(store_of(table), schema, snapshot)
    created = numbers(entries.table, "creation_time")
    newest: dict[bytes, int] = {}
    partitions = byte_rows(entries.column("partition").combine_chunks())
    for partition, time_ms in zip(partitions, np.asarray(created).tolist(), strict=True):
        newest[partition] = max(newest.get(partition, 0), time_ms)
    last = system_clock() - idle // timedelta(milliseconds=1)
    old = sorted(one for one, time_ms in newest.items() if time_ms <= last)
    found = partition_specs(schema, old)
    if among is None:
        return found
    return [one for one in found if any(spec.items() <= one.items() for spec in among)]
