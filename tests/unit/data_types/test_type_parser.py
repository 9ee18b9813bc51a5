import pytest

from paimon_explore.data_types.definitions import (
    MAX_LENGTH,
    ArrayType,
    AtomicType,
    MapType,
    MultisetType,
    RowType,
    TypeRoot,
    VectorType,
)
from paimon_explore.data_types.formatter import type_text
from paimon_explore.data_types.type_parser import parse_type_text
from paimon_explore.errors import InvalidInputError

STRING = AtomicType(root=TypeRoot.VARCHAR, length=MAX_LENGTH)
INT = AtomicType(root=TypeRoot.INT)


@pytest.mark.parametrize(
    ("text", "canonical"),
    [
        ("boolean", "BOOLEAN"),
        (" TinyInt ", "TINYINT"),
        ("SMALLINT NULL", "SMALLINT"),
        ("integer NOT  NULL", "INT NOT NULL"),
        ("BIGINT", "BIGINT"),
        ("FLOAT", "FLOAT"),
        ("double precision", "DOUBLE"),
        ("DECIMAL", "DECIMAL(10, 0)"),
        ("dec(5)", "DECIMAL(5, 0)"),
        ("NUMERIC ( 38,18 ) not null", "DECIMAL(38, 18) NOT NULL"),
        ("CHAR", "CHAR(1)"),
        ("CHAR(2147483647)", "CHAR(2147483647)"),
        ("VARCHAR", "VARCHAR(1)"),
        ("VARCHAR(7)", "VARCHAR(7)"),
        ("VARCHAR(2147483647)", "STRING"),
        ("string", "STRING"),
        ("BINARY", "BINARY(1)"),
        ("VARBINARY", "VARBINARY(1)"),
        ("VARBINARY(2147483647)", "BYTES"),
        ("bytes", "BYTES"),
        ("DATE", "DATE"),
        ("TIME", "TIME(0)"),
        ("TIME(3) WITHOUT TIME ZONE", "TIME(3)"),
        ("TIMESTAMP", "TIMESTAMP(6)"),
        ("TIMESTAMP(9) WITHOUT TIME ZONE NOT NULL", "TIMESTAMP(9) NOT NULL"),
        ("TIMESTAMP(3) WITH LOCAL TIME ZONE", "TIMESTAMP(3) WITH LOCAL TIME ZONE"),
        ("TIMESTAMP_LTZ", "TIMESTAMP(6) WITH LOCAL TIME ZONE"),
        ("timestamp_ltz(0) not null", "TIMESTAMP(0) WITH LOCAL TIME ZONE NOT NULL"),
        ("VARIANT", "VARIANT"),
        ("BLOB", "BLOB"),
        ("GEOMETRY", "GEOMETRY(OGC:CRS84)"),
        ("GEOMETRY('4326')", "GEOMETRY('4326')"),
        ("GEOGRAPHY", "GEOGRAPHY(OGC:CRS84, spherical)"),
        ("GEOGRAPHY(EPSG:4326, KARNEY)", "GEOGRAPHY(EPSG:4326, karney)"),
        ("INT ARRAY", "ARRAY<INT>"),
        ("INT NOT NULL MULTISET NOT NULL", "MULTISET<INT NOT NULL> NOT NULL"),
        ("array<map<string,int> not null>", "ARRAY<MAP<STRING, INT> NOT NULL>"),
        ("VECTOR<FLOAT, 3>", "VECTOR<FLOAT, 3>"),
        ("ROW<a INT, `b c` STRING COMMENT 'it''s'>", "ROW<`a` INT, `b c` STRING COMMENT 'it''s'>"),
        ("ROW<>", "ROW<>"),
        ("ROW<a: INT NOT NULL DEFAULT 5>", "ROW<`a` INT NOT NULL DEFAULT 5>"),
    ],
)
def test_every_spelling_of_a_type_has_one_canonical_form(text: str, canonical: str) -> None:
    data_type = parse_type_text(text)
    assert type_text(data_type) == canonical
    assert parse_type_text(canonical) == data_type


def test_nested_types_hold_their_parts() -> None:
    assert parse_type_text("ARRAY<INT>") == ArrayType(element=INT)
    assert parse_type_text("MULTISET<INT>") == MultisetType(element=INT)
    assert parse_type_text("MAP<STRING, INT>") == MapType(key=STRING, value=INT)
    assert parse_type_text("VECTOR<INT, 2>") == VectorType(element=INT, length=2)


def test_members_of_rows_get_ids_inner_ones_first() -> None:
    row = parse_type_text("ROW<a ROW<x INT, y INT>, b INT>")
    assert isinstance(row, RowType)
    assert [(field.name, field.id) for field in row] == [("a", 2), ("b", 3)]
    inner = row.fields[0].type
    assert isinstance(inner, RowType)
    assert [(field.name, field.id) for field in inner] == [("x", 0), ("y", 1)]


@pytest.mark.parametrize(
    "text",
    [
        "",
        "INTT",
        "INT)",
        "INT NOT",
        "DECIMAL(0)",
        "DECIMAL(39, 2)",
        "DECIMAL(5, 6)",
        "CHAR(0)",
        "CHAR(2147483648)",
        "CHAR(99999999999999999999)",
        "TIME(10)",
        "TIMESTAMP(3",
        "TIME(3) WITH LOCAL TIME ZONE",
        "MAP<INT>",
        "ARRAY<INT, INT>",
        "VECTOR<INT, 0>",
        "VECTOR<INT>",
        "ROW<INT>",
        "ROW<`` INT>",
        "GEOGRAPHY(OGC:CRS84, flat)",
        "STRING(5)",
        "ARRAY<" * 100 + "INT" + ">" * 100,
    ],
)
def test_texts_that_are_no_types_are_refused(text: str) -> None:
    with pytest.raises(InvalidInputError, match="Invalid type"):
        parse_type_text(text)


def test_the_error_tells_the_types_there_are() -> None:
    with pytest.raises(InvalidInputError, match=r"the type 'SOUND' is unknown.*'STRING'"):
        parse_type_text("SOUND")


@pytest.mark.parametrize(
    ("text", "here"),
    [
        *(("TEXT", "STRING"), ("struct<a:int>", "ROW<name TYPE, …>"), ("int64", "BIGINT")),
        *(("ARRAY<uint8>", "SMALLINT"), ("timestamp_ntz", "TIMESTAMP"), ("json", "VARIANT")),
    ],
)
def test_the_error_tells_the_name_that_a_type_of_another_system_has_here(
    text: str, here: str
) -> None:
    with pytest.raises(InvalidInputError, match=f"is unknown. Write {here}"):
        parse_type_text(text)
