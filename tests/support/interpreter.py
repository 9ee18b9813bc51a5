"""Settings of the Python interpreter that shorten a run, some of them by a tenth.

Processes that tests start find compiled modules, even where the environment forbids to write them:
compiling the package takes a second. The garbage collector looks rarely, and never at what lives as
long as the run: with the modules of all tests and engines, it goes through 900,000 objects.
"""

import gc
import os
import sys

_NEW_OBJECTS = 20_000
"""Number of new objects after which the youngest are looked at; Python's default is 700."""


def pytest_configure() -> None:
    """From the imports of the tests on."""
    os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
    sys.dont_write_bytecode = False
    gc.set_threshold(_NEW_OBJECTS)


def pytest_collection_finish() -> None:
    """Set modules and tests aside."""
    gc.collect()
    gc.freeze()
