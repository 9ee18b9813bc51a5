"""The clauses of a merge."""

from collections.abc import Mapping
from enum import Enum

from pyspark.sql import Column

from paimon_explore.frozen_dataclass import dataclass

Condition = str | Column | None


class Rows(Enum):
    """The rows to which a clause applies."""

    MATCHED = "WHEN MATCHED"
    NOT_MATCHED = "WHEN NOT MATCHED"
    NOT_MATCHED_BY_SOURCE = "WHEN NOT MATCHED BY SOURCE"


@dataclass(frozen=True, slots=True, kw_only=True)
class Clause:
    """One WHEN clause of a merge.

    Attributes:
        rows: the rows to which it applies.
        condition: restricts these rows; None for all.
        act: `INSERT`, `UPDATE` or `DELETE`.
        values: the value of each changed column; None for all columns as the source has them.
    """

    rows: Rows
    condition: Condition
    act: str
    values: Mapping[str, object] | None = None
