"""The tags of a branch."""

from functools import partial

from paimon_explore.errors import MissingFileError, NotFoundError, choices
from paimon_explore.fileio.concurrent_requests import at_once
from paimon_explore.fileio.file_io import FileIO
from paimon_explore.frozen_dataclass import dataclass
from paimon_explore.metadata.table_paths import TAG_PREFIX, TablePaths
from paimon_explore.metadata.tag import Tag, encode_tag, parse_tag
from paimon_explore.store.json_file_loader import (
    DEFAULT_READ_RETRY,
    ReadRetry,
    list_names,
    load_json,
)


@dataclass(frozen=True, slots=True)
class Tags:
    """The tag folder of one branch; its subfolder `tag-success-file` is ignored."""

    file_io: FileIO
    paths: TablePaths
    read_retry: ReadRetry = DEFAULT_READ_RETRY

    def names(self) -> list[str]:
        """Return all tag names, sorted."""
        return list_names(self.file_io, self.paths.tag_dir, TAG_PREFIX)

    def find(self, name: str) -> Tag | None:
        """Return a tag, or None if it does not exist."""
        try:
            return load_json(self.file_io, self.paths.tag(name), parse_tag, self.read_retry)
        except MissingFileError:
            return None

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

    def list(self) -> list[Tag]:
        """Return all tags, sorted by snapshot id and name."""
        reads = [partial(self.find, name) for name in self.names()]
        found = [tag for tag in at_once(self.file_io, reads) if tag is not None]
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
