"""Inputs of the explorer's views made of a table's own columns, partitions, keys and files."""

from collections.abc import Mapping
from dataclasses import replace

from paimon_explore.data_types.definitions import AtomicType
from paimon_explore.encoding.binary_row.decoder import decode_rows
from paimon_explore.errors import FormatError, UnsupportedFeatureError
from paimon_explore.inspection.history.file_history import partition_type
from paimon_explore.inspection.history.file_lifetimes import FileLifetimes
from paimon_explore.inspection.partition_condition import equality, partition_tests
from paimon_explore.inspection.rendering.partition_text import binary_column
from paimon_explore.inspection.views.inspector import Inspector
from paimon_explore.metadata.schema.table_schema import TableSchema
from paimon_explore.scan.manifest_arrays import numbers
from paimon_explore.scan.predicate.builder import col
from paimon_explore.scan.predicate.expression import Column, Compare, CompareOp, IsNull
from paimon_explore.scan.predicate.literals import value_at
from paimon_explore.scan.predicate.sql_formatter import to_sql

_MAX_LENGTH = 200
"""Longer examples are omitted: they cannot be read in an input field."""

Tests = tuple[Compare | IsNull, ...]


def example_inputs(inspector: Inspector) -> Mapping[str, str]:
    """An example input for each view, by the name of its tab; reads no files.

    `files` is a condition for the list of files. A view without an example is absent, for instance
    if the files of the snapshot have not been read.
    """
    found = {"expiry": "retain_max=5, older_than=1 d", **_conditions(inspector)}
    before = _before(inspector)
    if before:
        found["diff"] = str(before)
    return {name: text for name, text in found.items() if 0 < len(text) <= _MAX_LENGTH}


def _before(inspector: Inspector) -> int:
    marks = inspector.timeline().marks
    ids = [mark.snapshot_id for mark in marks if mark.snapshot_id < inspector.snapshot_id]
    return ids[-1] if ids else 0


def _conditions(inspector: Inspector) -> Mapping[str, str]:
    schema = inspector.view.schema
    if schema is None:
        return {"files": "level = 0"}
    lifetimes = inspector.known_files()
    row = None if lifetimes is None else _first_live(inspector, lifetimes)
    if lifetimes is None or row is None:
        column = next((field.name for field in schema.fields), "")
        where = to_sql((~col(column).is_null()).expression) if column else ""
        return {"files": "level = 0", "explain": where}
    text = lifetimes.partitions.texts[int(lifetimes.partitions.codes[row])]
    partition = partition_tests(lifetimes.partitions, partition_type(inspector.view), text)
    key = _key_tests(inspector, lifetimes, row)
    bucket = int(numbers(lifetimes.files, "bucket")[row])
    found = {
        "files": " and ".join([*map(to_sql, partition), "level = 0"]),
        "explain": _where(schema, partition, key),
        "lsm": f"{text}, bucket {bucket}" if text else f"bucket {bucket}",
        "why": str(lifetimes.files.column("file_name")[row].as_py()),
    }
    if key:
        own = [test for test in partition if _name(test) in schema.primary_keys]
        found["key"] = ", ".join(to_sql(test) for test in (*own, *key))
    return found


def _first_live(inspector: Inspector, lifetimes: FileLifetimes) -> int | None:
    rows = lifetimes.live_at(inspector.timeline().position_of(inspector.snapshot_id))
    return int(rows[0]) if len(rows) else None


def _where(schema: TableSchema, partition: Tests, key: Tests) -> str:
    """A condition on the partition and on a range of the first key column."""
    ranges = [replace(test, op=CompareOp.GE) for test in key[:1] if isinstance(test, Compare)]
    tests = [to_sql(test) for test in (*partition, *ranges)]
    if not tests and schema.fields:
        tests = [to_sql((~col(schema.fields[0].name).is_null()).expression)]
    return " and ".join(tests)


def _name(test: Compare | IsNull) -> str:
    column = test.left if isinstance(test, Compare) else test.operand
    return column.path[0] if isinstance(column, Column) else ""


def _key_tests(inspector: Inspector, lifetimes: FileLifetimes, row: int) -> Tests:
    """Equalities with the minimum key of a file; none if it cannot be decoded."""
    keys = inspector.keys
    if not keys.fields:
        return ()
    binary = binary_column(lifetimes.files, "min_key").slice(row, 1)
    try:
        columns = decode_rows(binary, [field.type for field in keys], where="_MIN_KEY")
    except (FormatError, UnsupportedFeatureError):
        return ()  # views of the file tell why
    return tuple(
        equality(field.name, value_at(values, 0, field.type), field.type)
        for field, values in zip(keys, columns, strict=True)
        if isinstance(field.type, AtomicType)
    )
