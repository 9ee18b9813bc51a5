"""A catalog as a table sees it, that does nothing."""

from collections.abc import Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass

from paimon_explore.metadata.schema.schema_change import SchemaChange
from paimon_explore.metadata.schema.table_schema import TableSchema


@dataclass
class IdleEnvironment:
    """A catalog without a lock, which leaves schemas to the table."""

    identifier: str = "db.t"
    uuid: str | None = None

    def lock(self) -> AbstractContextManager[object] | None:
        return None

    def alter_schema(self, branch: str, changes: Sequence[SchemaChange]) -> TableSchema | None:
        del branch, changes
        return None

    def schema_changed(self, branch: str, schema: TableSchema) -> None:
        del branch, schema
