"""What the fixtures for SQL on Spark give."""

from collections.abc import Callable

from pyspark.sql import DataFrame

Sql = Callable[[str], DataFrame]
"""Runs a statement."""

Run = Callable[[str], object]
"""Runs a statement on any engine."""

Rows = Callable[[str], list[tuple[object, ...]]]
"""Runs a statement, and gives its rows."""
