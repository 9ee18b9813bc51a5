"""What a machine may lack: tests skip with the reason, unless the run demands it."""

import os
from typing import NoReturn

import pytest

VARIABLE = "PAIMON_EXPLORE_REQUIRE"


def lacking(what: str, reason: str) -> NoReturn:
    """Skip the test, or fail it where `PAIMON_EXPLORE_REQUIRE` names what is lacking."""
    if what in os.environ.get(VARIABLE, "").split():
        pytest.fail(f"{reason}, but {VARIABLE} asks for {what}")
    pytest.skip(reason)
