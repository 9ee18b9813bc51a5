"""Arguments of a CALL statement, converted to the types that the procedure expects."""

from collections.abc import Callable, Container, Mapping
from datetime import datetime, timedelta
from typing import TypeVar

from paimon_explore.data_types.local_time import utc_moment
from paimon_explore.errors import InvalidInputError
from paimon_explore.frozen_dataclass import dataclass
from paimon_explore.metadata.options.option_definition import parse_duration
from paimon_explore.sql_statements.outcome import Answer, answer
from paimon_explore.sql_statements.table_resolution import Name, Warehouse
from paimon_explore.sql_statements.tokenizer import Reader
from paimon_explore.table.table import Table

T = TypeVar("T")


@dataclass(frozen=True, slots=True, kw_only=True)
class Call:
    """One call of a procedure.

    Attributes:
        warehouse: resolves table names.
        procedure: its name.
        arguments: names of all its arguments.
        values: the given arguments by name.
    """

    warehouse: Warehouse
    procedure: str
    arguments: tuple[str, ...]
    values: Mapping[str, object]

    def table(self) -> Table:
        """Open the table with the options of the call."""
        text = self.given("table", self.text("table"))
        name = Name(table=text, is_folder=True) if "/" in text else self.named("table")
        return self.warehouse.base(name, self.options() or None)

    def named(self, argument: str) -> Name:
        """Return the full name that an argument has."""
        return self.warehouse.named(Reader(self.needed(argument)).path(f"the {argument}"))

    def options(self) -> dict[str, str]:
        """Return the argument `options`, of the form `key=value,key=value`."""
        text = self.text("options")
        if not text:
            return {}
        pairs = [pair.partition("=") for pair in text.split(",")]
        if not all(equal for _, equal, _ in pairs):
            raise self.problem(f"options = {text!r} is not of the form 'key=value,key=value'")
        return {key.strip(): value.strip() for key, _, value in pairs}

    def problem(self, what: str, hint: str = "") -> InvalidInputError:
        """Return an error that names the procedure and its arguments."""
        given = hint or f"Syntax: CALL sys.{self.procedure}({', '.join(self.arguments)})."
        return InvalidInputError(f"CALL sys.{self.procedure}: {what}.", hint=given)

    def text(self, name: str) -> str | None:
        """Return an argument as text."""
        value = self.values.get(name)
        return None if value is None else str(value)

    def needed(self, name: str) -> str:
        """Return a required argument; it must not be blank."""
        found = self.text(name)
        if found is None or not found.strip():
            raise self.problem(f"the argument {name!r} is missing")
        return found

    def given(self, name: str, value: T | None) -> T:
        """Return the value of a required argument."""
        if value is None:
            raise self.problem(f"the argument {name!r} is missing")
        return value

    def needed_names(self, name: str, known: Container[object]) -> list[str]:
        """Return a required argument as one known name, or as comma-separated ones, none blank."""
        if self.needed(name) in known:
            return [self.needed(name)]
        found = [part.strip() for part in self.needed(name).split(",")]
        if not all(found):
            raise self.problem(f"{name} = {self.needed(name)!r} contains an empty name")
        return found

    def check_stated(self, name: str, hint: str) -> None:
        """Reject NULL and blank text for an argument whose omission removes more than its value."""
        if name in self.values and not str(self.values[name] or "").strip():
            value = self.values[name]
            shown = "NULL" if value is None else repr(value)
            raise self.problem(f"argument {name} must not be {shown}", hint)

    def number(self, name: str) -> int | None:
        """Return an argument as an integer."""
        value = self.values.get(name)
        if value is None:
            return None
        try:
            return int(str(value))
        except ValueError as error:
            raise self.problem(f"{name} = {value!r} is not an integer") from error

    def flag(self, name: str, *, default: bool) -> bool:
        """Return an argument as a boolean; NULL is rejected."""
        if name not in self.values:
            return default
        value = self.values[name]
        if str(value).lower() not in {"true", "false"}:
            raise self.problem(f"{name} = {value!r} is neither true nor false")
        return str(value).lower() == "true"

    def duration(self, name: str) -> timedelta | None:
        """Return an argument as a duration, e.g. `'3 d'`."""
        text = self.text(name)
        return None if text is None else timedelta(milliseconds=parse_duration(text))

    def moment(self, name: str) -> datetime | None:
        """Return an argument as a timestamp: a value, text in the session's zone, or epoch ms."""
        value = self.values.get(name)
        if value is None:
            return None
        if isinstance(value, int):
            return utc_moment(value)
        text = str(value).replace("'", "")
        query = f"unix_millis(CAST('{text}' AS TIMESTAMP))"
        try:
            millis = self.warehouse.engine.evaluate(query)
        except InvalidInputError as error:
            raise self.problem(f"{name} = {text!r} is not a timestamp") from error
        if not isinstance(millis, int):
            raise self.problem(f"{name} = {text!r} is not a timestamp")
        return utc_moment(millis)


Run = Callable[[Call], Answer | None]
"""Runs a procedure; without an answer of its own, the answer is `true`."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Procedure:
    """A procedure.

    Attributes:
        arguments: names in order.
        run: runs it.
    """

    arguments: tuple[str, ...]
    run: Run

    def answer(self, call: Call) -> Answer:
        """Run the procedure."""
        return self.run(call) or answer("result boolean", [(True,)])


class Procedures(dict[str, Procedure]):
    """Procedures by name."""

    def add(self, *arguments: str) -> Callable[[Run], Run]:
        """Return a decorator that adds a function `_name` as the procedure `name`.

        Args:
            arguments: the names of its arguments in order.
        """

        def added(run: Run) -> Run:
            self[run.__name__.removeprefix("_")] = Procedure(arguments=arguments, run=run)
            return run

        return added
