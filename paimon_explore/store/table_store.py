"""All folders of one table and branch behind one value."""

from dataclasses import dataclass

from paimon_explore.fileio.file_io import FileIO
from paimon_explore.metadata.paths import TablePaths
from paimon_explore.store.branches import Branches
from paimon_explore.store.consumers import Consumers
from paimon_explore.store.json_files import PATIENT, Patience
from paimon_explore.store.manifests import Manifests
from paimon_explore.store.schemas import Schemas
from paimon_explore.store.snapshots import Changelogs, Snapshots
from paimon_explore.store.statistics_files import StatisticsFiles
from paimon_explore.store.tags import Tags


@dataclass(frozen=True, slots=True)
class TableStore:
    """The files of a table as one branch sees them; pickles when its `FileIO` does.

    Attributes:
        file_io: the storage.
        paths: where the files lie.
        patience: how long to wait for files in the making.
    """

    file_io: FileIO
    paths: TablePaths
    patience: Patience = PATIENT

    def for_branch(self, branch: str) -> "TableStore":
        """The same table as another branch sees it."""
        return TableStore(self.file_io, self.paths.for_branch(branch), self.patience)

    @property
    def snapshots(self) -> Snapshots:
        """The branch's snapshots."""
        return Snapshots(self.file_io, self.paths, self.patience)

    @property
    def changelogs(self) -> Changelogs:
        """The branch's long-lived changelogs."""
        return Changelogs(self.file_io, self.paths, self.patience)

    @property
    def schemas(self) -> Schemas:
        """The branch's schemas."""
        return Schemas(self.file_io, self.paths, self.patience)

    @property
    def tags(self) -> Tags:
        """The branch's tags."""
        return Tags(self.file_io, self.paths, self.patience)

    @property
    def consumers(self) -> Consumers:
        """The branch's consumers."""
        return Consumers(self.file_io, self.paths, self.patience)

    @property
    def branches(self) -> Branches:
        """The table's branches beside main."""
        return Branches(self.file_io, self.paths)

    @property
    def manifests(self) -> Manifests:
        """The table's manifests."""
        return Manifests(self.file_io, self.paths)

    @property
    def statistics(self) -> StatisticsFiles:
        """The table's statistics files."""
        return StatisticsFiles(self.file_io, self.paths, self.patience)
