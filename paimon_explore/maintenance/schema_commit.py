"""Commits schema changes to a table: creates the file `schema-N+1`, with retries.

`metadata.schema.alter_schema` computes the new schema in memory. The schema file is created
atomically, only if it does not exist. If another change has created it, the changes are applied to
that schema again, so that the rules are checked against the latest schema.

Spec: concepts/schema evolution; concepts/spec/schema.
"""

from collections.abc import Callable, Sequence

from paimon_explore.commit.commit_timing import system_clock
from paimon_explore.errors import CommitError, InvalidInputError, NotFoundError, StorageError
from paimon_explore.maintenance.stored_value_check import check_values_fit
from paimon_explore.metadata.schema.alter_schema import apply_changes
from paimon_explore.metadata.schema.schema_change import SchemaChange
from paimon_explore.metadata.schema.table_schema import TableSchema
from paimon_explore.store.table_store import TableStore

_MAX_ATTEMPTS = 100


def alter_schema(
    store: TableStore,
    changes: Sequence[SchemaChange],
    *,
    check: bool = True,
    clock: Callable[[], int] = system_clock,
) -> TableSchema:
    """Apply changes to the latest schema of a branch, all or none.

    Args:
        store: the table and branch.
        changes: the changes in order.
        check: check that stored values fit new column types; see `stored_value_check`.
        clock: epoch milliseconds.

    Returns:
        The new schema.

    Raises:
        InvalidInputError: no change is given, a change is not allowed, or stored values do not fit.
        NotFoundError: the table or a column of a change does not exist.
        AlreadyExistsError: a new column name already exists.
        CommitError: the retries are exhausted because of concurrent schema changes.
        StorageError: the file could not be written; the schema is unchanged.
    """
    if not changes:
        raise InvalidInputError("alter() needs at least one change.")
    for _ in range(_MAX_ATTEMPTS):
        before = store.schemas.latest()
        if before is None:
            raise NotFoundError("table", store.paths.branch_root)
        has_snapshots = store.snapshots.latest_id() is not None
        after = apply_changes(before, changes, has_snapshots=has_snapshots, time_millis=clock())
        if check:
            check_values_fit(store, before, after)
        if store.environment is not None:
            owned = store.environment.alter_schema(store.paths.branch, changes)
            if owned is not None:
                return owned
        if create_schema(store, after):
            if store.environment is not None:
                store.environment.schema_changed(store.paths.branch, after)
            return after
    raise CommitError(
        f"The schema change failed after {_MAX_ATTEMPTS} attempts because of concurrent schema "
        "changes."
    )


def create_schema(store: TableStore, schema: TableSchema) -> bool:
    """Create the schema file; if the response was lost, check whether the file exists.

    Returns:
        Whether the file was created; False if there is another schema of that id.
    """
    try:
        return store.schemas.create(schema)
    except StorageError:
        if schema.id in store.schemas.ids() and store.schemas.load(schema.id) == schema:
            return True
        raise
