"""The statistics files of a table."""

from paimon_explore.fileio.file_io import FileIO
from paimon_explore.frozen_dataclass import dataclass
from paimon_explore.metadata.statistics_file import Statistics, encode_statistics, parse_statistics
from paimon_explore.metadata.table_paths import TablePaths
from paimon_explore.store.json_files import PATIENT, Patience, load_json


@dataclass(frozen=True, slots=True)
class StatisticsFiles:
    """The statistics folder of a table."""

    file_io: FileIO
    paths: TablePaths
    patience: Patience = PATIENT

    def load(self, name: str) -> Statistics:
        """The statistics in a file that a snapshot names.

        Raises:
            MissingFileError: there is no such file.
            CorruptFileError: it cannot be understood.
        """
        path = self.paths.statistics(name)
        return load_json(self.file_io, path, parse_statistics, self.patience)

    def create(self, name: str, statistics: Statistics) -> bool:
        """Write a new statistics file."""
        return self.file_io.create(self.paths.statistics(name), encode_statistics(statistics))
