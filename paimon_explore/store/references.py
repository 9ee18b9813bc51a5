"""The tags of a branch.

The branches of a table except main.

The consumers (named streaming readers) of a branch.

The statistics files of a table.
"""

import builtins
from functools import partial

from paimon_explore.errors import NotFoundError, choices
from paimon_explore.fileio.concurrent_requests import at_once
from paimon_explore.fileio.file_io import FileIO
from paimon_explore.frozen_dataclass import dataclass
from paimon_explore.metadata.consumer import Consumer, encode_consumer, parse_consumer
from paimon_explore.metadata.statistics_file import Statistics, encode_statistics, parse_statistics
from paimon_explore.metadata.table_paths import (
    BRANCH_PREFIX,
    CONSUMER_PREFIX,
    TAG_PREFIX,
    TablePaths,
)
from paimon_explore.metadata.tag import Tag, encode_tag, parse_tag
from paimon_explore.store.json_file_loader import (
    StoredFiles,
    list_names,
    load_json,
)


@dataclass(frozen=True, slots=True)
class Tags(StoredFiles):
    """The tag folder of one branch; its subfolder `tag-success-file` is ignored."""

    def names(self) -> builtins.list[str]:
        """Return all tag names, sorted."""
        return list_names(self.file_io, self.paths.tag_dir, TAG_PREFIX)

    def find(self, name: str) -> Tag | None:
        """Return a tag, or None if it does not exist."""
        return self._found(self.paths.tag(name), parse_tag)

    def load(self, name: str) -> Tag:
        """Return a tag.

        Raises:
            NotFoundError: the tag does not exist; the message lists the tags.
            CorruptFileError, UnsupportedVersionError: the file cannot be parsed.
        """
        found = self.find(name)
        if found is None:
            hint = f"Tags: {choices(self.names())}."
            raise NotFoundError("tag", name, self.paths.root, hint=hint)
        return found

    def list(self) -> builtins.list[Tag]:
        """Return all tags, sorted by snapshot id and name.

        A tag that is renamed meanwhile is returned by its old or its new name.
        """
        names = self.names()
        while True:
            reads = [partial(self.find, name) for name in names]
            found = [tag for tag in at_once(self.file_io, reads) if tag is not None]
            if len(found) == len(names):
                break
            names, before = self.names(), names
            if names == before:
                break
        return sorted(found, key=lambda tag: (tag.snapshot.id, tag.name))

    def create(self, tag: Tag) -> bool:
        """Create a tag; False if its name already exists."""
        return self.file_io.create(self.paths.tag(tag.name), encode_tag(tag))

    def replace(self, tag: Tag) -> None:
        """Create or replace a tag."""
        self.file_io.replace(self.paths.tag(tag.name), encode_tag(tag))

    def delete(self, name: str) -> None:
        """Delete a tag's file, if it exists."""
        self.file_io.delete(self.paths.tag(name))


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


@dataclass(frozen=True, slots=True)
class Consumers(StoredFiles):
    """The consumer folder of one branch."""

    def ids(self) -> builtins.list[str]:
        """Return all consumer ids, sorted."""
        return list_names(self.file_io, self.paths.consumer_dir, CONSUMER_PREFIX)

    def find(self, consumer_id: str) -> Consumer | None:
        """Return the progress of a consumer, or None if it does not exist."""
        return self._found(self.paths.consumer(consumer_id), parse_consumer)

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
