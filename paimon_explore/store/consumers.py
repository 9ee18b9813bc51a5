"""The consumers (named streaming readers) of a branch."""

from functools import partial

from paimon_explore.errors import MissingFileError
from paimon_explore.fileio.concurrent_requests import at_once
from paimon_explore.fileio.file_io import FileIO
from paimon_explore.frozen_dataclass import dataclass
from paimon_explore.metadata.consumer import Consumer, encode_consumer, parse_consumer
from paimon_explore.metadata.table_paths import CONSUMER_PREFIX, TablePaths
from paimon_explore.store.json_file_loader import (
    DEFAULT_READ_RETRY,
    ReadRetry,
    list_names,
    load_json,
)


@dataclass(frozen=True, slots=True)
class Consumers:
    """The consumer folder of one branch."""

    file_io: FileIO
    paths: TablePaths
    read_retry: ReadRetry = DEFAULT_READ_RETRY

    def ids(self) -> list[str]:
        """Return all consumer ids, sorted."""
        return list_names(self.file_io, self.paths.consumer_dir, CONSUMER_PREFIX)

    def find(self, consumer_id: str) -> Consumer | None:
        """Return the progress of a consumer, or None if it does not exist."""
        path = self.paths.consumer(consumer_id)
        try:
            return load_json(self.file_io, path, parse_consumer, self.read_retry)
        except MissingFileError:
            return None

    def list(self) -> dict[str, Consumer]:
        """Return all consumers by id."""
        ids = self.ids()
        found = at_once(self.file_io, [partial(self.find, name) for name in ids])
        return {name: one for name, one in zip(ids, found, strict=True) if one is not None}

    def min_next_snapshot(self) -> int | None:
        """Return the earliest snapshot that a consumer still has to read; None if no consumers."""
        return min((c.next_snapshot for c in self.list().values()), default=None)

    def modified_ms(self, consumer_id: str) -> int:
        """Return the time of the consumer's last progress, milliseconds since 1970 UTC."""
        return self.file_io.status(self.paths.consumer(consumer_id)).modified_ms

    def save(self, consumer_id: str, consumer: Consumer) -> None:
        """Write the progress of a consumer."""
        self.file_io.replace(self.paths.consumer(consumer_id), encode_consumer(consumer))

    def delete(self, consumer_id: str) -> None:
        """Delete a consumer, if it exists."""
        self.file_io.delete(self.paths.consumer(consumer_id))
