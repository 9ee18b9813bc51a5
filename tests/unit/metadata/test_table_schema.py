import json
from dataclasses import replace
from typing import Any

import pyarrow as pa
import pytest

from paimon_explore.data_types.definitions import DataField, RowType
from paimon_explore.data_types.type_parser import parse_type_text
from paimon_explore.errors import CorruptFileError, UnsupportedVersionError
from paimon_explore.metadata.options.option_definition import parse_names
from paimon_explore.metadata.schema.schema_validation import new_schema
from paimon_explore.metadata.schema.table_schema import (
    TableSchema,
    encode_schema,
    parse_schema,
)

PATH = "/t/schema/schema-0"


def members(**changes: object) -> dict[str, object]:
    """The object of a small schema file, with some members changed; None leaves a key out."""
    found: dict[str, object] = {
        "version": 3,
        "id": 0,
        "fields": [
            {"id": 0, "name": "k", "type": "INT NOT NULL"},
            {"id": 1, "name": "v", "type": "STRING"},
        ],
        "highestFieldId": 1,
        "partitionKeys": [],
        "primaryKeys": ["k"],
        "options": {"bucket": "1"},
        "timeMillis": 5,
    }
    found.update(changes)
    return {key: value for key, value in found.items() if value is not None}


def parsed(**changes: object) -> TableSchema:
    return parse_schema(json.dumps(members(**changes)).encode(), PATH)


def test_a_schema_file_is_read() -> None:
    schema = parsed(comment="c")
    assert (schema.id, schema.version, schema.highest_field_id, schema.time_millis) == (0, 3, 1, 5)
    assert schema.row_type == RowType(
        fields=(
            DataField(id=0, name="k", type=parse_type_text("INT NOT NULL")),
            DataField(id=1, name="v", type=parse_type_text("STRING")),
        ),
        nullable=False,
    )
    assert (schema.primary_keys, schema.partition_keys, schema.comment) == (("k",), (), "c")
    assert schema.options == {"bucket": "1"}


def test_missing_version_time_and_comment_have_defaults() -> None:
    schema = parsed(version=None, timeMillis=None)
    assert (schema.version, schema.time_millis, schema.comment) == (1, 0, None)


def test_null_means_none() -> None:
    nulls = dict.fromkeys(("comment", "partitionKeys", "primaryKeys", "options"))
    schema = parse_schema(json.dumps({**members(), **nulls}).encode(), PATH)
    assert (schema.comment, schema.partition_keys, schema.primary_keys) == (None, (), ())
    assert schema.options == {}


@pytest.mark.parametrize(
    ("version", "options", "expected"),
    [
        (1, {}, {"bucket": "1", "file.format": "orc"}),
        (1, {"bucket": "4"}, {"bucket": "4", "file.format": "orc"}),
        (2, {}, {"file.format": "orc"}),
        (2, {"file.format": "avro"}, {"file.format": "avro"}),
        (3, {}, {}),
    ],
)
def test_files_of_old_versions_mean_the_defaults_of_their_time(
    version: int, options: dict[str, str], expected: dict[str, str]
) -> None:
    assert parsed(version=version, options=options).options == expected


def test_option_values_that_are_no_texts_are_read_as_texts() -> None:
    schema = parsed(options={"bucket": 2, "write-only": True, "x": None})
    assert schema.options == {"bucket": "2", "write-only": "true"}


def test_unknown_keys_are_ignored() -> None:
    assert parsed(futureKey={"a": 1}) == parsed()


def test_keys_split_into_partition_and_rest() -> None:
    schema = parsed(partitionKeys=["v"], primaryKeys=["v", "k"])
    assert schema.trimmed_primary_keys == ("k",)
    assert schema.partition_type.names == ("v",)
    assert not schema.is_cross_partition
    assert replace(schema, primary_keys=("k",)).is_cross_partition


def test_the_bucket_key_is_the_option_or_the_trimmed_primary_key() -> None:
    assert parsed().bucket_keys == ("k",)
    assert parsed(options={"bucket-key": "v, k"}).bucket_keys == ("v", "k")
    assert parsed(primaryKeys=[]).bucket_keys == ()


def test_columns_are_found_by_name() -> None:
    schema = parsed()
    field = schema.field("v")
    assert field is not None
    assert field.id == 1
    assert schema.field("w") is None
    assert schema.project(["v", "k"]).names == ("v", "k")


def test_names_between_commas_are_stripped() -> None:
    assert parse_names(" a ,,b") == ("a", "b")
    assert parse_names("") == ()


def test_files_of_later_versions_are_refused() -> None:
    with pytest.raises(UnsupportedVersionError, match=r"Schema file .* has version 4"):
        parsed(version=4)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"version": "3"}, "version must be an integer"),
        ({"version": -1}, "version must be a 64-bit integer of at least 0"),
        ({"id": None}, "id must be present"),
        ({"id": True}, "id must be an integer"),
        ({"id": 2**63}, "id must be a 64-bit integer of at least 0"),
        ({"highestFieldId": 1.5}, "highestFieldId must be an integer"),
        ({"fields": None}, "fields must be a list of fields"),
        ({"partitionKeys": None}, "partitionKeys must be present"),
        ({"primaryKeys": None}, "primaryKeys must be present"),
        ({"options": None}, "options must be present"),
        ({"partitionKeys": "v"}, "partitionKeys must be a list of strings"),
        ({"primaryKeys": [1]}, "primaryKeys must be a list of strings"),
        ({"primaryKeys": ["x"]}, "primaryKeys: 'x' is not a column"),
        ({"primaryKeys": ["k", "k"]}, "primaryKeys: column 'k' is named twice"),
        ({"partitionKeys": ["x"]}, "partitionKeys: 'x' is not a column"),
        ({"options": []}, "options must be an object"),
        ({"options": {"a": []}}, r"options\.a must be a string"),
        ({"options": {"bucket-key": "x"}}, r"options\.bucket-key: 'x' is not a column"),
        ({"comment": 5}, "comment must be a string"),
        ({"timeMillis": "now"}, "timeMillis must be an integer"),
    ],
)
def test_broken_members_are_refused_with_their_place(
    changes: dict[str, object], message: str
) -> None:
    with pytest.raises(CorruptFileError, match=message) as caught:
        parsed(**changes)
    assert str(caught.value).startswith(f"Corrupt data in {PATH}")


@pytest.mark.parametrize(
    "fields",
    [
        [{"id": 0, "name": "k", "type": "INT"}, {"id": 0, "name": "v", "type": "INT"}],
        [{"id": 0, "name": "k", "type": "INT"}, {"id": 1, "name": "k", "type": "INT"}],
        [
            {"id": 0, "name": "k", "type": "INT"},
            {
                "id": 1,
                "name": "r",
                "type": {
                    "type": "ARRAY",
                    "element": {
                        "type": "ROW",
                        "fields": [
                            {"id": 2, "name": "x", "type": "INT"},
                            {"id": 2, "name": "y", "type": "INT"},
                        ],
                    },
                },
            },
        ],
    ],
)
def test_siblings_with_the_same_id_or_name_are_refused(fields: list[object]) -> None:
    with pytest.raises(CorruptFileError, match=r"twice|are named"):
        parsed(fields=fields)


@pytest.mark.parametrize(
    "data", [b"", b"{", b"[]", b"null", b'"x"', b"\xff\xfe", b"[" * 100_000, b'{"fields": NaN}']
)
def test_bytes_that_are_no_schema_are_refused(data: bytes) -> None:
    with pytest.raises(CorruptFileError):
        parse_schema(data, PATH)


def test_a_schema_is_written_as_java_lays_it_out() -> None:
    schema = parsed(
        fields=[
            {"id": 0, "name": "k", "type": "INT NOT NULL", "description": "the kéy"},
            {"id": 1, "name": "r", "type": {"type": "ROW", "fields": []}},
        ]
    )
    assert encode_schema(schema).decode() == (
        "{\n"
        '  "version" : 3,\n'
        '  "id" : 0,\n'
        '  "fields" : [ {\n'
        '    "id" : 0,\n'
        '    "name" : "k",\n'
        '    "type" : "INT NOT NULL",\n'
        '    "description" : "the kéy"\n'
        "  }, {\n"
        '    "id" : 1,\n'
        '    "name" : "r",\n'
        '    "type" : {\n'
        '      "type" : "ROW",\n'
        '      "fields" : [ ]\n'
        "    }\n"
        "  } ],\n"
        '  "highestFieldId" : 1,\n'
        '  "partitionKeys" : [ ],\n'
        '  "primaryKeys" : [ "k" ],\n'
        '  "options" : {\n'
        '    "bucket" : "1"\n'
        "  },\n"
        '  "timeMillis" : 5\n'
        "}"
    )


def test_a_comment_is_written_only_if_there_is_one() -> None:
    assert b"comment" not in encode_schema(parsed())
    assert b'"comment" : ""' in encode_schema(parsed(comment=""))


def test_a_schema_shows_columns_keys_and_options_without_control_characters() -> None:
    columns: list[pa.Field[Any]] = [
        pa.field("k", pa.int32()),
        pa.field("a\x1b[31m", pa.string()),
    ]
    schema = new_schema(pa.schema(columns), primary_key=["k"], options={"bucket": "2"})
    assert repr(schema).splitlines() == [
        "schema 0, 2 columns",
        "columns k INT NOT NULL, a\\x1b[31m STRING",
        "primary key k",
        "options bucket=2",
    ]
