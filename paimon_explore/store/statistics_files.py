"""The statistics files of a table."""

from paimon_explore.frozen_dataclass import dataclass
from paimon_explore.metadata.statistics_file import Statistics, encode_statistics, parse_statistics
from paimon_explore.store.json_file_loader import (
    StoredFiles,
    load_json,
)


@dataclass(frozen=True, slots=True)
class StatisticsFiles(StoredFiles):
    """The statistics folder of a table."""

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
