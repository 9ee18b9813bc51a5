"""Schema changes made visible: `schema-N+1` is created, or the change is made anew on a newer one.

A schema file appears whole or not at all, and only under a free number. Whoever loses the number
reads the schema that took it and applies its changes to that, so that the rules are checked against
what is there.

Spec: concepts/schema evolution; concepts/spec/schema.
"""

from collections.abc import Callable, Sequence

from paimon_explore.commit.backoff import system_clock
from paimon_explore.errors import CommitError, InvalidInputError, NotFoundError, StorageError
from paimon_explore.maintenance.stored_value_check import check_values_fit
from paimon_explore.metadata.schema.alter_schema import apply_changes
from paimon_explore.metadata.schema.schema_change import SchemaChange
from paimon_explore.metadata.schema.table_schema import TableSchema
from paimon_explore.store.table_store import TableStore

_MOST_TRIES = 100


def alter_schema(
    store: TableStore,
    changes: Sequence[SchemaChange],
    *,
    check: bool = True,
    clock: Callable[[], int] = system_clock,
) -> TableSchema:
    """Apply changes to a branch's newest schema, all or none.

    Args:
        store: the table and branch.
        changes: what to change, in order.
        check: refuse new types of columns that stored values do not fit; see `schema_fit`.
        clock: epoch milliseconds.

    Returns:
        The schema that is in force now.

    Raises:
        InvalidInputError: no change is given, a rule forbids one, or stored values do not fit.
        NotFoundError: there is no table, or a change names a column that does not exist.
        AlreadyExistsError: a new name is taken.
        CommitError: others were faster each time.
        StorageError: the file could not be written; the schema is as before.
    """
    if not changes:
        raise InvalidInputError("alter() needs at least one change.")
    for _ in range(_MOST_TRIES):
        before = store.schemas.latest()
        if before is None:
            raise NotFoundError("table", store.paths.branch_root)
        has_snapshots = store.snapshots.latest_id() is not None
        after = apply_changes(before, changes, has_snapshots=has_snapshots, time_millis=clock())
        if check:
            check_values_fit(store, before, after)
        if _create(store, after):
            return after
    raise CommitError(
        f"The schema change gave up after {_MOST_TRIES} attempts: others were faster each time."
    )


def _create(store: TableStore, schema: TableSchema) -> bool:
    """Make the schema visible; a lost reply is cleared up by looking."""
    try:
        return store.schemas.create(schema)
    except StorageError:
        if schema.id in store.schemas.ids() and store.schemas.load(schema.id) == schema:
            return True
        raise
