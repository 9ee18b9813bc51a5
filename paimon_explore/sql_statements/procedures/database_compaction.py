"""The compaction of all tables of a catalog that match regular expressions."""

import re
from collections.abc import Callable, Iterator, Mapping

from paimon_explore.arguments import optional_string, string
from paimon_explore.errors import (
    InvalidInputError,
    NotFoundError,
    PaimonError,
    UnsupportedFeatureError,
)
from paimon_explore.frozen_dataclass import dataclass
from paimon_explore.table.catalog.catalog import Catalog
from paimon_explore.table.table import Table
from paimon_explore.table.table_definition import OptionValue


@dataclass(frozen=True, slots=True, kw_only=True)
class CompactionReport:
    """The result of a compaction of several tables.

    Attributes:
        compacted: the tables that were compacted, or needed no compaction.
        errors: the error of each table whose compaction failed.
    """

    compacted: tuple[str, ...] = ()
    errors: Mapping[str, PaimonError]

    def __repr__(self) -> str:
        """Return the numbers of tables, and the errors."""
        failed = [f"  {name}: {error.message}" for name, error in self.errors.items()]
        head = f"compacted {len(self.compacted):,} tables, {len(self.errors):,} failed"
        return "\n".join([head, *failed])


def matching_tables(
    catalog: Catalog,
    databases: str = ".*",
    tables: str = ".*",
    excluding: str | None = None,
    *,
    options: Mapping[str, OptionValue] | None = None,
) -> Iterator[tuple[str, Table | PaimonError]]:
    """Open the tables whose names match regular expressions, one after the other.

    Tables that this package cannot open, such as format tables, and tables that are dropped in the
    meantime are left out; another error is yielded instead of the table.

    Args:
        catalog: the catalog.
        databases: matches the whole names of the databases.
        tables: matches the names of the tables, `database.table`.
        excluding: matches the names of tables to leave out.
        options: dynamic table options.

    Raises:
        InvalidInputError: not a regular expression.
    """
    in_database = _pattern("databases", string("databases", databases))
    wanted = _pattern("tables", string("tables", tables))
    text = optional_string("excluding", excluding)
    left_out = None if not text or not text.strip() else _pattern("excluding", text)
    for database in catalog.databases():
        for table in catalog.tables(database) if in_database.fullmatch(database) else ():
            name = f"{database}.{table}"
            if not wanted.fullmatch(name) or (left_out and left_out.fullmatch(name)):
                continue
            try:
                yield name, catalog.table(name, options)
            except (NotFoundError, UnsupportedFeatureError):
                continue
            except PaimonError as error:
                yield name, error


def compact_each(
    tables: Iterator[tuple[str, Table | PaimonError]], compact: Callable[[Table], object]
) -> CompactionReport:
    """Compact tables one after the other, and collect the errors.

    Args:
        tables: names, and the tables or why they cannot be opened.
        compact: compacts one.
    """
    compacted: list[str] = []
    errors: dict[str, PaimonError] = {}
    for name, table in tables:
        if isinstance(table, PaimonError):
            errors[name] = table
            continue
        try:
            compact(table)
        except PaimonError as error:
            errors[name] = error
        else:
            compacted.append(name)
    return CompactionReport(compacted=tuple(compacted), errors=errors)


def _pattern(name: str, text: str) -> re.Pattern[str]:
    try:
        return re.compile(text)
    except re.error as error:
        raise InvalidInputError(
            f"{name} = {text!r} is not a regular expression: {error}.",
            hint="'.*' matches all names.",
        ) from error
