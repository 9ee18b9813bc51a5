"""The databases of a Hive metastore."""

from collections.abc import Mapping, Sequence

from paimon_explore.errors import InvalidInputError
from paimon_explore.fileio.file_io import FileIO
from paimon_explore.fileio.paths import join
from paimon_explore.metastore.catalog_values import DatabaseInfo, check_empty
from paimon_explore.metastore.filesystem_metastore import SUFFIX, unknown_database
from paimon_explore.metastore.hive import metastore_methods as methods
from paimon_explore.metastore.hive.hive_client import LostReplyError, replies_lost
from paimon_explore.metastore.hive.hive_table import LOCATION_PROPERTY
from paimon_explore.metastore.hive.hive_tables import HiveTables
from paimon_explore.metastore.hive.metastore_structs import (
    AlreadyExistsException,
    Database,
    NoSuchObjectException,
)

_COMMENT = "comment"
_OWNER = "owner"
_LOCATION = "location"


class HiveDatabases:
    """The part of a Hive metastore that is about databases."""

    kind = "hive"

    def __init__(self, tables: HiveTables, warehouse: str) -> None:
        self._tables = tables
        self._warehouse = warehouse

    def storage_of(self, location: str) -> tuple[FileIO, str]:
        """Return the storage of a location and its path there."""
        raise NotImplementedError

    @property
    def warehouse(self) -> str:
        """The folder of new databases."""
        return self._warehouse

    def databases(self) -> list[str]:
        """Return the names of the databases, sorted."""
        found = self._tables.client.call(methods.GET_ALL_DATABASES)
        return sorted(found)

    def database_exists(self, name: str) -> bool:
        """Return whether a database exists."""
        return self._find(name) is not None

    def database(self, name: str) -> DatabaseInfo:
        """Return a database; raises NotFoundError."""
        found = self._load(name)
        properties = dict(found.parameters or {})
        location = properties.pop(LOCATION_PROPERTY, None) or found.location_uri
        if found.owner_name is not None:
            properties[_OWNER] = found.owner_name
        return DatabaseInfo(
            name=name, location=location, comment=found.description, properties=properties
        )

    def folder_of(self, name: str) -> str:
        """Return the folder of new tables of a database; raises NotFoundError."""
        found = self._load(name, creates=True)
        in_properties = (found.parameters or {}).get(LOCATION_PROPERTY)
        return in_properties or found.location_uri or join(self._warehouse, f"{name}{SUFFIX}")

    def create_database(
        self, name: str, properties: Mapping[str, str], comment: str | None
    ) -> bool:
        """Create a database; False if it exists.

        The properties `owner` and `location` are the owner and the folder of the database.
        """
        location = properties.get(_LOCATION) or join(self._warehouse, f"{name}{SUFFIX}")
        database = Database(
            name=name,
            description=properties.get(_COMMENT) if comment is None else comment,
            owner_name=properties.get(_OWNER),
            location_uri=location,
            parameters=_parameters(properties),
        )
        if self._tables.mapping.location_in_properties:
            if self._find(name) is not None:
                return False
            file_io, path = self.storage_of(location)
            file_io.make_folder(path)
            database.location_uri = None
            database.parameters = {**(database.parameters or {}), LOCATION_PROPERTY: location}
        return self._create(database)

    def _create(self, database: Database) -> bool:
        name = database.name or ""
        for earlier in self._tables.client.attempts():
            try:
                self._tables.client.call(methods.CREATE_DATABASE, database)
            except AlreadyExistsException:
                return earlier > 0 and self._load(name).parameters == database.parameters
            except LostReplyError:
                continue
            return True
        raise replies_lost("create", f"database {name}")

    def alter_database(
        self, name: str, properties: Mapping[str, str], removed: Sequence[str]
    ) -> None:
        """Set and remove properties of a database.

        Raises:
            InvalidInputError: the metastore keeps the old comment or location, as Hive 2 does.
        """
        database = self._load(name)
        parameters = {**(database.parameters or {}), **_parameters(properties)}
        for key in removed:
            parameters.pop(key, None)
        database.parameters = parameters
        if _COMMENT in properties or _COMMENT in removed:
            database.description = properties.get(_COMMENT)
        if _OWNER in properties or _OWNER in removed:
            database.owner_name = properties.get(_OWNER)
        if _LOCATION in properties:
            database.location_uri = properties[_LOCATION]
        self._tables.client.call(methods.ALTER_DATABASE, name, database)
        after = self._load(name)
        if (after.description or "") != (database.description or ""):
            raise InvalidInputError(
                f"The Hive metastore did not change the comment of database {name!r}; "
                "Hive 2 sets it only when a database is created."
            )

    def drop_database(self, name: str, *, cascade: bool) -> bool:
        """Drop a database; False if it does not exist.

        Raises:
            InvalidInputError: it has tables or views, unless `cascade`.
        """
        found = self._find(name)
        if found is None:
            return False
        if not cascade:
            check_empty(name, self._tables.names(name))
        location = (found.parameters or {}).get(LOCATION_PROPERTY)
        dropped = self._drop(name, cascade=cascade)
        if location is not None:
            file_io, path = self.storage_of(location)
            file_io.delete_folder(path)
        return dropped

    def _drop(self, name: str, *, cascade: bool) -> bool:
        for _ in self._tables.client.attempts():
            try:
                self._tables.client.call(methods.DROP_DATABASE, name, True, cascade)  # noqa: FBT003
            except NoSuchObjectException:
                return False
            except LostReplyError:
                if self._find(name) is None:  # Hive 2 fails if it is dropped twice
                    return True
                continue
            return True
        raise replies_lost("drop", f"database {name}")

    def _find(self, name: str) -> Database | None:
        try:
            return self._tables.client.call(methods.GET_DATABASE, name)
        except NoSuchObjectException:
            return None

    def _load(self, name: str, *, creates: bool = False) -> Database:
        found = self._find(name)
        if found is None:
            raise unknown_database(
                name, self.databases(), self._tables.client.settings.uri, creates=creates
            )
        return found


def _parameters(properties: Mapping[str, str]) -> dict[str, str]:
    fields = (_COMMENT, _OWNER, _LOCATION)
    return {key: value for key, value in properties.items() if key not in fields}
