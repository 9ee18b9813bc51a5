"""Example inputs of the explorer's views: the table's own columns, partitions, keys and files."""

from collections.abc import Mapping
from dataclasses import replace

from paimon_explore.data_types.definitions import NUMBERS, TEXTS, AtomicType, DataField, TypeRoot
from paimon_explore.encoding.binary_row.decoder import decode_rows
from paimon_explore.errors import FormatError, PaimonError, UnsupportedFeatureError
from paimon_explore.inspection.history.file_history import FileLifetimes, partition_type
from paimon_explore.inspection.history.timeline import FlagKind
from paimon_explore.inspection.partition_argument import equality, partition_tests
from paimon_explore.inspection.rendering.value_text import binary_column
from paimon_explore.inspection.views.files_view import property_name
from paimon_explore.inspection.views.inspector import Inspector
from paimon_explore.metadata.schema.table_schema import TableSchema
from paimon_explore.scan.manifest_arrays import numbers
from paimon_explore.scan.predicate.binder import bind
from paimon_explore.scan.predicate.builder import col
from paimon_explore.scan.predicate.expression import Column, Compare, CompareOp, IsNull
from paimon_explore.scan.predicate.literals import value_at
from paimon_explore.scan.predicate.sql_formatter import to_sql
from paimon_explore.scan.predicate.sql_parser import predicate
from paimon_explore.scan.predicate.sql_tokenizer import quoted_name, quoted_text

_MAX_LENGTH = 200
"""Longer examples are omitted: they cannot be read in an input field."""

Tests = tuple[Compare | IsNull, ...]
_TYPICAL: Mapping[TypeRoot, str] = {
    **dict.fromkeys(NUMBERS, "0"),
    **dict.fromkeys(TEXTS, "a"),
    TypeRoot.DATE: "2026-01-01",
    TypeRoot.TIME: "12:00:00",
    TypeRoot.TIMESTAMP: "2026-01-01 00:00:00",
    TypeRoot.TIMESTAMP_LTZ: "2026-01-01 00:00:00",
}
"""A value of each type with an order, as text."""


def example_inputs(inspector: Inspector) -> Mapping[str, str]:
    """An example input for each view, by the name of its tab; reads at most one manifest.

    `files` is a condition for the list of files; `rows` and `profile` are conditions on rows;
    `partition` is a partition. A view without an example is absent, for instance if the files of
    the snapshot have not been read.
    """
    found = {"expiry": "retain_max=5, older_than=1 d", **_conditions(inspector)}
    found |= dict.fromkeys(("rows", "profile"), found.get("explain", ""))
    if found.get("partition"):
        found["what_if"] = f"compact partition = {quoted_text(found['partition'])}"
    point = example_point(inspector)
    if point:
        found["compare"] = f"with at = {quoted_text(point)}"
    before = _before(inspector)
    if before:
        found["diff"] = str(before)
    return {name: text for name, text in found.items() if 0 < len(text) <= _MAX_LENGTH}


def example_point(inspector: Inspector) -> str:
    """A tag, or else the first snapshot; empty for a table without snapshots."""
    timeline = inspector.timeline()
    tags = [flag.name for flag in timeline.flags if flag.kind is FlagKind.TAG]
    return (tags or [str(mark.snapshot_id) for mark in timeline.marks[:1]] or [""])[0]


def level_0(schema: TableSchema) -> str:
    """The condition that selects the files of level 0."""
    return f"{property_name('level', schema.partition_keys)} = 0"


def example_partition(inspector: Inspector) -> str:
    """A partition that has files, as `dt=d1/hr=3`; empty if none is known."""
    found = _first_live(inspector)
    return "" if found is None else _partition(*found)


def example_keys(inspector: Inspector, count: int) -> tuple[str, ...]:
    """Inputs of the view of a key: the minimum primary keys of some files.

    Raises:
        PaimonError: a manifest cannot be read.
    """
    schema = inspector.view.schema
    if schema is None or not inspector.snapshot_id:
        return ()
    lifetimes = inspector.current_files()
    rows = lifetimes.live_at(inspector.timeline().position_of(inspector.snapshot_id))
    found = (_key(inspector, schema, lifetimes, int(row)) for row in rows[:count])
    return tuple(dict.fromkeys(text for text in found if 0 < len(text) <= _MAX_LENGTH))


def _before(inspector: Inspector) -> int:
    marks = inspector.timeline().marks
    ids = [mark.snapshot_id for mark in marks if mark.snapshot_id < inspector.snapshot_id]
    return ids[-1] if ids else 0


def _conditions(inspector: Inspector) -> Mapping[str, str]:
    schema = inspector.view.schema
    if schema is None:
        return {"files": "level = 0"}
    found = _first_live(inspector)
    if found is None:
        return {"files": level_0(schema), "explain": example_condition(schema, {})}
    lifetimes, row = found
    text = _partition(lifetimes, row)
    partition = partition_tests(lifetimes.partitions, partition_type(inspector.view), text)
    tests = [*map(to_sql, partition), *_key_range(_key_tests(inspector, lifetimes, row))]
    bucket = int(numbers(lifetimes.files, "bucket")[row])
    return {
        "files": " and ".join([*map(to_sql, partition), level_0(schema)]),
        "explain": " and ".join(tests)
        or example_condition(schema, _minima(inspector, lifetimes, row)),
        "lsm": f"{text}, bucket {bucket}" if text else f"bucket {bucket}",
        "partition": text,
        "why": str(lifetimes.files.column("file_name")[row].as_py()),
        "key": _key(inspector, schema, lifetimes, row),
    }


def _partition(lifetimes: FileLifetimes, row: int) -> str:
    return lifetimes.partitions.texts[int(lifetimes.partitions.codes[row])]


def _minima(inspector: Inspector, lifetimes: FileLifetimes, row: int) -> Mapping[str, str]:
    """The minimum values of the columns in a file as text; none if it cannot be read."""
    try:
        bounds = inspector.file_of(lifetimes, row).bounds("Value bounds")
    except PaimonError:
        return {}  # views of the file tell why
    return {one.column: one.minimum for one in bounds if one.minimum is not None}


def _key(inspector: Inspector, schema: TableSchema, lifetimes: FileLifetimes, row: int) -> str:
    """The minimum primary key of a file as SQL equalities; empty if it cannot be decoded."""
    key = _key_tests(inspector, lifetimes, row)
    if not key:
        return ""
    text = _partition(lifetimes, row)
    partition = partition_tests(lifetimes.partitions, partition_type(inspector.view), text)
    own = [test for test in partition if _name(test) in schema.primary_keys]
    return ", ".join(to_sql(test) for test in (*own, *key))


def _first_live(inspector: Inspector) -> tuple[FileLifetimes, int] | None:
    """A file of the snapshot, with the list that has it; None if none is known."""
    lifetimes = inspector.known_files()
    if lifetimes is None:
        return None
    rows = lifetimes.live_at(inspector.timeline().position_of(inspector.snapshot_id))
    return (lifetimes, int(rows[0])) if len(rows) else None


def _key_range(key: Tests) -> list[str]:
    """A condition on a range of the first key column."""
    return [to_sql(replace(test, op=CompareOp.GE)) for test in key[:1] if isinstance(test, Compare)]


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


def example_condition(schema: TableSchema, minima: Mapping[str, str]) -> str:
    """A valid condition on a column of a table; empty for a table without columns.

    Args:
        schema: the schema.
        minima: known minimum values of columns as text; a typical value of the type is used if
            there is none.
    """
    names = (*schema.trimmed_primary_keys, *schema.partition_keys)
    fields = sorted(schema.fields, key=lambda field: field.name not in names)
    known = [(field, minima[field.name]) for field in fields if field.name in minima]
    for field, value in [*known, *((field, _typical(field)) for field in fields)]:
        found = _valid(schema, _range(field, value))
        if found:
            return found
    return to_sql((~col(fields[0].name).is_null()).expression) if fields else ""


def _typical(field: DataField) -> str:
    return _TYPICAL.get(field.type.root, "") if isinstance(field.type, AtomicType) else ""


def _range(field: DataField, value: str) -> str:
    """The condition that a column is at least a value given as text; empty if it has no order."""
    kind = field.type
    if not value or not isinstance(kind, AtomicType) or kind.root not in _TYPICAL:
        return ""
    literal = value
    if kind.root not in NUMBERS:
        word = "" if kind.root in TEXTS else f"{kind.root.value.partition(' ')[0]} "
        literal = f"{word}{quoted_text(value)}"
    return f"{quoted_name(field.name)} >= {literal}"


def _valid(schema: TableSchema, text: str) -> str:
    """The condition in normalized form; empty if it is not valid, or empty."""
    if not text:
        return ""
    try:
        found = predicate(text)
        bind(found, schema.row_type)
    except PaimonError:
        return ""
    return to_sql(found)
