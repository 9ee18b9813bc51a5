"""The clauses of MERGE INTO."""

from collections.abc import Mapping
from enum import Enum

from paimon_explore.frozen_dataclass import dataclass


class MergeRows(Enum):
    """The rows to which a clause applies."""

    MATCHED = "WHEN MATCHED"
    NOT_MATCHED = "WHEN NOT MATCHED"
    NOT_MATCHED_BY_SOURCE = "WHEN NOT MATCHED BY SOURCE"


class MergeAction(Enum):
    """What a clause does with a row."""

    INSERT = "INSERT"
    UPDATE = "UPDATE"
    DELETE = "DELETE"


@dataclass(frozen=True, slots=True, kw_only=True)
class MergeClause:
    """One WHEN clause of a merge.

    Attributes:
        rows: the rows to which it applies.
        condition: restricts these rows, as SQL text; None for all.
        action: what it does.
        values: the new value of each changed column as SQL text; None for all columns as the
            source has them.
    """

    rows: MergeRows
    condition: str | None
    action: MergeAction
    values: Mapping[str, str] | None = None
