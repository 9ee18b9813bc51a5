"""Creates the schema files of a transaction together with its snapshot.

A snapshot refers to its schema by id, so the schema file is created first, directly before the
snapshot, after all conflict checks of the attempt. If the commit then fails, the file is deleted,
unless another commit or schema already depends on it. If the process ends between the two, the
schema remains as the latest one: the effect is that of the schema change alone, and no rows change.
"""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress

from paimon_explore.errors import CommitConflictError, CommitOutcomeUnknownError, PaimonError
from paimon_explore.maintenance.schema_commit import create_schema, withdraw_schema
from paimon_explore.metadata.schema.table_schema import TableSchema
from paimon_explore.store.table_store import TableStore


class SchemaPublication:
    """The new schemas of one commit.

    Args:
        store: the table.
        schemas: the schemas, oldest first.
    """

    def __init__(self, store: TableStore, schemas: Sequence[TableSchema]) -> None:
        self._store = store
        self._schemas = schemas
        self._begun: list[TableSchema] = []
        self._is_done = False

    def publish(self) -> None:
        """Create the schema files, if an earlier attempt has not.

        Raises:
            CommitConflictError: another process has changed the schema meanwhile.
            StorageError: a file could not be written.
        """
        if self._is_done:
            return
        for schema in self._schemas:
            self._begun.append(schema)
            if not create_schema(self._store, schema):
                self._begun.pop()
                raise CommitConflictError(
                    f"Another process changed the schema of the table: schema {schema.id} exists.",
                    hint="Run the transaction again.",
                )
        self._is_done = True

    @contextmanager
    def withdrawn_on_failure(self) -> Iterator[None]:
        """Withdraw the schemas if the commit in the body fails and is known to have failed."""
        try:
            yield
        except CommitOutcomeUnknownError:
            raise
        except PaimonError:
            self.withdraw()
            raise

    def withdraw(self) -> None:
        """Delete the schema files that were created, unless something depends on them."""
        with suppress(PaimonError):
            for schema in reversed(self._begun):
                withdraw_schema(self._store, schema)
        self._begun, self._is_done = [], False
