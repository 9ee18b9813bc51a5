"""The IPython extension `%load_ext paimon_explore`: magics, and the display of tables.

    %paimon PATH                        explore a table, or list a warehouse
    %paimon PATH NAME                   the same, and assign the table to a variable
    %paimon PATH --tag v1               at a tag; also --snapshot 3, --branch b
    %%paimon_trace                      trace the cell's changes to all tables and catalogs
    %%paimon_trace t other              trace its changes to the given ones

`import paimon_explore` alone registers nothing. The facade is passed as an argument, since this
layer does not import it.
"""

import shlex
from argparse import ArgumentParser, Namespace
from collections.abc import Callable, Mapping, MutableMapping
from contextlib import AbstractContextManager
from typing import NoReturn, Protocol

from paimon_explore.errors import InvalidInputError, PaimonError
from paimon_explore.frozen_dataclass import dataclass


class MimebundleFormatter(Protocol):
    """The MIME bundle formatter of IPython."""

    def for_type(self, kind: type, function: Callable[..., object]) -> object:
        """Register a function for values of a type."""


class DisplayFormatter(Protocol):
    """The display formatters of a shell."""

    mimebundle_formatter: MimebundleFormatter


class CellResult(Protocol):
    """The result of running a cell."""

    error_before_exec: BaseException | None
    error_in_exec: BaseException | None


class Shell(Protocol):
    """The part of the interface of an IPython shell that is used here."""

    user_ns: MutableMapping[str, object]
    display_formatter: DisplayFormatter
    showtraceback: Callable[..., None]

    def register_magic_function(
        self, func: Callable[..., object], magic_kind: str, magic_name: str
    ) -> None:
        """Register a function as a magic."""

    def run_cell(self, raw_cell: str) -> CellResult:
        """Run code as a cell."""


class TracedBlock(AbstractContextManager["TracedBlock"], Protocol):
    """A traced block of code."""

    @property
    def result(self) -> object:
        """The result of the trace."""


@dataclass(frozen=True, slots=True, kw_only=True)
class MagicsApi:
    """Functions and types of the facade that the magics use.

    Attributes:
        open: opens a table by path and branch.
        listing: lists a warehouse or database; None if the path is neither.
        at: gives a table at a snapshot or tag.
        explore: creates the explorer of a table.
        trace: traces tables.
        table: the table type.
        watched: the types that can be traced.
    """

    open: Callable[[str, str | None], object]
    listing: Callable[[str], object]
    at: Callable[[object, int | None, str | None], object]
    explore: Callable[[object], object]
    trace: Callable[..., TracedBlock]
    table: type
    watched: tuple[type, ...]


def register(shell: Shell, api: MagicsApi) -> None:
    """Register the magics and the formatter in a shell."""
    magics = Magics(shell, api)
    shell.register_magic_function(magics.paimon, "line", "paimon")
    shell.register_magic_function(magics.paimon_trace, "cell", "paimon_trace")
    shell.display_formatter.mimebundle_formatter.for_type(api.table, magics.shown)


class Magics:
    """The magics of one shell."""

    def __init__(self, shell: Shell, api: MagicsApi) -> None:
        self._shell = shell
        self._api = api

    def paimon(self, line: str) -> object:
        """Show the explorer of a table: `%paimon PATH [NAME] [--snapshot N | --tag T]`."""
        given = _parsed(line, self._shell.user_ns)
        try:
            table = self._api.open(given.path, given.branch)
        except PaimonError:
            found = self._api.listing(given.path)
            if found is None or given.name:
                raise
            return found
        if given.snapshot is not None or given.tag is not None:
            table = self._api.at(table, given.snapshot, given.tag)
        if given.name:
            self._shell.user_ns[given.name] = table
        return self._api.explore(table)

    def paimon_trace(self, line: str, cell: str) -> object:
        """Run the cell, then show its commits and changed files: `%%paimon_trace [TABLE …]`."""
        watched = self._watched(line)
        seen = self._api.trace(*watched)
        try:
            with seen:
                self._run(cell)
        except BaseException:
            _show(seen.result)
            raise
        return seen.result

    def shown(self, table: object, **kwargs: object) -> object:
        """The MIME bundle of a table: the explorer if the widget packages are installed."""
        try:
            explorer = self._api.explore(table)
        except PaimonError:
            return None
        bundle = getattr(explorer, "_repr_mimebundle_", None)  # a method of every widget
        return bundle(**kwargs) if bundle is not None else None

    def _watched(self, line: str) -> list[object]:
        names = line.split()
        values = self._shell.user_ns
        missing = [name for name in names if name not in values]
        if missing:
            hint = (
                "Pass names of variables that contain tables or catalogs, or no name to trace all."
            )
            raise InvalidInputError(f"Variable {missing[0]!r} is not defined.", hint=hint)
        if names:
            return [values[name] for name in names]
        known = [(k, v) for k, v in values.items() if isinstance(v, self._api.watched)]
        mine = [value for name, value in known if not name.startswith("_")]
        if not mine:
            hint = "Pass the variable of a table: %%paimon_trace t"
            raise InvalidInputError("No variable contains a table or a catalog.", hint=hint)
        return mine

    def _run(self, cell: str) -> None:
        """Run the cell; an error is shown once and raised."""
        shown = self._shell.showtraceback
        self._shell.showtraceback = lambda *_args, **_kwargs: None
        try:
            result = self._shell.run_cell(cell)
        finally:
            self._shell.showtraceback = shown
        error = result.error_before_exec or result.error_in_exec
        if error is not None:
            raise error


def _show(value: object) -> None:
    from IPython.display import display  # noqa: PLC0415 - only in a shell that has it

    display(value)  # type: ignore[no-untyped-call]  # IPython's


class _Parser(ArgumentParser):
    """An argument parser that raises an error instead of exiting."""

    def error(self, message: str) -> NoReturn:
        """Raise an error for an invalid line."""
        raise InvalidInputError(f"%paimon: {message}.", hint=self.format_usage().strip())


def _parsed(line: str, values: Mapping[str, object]) -> Namespace:
    parser = _Parser(prog="%paimon", add_help=False)
    parser.add_argument("path", help="path of a table or warehouse; {name} inserts a variable")
    parser.add_argument("name", nargs="?", help="variable to assign the table to")
    parser.add_argument("--snapshot", type=int)
    parser.add_argument("--tag")
    parser.add_argument("--branch")
    try:
        arguments = shlex.split(line)
    except ValueError as error:
        raise InvalidInputError(f"%paimon: {error}.") from error
    given = parser.parse_args(arguments)
    named = values.get(given.path)
    if isinstance(named, str):
        given.path = named
    if given.name is not None and not given.name.isidentifier():
        raise InvalidInputError(f"{given.name!r} is not a valid variable name.")
    return given
