"""The clauses of a merge."""

from collections.abc import Mapping

from pyspark.sql import Column

from paimon_explore.frozen_dataclass import dataclass
from paimon_explore.sql_statements.merge_clause import MergeRows

Condition = str | Column | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Clause:
    """One WHEN clause of a merge.

    Attributes:
        rows: the rows to which it applies.
        condition: restricts these rows; None for all.
        act: `INSERT`, `UPDATE` or `DELETE`.
        values: the value of each changed column; None for all columns as the source has them.
    """

    rows: MergeRows
    condition: Condition
    act: str
    values: Mapping[str, object] | None = None
