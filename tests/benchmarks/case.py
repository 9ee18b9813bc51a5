"""What a measurement is."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import Enum
from typing import Any, TypeAlias

Json: TypeAlias = "bool | int | float | str | Sequence[Json] | Mapping[str, Json] | None"
Parameters: TypeAlias = Mapping[str, Json]
Answer: TypeAlias = dict[str, Any]
"""What a run gave, as it comes out of the pipe."""


class Measure(Enum):
    """What a goal is about."""

    CPU = "CPU seconds of the peer / ours"
    PEAK = "MiB that the first run adds"
    FIGURE = "a figure that the operation tells"


@dataclass(frozen=True, slots=True, kw_only=True)
class Goal:
    """What we want to reach in a case.

    Attributes:
        measure: what is looked at.
        peer: the contender that CPU is compared with.
        figure: name of the figure.
        least, most: bounds, inclusive.
        text: how the goal reads.
    """

    measure: Measure
    text: str
    peer: str = "rust"
    figure: str = ""
    least: float | None = None
    most: float | None = None

    def is_met(self, value: float) -> bool:
        """Whether a value is within the bounds."""
        above = self.least is None or value >= self.least
        return above and (self.most is None or value <= self.most)


def times(least: float, peer: str = "rust") -> Goal:
    """At least so many times as fast as a peer, by CPU seconds."""
    return Goal(measure=Measure.CPU, peer=peer, least=least, text=f"≥ {least:g}x {peer}")


def at_most(most: float, figure: str, unit: str = "") -> Goal:
    """A figure of the operation that must not be larger."""
    text = f"{figure.replace('_', ' ')} ≤ {most:g}{unit}"
    return Goal(measure=Measure.FIGURE, figure=figure, most=most, text=text)


def peak_mib(most: float) -> Goal:
    """Most memory that the first run may add."""
    return Goal(measure=Measure.PEAK, most=most, text=f"≤ {most:g} MiB")


@dataclass(frozen=True, slots=True, kw_only=True)
class Case:
    """One operation on one table, for several contenders.

    Attributes:
        id: name, unique among all cases.
        title: what is done, for people.
        operation: name of the contenders' function.
        parameters: its arguments besides the warehouse.
        units, unit: how much work a run is.
        tables: of `data`, made before the first run.
        contenders: who can do it.
        goals: what we want to reach.
        rounds: runs that count; None for what the command says.
        once: contenders so slow that their first run counts and is the only one.
        fresh: each run takes a new process, whose start counts.
        new_table: makes an empty table for each run, outside of the clock; its name becomes the
            argument `table`.
        verify: adds to an answer what the table holds after the run, outside of the clock.
    """

    id: str
    title: str
    operation: str
    parameters: Parameters
    units: int
    unit: str
    tables: tuple[str, ...] = ()
    contenders: tuple[str, ...] = ("ours", "rust", "pypaimon")
    goals: tuple[Goal, ...] = ()
    rounds: int | None = None
    once: frozenset[str] = field(default_factory=frozenset)
    fresh: bool = False
    new_table: Callable[[str, str], None] | None = None
    verify: Callable[[str, str, Answer], Answer] | None = None
