"""`pe.trace`: record what a block of code does to tables."""

from collections.abc import Iterable
from contextlib import AbstractContextManager
from os import PathLike
from types import TracebackType
from typing import Self

import pyarrow as pa

from paimon_explore.arguments import invalid_argument
from paimon_explore.commit.commit_trace import Recorder, recording
from paimon_explore.errors import InvalidInputError
from paimon_explore.inspection.explain.commit_trace_report import TableTrace, Trace, split_commits
from paimon_explore.inspection.explain.folder_diff import Listing, changes_between, listing
from paimon_explore.table.catalog.catalog import Catalog
from paimon_explore.table.table import Table, open_table
from paimon_explore.table.table_base import store_of


class Tracing:
    """A context manager that records what a block of code does to tables.

    Steps of commits are recorded for this library's commits in the thread of the block; what Spark
    or other processes do is seen in the files.

    Args:
        tables: the tables to watch.
    """

    def __init__(self, tables: Iterable[Table]) -> None:
        self._tables = {table.path: table for table in tables}
        self._before: dict[str, Listing] = {}
        self._recording: AbstractContextManager[Recorder] | None = None
        self._heard: Recorder = []
        self._trace: Trace | None = None

    def __enter__(self) -> Self:
        """List the tables' files and start to record commits."""
        self._before = self._look()
        self._recording = recording()
        self._heard = self._recording.__enter__()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        where: TracebackType | None,
    ) -> None:
        """List the files again; an error of the block is passed on."""
        if self._recording is not None:
            self._recording.__exit__(kind, error, where)
        after = self._look()
        commits = split_commits(self._heard)

        self._trace = Trace(
            tables=tuple(
                TableTrace(
                    name=table.name,
                    path=path,
                    changes=changes_between(path, self._before[path], after[path]),
                    commits=tuple(commit for commit in commits if commit.table == path),
                )
                for path, table in self._tables.items()
            ),
            problem="" if error is None else f"{type(error).__name__}: {error}",
        )

    @property
    def result(self) -> Trace:
        """The recorded commits and files.

        Raises:
            InvalidInputError: the block has not ended yet.
        """
        if self._trace is None:
            hint = "Read the trace after the `with` block."
            raise InvalidInputError("Nothing has been traced yet.", hint=hint)
        return self._trace

    def steps(self) -> pa.Table:
        """Return an Arrow table with a row for each step of each commit.

        >>> import paimon_explore as pe
        >>> t = pe.demo().table("demo.orders")
        >>> with pe.trace(t) as seen:
        ...     snapshot = t.truncate()
        >>> seen.steps().num_rows > 3
        True
        """
        return self.result.steps()

    def to_arrow(self) -> pa.Table:
        """Return an Arrow table with a row for each changed file.

        >>> import paimon_explore as pe
        >>> t = pe.demo().table("demo.orders")
        >>> with pe.trace(t) as seen:
        ...     snapshot = t.truncate()
        >>> "path" in seen.to_arrow().column_names
        True
        """
        return self.result.to_arrow()

    def state(self) -> dict[str, object]:
        """Return the trace as JSON values.

        >>> import paimon_explore as pe
        >>> with pe.trace(pe.demo()) as seen:
        ...     pass
        >>> seen.state()["kind"]
        'trace'
        """
        return self.result.state()

    def widget(self) -> object:
        """Return the trace as a notebook widget.

        >>> import paimon_explore as pe
        >>> with pe.trace(pe.demo()) as seen:
        ...     pass
        >>> widget = seen.widget()
        """
        return self.result.widget()

    def __repr__(self) -> str:
        """Describe the trace in at most 25 lines."""
        return "a trace that is still being taken" if self._trace is None else repr(self._trace)

    def _repr_html_(self) -> str:
        """Return the trace as a static page fragment."""
        return "<p>still being taken</p>" if self._trace is None else self._trace._repr_html_()

    def _look(self) -> dict[str, Listing]:
        return {path: listing(store_of(t).file_io, path) for path, t in self._tables.items()}


def trace(*tables: "Table | Catalog | str | PathLike[str]") -> Tracing:
    """Record what a block of code does to tables.

    Args:
        tables: tables, catalogs (all of their tables) or paths of tables.

    Raises:
        InvalidInputError: no argument, or one that is none of these.

    >>> import paimon_explore as pe
    >>> table = pe.demo().table("demo.orders")
    >>> with pe.trace(table) as seen:
    ...     snapshot = table.delete("id = 1")
    >>> [table.commits[0].outcome for table in seen.result.tables]
    ['snapshot 6 created']
    """
    found = [table for given in tables for table in _tables_of(given)]
    if not found:
        raise InvalidInputError(
            "trace() requires at least one table.", hint="Write pe.trace(table)."
        )
    return Tracing(found)


def _tables_of(given: object) -> list[Table]:
    if isinstance(given, Table):
        return [given]
    if isinstance(given, Catalog):
        names = [f"{db}.{name}" for db in given.databases() for name in given.tables(db)]
        return [given.table(name) for name in names]
    if isinstance(given, str | PathLike):
        return [open_table(given)]
    raise invalid_argument("An argument of trace()", given, "a Table, a Catalog or a path")
