"""The named streaming readers of a branch."""

from paimon_explore.errors import MissingFileError
from paimon_explore.fileio.file_io import FileIO
from paimon_explore.frozen_dataclass import dataclass
from paimon_explore.metadata.consumer import Consumer, encode_consumer, parse_consumer
from paimon_explore.metadata.table_paths import CONSUMER_PREFIX, TablePaths
from paimon_explore.store.json_files import PATIENT, Patience, load_json, named


@dataclass(frozen=True, slots=True)
class Consumers:
    """The consumer folder of one branch."""

    file_io: FileIO
    paths: TablePaths
    patience: Patience = PATIENT

    def ids(self) -> list[str]:
        """All consumer ids, in order."""
        return named(self.file_io, self.paths.consumer_dir, CONSUMER_PREFIX)

    def find(self, consumer_id: str) -> Consumer | None:
        """One consumer's progress, None if it has none."""
        path = self.paths.consumer(consumer_id)
        try:
            return load_json(self.file_io, path, parse_consumer, self.patience)
        except MissingFileError:
            return None

    def list(self) -> dict[str, Consumer]:
        """All consumers by id."""
        found = {consumer_id: self.find(consumer_id) for consumer_id in self.ids()}
        return {name: consumer for name, consumer in found.items() if consumer is not None}

    def min_next_snapshot(self) -> int | None:
        """The oldest snapshot that some consumer still has to read; None without consumers."""
        return min((c.next_snapshot for c in self.list().values()), default=None)

    def modified_ms(self, consumer_id: str) -> int:
        """When the consumer last moved, milliseconds since 1970 UTC."""
        return self.file_io.status(self.paths.consumer(consumer_id)).modified_ms

    def save(self, consumer_id: str, consumer: Consumer) -> None:
        """Write a consumer's progress."""
        self.file_io.replace(self.paths.consumer(consumer_id), encode_consumer(consumer))

    def delete(self, consumer_id: str) -> None:
        """Remove a consumer; not an error if it is gone."""
        self.file_io.delete(self.paths.consumer(consumer_id))
