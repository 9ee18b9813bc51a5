"""The latest schema of a branch, and the name of a table."""

from collections.abc import Callable, Mapping
from contextlib import suppress
from functools import partial

from paimon_explore.errors import NotFoundError, StorageError, choices
from paimon_explore.fileio.concurrent_requests import at_once, max_requests
from paimon_explore.fileio.paths import name as name_of
from paimon_explore.fileio.paths import parent
from paimon_explore.metadata.options.table_options import TableOptions
from paimon_explore.metadata.schema.table_schema import TableSchema
from paimon_explore.metadata.snapshot import Snapshot
from paimon_explore.metadata.table_paths import MAIN_BRANCH
from paimon_explore.scan.time_travel import NEWEST, TimeTravel, resolve
from paimon_explore.store.table_store import TableStore


def latest_schema(store: TableStore) -> TableSchema:
    """Load the latest schema.

    Raises:
        NotFoundError: the folder is not a table, or the table has no such branch.
    """
    schema = store.schemas.latest()
    if schema is not None:
        return schema
    if store.paths.branch != MAIN_BRANCH and store.for_branch(MAIN_BRANCH).schemas.ids():
        name, known = store.paths.branch, store.branches.names()
        hint = f"Branches: {choices(known)}."
        if name in known:
            hint = f"The creation or deletion of it was interrupted: delete_branch({name!r})."
        raise NotFoundError("branch", name, store.paths.root, hint=hint)

    from paimon_explore.table.path_hints import path_hint

    hint = path_hint(store.file_io, store.paths.root)
    raise NotFoundError("table", store.paths.root, hint=hint)


def latest_options(store: TableStore, dynamic_options: Mapping[str, str]) -> TableOptions:
    """Return the options of the latest schema, overridden by the dynamic ones."""
    schema = store.schemas.latest()
    stored = {} if schema is None else schema.options
    return TableOptions({**stored, **dynamic_options})


def schema_at_open(store: TableStore) -> TableSchema:
    """Load the latest schema of a table that is opened; see `latest_schema`.

    On a remote storage the hint of the latest snapshot is read at the same time: most tables are
    opened to be read.
    """
    if max_requests(store.file_io) < 2 or store.environment is not None:  # noqa: PLR2004 - at once
        return latest_schema(store)
    reads: list[Callable[[], TableSchema | None]]
    reads = [partial(latest_schema, store), partial(_expect_hinted, store)]
    schema, _ = at_once(store.file_io, reads)
    assert schema is not None  # noqa: S101 - the first read
    return schema


def _expect_hinted(store: TableStore) -> None:
    from paimon_explore.store.hinted_snapshot import expect_hinted

    with suppress(StorageError):  # the read of the snapshot will tell
        expect_hinted(store.snapshots)


def snapshot_and_schema(
    store: TableStore, travel: TimeTravel = NEWEST
) -> tuple[Snapshot | None, TableSchema]:
    """Load the snapshot that reads see and the latest schema, at the same time if possible.

    Raises:
        NotFoundError: as `latest_schema`; or there is no such snapshot.
    """
    snapshot: Callable[[], Snapshot | None] = partial(resolve, store, travel)
    schema: Callable[[], TableSchema] = partial(latest_schema, store)
    calls: list[Callable[[], Snapshot | TableSchema | None]] = [snapshot, schema]
    found, latest = at_once(store.file_io, calls)
    assert isinstance(latest, TableSchema)  # noqa: S101 - the second call
    return None if isinstance(found, TableSchema) else found, latest


def table_name(root: str, branch: str) -> str:
    """Return `database.table` of a folder `…/database.db/table`."""
    folder = name_of(parent(root))
    database = folder.removesuffix(".db") if folder.endswith(".db") else "unknown"
    suffix = "" if branch == MAIN_BRANCH else f"$branch_{branch}"
    return f"{database}.{name_of(root)}{suffix}"
