"""The base of `Table`: its metadata files, its options and the point in time that reads see."""

from collections.abc import Mapping
from dataclasses import field

from paimon_explore.frozen_dataclass import dataclass
from paimon_explore.metadata.options.table_options import TableOptions
from paimon_explore.metadata.schema.table_schema import TableSchema
from paimon_explore.metadata.snapshot import Snapshot
from paimon_explore.scan.plan import ScanTarget
from paimon_explore.scan.time_travel import TimeTravel, pinned_options, resolve
from paimon_explore.store.table_store import TableStore
from paimon_explore.table import lazy_types as types
from paimon_explore.table.latest_schema import latest_schema, snapshot_and_schema


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class BaseTable:
    """A table at its latest snapshot or at a pinned one.

    Attributes:
        name: `database.table`, with `$branch_<name>` for another branch than main.
        store: the metadata files of the branch.
        dynamic_options: options of this object that override those of the schema.
        travel: the point in time that reads see; empty for the latest snapshot.
    """

    name: str
    store: TableStore
    dynamic_options: Mapping[str, str] = field(default_factory=dict)
    travel: TimeTravel = field(default_factory=TimeTravel)

    @property
    def path(self) -> str:
        """The table's folder."""
        return self.store.paths.root

    @property
    def branch(self) -> str:
        """The branch that is read and written."""
        return self.store.paths.branch

    @property
    def schema(self) -> TableSchema:
        """The schema that reads use: that of the pinned snapshot, else the latest."""
        return self._target().schema

    @property
    def options(self) -> TableOptions:
        """The table's options, dynamic ones included."""
        return TableOptions({**self.schema.options, **self.dynamic_options})

    @property
    def snapshot(self) -> Snapshot | None:
        """The snapshot that reads see; None for an empty table."""
        return resolve(self.store, self.travel)

    @property
    def snapshots(self) -> "types.Listing[int, Snapshot]":
        """The snapshots, by id."""
        from paimon_explore.table import references

        return references.snapshots(self.store)

    @property
    def schemas(self) -> "types.Listing[int, TableSchema]":
        """The schemas, by id."""
        from paimon_explore.table import references

        return references.schemas(self.store)

    @property
    def tags(self) -> "types.Listing[str, types.Tag]":
        """The tags, by name."""
        from paimon_explore.table import references

        return references.tags(self.store)

    @property
    def branches(self) -> "types.Listing[str, str]":
        """The names of the branches other than main."""
        from paimon_explore.table import references

        return references.branches(self.store)

    @property
    def consumers(self) -> "types.ConsumerListing":
        """The consumers, by id, with `reset` and `delete`."""
        from paimon_explore.table import references

        return references.consumers(self.store)

    def _target(self) -> ScanTarget:
        travelled = bool(self.travel.given)
        if travelled:
            snapshot, latest = self.snapshot, None
        else:
            snapshot, latest = snapshot_and_schema(self.store, self.travel)
        if latest is None and snapshot is not None:
            schema = self.store.schemas.load(snapshot.schema_id)
            options = pinned_options(self.store, schema)
        else:
            schema = latest_schema(self.store) if latest is None else latest
            options = dict(schema.options)
        return ScanTarget(
            store=self.store,
            schema=schema,
            options=TableOptions({**options, **self.dynamic_options}),
            snapshot=snapshot,
            travelled=travelled,
            travel=self.travel,
            branch=self.branch,
        )
