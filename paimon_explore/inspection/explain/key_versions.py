"""Reads all records of one key from the files whose key range contains it.

Resolves the key arguments of the API: a value, a sequence, a dict, or `id = 3, dt = 'd1'`.
"""

import re
from collections.abc import Mapping, Sequence

import numpy as np
import pyarrow as pa

from paimon_explore.data_types.arrow_buffers import Ints
from paimon_explore.data_types.definitions import NUMBERS, AtomicType, TypeRoot
from paimon_explore.data_types.traversal import is_root
from paimon_explore.encoding.binary_row.decoder import decode_rows
from paimon_explore.errors import InvalidInputError, PaimonError, UnsupportedFeatureError, choices
from paimon_explore.frozen_dataclass import dataclass
from paimon_explore.inspection.history.file_history import FileLifetimes
from paimon_explore.inspection.problem import Problem, problem_of
from paimon_explore.inspection.rendering.number_format import plural
from paimon_explore.inspection.rendering.value_text import binary_column
from paimon_explore.inspection.rows.record_status import SYSTEM, stored_schema
from paimon_explore.merge.keys.key_groups import ranks
from paimon_explore.metadata.manifest.manifest_entry import ManifestEntries
from paimon_explore.metadata.manifest.manifest_table import take_rows
from paimon_explore.metadata.schema.table_schema import TableSchema
from paimon_explore.read.batch_filter import filter_batches
from paimon_explore.read.data_file import ReadRequest, read_data_file
from paimon_explore.read.split_reader import SplitFile, SplitReader
from paimon_explore.scan.live_entries import PartitionFilter
from paimon_explore.scan.plan import ScanTarget
from paimon_explore.scan.predicate.binder import bind
from paimon_explore.scan.predicate.builder import Term, col, expression_of
from paimon_explore.scan.predicate.expression import (
    Column,
    Compare,
    CompareOp,
    Expression,
    IsNull,
    Literal,
    conjunction,
    conjuncts,
)
from paimon_explore.scan.predicate.literals import values_array
from paimon_explore.scan.predicate.predicate_split import split as split_predicate
from paimon_explore.scan.predicate.sql_formatter import to_sql
from paimon_explore.scan.predicate.sql_parser import parse_where
from paimon_explore.scan.pruning.bucket_pruning import bucket_mask
from paimon_explore.scan.splits.data_split import KnownPaths, LocatedFiles, Splits
from paimon_explore.scan.splits.file_locations import data_file_paths

_COMMA = re.compile(r",(?=(?:[^']*'[^']*')*[^']*$)")
"""Matches a comma outside of quotes."""
_UNQUOTED = NUMBERS | {TypeRoot.BOOLEAN}
"""The types whose values SQL writes without quotes."""
_NUMBER = re.compile(r"\s*([-+]?\.?\d[\d.e+-]*|true|false)\s*", re.IGNORECASE)
"""Matches a number, or a truth value."""
_IS_NULL = re.compile(r"\sis\s+null\s*$", re.IGNORECASE)


@dataclass(frozen=True, slots=True, kw_only=True)
class KeyArgument:
    """A primary key value of a table.

    Attributes:
        values: by column of the primary key, with its type; partition columns may be absent.
        predicate: matches the rows with the key.
    """

    values: Mapping[str, Literal]
    predicate: Expression

    @property
    def text(self) -> str:
        """The key as SQL."""
        return to_sql(self.predicate)


def resolve_key(given: object, schema: TableSchema) -> KeyArgument:
    """Resolve a key argument.

    Args:
        given: a mapping, a sequence in key order, a single value, or equalities as SQL text or
            expressions.
        schema: schema of a table with a primary key.

    Raises:
        UnsupportedFeatureError: the table has no primary key.
        InvalidInputError: the key is incomplete, or a value does not match the type of its column.
    """
    if not schema.primary_keys:
        raise UnsupportedFeatureError("The key history of a table without primary key")
    predicate = bind(_expression(given, schema), schema.row_type)
    values: dict[str, Literal] = {}
    for part in conjuncts(predicate):
        match part:
            case Compare(op=CompareOp.EQ, left=Column(path=(name,)), right=Literal() as value):
                values[name] = value
            case IsNull(operand=Column(path=(name,))):
                values[name] = Literal(value=None, type=None)
            case Literal():
                raise _refused("the types of the key columns have no such value", schema)
            case _:
                raise _refused(f"{to_sql(part)} is not an equality of a column and a value", schema)
    other = [name for name in values if name not in schema.primary_keys]
    if other:
        raise _refused(f"the primary key has no column {choices(other)}", schema)
    missing = [name for name in schema.trimmed_primary_keys if name not in values]
    if missing:
        raise _refused(f"the key has no value for {choices(missing)}", schema)
    return KeyArgument(values=values, predicate=predicate)


def _expression(given: object, schema: TableSchema) -> Expression:
    if isinstance(given, Term | Expression):
        return expression_of(given)
    match given:
        case Mapping():
            pairs = list(given.items())
        case str() if "=" in given or _IS_NULL.search(given):
            parts = [part for part in _COMMA.split(given) if part.strip()]
            return conjunction([parse_where(part) for part in parts])
        case Sequence() if not isinstance(given, str | bytes):
            pairs = list(zip(_names(len(given), schema), given, strict=True))
        case str() if _NUMBER.fullmatch(given) and _is_unquoted(schema):
            column = to_sql(col(_names(1, schema)[0]).expression)
            return parse_where(f"{column} = {given}")
        case _:
            pairs = list(zip(_names(1, schema), [given], strict=True))
    return conjunction([_equal(str(name), value) for name, value in pairs])


def _is_unquoted(schema: TableSchema) -> bool:
    """Whether SQL writes the values of the only key column without quotes."""
    return is_root(schema.project(_names(1, schema)).fields[0].type, *_UNQUOTED)


def _equal(name: str, value: object) -> Expression:
    """Match a value of a key column, null included."""
    return (col(name).is_null() if value is None else col(name) == value).expression


def _names(count: int, schema: TableSchema) -> tuple[str, ...]:
    for names in (schema.primary_keys, schema.trimmed_primary_keys):
        if len(names) == count:
            return names
    raise _refused(
        f"the key has {plural(count, 'value')}, but must have {len(schema.primary_keys)}", schema
    )


def _refused(what: str, schema: TableSchema) -> InvalidInputError:
    keys = ", ".join(schema.primary_keys)
    hint = f"The primary key is {keys}; write {schema.primary_keys[0]} = …, or pass a dict."
    return InvalidInputError(f"Invalid key: {what}.", hint=hint)


def candidate_files(lifetimes: FileLifetimes, key: KeyArgument, target: ScanTarget) -> Ints:
    """Row numbers of `lifetimes` whose partition and key range may contain a key."""
    rows = np.arange(len(lifetimes))
    schema = target.schema
    pushed = split_predicate(key.predicate, schema.partition_keys).pushed
    if schema.partition_keys:
        partition_filter = PartitionFilter(row_type=schema.partition_type, predicate=pushed)
        rows = rows[partition_filter.entry_mask(binary_column(lifetimes.files, "partition"))]
    fields = schema.project(schema.trimmed_primary_keys)
    if not len(rows) or not len(fields):
        return rows
    types = [field.type for field in fields]
    files = take_rows(lifetimes.files, rows)
    lows, highs = (
        decode_rows(binary_column(files, name), types, where=name)
        for name in ("min_key", "max_key")
    )
    key_values = [
        values_array([key.values[field.name].value], field.type)
        for field in fields
        if isinstance(field.type, AtomicType)
    ]
    columns = [
        pa.concat_arrays([low, high, one.cast(low.type)])
        for low, high, one in zip(lows, highs, key_values, strict=True)
    ]
    count = len(rows)
    positions = ranks(columns, count=2 * count + 1)
    here = positions[-1]
    kept: Ints = rows[(positions[:count] <= here) & (positions[count:-1] >= here)]
    return kept


def read_versions(
    target: ScanTarget, lifetimes: FileLifetimes, rows: Ints, key: KeyArgument
) -> tuple[dict[str, pa.Table], list[Problem]]:
    """The records of a key by file name, and the errors of unreadable files.

    Args:
        target: gives the read schema.
        lifetimes: all files.
        rows: row numbers of the files that may contain the key.
        key: the key.

    Returns:
        For each file its records, with the columns of the table and those of `SYSTEM`.
    """
    reader = SplitReader(
        target=target, columns=target.schema.row_type.names, predicate=key.predicate
    )
    found: dict[str, pa.Table] = {}
    problems: list[Problem] = []
    for row in rows.tolist():
        name = str(lifetimes.files.column("file_name")[row].as_py())
        if name in found:
            continue
        try:
            manifest = str(lifetimes.files.column("manifest")[row].as_py())
            entries = target.store.manifests.read(manifest)
            entry = entries.slice(int(lifetimes.files.column("entry")[row].as_py()), 1)
            if bucket_mask(entry, target.schema, target.options, key.predicate).all():
                found[name] = _in_file(reader, entry)
        except PaimonError as error:
            problems.append(problem_of(error))
    return found, problems


def _in_file(reader: SplitReader, entry: ManifestEntries) -> pa.Table:
    target = reader.target
    paths = data_file_paths(entry, target.schema, target.options, target.store.paths)
    placed = LocatedFiles(
        entries=entry,
        paths_of=KnownPaths(paths),
        deletion_files={},
        snapshot_id=None,
        branch=target.store.paths.branch,
    )
    file = SplitFile(split=Splits.one(placed, raw=False), row=0, reader=reader)
    request = ReadRequest(
        fields=reader.fields, system_columns=SYSTEM, from_keys=True, predicate=reader.predicate
    )
    schema = stored_schema(target.schema.row_type)
    batches = read_data_file(file.source(), request)
    found = filter_batches(batches, reader.predicate, target.schema.row_type, schema.names)
    return pa.Table.from_batches(reader.with_contents(found), schema)
