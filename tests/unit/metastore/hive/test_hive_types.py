import pytest

from paimon_explore.data_types.formatter import type_text
from paimon_explore.data_types.type_parser import parse_type_text
from paimon_explore.errors import UnsupportedFeatureError
from paimon_explore.metastore.hive.hive_types import LOCAL_ZONED, hive_type, paimon_type

WRITTEN = {
    "BOOLEAN": "boolean",
    "TINYINT": "tinyint",
    "SMALLINT": "smallint",
    "INT": "int",
    "BIGINT": "bigint",
    "FLOAT": "float",
    "DOUBLE": "double",
    "DECIMAL(38, 18)": "decimal(38,18)",
    "CHAR(5)": "char(5)",
    "CHAR(255)": "char(255)",
    "CHAR(256)": "string",
    "VARCHAR(65535)": "varchar(65535)",
    "VARCHAR(65536)": "string",
    "STRING": "string",
    "BINARY(3)": "binary",
    "VARBINARY(4)": "binary",
    "BYTES": "binary",
    "DATE": "date",
    "TIME(3)": "string",
    "TIMESTAMP(3)": "timestamp",
    "TIMESTAMP(6) WITH LOCAL TIME ZONE": "timestamp",
    "VARIANT": "struct<value:binary,metadata:binary>",
    "BLOB": "binary",
    "ARRAY<INT>": "array<int>",
    "VECTOR<FLOAT, 3>": "array<float>",
    "MULTISET<STRING>": "map<string,int>",
    "MAP<STRING, ARRAY<BIGINT>>": "map<string,array<bigint>>",
    "ROW<`A b` INT, Cd DECIMAL(10, 2)>": "struct<A b:int,Cd:decimal(10,2)>",
    "INT NOT NULL": "int",
}
"""Paimon types and the Hive types that Java 2.0.0 wrote for them to a metastore."""


@pytest.mark.parametrize("text", WRITTEN)
def test_a_type_is_written_as_java_writes_it(text: str) -> None:
    assert hive_type(parse_type_text(text)) == WRITTEN[text]


def test_hive_3_has_a_local_zoned_timestamp() -> None:
    data_type = parse_type_text("ARRAY<TIMESTAMP_LTZ(3)>")
    assert hive_type(data_type, local_zoned=LOCAL_ZONED) == f"array<{LOCAL_ZONED}>"


READ = {
    "int": "INT",
    "INTEGER": "INT",
    "string": "STRING",
    "binary": "BYTES",
    "timestamp": "TIMESTAMP(6)",
    LOCAL_ZONED: "TIMESTAMP(6) WITH LOCAL TIME ZONE",
    "decimal": "DECIMAL(10, 0)",
    "decimal(12, 3)": "DECIMAL(12, 3)",
    "char(7)": "CHAR(7)",
    "varchar(9)": "VARCHAR(9)",
    "array< map<string,decimal(3,1)> >": "ARRAY<MAP<STRING, DECIMAL(3, 1)>>",
    "struct<A b:int,c:struct<d:array<date>>>": "ROW<`A b` INT, `c` ROW<`d` ARRAY<DATE>>>",
}


@pytest.mark.parametrize("text", READ)
def test_a_hive_type_is_read(text: str) -> None:
    assert type_text(paimon_type(text)) == type_text(parse_type_text(READ[text]))


@pytest.mark.parametrize(
    "text",
    [
        *("", "uniontype<int>", "void", "interval_day_time", "array", "array<", "array<int"),
        *("array<int>>", "map<int>", "struct<>", "struct<a>", "struct<:int>", "int,int", "char"),
        *("decimal(1", "decimal(a)", "varchar(1,2)", "array<" * 100 + "int" + ">" * 100),
    ],
)
def test_what_is_no_type_of_both_is_refused(text: str) -> None:
    with pytest.raises(UnsupportedFeatureError, match="Hive type"):
        paimon_type(text)


@pytest.mark.parametrize("text", ["GEOMETRY", "ARRAY<GEOGRAPHY>"])
def test_a_type_that_hive_does_not_have_is_refused(text: str) -> None:
    with pytest.raises(UnsupportedFeatureError, match="Hive metastore"):
        hive_type(parse_type_text(text))
