"""The options of `format("paimon_explore")`.

Spark passes their names in lower case.

| option | |
| --- | --- |
| `path` | the table's folder, the argument of `load` and `save`; for reads also `…/t$files` |
| `where` | SQL condition that filters files and rows (`dt = '2026-01-01' AND a > 3`) |
| `columns` | selected columns, `a, b` or a JSON list |
| `branch` | the branch to read or write |
| `scan.snapshot-id`, `scan.tag-name`, `scan.version`, `scan.watermark` | the point in time |
| `scan.timestamp`, `scan.timestamp-millis` | the same |
| `incremental-between`, `incremental-between-timestamp` | the changes between two snapshots |
| `scan.mode`, `read.changelog`, `read.ignore-deletes`, … | for streams, see `stream` |
| `storage.<name>` | a setting or secret of the storage |
| any other table option | its value for this read or write |
"""

import json
from collections.abc import Mapping
from dataclasses import replace

from paimon_explore.errors import InvalidInputError
from paimon_explore.frozen_dataclass import dataclass
from paimon_explore.metadata.options.option_spelling import unknown_names
from paimon_explore.spark.reads.special_reads import SpecialRead, special_read, system_of
from paimon_explore.spark.streaming.stream_source import NO_LIMITS, StreamLimits
from paimon_explore.table.scan import Scan
from paimon_explore.table.table import Table, open_table

_CHANGELOG = "read.changelog"
_IGNORE_DELETES = "read.ignore-deletes"
_STREAM = frozenset({"checkpointlocation", "queryname"})
_LIMITS = {
    "maxfilespertrigger": "files",
    "maxrowspertrigger": "rows",
    "maxbytespertrigger": "size",
    "maxsnapshotspertrigger": "snapshots",
}
_LIMIT = "read.stream."
_OWN = frozenset(
    {
        "path",
        "where",
        "columns",
        _CHANGELOG,
        _IGNORE_DELETES,
        *_LIMITS,
        *(_LIMIT + name for name in _LIMITS),
    }
    | _STREAM
)
_STORAGE = "storage."


@dataclass(frozen=True, slots=True, kw_only=True)
class SourceOptions:
    """The options of one read or write.

    Attributes:
        path: the table's folder.
        where: rows to read; None for all.
        columns: columns to read; None for all.
        table: table options that override the table's own.
        storage: settings of the storage.
        changelog: rows of a stream start with the column `_row_kind`.
        limits: limits of a stream's batch.
        ignores_deletes: a stream without that column skips deleted and replaced rows.
    """

    path: str
    where: str | None
    columns: tuple[str, ...] | None
    table: Mapping[str, str]
    storage: Mapping[str, str]
    changelog: bool = False
    limits: StreamLimits = NO_LIMITS
    ignores_deletes: bool = False

    @property
    def is_reading(self) -> bool:
        """Return whether an option that only applies to reads is set."""
        return self.changelog or self.where is not None or self.columns is not None

    def open(self) -> Table:
        """Open the table.

        Raises:
            NotFoundError: there is no table, branch, snapshot or tag.
            InvalidInputError: an option has a wrong value.
        """
        return open_table(self.path, storage_options=self.storage, options=self.table)

    def scan(self) -> Scan | SpecialRead:
        """Return the scan of these options, with its snapshot.

        Raises:
            NotFoundError, InvalidInputError: as for `open`, or invalid `where` or `columns`.
        """
        path, system = system_of(self.path)
        return special_read(replace(self, path=path).open(), system, self.columns, self.where)


def source_options(given: Mapping[str, str]) -> SourceOptions:
    """Parse the options.

    Raises:
        InvalidInputError: the path is missing or an option is unknown.
    """
    path = given.get("path")
    if not path:
        raise InvalidInputError(
            "The data source requires the path of a table.",
            hint="Use load('/path') or save('/path'). CREATE TABLE … USING paimon_explore does not "
            "pass options to the data source; use CREATE TEMPORARY VIEW v USING paimon_explore "
            "OPTIONS (path '/path').",
        )
    storage = {k[len(_STORAGE) :]: v for k, v in given.items() if k.startswith(_STORAGE)}
    table = {k: v for k, v in given.items() if k not in _OWN and not k.startswith(_STORAGE)}
    for name, meant in unknown_names(table).items():
        hint = "See the options of Paimon tables." if meant is None else f"Did you mean {meant!r}?"
        raise InvalidInputError(f"Unknown option {name!r}.", hint=hint)
    return SourceOptions(
        path=path,
        where=given.get("where"),
        columns=_columns(given.get("columns")),
        table=table,
        storage=storage,
        changelog=given.get(_CHANGELOG, "false").lower() == "true",
        limits=_limits(given),
        ignores_deletes=given.get(_IGNORE_DELETES, "false").lower() == "true",
    )


def _limits(given: Mapping[str, str]) -> StreamLimits:
    found: dict[str, int] = {}
    for option, name in _LIMITS.items():
        text = given.get(_LIMIT + option, given.get(option))
        if text is None:
            continue
        if not text.strip().isdigit() or int(text) < 1:
            raise InvalidInputError(
                f"Option {option!r} must be an integer of at least 1, not {text!r}."
            )
        found[name] = int(text)
    return StreamLimits(**found)


def _columns(text: str | None) -> tuple[str, ...] | None:
    if text is None:
        return None
    if not text.lstrip().startswith("["):
        return tuple(name.strip() for name in text.split(",") if name.strip())
    try:
        found: object = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise InvalidInputError(f"Option 'columns' must be a JSON list, not {text!r}.") from error
    if not isinstance(found, list) or not all(isinstance(name, str) for name in found):
        raise InvalidInputError(f"Option 'columns' must be a JSON list of names, not {text!r}.")
    return tuple(found)
