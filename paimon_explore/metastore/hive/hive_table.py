"""Paimon tables and format tables as tables of a Hive metastore, as Java's catalog maps them.

The metastore keeps the columns, partition keys and properties for engines that read the table
through Hive; the schema files of a Paimon table remain its definition.
Spec: concepts/catalog, Hive catalog.
"""

import time
from collections.abc import Collection, Mapping
from dataclasses import replace

from paimon_explore.data_types.definitions import MAX_LENGTH, DataField
from paimon_explore.data_types.field_ids import assigned_ids
from paimon_explore.errors import InvalidInputError, UnsupportedFeatureError
from paimon_explore.frozen_dataclass import dataclass
from paimon_explore.metadata.schema.table_schema import TableSchema
from paimon_explore.metastore.catalog_values import properties_of
from paimon_explore.metastore.hive.hive_types import hive_type, paimon_type
from paimon_explore.metastore.hive.metastore_structs import (
    FieldSchema,
    SerDeInfo,
    StorageDescriptor,
    Table,
)

EXTERNAL_TABLE = "EXTERNAL_TABLE"
MANAGED_TABLE = "MANAGED_TABLE"
VIRTUAL_VIEW = "VIRTUAL_VIEW"
FORMAT_TABLE = "format-table"
LOCATION_PROPERTY = "paimon_location"
"""Property of the location of a table or database with `location-in-properties`."""
EXTERNAL_PROPERTY = "EXTERNAL"
COMMENT = "comment"

_TABLE_TYPE = "table_type"
_PAIMON = "PAIMON"
_STORAGE_HANDLER = "storage_handler"
_HANDLER = "org.apache.paimon.hive.PaimonStorageHandler"
_HIVE_PREFIX = "hive."
_DATA_DIRECTORY = "data-file.path-directory"
_PUBLIC_OPTIONS = ("partition.expiration-time", _DATA_DIRECTORY)
"""Options that are properties even without `sync-all-properties`."""
_PARTITIONED = "metastore.partitioned-table"
_TAG_TO_PARTITION = "metastore.tag-to-partition"
_TYPE = "type"
_FILE_FORMAT = "file.format"
_PATH = "path"
_DELIMITER = "csv.field-delimiter"
_HIVE_DELIMITER = "field.delim"
_DEFAULT_HIVE_DELIMITER = "\x01"
_MAX_COMMENT = 255
"""Characters of the comment of a column that the tables of metastores have room for."""


@dataclass(frozen=True, slots=True, kw_only=True)
class StorageFormat:
    """Hive's classes that read and write a table."""

    serde: str
    input_format: str
    output_format: str


PAIMON_FORMAT = StorageFormat(
    serde="org.apache.paimon.hive.PaimonSerDe",
    input_format="org.apache.paimon.hive.mapred.PaimonInputFormat",
    output_format="org.apache.paimon.hive.mapred.PaimonOutputFormat",
)
_QL = "org.apache.hadoop.hive.ql.io"
_LINES = StorageFormat(
    serde="org.apache.hadoop.hive.serde2.lazy.LazySimpleSerDe",
    input_format="org.apache.hadoop.mapred.TextInputFormat",
    output_format=f"{_QL}.HiveIgnoreKeyTextOutputFormat",
)
_FORMATS: Mapping[str, StorageFormat] = {
    "csv": _LINES,
    "text": _LINES,
    "json": replace(_LINES, serde="org.apache.hive.hcatalog.data.JsonSerDe"),
    "parquet": StorageFormat(
        serde=f"{_QL}.parquet.serde.ParquetHiveSerDe",
        input_format=f"{_QL}.parquet.MapredParquetInputFormat",
        output_format=f"{_QL}.parquet.MapredParquetOutputFormat",
    ),
    "orc": StorageFormat(
        serde=f"{_QL}.orc.OrcSerde",
        input_format=f"{_QL}.orc.OrcInputFormat",
        output_format=f"{_QL}.orc.OrcOutputFormat",
    ),
}
"""The classes of format tables."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TableMapping:
    """Options of the catalog that decide what the metastore keeps of a table.

    Attributes:
        owner: the owner of new tables.
        sync_all_properties: whether all options of a table are properties in the metastore.
        location_in_properties: whether the location is a property, so that the metastore does not
            access the storage.
        local_zoned: the Hive type of TIMESTAMP WITH LOCAL TIME ZONE.
    """

    owner: str
    sync_all_properties: bool = True
    location_in_properties: bool = False
    local_zoned: str = "timestamp"

    def location(self, table: Table) -> str | None:
        """Return the folder of a table."""
        if self.location_in_properties:
            found = (table.parameters or {}).get(LOCATION_PROPERTY)
            if found is not None:
                return found
        return table.storage.location if table.storage else None

    def set_location(self, table: Table, location: str) -> None:
        """Set the folder of a table."""
        if self.location_in_properties:
            table.parameters = {**(table.parameters or {}), LOCATION_PROPERTY: location}
        elif table.storage:
            table.storage.location = location

    def new_table(
        self, database: str, name: str, schema: TableSchema, location: str, *, external: bool
    ) -> Table:
        """Return a new Paimon table or format table.

        Raises:
            UnsupportedFeatureError: Hive has no type for a column.
        """
        if schema.options.get(_TYPE) == FORMAT_TABLE:
            return self._new_format_table(database, name, schema, location, external=external)
        if self.sync_all_properties:
            properties = properties_of(schema)
        else:
            properties = _hive_options(schema.options)
            properties |= {k: schema.options[k] for k in _PUBLIC_OPTIONS if k in schema.options}
        properties |= {_TABLE_TYPE: _PAIMON, _STORAGE_HANDLER: _HANDLER}
        table = self.empty_table(database, name, properties, external=external)
        self._set_columns(table, schema, PAIMON_FORMAT, partitioned=_is_partitioned(schema))
        self.set_location(table, location)
        return table

    def _new_format_table(
        self, database: str, name: str, schema: TableSchema, location: str, *, external: bool
    ) -> Table:
        file_format = schema.options[_FILE_FORMAT]
        properties = {**schema.options, _TABLE_TYPE: file_format.upper()}
        table = self.empty_table(database, name, properties, external=external)
        self._set_columns(table, schema, _FORMATS[file_format], partitioned=True)
        if file_format == "csv" and table.storage and table.storage.serde_info:
            delimiter = schema.options.get(_DELIMITER, ",")
            table.storage.serde_info.parameters = {_HIVE_DELIMITER: delimiter}
        self.set_location(table, location)
        return table

    def change_schema(self, table: Table, schema: TableSchema, removed: Collection[str]) -> None:
        """Set the columns and properties of a Paimon table to those of a new schema.

        Args:
            table: the table in the metastore, which is changed.
            schema: the new schema.
            removed: options that the change removed.
        """
        properties = dict(table.parameters or {})
        if self.sync_all_properties:
            properties |= properties_of(schema)
        else:
            properties |= _hive_options(schema.options)
        for key in removed:
            properties.pop(key, None)
        table.parameters = properties
        location = self.location(table)
        self._set_columns(table, schema, PAIMON_FORMAT, partitioned=_is_partitioned(schema))
        if location is not None:
            self.set_location(table, location)

    def empty_table(
        self, database: str, name: str, properties: dict[str, str], *, external: bool
    ) -> Table:
        """Return a new table without location, columns and format."""
        now = time.time_ns() // 10**9
        if external:
            properties[EXTERNAL_PROPERTY] = "TRUE"
        return Table(
            table_name=name,
            db_name=database,
            owner=self.owner,
            create_time=now,
            last_access_time=now,
            retention=MAX_LENGTH,
            storage=StorageDescriptor(),
            partition_keys=[],
            parameters=properties,
            table_type=EXTERNAL_TABLE if external else MANAGED_TABLE,
        )

    def _set_columns(
        self, table: Table, schema: TableSchema, storage: StorageFormat, *, partitioned: bool
    ) -> None:
        descriptor = table.storage or StorageDescriptor()
        serde = descriptor.serde_info or SerDeInfo()
        serde.parameters = {}
        serde.serialization_lib = storage.serde
        descriptor.serde_info = serde
        descriptor.input_format = storage.input_format
        descriptor.output_format = storage.output_format
        keys = schema.partition_keys if partitioned else ()
        by_name = {field.name: field for field in schema.fields}
        descriptor.columns = [
            self.column(field) for field in schema.fields if field.name not in keys
        ]
        tag_column = schema.options.get(_TAG_TO_PARTITION)
        if keys:
            table.partition_keys = [self.column(by_name[key]) for key in keys]
        elif tag_column is not None:
            if schema.partition_keys:
                msg = f"Option {_TAG_TO_PARTITION!r} requires a table without partition keys."
                raise InvalidInputError(msg)
            table.partition_keys = [FieldSchema(name=tag_column, type="string")]
        table.storage = descriptor
        if schema.comment is not None:
            table.parameters = {**(table.parameters or {}), COMMENT: schema.comment}

    def column(self, field: DataField) -> FieldSchema:
        """Return a column of the metastore."""
        text = hive_type(field.type, local_zoned=self.local_zoned)
        return FieldSchema(name=field.name, type=text, comment=_comment(field.description))


def _comment(text: str | None) -> str | None:
    """Return the comment of a column as a metastore can store it: one line, not too long."""
    if text is None:
        return None
    line = text.replace("\n", " ").replace("\r", " ")
    return line if len(line) <= _MAX_COMMENT else f"{line[: _MAX_COMMENT - 3]}..."


def is_paimon_table(table: Table) -> bool:
    """Return whether a table of the metastore is a Paimon table."""
    return (
        table.storage is not None
        and table.storage.input_format == PAIMON_FORMAT.input_format
        and table.storage.output_format == PAIMON_FORMAT.output_format
    )


def is_view(table: Table) -> bool:
    """Return whether a table of the metastore is a view."""
    return table.table_type == VIRTUAL_VIEW


def is_external(table: Table) -> bool:
    """Return whether dropping a table keeps its files."""
    return table.table_type == EXTERNAL_TABLE


def keeps_partitions(schema: TableSchema) -> bool:
    """Return whether the metastore keeps the partitions, or the tags, of a table."""
    return _is_partitioned(schema) or _TAG_TO_PARTITION in schema.options


def tag_partition_key(schema: TableSchema) -> str | None:
    """Return the partition key of tags (`metastore.tag-to-partition`), if any."""
    return schema.options.get(_TAG_TO_PARTITION)


def format_table_schema(table: Table) -> TableSchema | None:
    """Return the schema of a format table; None if the table is none.

    A table of any tool is a format table if its files are Parquet, ORC, JSON, CSV or text.
    """
    descriptor = table.storage
    file_format = None if is_view(table) else _file_format(table)
    if descriptor is None or file_format is None:
        return None
    try:
        fields = table_fields(table)
    except UnsupportedFeatureError:
        return None
    options = dict(table.parameters or {})
    comment = options.pop(COMMENT, None)
    if file_format == "csv" and descriptor.serde_info is not None:
        given = descriptor.serde_info.parameters or {}
        options[_DELIMITER] = given.get(_HIVE_DELIMITER, _DEFAULT_HIVE_DELIMITER)
    if descriptor.location is not None:
        options[_PATH] = descriptor.location
    options |= {_TYPE: FORMAT_TABLE, _FILE_FORMAT: file_format}
    return TableSchema(
        id=0,
        fields=fields,
        highest_field_id=len(fields) - 1,
        partition_keys=tuple(key.name or "" for key in table.partition_keys or ()),
        options=options,
        comment=comment,
    )


def table_fields(table: Table) -> tuple[DataField, ...]:
    """Return the columns of a format table or view, then its partition keys.

    Raises:
        UnsupportedFeatureError: Paimon has no type for a column.
    """
    columns = [
        *((table.storage.columns if table.storage else None) or ()),
        *(table.partition_keys or ()),
    ]
    return assigned_ids(
        DataField(
            id=0,
            name=column.name or "",
            type=paimon_type(column.type or ""),
            description=column.comment,
        )
        for column in columns
    )


def _file_format(table: Table) -> str | None:
    descriptor = table.storage
    if descriptor is None or descriptor.serde_info is None:
        return None
    serde = (descriptor.serde_info.serialization_lib or "").lower()
    if "parquet" in serde:
        return "parquet"
    if "orc" in serde:
        return "orc"
    if "Text" not in (descriptor.input_format or ""):
        return None
    if "json" in serde:
        return "json"
    return "text" if (table.parameters or {}).get(_TABLE_TYPE) == "TEXT" else "csv"


def _is_partitioned(schema: TableSchema) -> bool:
    flag = schema.options.get(_PARTITIONED, "false").strip().lower() == "true"
    return flag and bool(schema.partition_keys)


def _hive_options(options: Mapping[str, str]) -> dict[str, str]:
    return {
        key.removeprefix(_HIVE_PREFIX): value
        for key, value in options.items()
        if key.startswith(_HIVE_PREFIX)
    }
