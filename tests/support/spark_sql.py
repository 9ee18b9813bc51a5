"""What the fixtures for SQL on Spark give."""

from collections.abc import Callable
from typing import TYPE_CHECKING, TypeAlias

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

Sql: TypeAlias = "Callable[[str], DataFrame]"
"""Runs a statement."""

Run = Callable[[str], object]
"""Runs a statement on any engine."""

Rows = Callable[[str], list[tuple[object, ...]]]
"""Runs a statement, and gives its rows."""
