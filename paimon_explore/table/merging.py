"""`Table.merge`: a merge being described clause by clause, and run."""

from collections.abc import Callable, Mapping
from dataclasses import replace

from paimon_explore.maintenance.row_level.assignments import NewValue
from paimon_explore.maintenance.row_level.merge_change import Clause, ClauseKind
from paimon_explore.maintenance.row_level.merge_into import MergeSpec
from paimon_explore.metadata.snapshot import Snapshot
from paimon_explore.scan.sql import Where
from paimon_explore.values import dataclass


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class Merge:
    """A merge of source rows into a table; nothing happens before `execute`.

    Every `when_…` gives a merge with one more clause. Of the clauses for a row the first one counts
    whose condition is true; a row that none is for stays as it is.

    Conditions and values are SQL text or terms, as in `Table.update`. They call the table's columns
    `target.name` (or `t.name`) and the source's `source.name` (or `s.name`); a name that only one
    side has needs no prefix.

    Attributes:
        spec: what is merged, and how.
        run: does it, in one commit.
    """

    spec: MergeSpec
    run: Callable[[MergeSpec], Snapshot | None]

    def when_matched_update(
        self,
        set: Mapping[str, NewValue],  # noqa: A002  # as SQL calls it, and Delta
        condition: Where | None = None,
    ) -> "Merge":
        """Give rows that match a source row new values.

        Args:
            set: the new values by column.
            condition: which of them; None for all.
        """
        return self._with(ClauseKind.MATCHED, condition, values=set)

    def when_matched_update_all(self, condition: Where | None = None) -> "Merge":
        """Give rows that match the source's values of all columns of the same names."""
        return self._with(ClauseKind.MATCHED, condition, all_columns=True)

    def when_matched_delete(self, condition: Where | None = None) -> "Merge":
        """Delete rows that match a source row."""
        return self._with(ClauseKind.MATCHED, condition)

    def when_not_matched_insert(
        self, values: Mapping[str, NewValue] | None = None, condition: Where | None = None
    ) -> "Merge":
        """Insert source rows that match no row of the table.

        Args:
            values: by column; the others get their default values, or null. None: the source's
                values of all columns of the same names.
            condition: which of the rows; None for all.
        """
        is_all = values is None
        return self._with(ClauseKind.NOT_MATCHED, condition, values=values, all_columns=is_all)

    def when_not_matched_insert_all(self, condition: Where | None = None) -> "Merge":
        """Insert source rows that match no row, with all columns of the same names."""
        return self.when_not_matched_insert(None, condition)

    def when_not_matched_by_source_update(
        self,
        set: Mapping[str, NewValue],  # noqa: A002  # as SQL calls it, and Delta
        condition: Where | None = None,
    ) -> "Merge":
        """Give rows of the table that match no source row new values."""
        return self._with(ClauseKind.NOT_MATCHED_BY_SOURCE, condition, values=set)

    def when_not_matched_by_source_delete(self, condition: Where | None = None) -> "Merge":
        """Delete rows of the table that match no source row."""
        return self._with(ClauseKind.NOT_MATCHED_BY_SOURCE, condition)

    def execute(self) -> Snapshot | None:
        """Run the merge, in one commit.

        Returns:
            The snapshot; None if nothing changes.

        Raises:
            InvalidInputError: no clause, something that cannot be understood, a row that several
                source rows would update, a column of the primary key that would change, or a merge
                engine that does not take it.
            UnsupportedFeatureError: the table has something that is not changed here.
            CommitConflictError: others have changed the same files meanwhile.
        """
        return self.run(self.spec)

    def _with(
        self,
        kind: ClauseKind,
        condition: Where | None,
        *,
        values: Mapping[str, NewValue] | None = None,
        all_columns: bool = False,
    ) -> "Merge":
        clause = Clause(kind=kind, condition=condition, values=values, all_columns=all_columns)
        return replace(self, spec=replace(self.spec, clauses=(*self.spec.clauses, clause)))
