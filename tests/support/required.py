"""What a machine may lack: tests are skipped for that reason, unless the run requires it."""

import os
from collections.abc import Mapping
from typing import Literal, NoReturn

import pytest

VARIABLE = "PAIMON_EXPLORE_REQUIRE"
Need = Literal["axe", "browser", "compiler", "java", "mount", "peers", "spark"]
NEEDS: Mapping[Need, str] = {
    "axe": "axe-core (npm install in paimon_explore/widgets/frontend)",
    "browser": "Chromium at /usr/bin/chromium",
    "compiler": "a C compiler",
    "java": "Java 17 and Maven",
    "mount": "the right to mount a disk",
    "peers": "pypaimon and pypaimon-rust in .venv-peers",
    "spark": "a Java that PySpark can start",
}
"""What tests may need besides Python, in the words of the summary."""
NEED = "needs "


def required(what: str) -> bool:
    """Whether `PAIMON_EXPLORE_REQUIRE` names something."""
    return what in os.environ.get(VARIABLE, "").split()


def lacking(what: Need, reason: str) -> NoReturn:
    """Skip the test, or fail it where `PAIMON_EXPLORE_REQUIRE` names what is lacking.

    Args:
        what: a key of `NEEDS`.
        reason: what was found instead.
    """
    if required(what):
        pytest.fail(f"{reason}, but {VARIABLE} asks for {what}")
    pytest.skip(f"{NEED}{NEEDS[what]}: {reason}")
