"""`Table.merge`: a builder for MERGE INTO, clause by clause."""

from collections.abc import Callable, Mapping
from dataclasses import replace

from paimon_explore.arguments import mapping, optional_mapping
from paimon_explore.errors import InvalidInputError
from paimon_explore.frozen_dataclass import dataclass
from paimon_explore.maintenance.row_level.assignments import NewValue
from paimon_explore.maintenance.row_level.merge_clauses import Clause, ClauseKind
from paimon_explore.maintenance.row_level.merge_into import MergeSpec
from paimon_explore.metadata.snapshot import Snapshot
from paimon_explore.sanitize import sanitized
from paimon_explore.scan.predicate.sql_parser import Where
from paimon_explore.scan.predicate.unset_argument import NOT_GIVEN, NotGiven, refuse_none

_VALUES = "Map each column name to its new value."


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class Merge:
    """A merge of source rows into a table; it changes nothing before `execute`.

    Every `when_…` method returns a merge with one more clause. For each row the first clause
    applies whose condition is true; a row without such a clause stays unchanged. A condition of
    None is an
    error: leave it out to apply the clause to all rows.

    Conditions and values are SQL text or terms, as in `Table.update`. They name the table's columns
    `target.name` (or `t.name`) and the source's `source.name` (or `s.name`); a name that only one
    side has needs no prefix.

    >>> import paimon_explore as pe
    >>> t = pe.demo().table("demo.notes")
    >>> merge = t.merge([{"id": 1, "stars": 9}, {"id": 7, "text": "new"}], on="id")
    >>> merge = merge.when_matched_update({"stars": "source.stars"}).when_not_matched_insert()
    >>> merge.execute().commit_kind.value
    'APPEND'

    Attributes:
        spec: source, condition and clauses.
        run: executes the merge in one commit.
    """

    spec: MergeSpec
    run: Callable[[MergeSpec], Snapshot | None]

    def __repr__(self) -> str:
        """Return the condition and the kinds of the clauses."""
        kinds = ", ".join(clause.kind.value for clause in self.spec.clauses) or "none yet"
        return sanitized(f"Merge on {self.spec.on!r}; clauses: {kinds}")

    def when_matched_update(
        self,
        set: Mapping[str, NewValue],  # noqa: A002  # as SQL calls it, and Delta
        condition: Where | NotGiven = NOT_GIVEN,
    ) -> "Merge":
        """Update rows that match a source row.

        Args:
            set: the new values by column.
            condition: which of these rows; all if left out.

        >>> import paimon_explore as pe
        >>> t = pe.demo().table("demo.customers")
        >>> merge = t.merge([{"id": 1, "city": "Rome"}], on="id")
        >>> merge = merge.when_matched_update({"city": "source.city"}, "target.city <> 'Rome'")
        >>> merge.execute().delta_record_count
        1
        """
        return self._with(ClauseKind.MATCHED, condition, values=_given(set))

    def when_matched_update_all(self, condition: Where | NotGiven = NOT_GIVEN) -> "Merge":
        """Update rows that match a source row with all its columns of the same names.

        >>> import paimon_explore as pe
        >>> t = pe.demo().table("demo.customers")
        >>> merge = t.merge([{"id": 1, "city": "Rome"}], on="id").when_matched_update_all()
        >>> snapshot = merge.execute()
        >>> t.scan(["city"], "id = 1").to_arrow().to_pylist()
        [{'city': 'Rome'}]
        """
        return self._with(ClauseKind.MATCHED, condition, all_columns=True)

    def when_matched_delete(self, condition: Where | NotGiven = NOT_GIVEN) -> "Merge":
        """Delete rows that match a source row.

        Args:
            condition: which of these rows; all if left out.

        >>> import paimon_explore as pe
        >>> t = pe.demo().table("demo.customers")
        >>> snapshot = t.merge([{"id": 1}], on="id").when_matched_delete().execute()
        >>> t.count("id = 1")
        0
        """
        return self._with(ClauseKind.MATCHED, condition)

    def when_not_matched_insert(
        self, values: Mapping[str, NewValue] | None = None, condition: Where | NotGiven = NOT_GIVEN
    ) -> "Merge":
        """Insert source rows that match no row of the table.

        Args:
            values: values by column; the others get their default values, or null. None: the
                source's values of all columns of the same names.
            condition: which of these rows; all if left out.

        >>> import paimon_explore as pe
        >>> t = pe.demo().table("demo.customers")
        >>> merge = t.merge([{"id": 90}, {"id": 91}], on="id")
        >>> merge = merge.when_not_matched_insert({"id": "source.id"}, "source.id > 90")
        >>> snapshot = merge.execute()
        >>> t.count("id >= 90")
        1
        """
        optional_mapping("values", values, hint=_VALUES)
        is_all = values is None
        return self._with(ClauseKind.NOT_MATCHED, condition, values=values, all_columns=is_all)

    def when_not_matched_insert_all(self, condition: Where | NotGiven = NOT_GIVEN) -> "Merge":
        """Insert source rows that match no row of the table, with all columns of the same names.

        >>> import paimon_explore as pe
        >>> t = pe.demo().table("demo.customers")
        >>> snapshot = t.merge([{"id": 90}], on="id").when_not_matched_insert_all().execute()
        >>> t.count("id = 90")
        1
        """
        return self.when_not_matched_insert(None, condition)

    def when_not_matched_by_source_update(
        self,
        set: Mapping[str, NewValue],  # noqa: A002  # as SQL calls it, and Delta
        condition: Where | NotGiven = NOT_GIVEN,
    ) -> "Merge":
        """Update rows of the table that match no source row.

        Args:
            set: the new values by column.
            condition: which of these rows; all if left out.

        >>> import paimon_explore as pe
        >>> t = pe.demo().table("demo.customers")
        >>> merge = t.merge([{"id": 1}], on="id")
        >>> merge = merge.when_not_matched_by_source_update({"city": "'unknown'"}, "id < 9")
        >>> snapshot = merge.execute()
        >>> t.count("city = 'unknown'")
        6
        """
        return self._with(ClauseKind.NOT_MATCHED_BY_SOURCE, condition, values=_given(set))

    def when_not_matched_by_source_delete(self, condition: Where | NotGiven = NOT_GIVEN) -> "Merge":
        """Delete rows of the table that match no source row.

        Args:
            condition: which of these rows; all if left out.

        >>> import paimon_explore as pe
        >>> t = pe.demo().table("demo.customers")
        >>> merge = t.merge([{"id": 1}], on="id").when_not_matched_by_source_delete()
        >>> snapshot = merge.execute()
        >>> t.count()
        1
        """
        return self._with(ClauseKind.NOT_MATCHED_BY_SOURCE, condition)

    def execute(self) -> Snapshot | None:
        """Run the merge in one commit.

        Returns:
            The new snapshot; None if nothing changes.

        Raises:
            InvalidInputError: no clause, an expression that cannot be parsed, a row that several
                source rows would update, a column of the primary key that would change, or a merge
                engine that does not support the clauses.
            UnsupportedFeatureError: the table uses a feature that prevents merges.
            CommitConflictError: another commit changed the same rows meanwhile, and the source is a
                stream, which cannot be read again; or others did in each of several attempts.

        >>> import paimon_explore as pe
        >>> t = pe.demo().table("demo.customers")
        >>> t.merge([{"id": -1}], on="id").when_matched_delete().execute() is None
        True
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
        refuse_none(condition, "condition", "Omit the condition to select all rows of the clause.")
        stated = None if condition is NOT_GIVEN else condition
        clause = Clause(kind=kind, condition=stated, values=values, all_columns=all_columns)
        return replace(self, spec=replace(self.spec, clauses=(*self.spec.clauses, clause)))


def _given(values: Mapping[str, NewValue]) -> Mapping[str, NewValue]:
    """Return the new values of an update.

    Raises:
        InvalidInputError: there are none; a clause without values would delete the rows.
    """
    if mapping("set", values, hint=_VALUES):
        return values
    raise InvalidInputError("The clause must set at least one column.", hint=_VALUES)
