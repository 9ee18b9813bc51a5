"""The tags of a branch."""

from paimon_explore.errors import MissingFileError, NotFoundError, choices
from paimon_explore.fileio.file_io import FileIO
from paimon_explore.frozen_dataclass import dataclass
from paimon_explore.metadata.table_paths import TAG_PREFIX, TablePaths
from paimon_explore.metadata.tag import Tag, encode_tag, parse_tag
from paimon_explore.store.json_files import PATIENT, Patience, load_json, named


@dataclass(frozen=True, slots=True)
class Tags:
    """The tag folder of one branch. The folder `tag-success-file` in it is no tag."""

    file_io: FileIO
    paths: TablePaths
    patience: Patience = PATIENT

    def names(self) -> list[str]:
        """All tag names, in order."""
        return named(self.file_io, self.paths.tag_dir, TAG_PREFIX)

    def find(self, name: str) -> Tag | None:
        """One tag, None if it is not there."""
        try:
            return load_json(self.file_io, self.paths.tag(name), parse_tag, self.patience)
        except MissingFileError:
            return None

    def load(self, name: str) -> Tag:
        """One tag.

        Raises:
            NotFoundError: it is not there; the message lists the tags.
            CorruptFileError, UnsupportedVersionError: its file cannot be understood.
        """
        found = self.find(name)
        if found is None:
            hint = f"Tags: {choices(self.names())}."
            raise NotFoundError("tag", name, self.paths.root, hint=hint)
        return found

    def list(self) -> list[Tag]:
        """All tags, by snapshot and name."""
        found = [tag for tag in map(self.find, self.names()) if tag is not None]
        return sorted(found, key=lambda tag: (tag.snapshot.id, tag.name))

    def create(self, tag: Tag) -> bool:
        """Make a tag unless the name is taken."""
        return self.file_io.create(self.paths.tag(tag.name), encode_tag(tag))

    def replace(self, tag: Tag) -> None:
        """Write a tag whether or not it exists."""
        self.file_io.replace(self.paths.tag(tag.name), encode_tag(tag))

    def delete(self, name: str) -> None:
        """Remove a tag's file; not an error if it is gone."""
        self.file_io.delete(self.paths.tag(name))
