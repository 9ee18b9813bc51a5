"""The schemas of a branch."""

import builtins
from collections.abc import Iterable
from functools import partial
from typing import TYPE_CHECKING

from paimon_explore.errors import MissingFileError, NotFoundError, choices
from paimon_explore.fileio.concurrent_requests import at_once
from paimon_explore.fileio.file_io import FileStatus
from paimon_explore.frozen_dataclass import dataclass
from paimon_explore.metadata.schema.table_schema import TableSchema, encode_schema, parse_schema
from paimon_explore.metadata.table_paths import SCHEMA_PREFIX
from paimon_explore.store.json_file_loader import (
    StoredFiles,
    checked_id,
    create_file,
    list_numbered,
    list_numbers,
    load_listed_json,
)

if TYPE_CHECKING:
    from paimon_explore.store.catalog_environment import CatalogEnvironment


@dataclass(frozen=True, slots=True)
class Schemas(StoredFiles):
    """The schema folder of one branch."""

    environment: "CatalogEnvironment | None" = None

    def ids(self) -> builtins.list[int]:
        """Return the ids of all schemas, ascending."""
        return list_numbers(self.file_io, self.paths.schema_dir, SCHEMA_PREFIX)

    def first_modified_ms(self) -> int | None:
        """Return the modification time of the first schema, or None without schemas."""
        found = list_numbered(self.file_io, self.paths.schema_dir, SCHEMA_PREFIX)
        return found[0][1].modified_ms if found else None

    def latest(self) -> TableSchema | None:
        """Return the latest schema, or None if the table does not exist."""
        found = list_numbered(self.file_io, self.paths.schema_dir, SCHEMA_PREFIX)
        return self._listed(*found[-1]) if found else None

    def load(self, schema_id: int) -> TableSchema:
        """Return a schema.

        Raises:
            NotFoundError: the schema does not exist.
            CorruptFileError, UnsupportedVersionError: the file cannot be parsed.
        """
        path = self.paths.schema(schema_id)
        found = self._found(path, parse_schema)
        if found is None:
            hint = (
                f"Schemas: {choices(map(str, self.ids()))}. If a snapshot needs it, its file was "
                "removed: maintenance.fsck() lists what is missing."
            )
            raise NotFoundError("schema", schema_id, self.paths.root, hint=hint)
        return checked_id(found, schema_id, path)

    def files(self) -> dict[int, FileStatus]:
        """Return the files of all schemas by id, oldest first."""
        return dict(list_numbered(self.file_io, self.paths.schema_dir, SCHEMA_PREFIX))

    def read_files(self, files: Iterable[tuple[int, FileStatus]]) -> builtins.list[TableSchema]:
        """Read some of these files, several at a time if the storage is remote."""
        return at_once(self.file_io, [partial(self._listed, *one) for one in files])

    def list(self) -> builtins.list[TableSchema]:
        """Return all schemas, oldest first."""
        return self.read_files(self.files().items())

    def create(self, schema: TableSchema) -> bool:
        """Create a schema file; False if its id already exists."""
        path, data = self.paths.schema(schema.id), encode_schema(schema)
        return create_file(self.file_io, path, data, self.environment)

    def _listed(self, schema_id: int, status: FileStatus) -> TableSchema:
        """Load a schema that was just listed."""
        try:
            schema = load_listed_json(self.file_io, status, parse_schema, self.read_retry)
        except MissingFileError:
            return self.load(schema_id)  # raises an error that names the schemas
        return checked_id(schema, schema_id, status.path)
