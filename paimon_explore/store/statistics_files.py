"""The statistics files of a table."""

from paimon_explore.fileio.file_io import FileIO
from paimon_explore.frozen_dataclass import dataclass
from paimon_explore.metadata.statistics_file import Statistics, encode_statistics, parse_statistics
from paimon_explore.metadata.table_paths import TablePaths
from paimon_explore.store.json_file_loader import DEFAULT_READ_RETRY, ReadRetry, load_json


@dataclass(frozen=True, slots=True)
class StatisticsFiles:
    """The statistics folder of a table."""

    file_io: FileIO
    paths: TablePaths
    read_retry: ReadRetry = DEFAULT_READ_RETRY

    def load(self, name: str) -> Statistics:
        """Return the statistics in a file.

        Raises:
            MissingFileError: the file does not exist.
            CorruptFileError: the file cannot be parsed.
        """
        path = self.paths.statistics(name)
        return load_json(self.file_io, path, parse_statistics, self.read_retry)

    def create(self, name: str, statistics: Statistics) -> bool:
        """Create a statistics file; False if it already exists."""
        return self.file_io.create(self.paths.statistics(name), encode_statistics(statistics))
