"""Each rule of new tables, broken alone."""

import pyarrow as pa
import pytest

from paimon_explore.data_types.definitions import DataField, RowType
from paimon_explore.data_types.formatter import type_text
from paimon_explore.data_types.type_parser import parse_type_text
from paimon_explore.errors import InvalidInputError
from paimon_explore.metadata.options.option_enums import StartupMode
from paimon_explore.metadata.options.table_options import TableOptions
from paimon_explore.metadata.schema.scan_option_validation import startup_mode
from paimon_explore.metadata.schema.schema_validation import new_schema, validate_create, violations
from paimon_explore.metadata.schema.table_schema import TableSchema


def rows(*columns: str) -> RowType:
    """The row type of columns written as `name TYPE`."""
    fields = []
    for column in columns:
        name, _, text = column.partition(" ")
        fields.append(DataField(id=0, name=name, type=parse_type_text(text)))
    return RowType(fields=tuple(fields))


COLUMNS = rows("dt STRING", "id INT", "a INT", "b BIGINT", "s STRING", "l ARRAY<INT>")


def keyed(**options: str) -> TableSchema:
    """A table with a primary key; underscores in option names stand for dots and hyphens."""
    named = {key.replace("__", ".").replace("_", "-"): text for key, text in options.items()}
    return new_schema(COLUMNS, primary_key=["id"], options=named)


def test_a_new_schema_has_ids_keys_and_the_first_number() -> None:
    types: dict[str, pa.DataType] = {
        "dt": pa.string(),
        "id": pa.int64(),
        "r": pa.struct([pa.field("x", pa.int32())]),
    }
    columns = pa.schema(types)
    schema = new_schema(
        columns,
        primary_key=["dt", "id"],
        partition_by=["dt"],
        options={"bucket": "2"},
        comment="c",
        time_millis=7,
    )
    assert (schema.id, schema.version, schema.highest_field_id) == (0, 3, 3)
    assert [(f.id, f.name, type_text(f.type)) for f in schema.fields] == [
        (0, "dt", "STRING NOT NULL"),
        (1, "id", "BIGINT NOT NULL"),
        (2, "r", "ROW<`x` INT>"),
    ]
    assert (schema.primary_keys, schema.partition_keys) == (("dt", "id"), ("dt",))
    assert (schema.options, schema.comment, schema.time_millis) == ({"bucket": "2"}, "c", 7)


def test_keys_in_options_move_to_their_places() -> None:
    schema = new_schema(
        COLUMNS, options={"primary-key": "dt, id", "partition": "dt", "bucket": "1"}
    )
    assert (schema.primary_keys, schema.partition_keys) == (("dt", "id"), ("dt",))
    assert schema.options == {"bucket": "1"}


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"primary-key": "id"}, "'primary-key' defines"),
        ({"partition": "dt"}, "'partition' defines"),
    ],
)
def test_keys_are_declared_once(options: dict[str, str], message: str) -> None:
    with pytest.raises(InvalidInputError, match=message):
        new_schema(COLUMNS, primary_key=["id"], partition_by=["dt"], options=options)


def test_keys_may_be_nullable_on_demand() -> None:
    schema = new_schema(COLUMNS, primary_key=["id"], options={"primary-key.nullable": "true"})
    assert schema.fields[1].type.nullable


@pytest.mark.parametrize(
    ("columns", "message"),
    [
        (("  INT",), "the name of a column must not be blank"),
        (("_KEY_a INT",), "a name that is reserved in data files"),
        (("rowkind INT",), "a name that is reserved in data files"),
        (("_ROW_ID INT",), "a name that is reserved in data files"),
        (("a ROW<v VECTOR<DATE, 2>>",), "column 'a' contains VECTOR<DATE, 2>.*: use ARRAY"),
    ],
)
def test_names_and_types_of_columns(columns: tuple[str, ...], message: str) -> None:
    with pytest.raises(InvalidInputError, match=message):
        new_schema(rows(*columns))


def test_the_column_of_row_kinds_is_no_column_of_a_table_with_a_primary_key() -> None:
    columns = rows("id INT NOT NULL", "_ROW_KIND STRING")
    assert new_schema(columns).field("_ROW_KIND") is not None
    with pytest.raises(InvalidInputError, match="upsert takes the row kinds from a column"):
        new_schema(columns, primary_key=["id"])


@pytest.mark.parametrize(
    ("partition_by", "message"),
    [
        (["dt", "dt"], "partition column 'dt' is named twice"),
        (["l"], "partition column 'l' cannot be of type"),
    ],
)
def test_partition_columns(partition_by: list[str], message: str) -> None:
    with pytest.raises(InvalidInputError, match=message):
        new_schema(COLUMNS, partition_by=partition_by)


def test_a_nullable_key_column_is_a_violation_of_a_given_schema() -> None:
    schema = TableSchema(
        id=0,
        fields=COLUMNS.fields,
        highest_field_id=5,
        primary_keys=("id",),
        options={"bucket": "1"},
    )
    assert violations(schema) == ("primary key column 'id' must be NOT NULL",)
    with pytest.raises(InvalidInputError, match="must be NOT NULL"):
        validate_create(schema)


@pytest.mark.parametrize(
    ("has_key", "options", "message"),
    [
        (True, {"bucket": "0"}, "'bucket' must be 1 or more"),
        (True, {"merge_engine": "deduplicate"}, "did you mean 'merge-engine'"),
        (False, {"bucket": "-2"}, "'bucket' must be 1 or more"),
        (False, {"bucket-key": "a"}, "'bucket-key' needs 'bucket' = 1 or more"),
        (False, {"bucket": "2", "bucket-key": "x"}, "bucket key column 'x' does not exist"),
        (False, {"bucket": "2", "bucket-key": "a,a"}, "bucket key column 'a' is named twice"),
        (False, {"bucket": "2", "bucket-key": "l"}, "bucket key column 'l' cannot be of type"),
        (False, {"bucket": "2", "bucket-key": "dt"}, "bucket key column 'dt' is a partition"),
        (True, {"bucket": "2", "bucket-key": "a"}, "is not part of the primary key"),
        (True, {"manifest-sort.enabled": "true"}, "needs partition columns or data evolution"),
        (
            False,
            {"manifest-sort.enabled": "true", "manifest-sort.partition-field": "a"},
            "'manifest-sort.partition-field' = 'a' is not a partition column",
        ),
        (False, {"full-compaction.delta-commits": "3"}, "needs a primary key or buckets"),
        (False, {"primary-key.nullable": "true"}, "'primary-key.nullable' needs a primary key"),
        (False, {"changelog-producer": "input"}, "'changelog-producer' needs a primary key"),
        (
            True,
            {"changelog-producer": "lookup", "full-compaction.delta-commits": "1"},
            "cannot be combined with 'changelog-producer' = 'lookup'",
        ),
        (
            True,
            {"merge-engine": "first-row", "changelog-producer": "input"},
            "needs 'changelog-producer' = 'none' or 'lookup'",
        ),
        (
            True,
            {"changelog-producer": "lookup", "streaming-read-overwrite": "true"},
            "read changes twice",
        ),
        (False, {"streaming-read-overwrite": "true"}, "'streaming-read-append-overwrite'"),
        (
            True,
            {"deletion-vectors.enabled": "true", "changelog-producer": "full-compaction"},
            "needs a 'changelog-producer' of 'none', 'input', 'lookup'",
        ),
        (
            True,
            {"deletion-vectors.enabled": "true", "merge-engine": "first-row"},
            "cannot be combined with deletion vectors",
        ),
        (True, {"sequence.field": "a,a"}, "sequence field 'a' is named twice"),
        (
            True,
            {"sequence.field": "a", "fields.a.aggregate-function": "sum"},
            "cannot have an aggregate function",
        ),
        (
            True,
            {"sequence.field": "a", "merge-engine": "first-row"},
            "cannot be combined with 'sequence.field'",
        ),
        (
            True,
            {"sequence.snapshot-ordering": "true", "sequence.field": "a"},
            "cannot be combined with 'sequence.field'.*needs 'write-only'",
        ),
        (False, {"sequence.snapshot-ordering": "true"}, "needs a primary key"),
        (False, {"table-read.sequence-number.enabled": "true"}, "needs a primary key"),
        (True, {"fields.x.ignore-retract": "true"}, "refers to 'x', which is not a column"),
        (True, {"fields.a,x.sequence-group": "b"}, "refers to 'x', which is not a column"),
        (
            True,
            {"fields.a.aggregate-function": "median"},
            "the aggregate function 'median' does not exist",
        ),
        (
            True,
            {"fields.default-aggregate-function": "median"},
            "the aggregate function 'median' does not exist",
        ),
        (
            True,
            {"snapshot.num-retained.min": "0"},
            "'snapshot.num-retained.min' must be at least 1",
        ),
        (
            True,
            {"snapshot.num-retained.max": "5"},
            "must not be greater than 'snapshot.num-retained.max' = 5",
        ),
        (
            True,
            {"changelog.num-retained.max": "5"},
            "must not be greater than 'changelog.num-retained.max' = 5",
        ),
        (True, {"target-file-row-num": "0"}, "'target-file-row-num' must be at least 1"),
        (True, {"rowkind.field": "x"}, "'rowkind.field' refers to 'x'"),
        (True, {"rowkind.field": "a"}, "'rowkind.field' needs a STRING column, not INT"),
        (True, {"record-level.time-field": "x"}, "'record-level.time-field' refers to 'x'"),
        (True, {"record-level.time-field": "s"}, "needs an INT, BIGINT or TIMESTAMP column"),
        (
            True,
            {"row-tracking.enabled": "true"},
            "'row-tracking.enabled' cannot be combined with a primary key",
        ),
        (
            False,
            {"row-tracking.enabled": "true", "bucket": "1", "bucket-key": "a"},
            "needs 'bucket' = '-1'",
        ),
        (False, {"data-evolution.enabled": "true"}, "needs 'row-tracking.enabled' = 'true'"),
        (
            False,
            {
                "data-evolution.enabled": "true",
                "row-tracking.enabled": "true",
                "clustering.incremental": "true",
            },
            "cannot be combined with 'clustering.incremental'",
        ),
        (
            True,
            {"clustering.incremental": "true"},
            "'clustering.incremental' cannot be combined with a primary key",
        ),
        (
            False,
            {
                "clustering.incremental": "true",
                "bucket": "1",
                "bucket-key": "a",
                "deletion-vectors.enabled": "true",
            },
            "needs 'bucket-append-ordered' = 'false'.*cannot be combined with deletion vectors",
        ),
        (True, {"pk-clustering-override": "true"}, "needs 'clustering.columns'.*needs 'deletion"),
        (True, {"vector-field": "a"}, "refers to 'a', which is not a VECTOR column"),
        (True, {"blob-field": "a"}, "refers to 'a', which is not a BLOB column"),
        (True, {"blob-view-field": "a"}, "refers to 'a', which is not a BLOB column"),
        (True, {"chain-table.enabled": "true"}, "needs partition columns.*needs a 'bucket'"),
        (True, {"scan.snapshot-id": "1", "scan.tag-name": "t"}, "needs exactly one of"),
        (True, {"scan.mode": "from-timestamp"}, "needs exactly one of"),
        (
            True,
            {"scan.mode": "latest", "scan.snapshot-id": "1"},
            "cannot be combined with 'scan.mode'",
        ),
        (
            True,
            {"scan.fallback-branch": "a", "scan.primary-branch": "b"},
            "cannot be combined with 'scan.primary-branch'",
        ),
    ],
)
def test_options(has_key: bool, options: dict[str, str], message: str) -> None:  # noqa: FBT001
    keys = ["id"] if has_key else []
    partitions = [] if has_key else ["dt"]
    with pytest.raises(InvalidInputError, match=message):
        new_schema(COLUMNS, primary_key=keys, partition_by=partitions, options=options)


CHAIN = {
    "chain-table.enabled": "true",
    "bucket": "1",
    "sequence.field": "b",
    "partition.timestamp-pattern": "$dt",
    "partition.timestamp-formatter": "yyyyMMdd",
}


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"chain-table.chain-partition-keys": "s"}, "must be the last partition columns"),
        ({"chain-table.chain-partition-keys": "dt,s"}, "must be the last partition columns"),
        ({"chain-table.chain-partition-keys": "a,s,dt"}, "must be the last partition columns"),
        (
            {"partition.expiration-time": "1 d", "partition.expiration-strategy": "update-time"},
            "needs 'partition.expiration-strategy' = 'values-time'",
        ),
        (
            {"deletion-vectors.enabled": "true", "merge-engine": "partial-update"},
            "needs 'merge-engine' = 'deduplicate' for deletion vectors",
        ),
    ],
)
def test_the_chains_of_a_table(options: dict[str, str], message: str) -> None:
    def create(more: dict[str, str]) -> TableSchema:
        return new_schema(
            COLUMNS,
            primary_key=["s", "dt", "id"],
            partition_by=["s", "dt"],
            options=CHAIN | more,
        )

    for fine in ("dt", "s, dt", ""):
        create({"chain-table.chain-partition-keys": fine})
    with pytest.raises(InvalidInputError, match=message):
        create(options)


def test_sequence_fields_need_keys_that_hold_the_partition() -> None:
    with pytest.raises(InvalidInputError, match="contains all partition columns"):
        new_schema(
            COLUMNS, primary_key=["id"], partition_by=["dt"], options={"sequence.field": "a"}
        )


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"fields.a.sequence-group": "b", "fields.s.sequence-group": "b"}, "two sequence groups"),
        ({"fields.a.sequence-group": "x"}, "refers to 'x', which is not a column"),
        ({"fields.a.sequence-group": "id"}, "'id' cannot belong to a sequence group"),
        ({"fields.b.aggregate-function": "sum"}, "'sum' of column 'b' needs a sequence group"),
        (
            {"fields.a.sequence-group": "b", "fields.default-aggregate-function": "max"},
            "'max' of column 's' needs a sequence group",
        ),
        (
            {"partial-update.remove-record-on-delete": "true", "ignore-delete": "true"},
            "'ignore-delete' cannot be combined with",
        ),
        (
            {"partial-update.remove-record-on-delete": "true", "fields.a.sequence-group": "b"},
            "sequence groups cannot be combined with",
        ),
        (
            {
                "partial-update.remove-record-on-sequence-group": "b",
                "fields.a.sequence-group": "b",
                "ignore-delete": "true",
            },
            (
                "'ignore-delete' cannot be combined with.*refers to 'b', which is not a sequence "
                "field of a sequence group"
            ),
        ),
    ],
)
def test_partial_updates(options: dict[str, str], message: str) -> None:
    with pytest.raises(InvalidInputError, match=message):
        new_schema(
            COLUMNS, primary_key=["id"], options={"merge-engine": "partial-update", **options}
        )


def test_a_delete_that_removes_the_row_is_not_ignored_by_a_column() -> None:
    options = {
        "merge-engine": "aggregation",
        "aggregation.remove-record-on-delete": "true",
        "fields.a.ignore-retract": "true",
    }
    with pytest.raises(
        InvalidInputError, match=r"cannot be combined with 'fields\.a\.ignore-retract'"
    ):
        new_schema(COLUMNS, primary_key=["id"], options=options)


SHREDDED = {"fields.m.map.storage-layout": "shared-shredding"}
SHREDDED_MAP = "m MAP<STRING NOT NULL, INT>"
MAX_COLUMNS = "fields.m.map.shared-shredding.max-columns"


@pytest.mark.parametrize(
    ("column", "options", "message"),
    [
        ("t TIMESTAMP(9)", {"file.format": "avro"}, r"Avro files cannot store TIMESTAMP\(9\)"),
        ("t TIME(6)", {"file.format": "AVRO"}, r"Avro files cannot store TIME\(6\)"),
        ("t ARRAY<TIMESTAMP_LTZ(9)>", {"file.format.per.level": "0:avro"}, "Avro files cannot"),
        (
            "a-b INT",
            {"file.format": "avro"},
            "Avro files cannot store column 'a-b': a name in Avro",
        ),
        ("r ROW<`1` INT>", {"file.format.per.level": "0:avro"}, "Avro files cannot store column"),
        (
            "l ARRAY<ROW<`x y` INT>>",
            {"changelog-file.format": "avro"},
            "store column 'x y': a name",
        ),
        ("g GEOMETRY", {"file.format": "orc"}, "can only be stored in Parquet files"),
        (
            "g ROW<x GEOGRAPHY>",
            {"changelog-file.format": "avro"},
            "can only be stored in Parquet files",
        ),
        ("g GEOMETRY", {"clustering.columns": "g"}, "cannot be in 'clustering.columns'"),
        (
            "l ARRAY<GEOMETRY>",
            {"metadata.iceberg.storage": "table-location"},
            "needs 'metadata.iceberg.format-version' = '3'",
        ),
        (
            "g GEOMETRY",
            {"metadata.iceberg.storage": "rest-catalog", "metadata.iceberg.format-version": "3"},
            "cannot be in a table with 'metadata.iceberg.storage' = 'rest-catalog'",
        ),
        (
            "g GEOGRAPHY('a,b', karney)",
            {"metadata.iceberg.storage": "table-location", "metadata.iceberg.format-version": "3"},
            "has a comma in its CRS",
        ),
        ("x BLOB", {}, "needs 'data-evolution.enabled' = 'true'"),
        ("x ROW<y BLOB>", {}, "BLOB cannot be inside"),
        (
            "m MAP<STRING, INT>",
            {"fields.m.map.storage-layout": "columns"},
            "must be one of default, shared-shredding, not 'columns'",
        ),
        ("m MAP<INT, INT>", {"fields.m.map.storage-layout": "shared-shredding"}, "MAP<STRING NOT"),
        ("m STRING", {"fields.m.map.storage-layout": "shared-shredding"}, "MAP<STRING NOT NULL"),
        ("m MAP<STRING, INT>", SHREDDED, "not MAP<STRING, ...>"),
        ("m MAP<CHAR(3) NOT NULL, INT>", SHREDDED, "MAP<STRING NOT"),
        ("m MAP<STRING NOT NULL, VECTOR<FLOAT, 2>>", SHREDDED, "whose values contain VECTOR"),
        ("m MAP<STRING NOT NULL, VARIANT>", SHREDDED, "with VARIANT in column 'm'"),
        ("m MAP<STRING NOT NULL, MULTISET<INT>>", SHREDDED, "with MULTISET in column 'm'"),
        (SHREDDED_MAP, {**SHREDDED, "file.format": "avro"}, "needs Parquet or ORC files, not avro"),
        (SHREDDED_MAP, {**SHREDDED, "changelog-file.format": "avro"}, "Parquet or ORC files"),
        (SHREDDED_MAP, {**SHREDDED, "file.compression": "gzip"}, "lz4, none, zstd, not gzip"),
        (SHREDDED_MAP, {**SHREDDED, MAX_COLUMNS: "0"}, "must be greater than 0"),
        (SHREDDED_MAP, {**SHREDDED, MAX_COLUMNS: "few"}, "the value must be an integer"),
        (
            SHREDDED_MAP,
            {**SHREDDED, "fields.m.map.shared-shredding.column-placement-policy": "random"},
            "one of",
        ),
    ],
)
def test_formats(column: str, options: dict[str, str], message: str) -> None:
    with pytest.raises(InvalidInputError, match=message):
        new_schema(rows("id INT", column), options=options)


def test_options_declare_the_types_that_engines_lack() -> None:
    columns = rows("id INT", "b BYTES", "d BYTES", "v ARRAY<FLOAT>")
    options = {
        "row-tracking.enabled": "true",
        "data-evolution.enabled": "true",
        "blob-field": "b",
        "blob-descriptor-field": "d",
        "vector-field": "v",
    }
    with pytest.raises(InvalidInputError, match=r"field\.v\.vector-dim"):
        new_schema(columns, options=options)
    options["field.v.vector-dim"] = "3"
    made = new_schema(columns, options=options)
    assert [type_text(one.type) for one in made.fields[1:]] == ["BLOB", "BLOB", "VECTOR<FLOAT, 3>"]


COMPANY = {"row-tracking.enabled": "true", "data-evolution.enabled": "true"}


def commented(**columns: tuple[str, str]) -> RowType:
    """Columns with a type and a comment."""
    fields = (
        DataField(id=0, name=name, type=parse_type_text(kind), description=comment)
        for name, (kind, comment) in columns.items()
    )
    return RowType(fields=(*rows("id INT").fields, *fields))


def test_comments_declare_the_types_that_engines_lack() -> None:
    columns = commented(
        b=("BYTES", "__BLOB_FIELD"),
        l=("ARRAY<BINARY(5)>", " __BLOB_FIELD; pictures ; of cats "),
        m=("MAP<STRING, BYTES NOT NULL>", "__BLOB_FIELD;"),
        d=("BLOB", "__BLOB_DESCRIPTOR_FIELD"),
        w=("BYTES", "__BLOB_VIEW_FIELD;elsewhere"),
        v=("ARRAY<FLOAT>", "__VECTOR_FIELD; 128 ; words"),
        x=("BYTES", "plain __BLOB_FIELD"),
    )
    old = {"blob-field": "b", "blob.stored-descriptor-fields": "o"}
    plain = RowType(fields=(*columns.fields, *rows("o BYTES").fields))
    made = new_schema(plain, options={**COMPANY, **old})
    kinds = [f"{type_text(one.type)} {one.description}" for one in made.fields[1:-1]]
    assert kinds == [
        "BLOB None",
        "ARRAY<BLOB> pictures ; of cats",
        "MAP<STRING, BLOB NOT NULL> None",
        "BLOB None",
        "BLOB elsewhere",
        "VECTOR<FLOAT, 128> words",
        "BYTES plain __BLOB_FIELD",
    ]
    assert made.options == {
        **COMPANY,
        "blob-field": "b,l,m",
        "blob-descriptor-field": "o,d",
        "blob-view-field": "w",
        "vector-field": "v",
    }


@pytest.mark.parametrize(
    ("kind", "comment", "message"),
    [
        ("BYTES", "__BLOB", "'__BLOB' is no directive"),
        ("BYTES", "__BLOB_FIELD ; x", "'__BLOB_FIELD ; x' is no directive"),
        ("BYTES", "__VECTORS;3", "'__VECTORS;3' is no directive"),
        ("INT", "__BLOB_FIELD", "needs BYTES.*, not INT"),
        ("ARRAY<BYTES>", "__BLOB_VIEW_FIELD", "needs BYTES, BINARY or BLOB, not ARRAY<BYTES>"),
        ("ARRAY<INT>", "__BLOB_FIELD", "MAP of such values, not ARRAY<INT>"),
        ("FLOAT", "__VECTOR_FIELD;3", "needs an ARRAY, not FLOAT"),
        ("ARRAY<FLOAT>", "__VECTOR_FIELD", "'__VECTOR_FIELD' has no length"),
        ("ARRAY<FLOAT>", "__VECTOR_FIELD;0", "'__VECTOR_FIELD;0' has no length"),
        ("ARRAY<FLOAT>", "__VECTOR_FIELD;wide; x", "'__VECTOR_FIELD;wide; x' has no length"),
    ],
)
def test_comments_that_declare_nothing_are_refused(kind: str, comment: str, message: str) -> None:
    with pytest.raises(InvalidInputError, match=message):
        new_schema(commented(c=(kind, comment)), options=COMPANY)


def test_blob_columns_need_company() -> None:
    options = {"row-tracking.enabled": "true", "data-evolution.enabled": "true"}
    assert new_schema(rows("id INT", "x BLOB"), options=options).options == options
    with pytest.raises(InvalidInputError, match="needs other columns as well"):
        new_schema(rows("x BLOB", "y MAP<INT, BLOB>"), options=options)


PARTIAL_BLOB = {"merge-engine": "partial-update"}
GROUP_OF_BLOB = {"fields.y.sequence-group": "x"}
FIRST_BLOB = {"fields.x.aggregate-function": "first_value"}


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (
            {"merge-engine": "aggregation"},
            "BLOB columns cannot have 'merge-engine' = 'aggregation'",
        ),
        ({"changelog-producer": "input"}, "BLOB columns needs 'changelog-producer' = 'none'"),
        (
            {"data-file.external-paths": "s3://b/c"},
            "cannot be combined with 'data-file.external-paths'",
        ),
        (
            {"blob-descriptor-field": "x", "blob-view-field": "x"},
            "must not be in both 'blob-descriptor-field' and 'blob-view-field'",
        ),
        ({"sequence.field": "x"}, "BLOB column 'x' cannot be a sequence field"),
        (
            {**PARTIAL_BLOB, "fields.x.sequence-group": "y"},
            "BLOB column 'x' cannot be a sequence field",
        ),
        (
            {**PARTIAL_BLOB, **GROUP_OF_BLOB, **FIRST_BLOB},
            "'first_value' of BLOB column 'x' in a sequence group needs 'fields.x.ignore-retract'",
        ),
    ],
)
def test_blob_columns_beside_a_key(options: dict[str, str], message: str) -> None:
    with pytest.raises(InvalidInputError, match=message):
        new_schema(rows("id INT", "x BLOB", "y INT"), primary_key=["id"], options=options)


@pytest.mark.parametrize(
    "options",
    [
        {"blob-descriptor-field": "x", "changelog-producer": "input"},
        {"blob-view-field": "x", "merge-engine": "aggregation"},
        {**PARTIAL_BLOB, **GROUP_OF_BLOB},
        {**PARTIAL_BLOB, **GROUP_OF_BLOB, "fields.x.aggregate-function": "last_value"},
        {**PARTIAL_BLOB, **GROUP_OF_BLOB, **FIRST_BLOB, "fields.x.ignore-retract": "true"},
        {**PARTIAL_BLOB, **GROUP_OF_BLOB, **FIRST_BLOB, "ignore-delete": "true"},
    ],
)
def test_blob_columns_that_java_takes_beside_a_key(options: dict[str, str]) -> None:
    made = new_schema(rows("id INT", "x BLOB", "y INT"), primary_key=["id"], options=options)
    assert made.options == options


def test_all_violations_are_told_at_once() -> None:
    with pytest.raises(
        InvalidInputError, match=r"'bucket' must be 1 or more.*'rowkind.field' refers to"
    ):
        keyed(bucket="0", rowkind__field="x")


@pytest.mark.parametrize(
    ("options", "mode"),
    [
        ({}, StartupMode.LATEST_FULL),
        ({"scan.mode": "full"}, StartupMode.LATEST_FULL),
        ({"scan.mode": "latest"}, StartupMode.LATEST),
        ({"scan.timestamp-millis": "5"}, StartupMode.FROM_TIMESTAMP),
        ({"scan.tag-name": "t"}, StartupMode.FROM_SNAPSHOT),
        ({"scan.watermark": "5"}, StartupMode.FROM_SNAPSHOT),
        ({"incremental-between": "1,2"}, StartupMode.INCREMENTAL),
        ({"scan.file-creation-time-millis": "5"}, StartupMode.FROM_FILE_CREATION_TIME),
    ],
)
def test_the_scan_mode_follows_from_the_other_options(
    options: dict[str, str], mode: StartupMode
) -> None:
    assert startup_mode(TableOptions(options)) is mode


def test_options_of_engines_and_users_are_left_alone() -> None:
    made = new_schema(pa.schema([("k", pa.int32())]), options={"team.owner": "me"})
    validate_create(made)
