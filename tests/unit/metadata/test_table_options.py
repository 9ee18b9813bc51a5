import pickle

import pytest

from paimon_explore.errors import InvalidInputError
from paimon_explore.metadata.options.option_definition import (
    parse_duration,
    parse_per_level,
    parse_size,
)
from paimon_explore.metadata.options.option_enums import (
    ChangelogProducer,
    MergeEngine,
    TagPeriodFormatter,
)
from paimon_explore.metadata.options.option_reference import ALL_OPTIONS, OPTION_REFERENCE
from paimon_explore.metadata.options.table_options import (
    BUCKET,
    BUCKET_KEY,
    CHANGELOG_PRODUCER,
    COMMIT_MIN_RETRY_WAIT,
    COMMIT_TIMEOUT,
    COMPACTION_SMALL_FILE_RATIO,
    FILE_FORMAT_PER_LEVEL,
    FILE_INDEX_IN_MANIFEST_THRESHOLD,
    IGNORE_DELETE,
    MANIFEST_TARGET_FILE_SIZE,
    MERGE_ENGINE,
    SNAPSHOT_TIME_RETAINED,
    SOURCE_SPLIT_TARGET_SIZE,
    TARGET_FILE_SIZE,
    WRITE_ONLY,
    TableOptions,
)
from paimon_explore.metadata.options.tag_options import TAG_PERIOD_FORMATTER

IMMUTABLE = {
    *("type", "bucket-key", "bucket-function.type", "data-file.path-directory", "merge-engine"),
    *("sequence.snapshot-ordering", "aggregation.remove-record-on-delete", "rowkind.field"),
    *("partial-update.remove-record-on-delete", "partial-update.remove-record-on-sequence-group"),
    *("primary-key", "primary-key.nullable", "partition", "dynamic-bucket.initial-buckets"),
    *("force-lookup", "row-tracking.enabled", "data-evolution.enabled", "blob-field"),
    *("index-file-in-data-file-dir", "blob-descriptor-field", "blob-view-field"),
    "pk-clustering-override",
}


def test_defaults_hold_without_options() -> None:
    options = TableOptions({})
    assert options.value(BUCKET) == -1
    assert options.value(MERGE_ENGINE) is MergeEngine.DEDUPLICATE
    assert options.value(BUCKET_KEY) == ()
    assert options.value(COMMIT_TIMEOUT) is None
    assert options.value(SNAPSHOT_TIME_RETAINED) == 3_600_000
    assert options.value(SOURCE_SPLIT_TARGET_SIZE) == 134_217_728
    assert options.value(FILE_INDEX_IN_MANIFEST_THRESHOLD) == 500


def test_texts_are_read_by_the_option() -> None:
    options = TableOptions(
        {
            "bucket": " 4 ",
            "merge-engine": "PARTIAL_UPDATE",
            "changelog-producer": "Full-Compaction",
            "write-only": "TRUE",
            "commit.min-retry-wait": "2 s",
            "manifest.target-file-size": "1 kb",
            "file.format.per.level": "0:avro, 5:orc",
            "compaction.small-file-ratio": "0.5",
            "tag.period-formatter": "without_dashes",
        }
    )
    assert options.value(BUCKET) == 4
    assert options.value(MERGE_ENGINE) is MergeEngine.PARTIAL_UPDATE
    assert options.value(CHANGELOG_PRODUCER) is ChangelogProducer.FULL_COMPACTION
    assert options.value(WRITE_ONLY) is True
    assert options.value(COMMIT_MIN_RETRY_WAIT) == 2000
    assert options.value(MANIFEST_TARGET_FILE_SIZE) == 1024
    assert options.value(FILE_FORMAT_PER_LEVEL) == {0: "avro", 5: "orc"}
    assert options.value(COMPACTION_SMALL_FILE_RATIO) == 0.5
    assert options.value(TAG_PERIOD_FORMATTER) is TagPeriodFormatter.WITHOUT_DASHES


def test_older_names_are_read_when_the_name_is_absent() -> None:
    assert TableOptions({"first-row.ignore-delete": "true"}).value(IGNORE_DELETE)
    both = TableOptions({"ignore-delete": "false", "first-row.ignore-delete": "true"})
    assert not both.value(IGNORE_DELETE)
    assert TableOptions({"write.compaction-skip": "true"}).has(WRITE_ONLY)


@pytest.mark.parametrize(
    ("key", "text", "message"),
    [
        ("bucket", "four", "Option 'bucket' = 'four' is invalid: the value must be an integer"),
        ("bucket", "1.5", "the value must be an integer"),
        ("bucket", "99999999999999999999", "the value must be an integer"),
        ("write-only", "yes", "the value must be 'true' or 'false'"),
        ("merge-engine", "newest", "one of 'deduplicate', 'partial-update', 'aggregation', 'first"),
        ("commit.timeout", "soon", "a duration such as '1 h'"),
        ("commit.timeout", "5 weeks", "the unit 'weeks' is unknown .units: 'd', 'h'"),
        ("target-file-size", "-1 mb", "a size such as '128 mb'"),
        ("file.format.per.level", "avro", "a list of level:value pairs"),
        ("compaction.small-file-ratio", "nan", "the value must be a finite number"),
        ("compaction.small-file-ratio", "x", "the value must be a number"),
    ],
)
def test_texts_that_are_no_value_are_refused_with_the_choices(
    key: str, text: str, message: str
) -> None:
    with pytest.raises(InvalidInputError, match=message):
        TableOptions({key: text}).value(ALL_OPTIONS[key])


@pytest.mark.parametrize(
    ("text", "millis"),
    [
        ("0", 0),
        ("5", 5),
        ("10 ms", 10),
        ("10ms", 10),
        ("1 s", 1000),
        ("2 min", 120_000),
        ("2m", 120_000),
        ("1 h", 3_600_000),
        ("1d", 86_400_000),
        ("3 DAYS", 259_200_000),
        ("1500 µs", 1),
        ("999999 ns", 0),
    ],
)
def test_durations_are_milliseconds(text: str, millis: int) -> None:
    assert parse_duration(text) == millis


@pytest.mark.parametrize(
    ("text", "size"),
    [
        ("5", 5),
        ("5 b", 5),
        ("2k", 2048),
        ("128 mb", 2**27),
        ("1 GB", 2**30),
        ("1 tebibytes", 2**40),
    ],
)
def test_sizes_are_bytes_in_steps_of_1024(text: str, size: int) -> None:
    assert parse_size(text) == size


def test_values_per_level_may_be_none() -> None:
    assert parse_per_level("") == {}


def test_options_are_a_mapping_that_can_be_changed_and_pickled() -> None:
    options = TableOptions({"bucket": "1", "x": "y"})
    assert dict(options) == {"bucket": "1", "x": "y"}
    changed = options.changed({"bucket": "2"})
    assert (changed.value(BUCKET), options.value(BUCKET)) == (2, 1)
    assert pickle.loads(pickle.dumps(changed)) == changed  # noqa: S301 - our own bytes


def test_immutable_options_are_those_of_java() -> None:
    assert {key for key, option in ALL_OPTIONS.items() if option.is_immutable} == IMMUTABLE


def test_every_option_is_listed_by_its_key_and_described() -> None:
    assert all(key == option.key for key, option in ALL_OPTIONS.items())
    assert all(one.description for one in OPTION_REFERENCE.values())
    assert TARGET_FILE_SIZE in ALL_OPTIONS.values()
