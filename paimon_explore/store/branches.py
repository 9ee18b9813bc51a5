"""The branches of a table except main."""

from paimon_explore.fileio.file_io import FileIO
from paimon_explore.frozen_dataclass import dataclass
from paimon_explore.metadata.table_paths import BRANCH_PREFIX, TablePaths


@dataclass(frozen=True, slots=True)
class Branches:
    """The branch folder of a table."""

    file_io: FileIO
    paths: TablePaths

    def names(self) -> list[str]:
        """Return the names of all branches except main, sorted."""
        return [
            status.name.removeprefix(BRANCH_PREFIX)
            for status in self.file_io.list(self.paths.branches_dir)
            if status.is_folder and status.name.startswith(BRANCH_PREFIX)
        ]

    def exists(self, name: str) -> bool:
        """Return whether a branch other than main exists."""
        return self.file_io.exists(self.paths.branch_dir(name))

    def delete(self, name: str) -> None:
        """Delete the metadata of a branch; its data files remain."""
        self.file_io.delete_folder(self.paths.branch_dir(name))

    def rename(self, name: str, new_name: str) -> None:
        """Rename a branch."""
        self.file_io.rename_folder(self.paths.branch_dir(name), self.paths.branch_dir(new_name))
