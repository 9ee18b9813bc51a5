"""How Spark asks a stream for a part of what is there; new in 4.2, absent before.

Spark 4.1 takes everything at once: then these stand for nothing.
"""

from importlib.util import find_spec
from typing import TYPE_CHECKING

__all__ = ["ReadAllAvailable", "ReadLimit", "ReadMaxFiles", "SupportsTriggerAvailableNow"]

_MODULE = "pyspark.sql.streaming.datasource"

if TYPE_CHECKING or find_spec(_MODULE) is not None:
    from pyspark.sql.streaming.datasource import (
        ReadAllAvailable,
        ReadLimit,
        ReadMaxFiles,
        SupportsTriggerAvailableNow,
    )
else:

    class ReadLimit:
        """How much to read."""

    class ReadAllAvailable(ReadLimit):
        """Everything."""

    class ReadMaxFiles(ReadLimit):
        """So many files."""

        def __init__(self, max_files: int) -> None:
            self.max_files = max_files

    class SupportsTriggerAvailableNow:
        """A source that can stop at what is there at the begin."""
