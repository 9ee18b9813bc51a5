import pytest

from paimon_explore.metadata.options.column_options import (
    AGGREGATE_FUNCTION,
    COUNT_LIMIT,
    SEQUENCE_GROUP,
)
from paimon_explore.metadata.options.effective_options import (
    changelog_num_retained_max,
    changelog_num_retained_min,
    changelog_time_retained_ms,
    is_changelog_decoupled,
    level_count,
    lookup_compact_max_interval,
    stop_trigger,
    target_file_bytes,
)
from paimon_explore.metadata.options.option_spelling import is_known, unknown_names
from paimon_explore.metadata.options.table_options import MIB, TableOptions


@pytest.mark.parametrize(
    "key",
    [
        "bucket",
        "first-row.ignore-delete",
        "lookup.cache-rows",
        "fields.a.aggregate-function",
        "fields.a,b.sequence-group",
        "fields.default-aggregate-function",
        "file-index.bloom-filter.columns",
        "file-index.bloom-filter.name.fpp",
        "file-index.bloom-filter.m[a].items",
        "file-index.read.enabled",
        "parquet.page.size",
        "orc.stripe.size",
        "avro.anything",
        "metadata.iceberg.storage",
        "owner",
        "field.embedding.vector-dim",
        "fields.embedding.dimension",
        "fields.embedding.train.sample-ratio",
        "diskann.max-degree",
        "full-text.tokenizer",
        "multivalue-index.compression",
        "partition.idle-time-to-done",
        "rocksdb.thread.num",
        "scan.split-enumerator.mode",
        "write.merge-schema.explicit-cast",
    ],
)
def test_documented_names_and_open_families_are_known(key: str) -> None:
    assert is_known(key)


@pytest.mark.parametrize(
    ("key", "meant"),
    [
        ("buckets", "bucket"),
        ("file_format", "file.format"),
        ("seqence.field", "sequence.field"),
        ("snapshot.num-retained-min", "snapshot.num-retained.min"),
        ("fields.a.agregate-function", "fields.a.aggregate-function"),
        ("fields.a.zzz", None),
        ("fields.a.b.nlist", None),
        ("file-index.bloomfilter.columns", "file-index.bloom-filter.columns"),
        ("scan.snapshotid", "scan.snapshot-id"),
        ("xyzzy", None),
    ],
)
def test_misspelt_names_find_what_they_meant(key: str, meant: str | None) -> None:
    assert unknown_names([key, "bucket"]) == {key: meant}


def test_settings_of_columns_have_values_and_defaults() -> None:
    options = {
        "fields.a.aggregate-function": "sum",
        "fields.b,c.sequence-group": "d,e",
        "fields.default-aggregate-function": "max",
    }
    assert AGGREGATE_FUNCTION.value_for("a", options) == "sum"
    assert AGGREGATE_FUNCTION.value_for("b", options) is None
    assert COUNT_LIMIT.value_for("a", options) == 2**31 - 1
    assert list(SEQUENCE_GROUP.columns_in(options)) == [(("b", "c"), "d,e")]
    assert list(AGGREGATE_FUNCTION.columns_in(options)) == [(("a",), "sum")]


def test_values_derive_from_other_options() -> None:
    nothing = TableOptions({})
    assert target_file_bytes(nothing, has_primary_key=True) == 128 * MIB
    assert target_file_bytes(nothing, has_primary_key=False) == 256 * MIB
    assert (level_count(nothing), stop_trigger(nothing)) == (6, 8)
    assert lookup_compact_max_interval(nothing) == 10
    assert changelog_num_retained_min(nothing) == 10
    assert changelog_num_retained_max(nothing) == 2**31 - 1
    assert changelog_time_retained_ms(nothing) == 3_600_000
    assert not is_changelog_decoupled(nothing)


def test_given_values_win_over_derived_ones() -> None:
    given = TableOptions(
        {
            "num-sorted-run.compaction-trigger": "4",
            "num-sorted-run.stop-trigger": "2",
            "num-levels": "3",
            "lookup-compact.max-interval": "7",
            "target-file-size": "1 mb",
            "changelog.num-retained.min": "20",
            "changelog.num-retained.max": "30",
            "changelog.time-retained": "1 d",
        }
    )
    assert target_file_bytes(given, has_primary_key=True) == MIB
    assert (level_count(given), stop_trigger(given)) == (3, 4)
    assert lookup_compact_max_interval(given) == 7
    assert changelog_num_retained_min(given) == 20
    assert changelog_num_retained_max(given) == 30
    assert changelog_time_retained_ms(given) == 86_400_000
    assert is_changelog_decoupled(given)
