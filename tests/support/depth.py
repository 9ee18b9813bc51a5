"""How deep long tests go: a part of their cases always, all of them in a deep run."""

import os
from collections.abc import Sequence
from typing import TypeVar

_Case = TypeVar("_Case")

DEEP = os.environ.get("HYPOTHESIS_PROFILE") == "deep"
"""Whether this is the deep run, in which nothing is left out."""


def some(cases: Sequence[_Case], stride: int, turn: int = 0) -> Sequence[_Case]:
    """All cases of a deep run; else one of so many, by turns another one."""
    return cases if DEEP else cases[turn % min(stride, max(len(cases), 1)) :: stride]
