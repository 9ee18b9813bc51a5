"""MERGE INTO: the entry point that returns commit messages."""

from collections.abc import Sequence

from paimon_explore.errors import InvalidInputError
from paimon_explore.frozen_dataclass import dataclass
from paimon_explore.maintenance.row_level.joined_row import SOURCE, TARGET, Sides
from paimon_explore.maintenance.row_level.merge_clauses import Clause, MergeChange
from paimon_explore.maintenance.row_level.merge_join import MergeJoin, On
from paimon_explore.maintenance.row_level.merge_source import source_rows
from paimon_explore.maintenance.row_level.supported_operations import (
    check_delete,
    check_insert,
    check_update,
)
from paimon_explore.maintenance.row_level.update_delete import (
    RowLevelResult,
    readable_row_type,
    run_change,
    scan_of,
)
from paimon_explore.metadata.options.table_options import TableOptions
from paimon_explore.metadata.schema.table_schema import TableSchema
from paimon_explore.store.table_store import TableStore
from paimon_explore.write.input.table_batches import Rows


@dataclass(frozen=True, slots=True, kw_only=True)
class MergeSpec:
    """A merge as passed by the caller.

    Attributes:
        source: the rows to merge into the table.
        on: the condition under which a table row and a source row match.
        clauses: the clauses in order of precedence.
        source_alias, target_alias: other names of `source` and `target` in expressions.
    """

    source: Rows
    on: On
    clauses: Sequence[Clause] = ()
    source_alias: str | None = None
    target_alias: str | None = None


def merge_rows(
    store: TableStore, schema: TableSchema, options: TableOptions, spec: MergeSpec
) -> RowLevelResult:
    """Merge rows into a table, without committing them.

    Args:
        store: the table.
        schema: the latest schema.
        options: effective options.
        spec: the merge.

    Raises:
        InvalidInputError: there are no clauses, a clause or condition is invalid, several source
            rows update the same row, a value does not fit, or the merge engine does not support
            the operation.
        UnsupportedFeatureError: the table uses a feature that merges do not support.
    """
    if not spec.clauses:
        raise InvalidInputError(
            "The merge has no clauses.",
            hint="Add a clause, such as when_matched_update(...) or when_not_matched_insert(...).",
        )
    scan = scan_of(store, schema, options)
    source_type, rows = source_rows(spec.source, schema.row_type)
    names = _names(spec)
    sides = Sides(
        target=readable_row_type(schema, options),
        assigned=schema.row_type,
        source=source_type,
        names=names,
    )
    change = MergeChange(sides, rows, MergeJoin(spec.on, sides, rows), spec.clauses)
    if change.updated:
        check_update(schema, options, change.updated)
    if change.deletes:
        check_delete(schema, options)
    if change.inserts:
        check_insert(schema)
    return run_change(scan, change, change.new_rows if change.inserts else None)


def _names(spec: MergeSpec) -> dict[str, str]:
    """Map the names of both sides in expressions to the sides."""
    names = {TARGET: TARGET, SOURCE: SOURCE}
    for alias, side in ((spec.target_alias or "t", TARGET), (spec.source_alias or "s", SOURCE)):
        if not alias.isidentifier():
            raise InvalidInputError(f"Alias {alias!r} of the {side} is not a valid identifier.")
        if names.setdefault(alias.lower(), side) != side:
            raise InvalidInputError(f"The target and the source have the same alias {alias!r}.")
    return names
