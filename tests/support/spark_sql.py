"""What the fixtures for SQL on Spark give."""

from collections.abc import Callable

from pyspark.sql import DataFrame

Sql = Callable[[str], DataFrame]
"""Runs a statement."""

Rows = Callable[[str], list[tuple[object, ...]]]
"""Runs a statement, and gives its rows."""
