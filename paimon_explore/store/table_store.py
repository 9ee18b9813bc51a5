"""All folders of one table and branch behind one value."""

from typing import TYPE_CHECKING

from paimon_explore.fileio.file_io import FileIO
from paimon_explore.frozen_dataclass import dataclass
from paimon_explore.metadata.table_paths import TablePaths
from paimon_explore.store.json_files import PATIENT, Patience
from paimon_explore.store.manifests import Manifests
from paimon_explore.store.schemas import Schemas
from paimon_explore.store.snapshots import Changelogs, Snapshots

if TYPE_CHECKING:
    from paimon_explore.store.branches import Branches
    from paimon_explore.store.consumers import Consumers
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
    def tags(self) -> "Tags":
        """The branch's tags."""
        from paimon_explore.store.tags import Tags  # noqa: PLC0415 - few need them

        return Tags(self.file_io, self.paths, self.patience)

    @property
    def consumers(self) -> "Consumers":
        """The branch's consumers."""
        from paimon_explore.store.consumers import Consumers  # noqa: PLC0415 - few need them

        return Consumers(self.file_io, self.paths, self.patience)

    @property
    def branches(self) -> "Branches":
        """The table's branches beside main."""
        from paimon_explore.store.branches import Branches  # noqa: PLC0415 - few need them

        return Branches(self.file_io, self.paths)

    @property
    def manifests(self) -> Manifests:
        """The table's manifests."""
        return Manifests(self.file_io, self.paths)

    @property
    def statistics(self) -> "StatisticsFiles":
        """The table's statistics files."""
        from paimon_explore.store.statistics_files import StatisticsFiles  # noqa: PLC0415 - few need them

        return StatisticsFiles(self.file_io, self.paths, self.patience)
