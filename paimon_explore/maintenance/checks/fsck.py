"""Integrity check of a table (fsck): the consistency of its files.

All branches are checked with their snapshots, tags and long-lived changelogs. All problems are
reported, including files that cannot be read.

The files of the table are listed once; files written or removed afterwards may be missed, so check
a table while nothing writes to it.

Spec: concepts/spec; the rules are those of the format, not of an implementation.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import field
from functools import partial
from itertools import chain, pairwise
from typing import TypeVar

from paimon_explore.data_types.field_ids import highest_field_id
from paimon_explore.errors import FormatError, NotFoundError, PaimonError, StorageError, choices
from paimon_explore.fileio.concurrent_requests import at_once
from paimon_explore.fileio.file_io import FileStatus
from paimon_explore.fileio.versioned_reads import CONTENTS
from paimon_explore.frozen_dataclass import dataclass
from paimon_explore.maintenance.checks.avro_cross_checks import AvroCrossChecks
from paimon_explore.maintenance.checks.data_file_checks import DataFiles
from paimon_explore.maintenance.checks.findings import Finding, FsckReport, Severity
from paimon_explore.maintenance.checks.snapshot_checks import Identity, StateChecks, identities
from paimon_explore.maintenance.expiry.reachable_files import in_batches
from paimon_explore.metadata.options.table_options import TableOptions
from paimon_explore.metadata.schema.table_schema import TableSchema
from paimon_explore.metadata.snapshot import Snapshot
from paimon_explore.metadata.table_paths import MAIN_BRANCH
from paimon_explore.store.manifests import Manifests, shared_cache
from paimon_explore.store.table_store import TableStore

_Key = TypeVar("_Key", int, str)
_Value = TypeVar("_Value")
CONTINUOUS = "snapshot ids have no gaps"
READABLE = "every file of the table can be read"
TOTALS = "totalRecordCount grows by deltaRecordCount"
SAME_STATE = "the base manifest list has the files of the previous snapshot"
HAS_SCHEMA = "every branch has a schema"
HIGHEST_ID = "highestFieldId is the maximum field id or greater"
ROW_IDS = "nextRowId never decreases"


def check_table(
    store: TableStore,
    options: TableOptions,
    *,
    read_rows: bool = False,
    cross_check_records: int | None = 100_000,
) -> FsckReport:
    """Check a table and return all broken rules.

    Args:
        store: the table.
        options: effective options.
        read_rows: whether to read every data file, which takes as long as reading the table.
        cross_check_records: number of records of manifest lists, manifests and index manifests to
            decode with fastavro as well and compare; 0 for none, None for all.

    Returns:
        The findings, and the amount of compared metadata; no findings for an intact table.

    Raises:
        NotFoundError: the table does not exist.
        StorageError: the table's directory cannot be listed.
    """
    if not store.for_branch(MAIN_BRANCH).schemas.ids():
        raise NotFoundError("table", store.paths.root)
    shared_cache().clear()  # files may have been damaged since this process read them
    CONTENTS.clear()
    present = {status.path: status for status in store.file_io.walk(store.paths.root)}
    seen: set[str] = set()
    avro = AvroCrossChecks(cross_check_records)

    def check(branch: str) -> list[Finding]:
        found = _Branch(
            store=store.for_branch(branch),
            options=options,
            present=present,
            read_rows=read_rows,
            seen=seen,
            avro=avro,
        )
        return [*found.findings()]

    calls = [partial(check, branch) for branch in [MAIN_BRANCH, *store.branches.names()]]
    # the rows of a branch need memory
    found = [call() for call in calls] if read_rows else at_once(store.file_io, calls)
    return avro.report(dict.fromkeys(chain.from_iterable(found)))


@dataclass(frozen=True, slots=True, kw_only=True)
class _Branch:
    """The checks of one branch.

    Attributes:
        store: the branch.
        options: the table's options.
        present: all files of the table, by path.
        read_rows: whether data files are read.
        seen: data files that have been read, shared by all branches.
        avro: collects the metadata files to compare, shared by all branches.
    """

    store: TableStore
    options: TableOptions
    present: Mapping[str, FileStatus]
    read_rows: bool
    seen: set[str]
    avro: AvroCrossChecks
    _schemas: dict[int, TableSchema] = field(default_factory=dict)

    def findings(self) -> Iterator[Finding]:
        yield from self._check_schemas()
        if not self._schemas:
            if not self.store.schemas.ids():
                yield Finding(
                    rule=HAS_SCHEMA,
                    path=self.store.paths.schema_dir,
                    what=f"branch {self.store.paths.branch!r} has no schema, because its creation "
                    "or deletion was interrupted; delete_branch() removes it",
                )
            return
        yield from self._check_ids()
        snapshots: list[Snapshot] = []
        store = self.store
        for snapshot_id, loaded in self._loaded(store.snapshots.ids(), store.snapshots.load):
            if isinstance(loaded, PaimonError):
                yield _unreadable(store.paths.snapshot(snapshot_id), loaded)
            else:
                snapshots.append(loaded)
        checks = self._checks()
        before: Snapshot | None = None
        for some in in_batches(snapshots):
            _read_ahead(store.manifests, some)
            for snapshot in some:
                yield from self._check_state(checks, snapshot, store.paths.snapshot(snapshot.id))
                if before is not None and before.id == snapshot.id - 1:
                    yield from self._check_step(checks, before, snapshot)
                before = snapshot
        yield from self._check_tags(checks, {one.state_files for one in snapshots})
        yield from self._check_changelogs(checks)

    def _loaded(
        self, keys: Sequence[_Key], load: Callable[[_Key], _Value]
    ) -> Iterator[tuple[_Key, _Value | PaimonError]]:
        """Load files by their keys; yields each with its value or error."""

        def attempt(key: _Key) -> _Value | PaimonError:
            try:
                return load(key)
            except PaimonError as error:
                return error

        found = at_once(self.store.file_io, [partial(attempt, key) for key in keys])
        return zip(keys, found, strict=True)

    def _check_schemas(self) -> Iterator[Finding]:
        for schema_id, schema in self._loaded(self.store.schemas.ids(), self.store.schemas.load):
            path = self.store.paths.schema(schema_id)
            if isinstance(schema, PaimonError):
                yield _unreadable(path, schema)
                continue
            self._schemas[schema_id] = schema
            highest = highest_field_id(schema.fields)
            if schema.highest_field_id < highest:
                yield Finding(
                    rule=HIGHEST_ID,
                    path=path,
                    what=f"highestFieldId is {schema.highest_field_id}, but a field has id "
                    f"{highest}",
                )

    def _check_ids(self) -> Iterator[Finding]:
        snapshots = self.store.snapshots
        latest = snapshots.latest_id()
        for earlier, later in pairwise(snapshots.all_ids()):
            if later != earlier + 1:
                what = f"snapshot {earlier} is followed by snapshot {later}"
                if latest is not None and later > latest:
                    what = f"{what}, which is not part of the history up to snapshot {latest}"
                yield Finding(rule=CONTINUOUS, path=self.store.paths.snapshot_dir, what=what)

    def _checks(self) -> StateChecks:
        data = DataFiles(
            store=self.store,
            options=self.options,
            present=self.present,
            schemas=self._schemas,
            seen=self.seen,
        )
        return StateChecks(
            store=self.store,
            options=self.options,
            schemas=self._schemas,
            data=data,
            read_rows=self.read_rows,
            avro=self.avro,
        )

    def _check_state(self, checks: StateChecks, snapshot: Snapshot, path: str) -> Iterator[Finding]:
        if snapshot.statistics is not None:
            yield from self._check_statistics(snapshot.statistics)
        parts = [checks.metadata, checks.files, checks.index, checks.primary_key_indexes]
        if path.startswith(self.store.paths.snapshot_dir):
            parts.append(checks.changelog)
        for check in parts:
            try:
                yield from check(snapshot, path)
            except (FormatError, StorageError, NotFoundError) as error:
                yield _unreadable(path, error)

    def _check_statistics(self, name: str) -> Iterator[Finding]:
        """Parse the statistics of ANALYZE, which snapshots share."""
        path = self.store.paths.statistics(name)
        if path in self.seen or path not in self.present:
            return
        self.seen.add(path)
        try:
            self.store.statistics.load(name)
        except FormatError as error:
            yield _unreadable(path, error)

    def _check_step(
        self, checks: StateChecks, before: Snapshot, after: Snapshot
    ) -> Iterator[Finding]:
        """Check the rules between a snapshot and the next one."""
        path = self.store.paths.snapshot(after.id)
        totals = (before.total_record_count, after.delta_record_count, after.total_record_count)
        old, delta, new = totals
        if old is not None and delta is not None and new is not None and old + delta != new:
            what = (
                f"totalRecordCount is {new}, but must be {old + delta}: {old} rows before "
                f"the commit, and a deltaRecordCount of {delta}"
            )
            yield Finding(rule=TOTALS, path=path, what=what)
        if (after.next_row_id or 0) < (before.next_row_id or 0):
            what = f"nextRowId decreases from {before.next_row_id} to {after.next_row_id}"
            yield Finding(rule=ROW_IDS, path=path, what=what)
        try:
            names = [self.store.manifests.all(before).names, self.store.manifests.base(after).names]
            if names[0] == names[1]:
                return
            states = [checks.state(one) for one in names]
            if states[0].files == states[1].files:
                return
            was, base = [identities(state.take(state.is_live)) for state in states]
        except (FormatError, StorageError):
            return  # reported by the checks of the states
        if was != base:
            what = _file_difference(was, base)
            yield Finding(rule=SAME_STATE, path=path, what=what)

    def _check_tags(
        self, checks: StateChecks, known: set[tuple[str | None, ...]]
    ) -> Iterator[Finding]:
        for name, tag in self._loaded(self.store.tags.names(), self.store.tags.load):
            path = self.store.paths.tag(name)
            if isinstance(tag, PaimonError):
                yield _unreadable(path, tag)
            elif tag.snapshot.state_files not in known:
                yield from self._check_state(checks, tag.snapshot, path)

    def _check_changelogs(self, checks: StateChecks) -> Iterator[Finding]:
        for number in self.store.changelogs.ids():
            path = self.store.paths.changelog(number)
            try:
                yield from checks.changelog(self.store.changelogs.load(number), path)
            except PaimonError as error:
                yield _unreadable(path, error)


def _file_difference(before: frozenset[Identity], base: frozenset[Identity]) -> str:
    """Return which files of the previous snapshot a base manifest list lacks or adds."""
    lacking, more = (
        [name for *_, name in sorted(files)] for files in (before - base, base - before)
    )
    found = [f"lacks {choices(lacking, limit=3)}"] if lacking else []
    if more:
        found.append(f"also has {choices(more, limit=3)}")
    return f"the base manifest list {' and '.join(found)}"


def _read_ahead(manifests: Manifests, snapshots: Sequence[Snapshot]) -> None:
    """Read lists and small manifests of snapshots together; the checks report unreadable ones."""
    changes = [
        name
        for one in snapshots
        for name in (one.delta_manifest_list, one.changelog_manifest_list)
        if name is not None
    ]
    with suppress(PaimonError):
        manifests.list_many([*{*changes, *(one.base_manifest_list for one in snapshots)}])
        manifests.decode_small_ahead(manifests.list_many(changes))


def _unreadable(path: str, error: PaimonError) -> Finding:
    return Finding(rule=READABLE, path=path, what=str(error), severity=Severity.ERROR)
