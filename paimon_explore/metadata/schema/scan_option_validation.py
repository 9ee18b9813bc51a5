"""Validation of scan options: `scan.mode` and the options of time travel.

Spec: maintenance/configurations, `scan.mode`.
"""

from collections.abc import Iterator, Mapping

from paimon_explore.errors import choices
from paimon_explore.metadata.options.option_definition import Option
from paimon_explore.metadata.options.option_enums import StartupMode
from paimon_explore.metadata.options.table_options import (
    INCREMENTAL_BETWEEN,
    INCREMENTAL_BETWEEN_TIMESTAMP,
    INCREMENTAL_TO_AUTO_TAG,
    SCAN_CREATION_TIME_MILLIS,
    SCAN_FALLBACK_BRANCH,
    SCAN_FILE_CREATION_TIME_MILLIS,
    SCAN_MODE,
    SCAN_PRIMARY_BRANCH,
    SCAN_SNAPSHOT_ID,
    SCAN_TAG_NAME,
    SCAN_TIMESTAMP,
    SCAN_TIMESTAMP_MILLIS,
    SCAN_WATERMARK,
    TableOptions,
)
from paimon_explore.metadata.schema.table_schema import TableSchema

_POINT_OPTIONS: tuple[Option[object], ...] = (
    SCAN_TIMESTAMP_MILLIS,
    SCAN_TIMESTAMP,
    SCAN_FILE_CREATION_TIME_MILLIS,
    SCAN_CREATION_TIME_MILLIS,
    SCAN_SNAPSHOT_ID,
    SCAN_TAG_NAME,
    SCAN_WATERMARK,
    INCREMENTAL_BETWEEN_TIMESTAMP,
    INCREMENTAL_BETWEEN,
    INCREMENTAL_TO_AUTO_TAG,
)
_MODE_OPTIONS: Mapping[StartupMode, tuple[Option[object], ...]] = {
    StartupMode.FROM_TIMESTAMP: (SCAN_TIMESTAMP_MILLIS, SCAN_TIMESTAMP),
    StartupMode.FROM_SNAPSHOT: (SCAN_SNAPSHOT_ID, SCAN_TAG_NAME, SCAN_WATERMARK),
    StartupMode.FROM_SNAPSHOT_FULL: (SCAN_SNAPSHOT_ID,),
    StartupMode.FROM_FILE_CREATION_TIME: (SCAN_FILE_CREATION_TIME_MILLIS,),
    StartupMode.FROM_CREATION_TIMESTAMP: (SCAN_CREATION_TIME_MILLIS,),
    StartupMode.INCREMENTAL: (
        INCREMENTAL_BETWEEN,
        INCREMENTAL_BETWEEN_TIMESTAMP,
        INCREMENTAL_TO_AUTO_TAG,
    ),
}
"""Scan mode -> options of which exactly one is required; no other option is allowed."""


def startup_mode(options: TableOptions) -> StartupMode:
    """Return the scan mode; the default mode is resolved from the other scan options.

    Raises:
        InvalidInputError: an option has an invalid value.
    """
    given = options.value(SCAN_MODE)
    if given is StartupMode.FULL:
        return StartupMode.LATEST_FULL
    if given is not StartupMode.DEFAULT:
        return given
    for mode, wanted in _MODE_OPTIONS.items():
        if mode is not StartupMode.FROM_SNAPSHOT_FULL and any(map(options.has, wanted)):
            return mode
    return StartupMode.LATEST_FULL


def scan_violations(_: TableSchema, options: TableOptions) -> Iterator[str]:
    """Check that the scan mode has its required option and no conflicting options."""
    mode = startup_mode(options)
    wanted = _MODE_OPTIONS.get(mode, ())
    given = [option.key for option in wanted if options.has(option)]
    if wanted and len(given) != 1:
        known = choices(option.key for option in wanted)
        yield f"'scan.mode' = {mode.value!r} needs exactly one of {known}"
    for option in _POINT_OPTIONS:
        if option not in wanted and options.has(option) and option.key != SCAN_WATERMARK.key:
            yield f"{option.key!r} cannot be combined with 'scan.mode' = {mode.value!r}"
    if options.has(SCAN_FALLBACK_BRANCH) and options.has(SCAN_PRIMARY_BRANCH):
        yield f"{SCAN_FALLBACK_BRANCH.key!r} cannot be combined with {SCAN_PRIMARY_BRANCH.key!r}"
