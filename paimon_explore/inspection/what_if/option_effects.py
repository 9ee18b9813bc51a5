"""When a changed option takes effect, and for whom."""

from collections.abc import Mapping
from enum import Enum

from paimon_explore.metadata.options.option_definition import Option, parse_duration, parse_size
from paimon_explore.metadata.options.option_reference import ALL_OPTIONS

_NEW_FILES = "Applies to new data files; existing files stay as they are until a compaction."
_COMPACTION = "Applies to the next compaction; nothing is rewritten before."
_EXPIRY = "Applies to the next snapshot expiry; nothing is removed before."

_BY_KEY: Mapping[str, str] = {
    "bucket": "New and overwritten partitions get this number of buckets. Writers reject other "
    "writes to existing partitions until INSERT OVERWRITE rewrites them; readers are not affected.",
    "changelog-producer": "Applies to changelogs from the next write or compaction on; the "
    "changelogs of earlier snapshots do not change.",
    "deletion-vectors.enabled": "Writers and compaction use deletion vectors from now on; readers "
    "then only see compacted rows, so a full compaction should follow.",
    "num-levels": _COMPACTION,
    "target-file-size": _NEW_FILES,
    "target-file-row-num": _NEW_FILES,
    "sequence.field": "Readers and compaction order the rows of a key by these columns from now "
    "on; rows that a compaction has already dropped do not come back.",
    "consumer.expiration-time": "Applies to the next snapshot expiry: older consumers are removed "
    "and no longer keep snapshots.",
    "write-only": "Writers no longer compact or expire snapshots themselves; a separate job has "
    "to.",
}
_BY_PREFIX: tuple[tuple[str, str], ...] = (
    ("snapshot.expire", _EXPIRY),
    ("snapshot.num-retained", _EXPIRY),
    ("snapshot.time-retained", _EXPIRY),
    ("changelog.num-retained", _EXPIRY),
    ("changelog.time-retained", _EXPIRY),
    ("compaction.", _COMPACTION),
    ("num-sorted-run.", _COMPACTION),
    ("full-compaction.", _COMPACTION),
    ("partition.expiration", "Applies to the next partition expiry; nothing is removed before."),
    ("partition.timestamp", "Applies to the next partition expiry."),
    ("record-level.", "Applies to reads and to the next compaction, which drops expired rows."),
    ("file-index.", "Applies to new data files; existing files get no index until a compaction."),
    ("file.", _NEW_FILES),
    ("parquet.", _NEW_FILES),
    ("orc.", _NEW_FILES),
    ("avro.", _NEW_FILES),
    ("metadata.stats", _NEW_FILES),
    ("manifest.", "Applies to manifests from the next commit on; existing ones stay as they are."),
    ("scan.", "Applies to reads; stored files do not change."),
    ("read.", "Applies to reads; stored files do not change."),
    ("source.", "Applies to reads and to the packing of small files; stored files do not change."),
    ("tag.", "Applies to tags from the next commit on."),
    ("commit.", "Applies to writers from the next commit on."),
    ("write-", "Applies to writers that open the table from now on."),
    ("dynamic-bucket.", "Applies to the buckets of new keys; stored keys keep their bucket."),
)
_OTHER = "Applies to readers and writers that open the table from now on."
_UNKNOWN = "Not an option of this version: it is stored, and readers and writers ignore it."


def option_effect(key: str) -> str:
    """When a changed option takes effect, in one or two sentences.

    >>> option_effect("snapshot.num-retained.max")
    'Applies to the next snapshot expiry; nothing is removed before.'
    """
    known = definition_of(key)
    name = key if known is None else known.key
    if name in _BY_KEY:
        return _BY_KEY[name]
    for prefix, effect in _BY_PREFIX:
        if name.startswith(prefix):
            return effect
    return _OTHER if known is not None or name.startswith("fields.") else _UNKNOWN


def definition_of(key: str) -> Option[object] | None:
    """The definition of an option by its key or an older name; None if there is none."""
    found = ALL_OPTIONS.get(key)
    if found is not None:
        return found
    return next((one for one in ALL_OPTIONS.values() if key in one.fallback_keys), None)


_DURATIONS = (("d", 86_400_000), ("h", 3_600_000), ("min", 60_000), ("s", 1000), ("ms", 1))
_SIZES = (("gb", 1024**3), ("mb", 1024**2), ("kb", 1024), ("b", 1))


def default_text(option: Option[object]) -> str | None:
    """The default value of an option as text; None if it has none.

    >>> from paimon_explore.metadata.options.table_options import SNAPSHOT_TIME_RETAINED
    >>> default_text(SNAPSHOT_TIME_RETAINED)
    '1 h'
    """
    default = option.default
    match default:
        case bool():
            return "true" if default else "false"
        case Enum():
            return str(default.value)
        case int() if default > 0 and option.parse in (parse_duration, parse_size):
            units = _DURATIONS if option.parse is parse_duration else _SIZES
            unit, factor = next((n, f) for n, f in units if default % f == 0)
            return f"{default // factor} {unit}"
        case int() | float():
            return str(default)
        case str():
            return default
        case _:
            return None
