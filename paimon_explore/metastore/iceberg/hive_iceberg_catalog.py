"""`HiveIcebergCatalog`: Iceberg tables in a Hive metastore, as Java Paimon registers them.

The metastore has an external table with the parameters `table_type` = ICEBERG and
`metadata_location`, the current metadata file. In the metastore of Paimon's own catalog, the entry
of the table itself gets these parameters and remains a Paimon table.

Spec: iceberg/hive-catalog.
"""

from paimon_explore.commit.iceberg.file_paths import plain_path
from paimon_explore.errors import InvalidInputError, StorageError, UnsupportedFeatureError
from paimon_explore.fileio.paths import parent
from paimon_explore.metadata.options.iceberg_options import (
    ICEBERG_GLUE_SKIP_ARCHIVE,
    ICEBERG_HIVE_CLIENT_CLASS,
    ICEBERG_HIVE_CONF_DIR,
    ICEBERG_HIVE_SKIP_UPDATE_STATS,
    ICEBERG_TABLE,
    ICEBERG_URI,
)
from paimon_explore.metadata.options.table_options import TableOptions
from paimon_explore.metastore.hive import metastore_methods as methods
from paimon_explore.metastore.hive.hive_client import HiveClient
from paimon_explore.metastore.hive.hive_databases import HiveDatabases
from paimon_explore.metastore.hive.hive_settings import (
    URIS,
    HiveSettings,
    hive_configuration,
    hive_settings,
)
from paimon_explore.metastore.hive.hive_table import TableMapping
from paimon_explore.metastore.hive.hive_tables import HiveTables
from paimon_explore.metastore.hive.metastore_structs import (
    EnvironmentContext,
    FieldSchema,
    SerDeInfo,
    StorageDescriptor,
    Table,
)
from paimon_explore.metastore.hive.thrift_struct import ThriftError
from paimon_explore.metastore.identifier import Identifier
from paimon_explore.store.iceberg_catalog import ExportedTable, NewestMetadata

_SKIPS_STATISTICS = "DO_NOT_UPDATE_STATS"
_TABLE_TYPE = "table_type"
_ICEBERG = "ICEBERG"
_CURRENT = "metadata_location"
_PREVIOUS = "previous_metadata_location"
_MAPRED = "org.apache.hadoop.mapred"
_SERDE = "org.apache.hadoop.hive.serde2.lazy.LazySimpleSerDe"


class HiveIcebergCatalog:
    """The Iceberg table of one table in a Hive metastore, in one or several databases.

    Args:
        table: the table.
        wanted: its name; the database may be several, separated by semicolons.

    Raises:
        InvalidInputError: no address of a metastore, or a wrong option.
        UnsupportedFeatureError: the metastore requires Kerberos or another client.
    """

    def __init__(self, table: ExportedTable, wanted: Identifier) -> None:
        self._table = table
        self._wanted = [
            Identifier(database=database.strip(), table=wanted.table)
            for database in wanted.database.split(";")
            if database.strip()
        ]
        self._settings = _settings(table.options)
        self._skips_statistics = _text(table.options.value(ICEBERG_HIVE_SKIP_UPDATE_STATS))

    @property
    def place(self) -> str:
        """The table and the metastore."""
        names = ", ".join(wanted.full_name for wanted in self._wanted)
        return f"{names} in the Hive metastore at {self._settings.uri}"

    def register(self, newest: NewestMetadata) -> None:
        """Make the newest metadata file the current one of the table.

        It is read again after each change: two commits may change the table at the same time.
        """
        mapping = TableMapping(owner=self._settings.user)
        tables = HiveTables(client=HiveClient(self._settings), mapping=mapping)
        try:
            registered, found = None, newest()
            while found is not None and found != registered:
                for wanted in self._wanted:
                    self._register(tables, wanted, found[0])
                registered, found = found, newest()
        except ThriftError as error:  # for example another client drops the database
            reason = str(error) or type(error).__name__
            raise StorageError("use the Hive metastore", self._settings.uri, reason) from error
        finally:
            tables.client.close()

    def _register(self, tables: HiveTables, wanted: Identifier, path: str) -> None:
        found = tables.find(wanted.database, wanted.table)
        if found is None:
            self._create(tables, wanted)
            found = tables.load(wanted)
        self._check(found, wanted)
        parameters = dict(found.parameters or {})
        before = parameters.get(_CURRENT)
        if before is not None and before != path:
            parameters[_PREVIOUS] = before
        parameters |= {_TABLE_TYPE: _ICEBERG, _CURRENT: path}
        columns = self._columns(tables, found)
        storage = found.storage or StorageDescriptor()
        if parameters == found.parameters and columns == storage.columns:
            return
        found.parameters, storage.columns = parameters, columns
        properties = {
            "CASCADE": _text(value=True),
            "skipAWSGlueArchive": _text(self._table.options.value(ICEBERG_GLUE_SKIP_ARCHIVE)),
            _SKIPS_STATISTICS: self._skips_statistics,
        }
        context = EnvironmentContext(properties=properties)
        tables.client.call(methods.ALTER_TABLE, wanted.database, wanted.table, found, context)

    def _create(self, tables: HiveTables, wanted: Identifier) -> None:
        """Create the table, and its database; both may exist meanwhile."""
        database = parent(self._location)
        databases = HiveDatabases(tables, parent(database))
        if not databases.database_exists(wanted.database):
            databases.create_database(wanted.database, {"location": database}, None)
        parameters = {_SKIPS_STATISTICS: self._skips_statistics, _TABLE_TYPE: _ICEBERG}
        new = tables.mapping.empty_table(wanted.database, wanted.table, parameters, external=True)
        new.storage = StorageDescriptor(
            location=self._location,
            columns=self._columns(tables, new),
            input_format=f"{_MAPRED}.FileInputFormat",
            output_format=f"{_MAPRED}.FileOutputFormat",
            serde_info=SerDeInfo(serialization_lib=_SERDE),
        )
        tables.create(new)

    @property
    def _location(self) -> str:
        return parent(self._table.folder)

    def _columns(self, tables: HiveTables, found: Table) -> list[FieldSchema]:
        """Return the columns, without those that are partition keys of the metastore's table."""
        mapping = tables.mapping_for(self._table.schema)
        keys = {key.name for key in found.partition_keys or ()}
        fields = self._table.schema.fields
        return [mapping.column(field) for field in fields if field.name not in keys]

    def _check(self, found: Table, wanted: Identifier) -> None:
        """Check that a table of the metastore is this one.

        Raises:
            InvalidInputError: it is another table.
        """
        location = (found.storage.location if found.storage else None) or ""
        if plain_path(location) not in {plain_path(self._table.root), plain_path(self._location)}:
            raise InvalidInputError(
                f"The metastore has another table {wanted.full_name}, at {location}.",
                hint=f"Drop it there, or set the option {ICEBERG_TABLE.key!r} to another name.",
            )


def _settings(options: TableOptions) -> HiveSettings:
    """Return how to connect to the metastore, from the options of a table."""
    client = options.value(ICEBERG_HIVE_CLIENT_CLASS)
    if client != ICEBERG_HIVE_CLIENT_CLASS.default:
        raise UnsupportedFeatureError(f"option {ICEBERG_HIVE_CLIENT_CLASS.key!r} = {client!r}")
    given = {key: value for key, value in options.items() if key.startswith("hive.")}
    folder, uri = options.value(ICEBERG_HIVE_CONF_DIR), options.value(ICEBERG_URI)
    given |= {"hive-conf-dir": folder} if folder else {}
    given |= {"uri": uri} if uri else {}
    configuration = hive_configuration(given)
    if not configuration.get("uri") and not configuration.get(URIS):
        raise InvalidInputError(
            f"The option {ICEBERG_URI.key!r} is missing.",
            hint=f"Set it to 'thrift://host:9083', or {ICEBERG_HIVE_CONF_DIR.key!r} to a folder "
            "with hive-site.xml.",
        )
    return hive_settings(configuration)


def _text(value: bool) -> str:  # noqa: FBT001 - the value to format
    return str(value).lower()
