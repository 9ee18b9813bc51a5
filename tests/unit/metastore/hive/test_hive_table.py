from collections.abc import Sequence
from dataclasses import replace

import pytest

from paimon_explore.errors import InvalidInputError
from paimon_explore.metadata.schema.schema_validation import new_schema
from paimon_explore.metadata.schema.table_schema import TableSchema
from paimon_explore.metastore.hive.hive_table import (
    TableMapping,
    format_table_schema,
    is_external,
    is_paimon_table,
)
from paimon_explore.metastore.hive.metastore_structs import (
    FieldSchema,
    SerDeInfo,
    StorageDescriptor,
    Table,
)
from paimon_explore.table.table_definition import parse_columns

MAPPING = TableMapping(owner="me")
TEXT = "org.apache.hadoop.mapred.TextInputFormat"
PAIMON = {
    "table_type": "PAIMON",
    "storage_handler": "org.apache.paimon.hive.PaimonStorageHandler",
}


def schema(
    options: dict[str, str] | None = None,
    partition_by: Sequence[str] = (),
    primary_key: Sequence[str] = (),
    comment: str | None = None,
) -> TableSchema:
    return new_schema(
        parse_columns({"k": "INT NOT NULL", "dt": "STRING NOT NULL", "v": "DECIMAL(10, 2)"}),
        primary_key=tuple(primary_key),
        partition_by=tuple(partition_by),
        options=options or {},
        comment=comment,
    )


def made(given: TableSchema, mapping: TableMapping = MAPPING, *, external: bool = False) -> Table:
    return mapping.new_table("db", "t", given, "file:/w/db.db/t", external=external)


def columns(table: Table) -> list[str]:
    assert table.storage is not None
    return [f"{column.name} {column.type}" for column in table.storage.columns or ()]


def keys(table: Table) -> list[str]:
    return [f"{column.name} {column.type}" for column in table.partition_keys or ()]


def test_a_table_has_the_classes_of_paimon_and_its_options_as_properties() -> None:
    given = schema({"bucket": "2", "hive.x": "1"}, ["dt"], ["k", "dt"], comment="a table")
    table = made(given)
    assert table.table_type == "MANAGED_TABLE"
    assert table.owner == "me"
    assert table.retention == 2**31 - 1
    assert table.parameters == {
        **PAIMON,
        "bucket": "2",
        "hive.x": "1",
        "primary-key": "k,dt",
        "partition": "dt",
        "bucket-key": "k",
        "comment": "a table",
    }
    storage = table.storage
    assert storage is not None
    assert storage.location == "file:/w/db.db/t"
    assert storage.input_format == "org.apache.paimon.hive.mapred.PaimonInputFormat"
    assert storage.output_format == "org.apache.paimon.hive.mapred.PaimonOutputFormat"
    assert storage.serde_info is not None
    assert storage.serde_info.serialization_lib == "org.apache.paimon.hive.PaimonSerDe"
    assert columns(table) == ["k int", "dt string", "v decimal(10,2)"]
    assert keys(table) == []
    assert is_paimon_table(table)
    assert not is_external(table)


@pytest.mark.parametrize(
    ("comment", "stored"),
    [
        (None, None),
        ("one\ntwo\r\nthree", "one two  three"),
        ("x" * 255, "x" * 255),
        ("x" * 256, "x" * 252 + "..."),
    ],
)
def test_comments_of_columns_are_as_long_as_a_metastore_can_store(
    comment: str | None, stored: str | None
) -> None:
    plain = schema(partition_by=["dt"], options={"metastore.partitioned-table": "true"})
    fields = [replace(field, description=comment) for field in plain.fields]
    table = made(replace(plain, fields=tuple(fields)))
    assert table.storage is not None
    found = [*(table.storage.columns or ()), *(table.partition_keys or ())]
    assert {column.comment for column in found} == {stored}


def test_an_external_table_says_so_twice() -> None:
    table = made(schema(), external=True)
    assert is_external(table)
    assert table.parameters == {**PAIMON, "EXTERNAL": "TRUE"}


def test_without_sync_only_public_options_are_properties() -> None:
    options = {
        "bucket": "-1",
        "hive.x": "1",
        "partition.expiration-time": "1 d",
        "data-file.path-directory": "data",
    }
    mapping = TableMapping(owner="me", sync_all_properties=False)
    assert made(schema(options), mapping).parameters == {
        **PAIMON,
        "x": "1",
        "partition.expiration-time": "1 d",
        "data-file.path-directory": "data",
    }


def test_a_partitioned_table_in_the_metastore_has_partition_keys() -> None:
    table = made(schema({"metastore.partitioned-table": "true"}, ["dt"]))
    assert columns(table) == ["k int", "v decimal(10,2)"]
    assert keys(table) == ["dt string"]


def test_tags_are_partitions_of_a_table_without_any() -> None:
    table = made(schema({"metastore.tag-to-partition": "day"}))
    assert columns(table) == ["k int", "dt string", "v decimal(10,2)"]
    assert keys(table) == ["day string"]
    with pytest.raises(InvalidInputError, match=r"metastore\.tag-to-partition"):
        made(schema({"metastore.tag-to-partition": "day"}, ["dt"]))


def test_the_location_is_a_property_if_the_metastore_cannot_access_the_storage() -> None:
    mapping = TableMapping(owner="me", location_in_properties=True)
    table = made(schema(), mapping)
    assert table.storage is not None
    assert table.storage.location is None
    assert table.parameters == {**PAIMON, "paimon_location": "file:/w/db.db/t"}
    assert mapping.location(table) == "file:/w/db.db/t"


def test_a_new_schema_replaces_columns_and_properties() -> None:
    table = made(schema({"hive.x": "1", "bucket": "1", "bucket-key": "k"}))
    table.parameters = {**(table.parameters or {}), "numFiles": "3"}
    new = schema({"bucket": "1", "bucket-key": "k", "snapshot.num-retained.min": "2"})
    MAPPING.change_schema(table, new, {"hive.x"})
    assert table.parameters == {
        **PAIMON,
        "numFiles": "3",
        "bucket": "1",
        "bucket-key": "k",
        "snapshot.num-retained.min": "2",
    }
    assert table.storage is not None
    assert table.storage.location == "file:/w/db.db/t"


FORMATS = {
    "csv": ("org.apache.hadoop.hive.serde2.lazy.LazySimpleSerDe", TEXT),
    "text": ("org.apache.hadoop.hive.serde2.lazy.LazySimpleSerDe", TEXT),
    "json": ("org.apache.hive.hcatalog.data.JsonSerDe", TEXT),
    "parquet": ("org.apache.hadoop.hive.ql.io.parquet.serde.ParquetHiveSerDe", "MapredParquet"),
    "orc": ("org.apache.hadoop.hive.ql.io.orc.OrcSerde", "OrcInputFormat"),
}
"""Hive's classes of each format, as Java 2.0.0 writes them."""


def format_table(file_format: str) -> Table:
    serde, input_format = FORMATS[file_format]
    return Table(
        table_name="t",
        table_type="MANAGED_TABLE",
        parameters={"table_type": file_format.upper(), "comment": "files", "x": "1"},
        partition_keys=[FieldSchema(name="dt", type="string")],
        storage=StorageDescriptor(
            columns=[FieldSchema(name="k", type="int"), FieldSchema(name="v", type="double")],
            location="file:/w/t",
            input_format=input_format,
            serde_info=SerDeInfo(serialization_lib=serde, parameters={"field.delim": ";"}),
        ),
    )


@pytest.mark.parametrize("file_format", FORMATS)
def test_a_format_table_is_read(file_format: str) -> None:
    table = format_table(file_format)
    assert not is_paimon_table(table)
    found = format_table_schema(table)
    assert found is not None
    assert [(field.id, field.name) for field in found.fields] == [(0, "k"), (1, "v"), (2, "dt")]
    assert found.partition_keys == ("dt",)
    assert found.comment == "files"
    assert found.options == {
        "x": "1",
        "type": "format-table",
        "file.format": file_format,
        "table_type": file_format.upper(),
        "path": "file:/w/t",
        **({"csv.field-delimiter": ";"} if file_format == "csv" else {}),
    }


@pytest.mark.parametrize("file_format", FORMATS)
def test_a_new_format_table_is_read_back(file_format: str) -> None:
    options = {"type": "format-table", "file.format": file_format, "csv.field-delimiter": ";"}
    table = made(schema(options, ["dt"]), external=True)
    assert table.storage is not None
    assert table.storage.serde_info is not None
    serde, input_format = FORMATS[file_format]
    assert table.storage.serde_info.serialization_lib == serde
    assert input_format in (table.storage.input_format or "")
    assert (columns(table), keys(table)) == (["k int", "v decimal(10,2)"], ["dt string"])
    found = format_table_schema(table)
    assert found is not None
    added = {"table_type": file_format.upper(), "EXTERNAL": "TRUE", "path": "file:/w/db.db/t"}
    assert found.options == {**options, **added}


def test_tables_of_other_tools_are_no_format_tables() -> None:
    table = format_table("orc")
    assert format_table_schema(table) is not None
    assert table.storage is not None
    table.storage.columns = [FieldSchema(name="u", type="uniontype<int>")]
    assert format_table_schema(table) is None
    table.storage.columns = []
    table.table_type = "VIRTUAL_VIEW"
    assert format_table_schema(table) is None
    table.table_type = "MANAGED_TABLE"
    assert table.storage.serde_info is not None
    table.storage.serde_info.serialization_lib = "org.apache.hadoop.hive.hbase.HBaseSerDe"
    assert format_table_schema(table) is None
    assert format_table_schema(Table(table_name="t")) is None
