"""`TableStore`: access to all metadata files of one table and branch."""

from dataclasses import field, replace
from typing import TYPE_CHECKING, Protocol

from paimon_explore.fileio.file_io import FileIO
from paimon_explore.frozen_dataclass import dataclass
from paimon_explore.metadata.table_paths import TablePaths
from paimon_explore.store.json_file_loader import DEFAULT_READ_RETRY, ReadRetry
from paimon_explore.store.manifests import Manifests
from paimon_explore.store.schemas import Schemas
from paimon_explore.store.snapshots import Changelogs, Snapshots

if TYPE_CHECKING:
    from paimon_explore.metadata.options.table_options import TableOptions
    from paimon_explore.metadata.schema.table_schema import TableSchema
    from paimon_explore.store.catalog_environment import CatalogEnvironment, SiblingTables
    from paimon_explore.store.iceberg_catalog import OpenIcebergCatalog
    from paimon_explore.store.references import Branches, Consumers, StatisticsFiles, Tags


@dataclass(frozen=True, slots=True)
class TableStore:
    """The metadata files of one table and branch; can be pickled if its `FileIO` can.

    Attributes:
        file_io: the storage.
        paths: the paths of the files.
        read_retry: retries for files that may be incomplete.
        environment: the connection to the table's catalog; None for a table in a folder.
        siblings: the tables of the catalog, if BLOB columns refer to them.
        open_iceberg_catalog: opens the catalog in which Iceberg metadata is registered.
    """

    file_io: FileIO
    paths: TablePaths
    read_retry: ReadRetry = DEFAULT_READ_RETRY
    environment: "CatalogEnvironment | None" = None
    siblings: "SiblingTables | None" = field(default=None, repr=False, compare=False)
    open_iceberg_catalog: "OpenIcebergCatalog | None" = field(
        default=None, repr=False, compare=False
    )

    def for_branch(self, branch: str) -> "TableStore":
        """Return the store of another branch of the table."""
        return replace(self, paths=self.paths.for_branch(branch))

    @property
    def snapshots(self) -> Snapshots:
        """The branch's snapshots."""
        return Snapshots(self.file_io, self.paths, self.read_retry, self.environment)

    @property
    def changelogs(self) -> Changelogs:
        """The branch's long-lived changelogs."""
        return Changelogs(self.file_io, self.paths, self.read_retry)

    @property
    def schemas(self) -> Schemas:
        """The branch's schemas."""
        return Schemas(self.file_io, self.paths, self.read_retry, self.environment)

    @property
    def tags(self) -> "Tags":
        """The branch's tags."""
        from paimon_explore.store.references import Tags  # noqa: PLC0415 - rarely used

        return Tags(self.file_io, self.paths, self.read_retry)

    @property
    def consumers(self) -> "Consumers":
        """The branch's consumers."""
        from paimon_explore.store.references import Consumers  # noqa: PLC0415 - rarely used

        return Consumers(self.file_io, self.paths, self.read_retry)

    @property
    def branches(self) -> "Branches":
        """The table's branches except main."""
        from paimon_explore.store.references import Branches  # noqa: PLC0415 - rarely used

        return Branches(self.file_io, self.paths)

    @property
    def manifests(self) -> Manifests:
        """The table's manifests."""
        return Manifests(self.file_io, self.paths)

    @property
    def statistics(self) -> "StatisticsFiles":
        """The table's statistics files."""
        from paimon_explore.store.references import StatisticsFiles  # noqa: PLC0415 - rarely used

        return StatisticsFiles(self.file_io, self.paths, self.read_retry)


class StoredTable(Protocol):
    """A table with the schema and options of a read or write, such as a `ScanTarget`."""

    @property
    def store(self) -> TableStore:
        """The files of a branch; other branches are reached through it."""

    @property
    def schema(self) -> "TableSchema":
        """The reading schema."""

    @property
    def options(self) -> "TableOptions":
        """The table options overlaid with dynamic options."""
