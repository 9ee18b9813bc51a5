"""Spark's classes for admission control of streams, with stand-ins for Spark before 4.2.

Spark 4.1 has no admission control and reads everything at once; it never uses the stand-ins.
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
        """A limit on how much a batch reads."""

    class ReadAllAvailable(ReadLimit):
        """No limit: a batch reads everything available."""

    class ReadMaxFiles(ReadLimit):
        """A limit on the number of files."""

        def __init__(self, max_files: int) -> None:
            self.max_files = max_files

    class SupportsTriggerAvailableNow:
        """A source that supports the trigger `availableNow`."""
