"""Operations that are planned again on the latest snapshot after a conflict with another commit.

A commit that adds files moves on to the next snapshot id by itself (`commit_retry`). One that
replaces files, or whose rows depend on others, is only right for the snapshot on which it was
planned. If another commit has replaced the same files, or an expiry has removed the snapshot, the
operation removes its files, waits with backoff, and is repeated as a whole, also with the latest
schema: rows of a newer schema would lose columns otherwise.

`commit.max-retries` and `commit.timeout` limit the repetitions. An operation is not repeated

- with `commit.strict-mode.last-safe-snapshot`, which refuses other commits since that snapshot;
- if the outcome of its commit is unknown (`CommitOutcomeUnknownError`), so that it may be applied.

Spec: concepts/concurrency-control; maintenance/configurations, `commit.*`.
"""

from collections.abc import Callable
from functools import wraps
from typing import Concatenate, ParamSpec, TypeAlias, TypeVar

from paimon_explore.commit.commit_timing import CommitRetryPolicy, Timing, commit_retry_policy
from paimon_explore.commit.strict_mode import last_safe_snapshot
from paimon_explore.errors import CommitConflictError, PaimonError, SnapshotExpiredError
from paimon_explore.metadata.options.table_options import TableOptions
from paimon_explore.metadata.schema.table_schema import TableSchema
from paimon_explore.metadata.snapshot import Snapshot
from paimon_explore.store.table_store import TableStore

Result = TypeVar("Result")
Given = ParamSpec("Given")
PlannedTable: TypeAlias = tuple[TableStore, TableSchema, TableOptions]
"""A table and branch, its latest schema, its effective options."""


def planned_again(
    act: Callable[Concatenate[TableStore, TableSchema, TableOptions, Given], Result],
) -> Callable[Concatenate[TableStore, TableSchema, TableOptions, Given], Result]:
    """Repeat the decorated operation, with the latest schema, while it conflicts with others.

    Args:
        act: plans and commits an operation on a table, once. It leaves no files if it raises.
    """

    @wraps(act)
    def run(
        store: TableStore,
        schema: TableSchema,
        options: TableOptions,
        /,
        *args: Given.args,
        **settings: Given.kwargs,
    ) -> Result:
        table = store, schema, options

        def attempt(retry: int) -> Result:
            return act(*(with_latest_schema(table) if retry else table), *args, **settings)

        return repeated(options, attempt)

    return run


def repeated_after_conflicts(
    act: Callable[Concatenate[TableStore, TableOptions, Given], Result],
) -> Callable[Concatenate[TableStore, TableOptions, Given], Result]:
    """Repeat the decorated operation, which reads the schema itself, as `planned_again` does."""

    @wraps(act)
    def run(
        store: TableStore, options: TableOptions, /, *args: Given.args, **settings: Given.kwargs
    ) -> Result:
        return repeated(options, lambda _: act(store, options, *args, **settings))

    return run


def repeated(
    options: TableOptions,
    attempt: Callable[[int], Result],
    *,
    policy: CommitRetryPolicy | None = None,
    timing: Timing | None = None,
) -> Result:
    """Repeat attempts of an operation while they conflict with other commits.

    Args:
        options: the effective options of the table.
        attempt: plans and commits the operation, given the number of earlier attempts. It leaves no
            files if it raises.
        policy: when to give up; by default that of the options.
        timing: clock, sleep and random numbers.

    Returns:
        What the attempt returns.

    Raises:
        CommitConflictError, SnapshotExpiredError: as the last attempt raises.
    """
    timing = timing or Timing()
    policy = policy or commit_retry_policy(options)
    is_strict = last_safe_snapshot(options) is not None
    started, retry = timing.clock(), 0
    while True:
        try:
            return attempt(retry)
        except (CommitConflictError, SnapshotExpiredError) as error:
            if is_strict or policy.is_over(retry, timing.clock() - started):
                if not retry:
                    raise
                raise _exhausted(error, retry + 1) from error
        timing.sleep(policy.wait_ms(retry, timing.chance()) / 1000)
        retry += 1


def _exhausted(error: PaimonError, attempts: int) -> PaimonError:
    """Return the error of the last of several attempts, with what to do."""
    return type(error)(
        f"{error.message} The operation was planned {attempts} times, and conflicted with other "
        "commits each time.",
        hint="Run it again, or increase 'commit.max-retries' or 'commit.timeout'.",
    )


def with_latest_schema(table: PlannedTable) -> PlannedTable:
    """Return the table with its latest schema; options that differed from the schema's remain."""
    store, schema, options = table
    latest = store.schemas.latest() or schema
    given = {key: value for key, value in options.items() if schema.options.get(key) != value}
    return store, latest, TableOptions({**latest.options, **given})


def snapshot_to_plan(store: TableStore, schema: TableSchema) -> Snapshot | None:
    """Return the latest snapshot, for an operation that writes its rows with a schema.

    Raises:
        CommitConflictError: the snapshot has a newer schema, whose columns the rows would lose.
    """
    snapshot = store.snapshots.latest()
    if snapshot is not None and snapshot.schema_id > schema.id:
        raise CommitConflictError(
            f"Snapshot {snapshot.id} has schema {snapshot.schema_id}, which is newer than schema "
            f"{schema.id} of the operation."
        )
    return snapshot
