"""Avro metadata is compared with what fastavro reads: any value that differs is named."""

from dataclasses import dataclass

import pyarrow as pa
import pytest

from paimon_explore.encoding.avro.cross_check import CrossCheck
from paimon_explore.maintenance.checks.avro_cross_checks import (
    MetadataRecords,
    cross_check_metadata,
)
from paimon_explore.metadata.manifest.index_manifest import INDEX_FIELDS, IndexEntries
from paimon_explore.metadata.manifest.manifest_codec import (
    encode_records,
)
from paimon_explore.metadata.manifest.manifest_entry import ENTRY_FIELDS
from paimon_explore.metadata.manifest.manifest_list import MANIFEST_LIST_FIELDS, ManifestFiles
from support.entries import EMPTY_ROW, entries, entry

ENTRIES = entries(
    entry(
        "data-1",
        creation_time=1_700_000_000_123,
        key_null_counts=[0, None, 3],
        value_null_counts=[None, 2**40],
        extra_files=["data-1.index"],
        delete_row_count=0,
        embedded_file_index=b"\0\xff",
        file_source=1,
        value_stats_cols=["a", "b"],
        external_path="s3://bucket/data-1",
        first_row_id=2**40,
        write_cols=["a"],
        write_cols_sequences=[7],
    ),
    entry("data-2", kind=1, level=5, row_count=2**62),
    entry("data-3", min_key=b"\1" * 70_000),
)
MANIFESTS = ManifestFiles.from_rows(
    {
        "file_name": f"manifest-{number}",
        "file_size": 2**33,
        "num_added_files": 3,
        "num_deleted_files": 1,
        "partition_min": EMPTY_ROW,
        "partition_max": EMPTY_ROW,
        "partition_null_counts": [None, 0],
        "schema_id": 4,
        "min_bucket": -2,
        "max_bucket": 9,
        "min_level": 0,
        "max_level": 5,
        "min_row_id": 0,
        "max_row_id": 99,
    }
    for number in range(3)
)
INDEXES = IndexEntries.from_rows(
    [
        {
            "kind": 0,
            "partition": EMPTY_ROW,
            "bucket": 1,
            "index_type": "DELETION_VECTORS",
            "file_name": f"index-{number}",
            "file_size": 30,
            "row_count": 2,
            "dv_ranges": [{"data_file": "data-1", "offset": 1, "length": 22, "cardinality": None}],
            "external_path": None if number else "s3://bucket/index-0",
            "global_index": {
                "row_range_start": 0,
                "row_range_end": 9,
                "index_field_id": 2,
                "extra_field_ids": [3, 4],
                "index_meta": b"meta",
                "source_meta": None,
            },
        }
        for number in range(3)
    ]
)


@dataclass(frozen=True)
class Kind:
    decoded: MetadataRecords
    data: bytes
    fields: dict[str, tuple[str, ...]]

    def compared(self, table: pa.Table, max_records: int | None = None) -> CrossCheck:
        return cross_check_metadata(self.data, "m", type(self.decoded)(table), max_records)


KINDS = {
    "manifest": Kind(ENTRIES, encode_records(ENTRIES), dict(ENTRY_FIELDS)),
    "manifest list": Kind(MANIFESTS, encode_records(MANIFESTS), dict(MANIFEST_LIST_FIELDS)),
    "index manifest": Kind(INDEXES, encode_records(INDEXES), dict(INDEX_FIELDS)),
}
COLUMNS = [(kind, name) for kind in KINDS for name in KINDS[kind].fields]


@pytest.mark.parametrize("kind", KINDS)
def test_files_of_every_kind_are_read_alike(kind: str) -> None:
    found = KINDS[kind].compared(KINDS[kind].decoded.table)
    assert str(found) == "fastavro agrees on all 3 records"


def altered(value: object) -> object:
    """Another value of the same type."""
    match value:
        case list():
            return [*value[:-1], altered(value[-1])]
        case dict():
            name = next(reversed([name for name in value if value[name] is not None]))
            return {**value, name: altered(value[name])}
        case bytes():
            return value[:-1] + bytes([value[-1] ^ 1])
        case str():
            return f"{value}x"
        case int():
            return value ^ 1
        case None:
            return None
        case _:
            raise AssertionError(value)


@pytest.mark.parametrize(("kind", "name"), COLUMNS)
def test_a_value_of_any_column_that_differs_is_found(kind: str, name: str) -> None:
    table = KINDS[kind].decoded.table
    column = table.column(name)
    raw = column.cast(pa.int64()) if name == "creation_time" else column
    values = raw.to_pylist()
    values[0] = altered(values[0])
    wrong = pa.chunked_array([pa.array(values, raw.type)]).cast(column.type)
    place = table.schema.get_field_index(name)
    found = KINDS[kind].compared(table.set_column(place, table.schema.field(name), wrong))
    assert [(one.record, one.field) for one in found.disagreements] == [
        (0, ".".join(KINDS[kind].fields[name]))
    ]


NULLABLE = [
    (kind, name) for kind, name in COLUMNS if KINDS[kind].decoded.table.schema.field(name).nullable
]


@pytest.mark.parametrize(("kind", "name"), NULLABLE)
def test_a_null_on_one_side_is_found(kind: str, name: str) -> None:
    table = KINDS[kind].decoded.table
    field = table.schema.field(name)
    place = table.schema.get_field_index(name)
    nulls = pa.nulls(len(table), field.type)
    found = KINDS[kind].compared(table.set_column(place, field, nulls))
    assert found.disagreements[0].ours == "None"


def test_a_disagreement_names_record_field_and_both_values() -> None:
    table = ENTRIES.table
    place = table.schema.get_field_index("row_count")
    wrong = pa.array([1, 2**62, 2], pa.int64())
    found = KINDS["manifest"].compared(
        table.set_column(place, table.schema.field("row_count"), wrong)
    )
    assert [str(one) for one in found.disagreements] == [
        "record 2, field _FILE._ROW_COUNT: paimon_explore reads 2, fastavro reads 1"
    ]


@pytest.mark.parametrize(
    ("rows", "said"),
    [
        (2, "record 2: paimon_explore reads the end of the file, fastavro reads a record"),
        (4, "record 3: paimon_explore reads a record, fastavro reads the end of the file"),
    ],
)
def test_another_number_of_records_is_found(rows: int, said: str) -> None:
    table = pa.concat_tables([ENTRIES.table, ENTRIES.table]).slice(0, rows)
    found = KINDS["manifest"].compared(table)
    assert said in [str(one) for one in found.disagreements][-1]


def test_a_limit_ends_the_comparison() -> None:
    found = KINDS["manifest"].compared(ENTRIES.table, 2)
    assert str(found) == "fastavro agrees on the first 2 records"
    assert (found.records, found.is_whole) == (2, False)
