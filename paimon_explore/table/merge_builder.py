"""`Table.merge`: a merge being described clause by clause, and run."""

from collections.abc import Callable, Mapping
from dataclasses import replace

from paimon_explore.arguments import mapping, optional_mapping
from paimon_explore.errors import InvalidInputError
from paimon_explore.frozen_dataclass import dataclass
from paimon_explore.maintenance.row_level.assignments import NewValue
from paimon_explore.maintenance.row_level.merge_clauses import Clause, ClauseKind
from paimon_explore.maintenance.row_level.merge_into import MergeSpec
from paimon_explore.metadata.snapshot import Snapshot
from paimon_explore.scan.predicate.sql_parser import Where
from paimon_explore.scan.predicate.unset_argument import NOT_GIVEN, NotGiven, refuse_none

_VALUES = 'Pass the values by column: {"qty": "target.qty + source.qty"}.'


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class Merge:
    """A merge of source rows into a table; nothing happens before `execute`.

    Every `when_…` gives a merge with one more clause. Of the clauses for a row the first one counts
    whose condition is true; a row that none is for stays as it is. A condition that is None is
    refused: leave it out to mean all rows of the clause.

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
        condition: Where | NotGiven = NOT_GIVEN,
    ) -> "Merge":
        """Give rows that match a source row new values.

        Args:
            set: the new values by column.
            condition: which of them; all if it is left out.
        """
        return self._with(ClauseKind.MATCHED, condition, values=_given(set))

    def when_matched_update_all(self, condition: Where | NotGiven = NOT_GIVEN) -> "Merge":
        """Give rows that match the source's values of all columns of the same names."""
        return self._with(ClauseKind.MATCHED, condition, all_columns=True)

    def when_matched_delete(self, condition: Where | NotGiven = NOT_GIVEN) -> "Merge":
        """Delete rows that match a source row."""
        return self._with(ClauseKind.MATCHED, condition)

    def when_not_matched_insert(
        self, values: Mapping[str, NewValue] | None = None, condition: Where | NotGiven = NOT_GIVEN
    ) -> "Merge":
        """Insert source rows that match no row of the table.

        Args:
            values: by column; the others get their default values, or null. None: the source's
                values of all columns of the same names.
            condition: which of the rows; all if it is left out.
        """
        optional_mapping("values", values, hint=_VALUES)
        is_all = values is None
        return self._with(ClauseKind.NOT_MATCHED, condition, values=values, all_columns=is_all)

    def when_not_matched_insert_all(self, condition: Where | NotGiven = NOT_GIVEN) -> "Merge":
        """Insert source rows that match no row, with all columns of the same names."""
        return self.when_not_matched_insert(None, condition)

    def when_not_matched_by_source_update(
        self,
        set: Mapping[str, NewValue],  # noqa: A002  # as SQL calls it, and Delta
        condition: Where | NotGiven = NOT_GIVEN,
    ) -> "Merge":
        """Give rows of the table that match no source row new values."""
        return self._with(ClauseKind.NOT_MATCHED_BY_SOURCE, condition, values=_given(set))

    def when_not_matched_by_source_delete(self, condition: Where | NotGiven = NOT_GIVEN) -> "Merge":
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
        condition: Where | NotGiven,
        *,
        values: Mapping[str, NewValue] | None = None,
        all_columns: bool = False,
    ) -> "Merge":
        refuse_none(condition, "condition", "Leave it out to mean all of them.")
        stated = None if condition is NOT_GIVEN else condition
        clause = Clause(kind=kind, condition=stated, values=values, all_columns=all_columns)
        return replace(self, spec=replace(self.spec, clauses=(*self.spec.clauses, clause)))


def _given(values: Mapping[str, NewValue]) -> Mapping[str, NewValue]:
    """The new values of an update.

    Raises:
        InvalidInputError: there are none; a clause without values would delete the rows.
    """
    if mapping("set", values, hint=_VALUES):
        return values
    raise InvalidInputError("The clause needs new values.", hint=_VALUES)
