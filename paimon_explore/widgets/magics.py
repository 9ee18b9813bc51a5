"""`%load_ext paimon_explore`: the magics, and tables that show themselves as the explorer.

    %paimon PATH                        the explorer of a table, or what a warehouse holds
    %paimon PATH NAME                   the same, and the table as a variable
    %paimon PATH --tag v1               at a tag; also --snapshot 3, --branch b
    %%paimon_trace                      what the cell did to all tables and catalogs there are
    %%paimon_trace t other              to these

Loaded by name only: a plain import registers nothing. The facade comes in as an argument, for this
layer does not know it.
"""

import shlex
from argparse import ArgumentParser, Namespace
from collections.abc import Callable, Mapping, MutableMapping
from contextlib import AbstractContextManager
from typing import NoReturn, Protocol

from paimon_explore.errors import InvalidInputError, PaimonError
from paimon_explore.frozen_dataclass import dataclass


class MimebundleFormatter(Protocol):
    """What turns values into what a notebook shows."""

    def for_type(self, kind: type, function: Callable[..., object]) -> object:
        """Use a function for values of a type."""


class DisplayFormatter(Protocol):
    """All formatters of a shell."""

    mimebundle_formatter: MimebundleFormatter


class CellResult(Protocol):
    """How a cell ended."""

    error_before_exec: BaseException | None
    error_in_exec: BaseException | None


class Shell(Protocol):
    """An IPython shell, as far as it is used here."""

    user_ns: MutableMapping[str, object]
    display_formatter: DisplayFormatter
    showtraceback: Callable[..., None]

    def register_magic_function(
        self, func: Callable[..., object], magic_kind: str, magic_name: str
    ) -> None:
        """Make a function a magic."""

    def run_cell(self, raw_cell: str) -> CellResult:
        """Run code as a cell."""


class Seen(AbstractContextManager["Seen"], Protocol):
    """A block of code that is watched."""

    @property
    def result(self) -> object:
        """What happened."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Doors:
    """What the magics need of the facade.

    Attributes:
        open: opens a table by its path and branch.
        listing: what a warehouse or database holds; None if there is none.
        at: a table at a snapshot or tag.
        explore: the explorer of a table.
        trace: watches tables.
        table: type of a table.
        watched: types that can be watched.
    """

    open: Callable[[str, str | None], object]
    listing: Callable[[str], object]
    at: Callable[[object, int | None, str | None], object]
    explore: Callable[[object], object]
    trace: Callable[..., Seen]
    table: type
    watched: tuple[type, ...]


def register(shell: Shell, doors: Doors) -> None:
    """Make the magics and the formatter known to a shell."""
    magics = Magics(shell, doors)
    shell.register_magic_function(magics.paimon, "line", "paimon")
    shell.register_magic_function(magics.paimon_trace, "cell", "paimon_trace")
    shell.display_formatter.mimebundle_formatter.for_type(doors.table, magics.shown)


class Magics:
    """The magics of one shell."""

    def __init__(self, shell: Shell, doors: Doors) -> None:
        self._shell = shell
        self._doors = doors

    def paimon(self, line: str) -> object:
        """Show the explorer of a table: `%paimon PATH [NAME] [--snapshot N | --tag T]`."""
        given = _parsed(line, self._shell.user_ns)
        try:
            table = self._doors.open(given.path, given.branch)
        except PaimonError:
            found = self._doors.listing(given.path)
            if found is None or given.name:
                raise
            return found
        if given.snapshot is not None or given.tag is not None:
            table = self._doors.at(table, given.snapshot, given.tag)
        if given.name:
            self._shell.user_ns[given.name] = table
        return self._doors.explore(table)

    def paimon_trace(self, line: str, cell: str) -> object:
        """Run the cell, then show what it did on disk: `%%paimon_trace [TABLE …]`."""
        watched = self._watched(line)
        seen = self._doors.trace(*watched)
        try:
            with seen:
                self._run(cell)
        except BaseException:
            _show(seen.result)
            raise
        return seen.result

    def shown(self, table: object, **kwargs: object) -> object:
        """A table as a notebook shows it: the explorer where it can be drawn."""
        try:
            explorer = self._doors.explore(table)
        except PaimonError:
            return None
        bundle = getattr(explorer, "_repr_mimebundle_", None)  # a method of every widget
        return bundle(**kwargs) if bundle is not None else None

    def _watched(self, line: str) -> list[object]:
        names = line.split()
        values = self._shell.user_ns
        missing = [name for name in names if name not in values]
        if missing:
            hint = "Name variables that hold tables or catalogs, or none for all there are."
            raise InvalidInputError(f"There is no variable {missing[0]!r}.", hint=hint)
        if names:
            return [values[name] for name in names]
        known = [(k, v) for k, v in values.items() if isinstance(v, self._doors.watched)]
        mine = [value for name, value in known if not name.startswith("_")]
        if not mine:
            hint = "Name what to trace: %%paimon_trace t"
            raise InvalidInputError("No variable is a table or a catalog.", hint=hint)
        return mine

    def _run(self, cell: str) -> None:
        """Run the cell with its own display and output; its error goes on, but is shown once."""
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
    """A parser that raises instead of ending the process."""

    def error(self, message: str) -> NoReturn:
        """Refuse the line."""
        raise InvalidInputError(f"%paimon: {message}.", hint=self.format_usage().strip())


def _parsed(line: str, values: Mapping[str, object]) -> Namespace:
    parser = _Parser(prog="%paimon", add_help=False)
    parser.add_argument("path", help="of a table or warehouse; {name} stands for a variable")
    parser.add_argument("name", nargs="?", help="variable for the table")
    parser.add_argument("--snapshot", type=int)
    parser.add_argument("--tag")
    parser.add_argument("--branch")
    try:
        words = shlex.split(line)
    except ValueError as error:
        raise InvalidInputError(f"%paimon: {error}.") from error
    given = parser.parse_args(words)
    named = values.get(given.path)
    if isinstance(named, str):
        given.path = named
    if given.name is not None and not given.name.isidentifier():
        raise InvalidInputError(f"{given.name!r} is not a valid name of a variable.")
    return given
