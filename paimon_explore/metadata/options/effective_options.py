"""Option values that depend on other options or on the kind of table.

Spec: maintenance/configurations.
"""

from paimon_explore.metadata.options.option_enums import ChangelogProducer, MergeEngine, StartupMode
from paimon_explore.metadata.options.table_options import (
    BUCKET,
    CHANGELOG_NUM_RETAINED_MAX,
    CHANGELOG_NUM_RETAINED_MIN,
    CHANGELOG_PRODUCER,
    CHANGELOG_TIME_RETAINED,
    DELETION_VECTORS_ENABLED,
    FORCE_LOOKUP,
    LOOKUP_COMPACT_MAX_INTERVAL,
    MERGE_ENGINE,
    MIB,
    NUM_LEVELS,
    NUM_SORTED_RUN_COMPACTION_TRIGGER,
    NUM_SORTED_RUN_STOP_TRIGGER,
    POSTPONE_BUCKET,
    POSTPONE_MERGE_ON_READ,
    SCAN_MODE,
    SNAPSHOT_NUM_RETAINED_MAX,
    SNAPSHOT_NUM_RETAINED_MIN,
    SNAPSHOT_TIME_RETAINED,
    TARGET_FILE_SIZE,
    TableOptions,
)

_PRIMARY_KEY_FILE_BYTES = 128 * MIB
_APPEND_FILE_BYTES = 256 * MIB
_STOP_MARGIN = 3


def target_file_bytes(options: TableOptions, *, has_primary_key: bool) -> int:
    """Return the target size of data files in bytes."""
    given = options.value(TARGET_FILE_SIZE)
    if given is not None:
        return given
    return _PRIMARY_KEY_FILE_BYTES if has_primary_key else _APPEND_FILE_BYTES


def level_count(options: TableOptions) -> int:
    """Return the number of levels of the LSM tree, including level 0."""
    given = options.value(NUM_LEVELS)
    return options.value(NUM_SORTED_RUN_COMPACTION_TRIGGER) + 1 if given is None else given


def stop_trigger(options: TableOptions) -> int:
    """Return the number of sorted runs at which writes wait for a compaction."""
    trigger = options.value(NUM_SORTED_RUN_COMPACTION_TRIGGER)
    given = options.value(NUM_SORTED_RUN_STOP_TRIGGER)
    return trigger + _STOP_MARGIN if given is None else max(trigger, given)


def needs_lookup(options: TableOptions) -> bool:
    """Return whether the table uses lookup compaction."""
    return (
        options.value(CHANGELOG_PRODUCER) is ChangelogProducer.LOOKUP
        or options.value(DELETION_VECTORS_ENABLED)
        or options.value(MERGE_ENGINE) is MergeEngine.FIRST_ROW
        or options.value(FORCE_LOOKUP)
    )


def merges_postponed(options: TableOptions) -> bool:
    """Return whether batch reads merge the records of postpone buckets."""
    return (
        options.value(POSTPONE_MERGE_ON_READ)
        and options.value(BUCKET) == POSTPONE_BUCKET
        and options.value(SCAN_MODE) is not StartupMode.COMPACTED_FULL
    )


def lookup_compact_max_interval(options: TableOptions) -> int:
    """Return the maximum number of commits between two gentle lookup compactions."""
    trigger = options.value(NUM_SORTED_RUN_COMPACTION_TRIGGER)
    given = options.value(LOOKUP_COMPACT_MAX_INTERVAL)
    return 2 * trigger if given is None else max(trigger, given)


def changelog_num_retained_min(options: TableOptions) -> int:
    """Return the minimum number of changelogs to keep; default: that of snapshots."""
    given = options.value(CHANGELOG_NUM_RETAINED_MIN)
    return options.value(SNAPSHOT_NUM_RETAINED_MIN) if given is None else given


def changelog_num_retained_max(options: TableOptions) -> int:
    """Return the maximum number of changelogs to keep; default: that of snapshots."""
    given = options.value(CHANGELOG_NUM_RETAINED_MAX)
    return options.value(SNAPSHOT_NUM_RETAINED_MAX) if given is None else given


def changelog_time_retained_ms(options: TableOptions) -> int:
    """Return the maximum age of changelogs in milliseconds; default: that of snapshots."""
    given = options.value(CHANGELOG_TIME_RETAINED)
    return options.value(SNAPSHOT_TIME_RETAINED) if given is None else given


def is_changelog_decoupled(options: TableOptions) -> bool:
    """Return whether changelogs are kept longer than their snapshots."""
    return (
        changelog_num_retained_max(options) > options.value(SNAPSHOT_NUM_RETAINED_MAX)
        or changelog_time_retained_ms(options) > options.value(SNAPSHOT_TIME_RETAINED)
        or changelog_num_retained_min(options) > options.value(SNAPSHOT_NUM_RETAINED_MIN)
    )
