"""The schemas of a branch."""

from typing import TYPE_CHECKING

from paimon_explore.errors import CorruptFileError, MissingFileError, NotFoundError, choices
from paimon_explore.fileio.file_io import FileIO
from paimon_explore.frozen_dataclass import dataclass
from paimon_explore.metadata.schema.table_schema import TableSchema, encode_schema, parse_schema
from paimon_explore.metadata.table_paths import SCHEMA_PREFIX, TablePaths
from paimon_explore.store.json_file_loader import (
    DEFAULT_READ_RETRY,
    ReadRetry,
    list_numbers,
    load_json,
)
from paimon_explore.store.locked_create import create_file

if TYPE_CHECKING:
    from paimon_explore.store.catalog_environment import CatalogEnvironment


@dataclass(frozen=True, slots=True)
class Schemas:
    """The schema folder of one branch."""

    file_io: FileIO
    paths: TablePaths
    read_retry: ReadRetry = DEFAULT_READ_RETRY
    environment: "CatalogEnvironment | None" = None

    def ids(self) -> list[int]:
        """Return the ids of all schemas, ascending."""
        return list_numbers(self.file_io, self.paths.schema_dir, SCHEMA_PREFIX)

    def latest(self) -> TableSchema | None:
        """Return the latest schema, or None if the table does not exist."""
        ids = self.ids()
        return self.load(ids[-1]) if ids else None

    def load(self, schema_id: int) -> TableSchema:
        """Return a schema.

        Raises:
            NotFoundError: the schema does not exist.
            CorruptFileError, UnsupportedVersionError: the file cannot be parsed.
        """
        path = self.paths.schema(schema_id)
        try:
            schema = load_json(self.file_io, path, parse_schema, self.read_retry)
        except MissingFileError as error:
            known = f"Schemas: {choices(map(str, self.ids()))}."
            raise NotFoundError("schema", schema_id, self.paths.root, hint=known) from error
        if schema.id != schema_id:
            raise CorruptFileError(path, "id", f"must be {schema_id}, as in the file name")
        return schema

    def list(self) -> list[TableSchema]:
        """Return all schemas, oldest first."""
        return [self.load(schema_id) for schema_id in self.ids()]

    def create(self, schema: TableSchema) -> bool:
        """Create a schema file; False if its id already exists."""
        path, data = self.paths.schema(schema.id), encode_schema(schema)
        return create_file(self.file_io, path, data, self.environment)
