"""The connection of a table to its REST catalog: commits, tags, branches, rollbacks, schemas."""

from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager

from paimon_explore.errors import AlreadyExistsError, NotFoundError
from paimon_explore.frozen_dataclass import dataclass
from paimon_explore.metadata.json_object import JsonObject
from paimon_explore.metadata.schema.schema_change import SchemaChange
from paimon_explore.metadata.schema.table_schema import TableSchema
from paimon_explore.metadata.snapshot import Snapshot
from paimon_explore.metadata.table_paths import MAIN_BRANCH
from paimon_explore.metastore.rest.error_mapping import Subject
from paimon_explore.metastore.rest.json_requests import (
    commit_json,
    object_name,
    schema_change_json,
)
from paimon_explore.metastore.rest.json_responses import (
    latest_snapshot_of,
    table_of,
)
from paimon_explore.metastore.rest.rest_client import RestClient, checked_response
from paimon_explore.store.query_authorization import QueryAuthorization, QueryRules
from paimon_explore.store.version_management import PartitionStatistics, VersionManagement


@dataclass(frozen=True, slots=True, kw_only=True)
class RestEnvironment(QueryAuthorization):
    """A table whose schema the server owns; its snapshots are committed to its folder.

    This is how external tables are used.

    Attributes:
        client: the connection.
        database: the database of the table.
        table: the name of the table.
        uuid: the id of the table on the server.
    """

    client: RestClient
    database: str
    table: str
    uuid: str | None = None

    @property
    def identifier(self) -> str:
        """The name of the table: `database.table`."""
        return f"{self.database}.{self.table}"

    def lock(self) -> AbstractContextManager[object] | None:
        """Return None: there is no lock."""
        return None

    def alter_schema(self, branch: str, changes: Sequence[SchemaChange]) -> TableSchema | None:
        """Change the schema on the server; return the new one."""
        body = {"changes": [schema_change_json(change) for change in changes]}
        self._post(branch, (), "alter", body)
        action = f"load table '{self.identifier}'"
        return self.client.load(self._path(branch), action, self._subject(branch), table_of).schema

    def schema_changed(self, branch: str, schema: TableSchema) -> None:
        """Do nothing: the server has changed the schema."""

    def mark_partitions_done(self, partitions: Sequence[Mapping[str, str]]) -> None:
        """Mark partitions as complete."""
        body = {"specs": [dict(spec) for spec in partitions]}
        self._post(MAIN_BRANCH, ("partitions", "mark"), "mark partitions of", body)

    def authorize_query(self, branch: str, columns: Sequence[str]) -> QueryRules:
        """Return the rules of the server for reading columns."""
        verb = "authorize a query of"
        source = self._post(branch, ("auth",), verb, {"select": list(columns)}, repeatable=True)
        with checked_response(f"{verb} table '{self.identifier}'", source.path):
            filters = tuple(text for text in source.names("filter") if text)
            return QueryRules(filters=filters, masks=source.texts("columnMasking"))

    def _path(self, branch: str, *parts: str) -> str:
        return self.client.paths.table(self.database, object_name(self.table, branch), *parts)

    def _subject(self, branch: str) -> Subject:
        return Subject(kind="table", name=object_name(self.table, branch), where=self.database)

    def _post(
        self,
        branch: str,
        parts: Sequence[str],
        verb: str,
        body: Mapping[str, object],
        *,
        repeatable: bool = False,
    ) -> JsonObject:
        action = f"{verb} table '{object_name(self.identifier, branch)}'"
        path, subject = self._path(branch, *parts), self._subject(branch)
        return self.client.post(path, action, subject, body=body, repeatable=repeatable)


@dataclass(frozen=True, slots=True, kw_only=True)
class ManagedRestEnvironment(RestEnvironment, VersionManagement):
    """A table whose commits, tags and branches the server decides about."""

    def latest_snapshot(self, branch: str) -> Snapshot | None:
        """Return the latest snapshot of a branch; None if there are no snapshots."""
        action = f"load the latest snapshot of table '{object_name(self.identifier, branch)}'"
        path, subject = self._path(branch, "snapshot"), self._subject(branch)
        try:
            return self.client.load(path, action, subject, latest_snapshot_of)
        except NotFoundError as error:
            if error.kind == "snapshot":
                return None
            raise

    def commit_snapshot(
        self,
        branch: str,
        snapshot: Snapshot,
        statistics: Sequence[PartitionStatistics],
        base_uuid: str | None = None,
    ) -> bool:
        """Commit a snapshot with the changes of its partitions in one request."""
        body = commit_json(self.uuid, base_uuid, snapshot, statistics)
        verb = f"commit snapshot {snapshot.id} to"
        source = self._post(branch, ("commit",), verb, body)
        with checked_response(f"{verb} table '{self.identifier}'", source.path):
            return source.boolean("success")

    def create_tag(
        self, branch: str, name: str, snapshot_id: int | None, time_retained_millis: int | None
    ) -> None:
        """Create a tag of a snapshot; of the latest one if no id is given."""
        retained = None if time_retained_millis is None else f"{time_retained_millis} ms"
        body = {"tagName": name, "snapshotId": snapshot_id, "timeRetained": retained}
        try:
            self._post(branch, ("tags",), f"create tag {name!r} of", body)
        except NotFoundError as error:
            if error.kind == "snapshot" and snapshot_id is not None:
                raise NotFoundError("snapshot", snapshot_id, self.identifier) from error
            raise
        except AlreadyExistsError as error:
            raise AlreadyExistsError("tag", name, self.identifier) from error

    def delete_tag(self, branch: str, name: str) -> None:
        """Delete a tag."""
        self._delete(branch, "tag", name, "tags")

    def create_branch(self, name: str, tag: str | None) -> None:
        """Create a branch from a tag of main, or an empty branch."""
        body = {"branch": name, "fromTag": tag}
        try:
            self._post(MAIN_BRANCH, ("branches",), f"create branch {name!r} of", body)
        except AlreadyExistsError as error:
            raise AlreadyExistsError("branch", name, self.identifier) from error

    def delete_branch(self, name: str) -> None:
        """Delete a branch."""
        self._delete(MAIN_BRANCH, "branch", name, "branches")

    def fast_forward(self, name: str) -> None:
        """Replace main's history by that of a branch."""
        self._post(MAIN_BRANCH, ("branches", name, "forward"), f"fast-forward to {name!r} in", {})

    def rollback_to_snapshot(self, branch: str, snapshot_id: int) -> None:
        """Remove everything newer than a snapshot from a branch."""
        instant = {"type": "snapshot", "snapshotId": snapshot_id}
        self._roll_back(branch, instant, Subject(kind="snapshot", name=str(snapshot_id)))

    def rollback_to_tag(self, branch: str, name: str) -> None:
        """Remove everything newer than the snapshot of a tag from a branch."""
        instant: dict[str, object] = {"type": "tag", "tagName": name}
        self._roll_back(branch, instant, Subject(kind="tag", name=name))

    def rollback_schema(self, branch: str, schema_id: int) -> None:
        """Remove newer schemas from a branch."""
        verb = f"roll back to schema {schema_id} in"
        self._post(branch, ("rollback-schema",), verb, {"schemaId": schema_id})

    def _roll_back(self, branch: str, instant: Mapping[str, object], target: Subject) -> None:
        body = {"instant": dict(instant)}
        try:
            self._post(branch, ("rollback",), f"roll back to {target.kind} {target.name} in", body)
        except NotFoundError as error:
            if error.kind != target.kind:
                raise
            hint = "The server keeps no such version of the table."
            where = object_name(self.identifier, branch)
            raise NotFoundError(target.kind, target.name, where, hint=hint) from error

    def _delete(self, branch: str, kind: str, name: str, part: str) -> None:
        subject = Subject(kind=kind, name=name, where=self.identifier)
        path = self._path(branch, part, name)
        self.client.delete(path, f"delete {kind} {name!r} of table '{self.identifier}'", subject)
