"""How deep long tests go: a part of their cases always, all of them in a deep run."""

import os
from collections.abc import Sequence
from datetime import date
from typing import TypeVar

_Case = TypeVar("_Case")

DEEP = os.environ.get("HYPOTHESIS_PROFILE") == "deep"
"""Whether this is the deep run, in which nothing is left out."""
DAY = date.today().toordinal()  # noqa: DTZ011 - any day will do
"""A turn of `some` by which other cases are taken every day."""


def some(cases: Sequence[_Case], stride: int, turn: int = 0) -> Sequence[_Case]:
    """All cases of a deep run; else one of so many, by turns another one."""
    return cases if DEEP else cases[turn % min(stride, max(len(cases), 1)) :: stride]
