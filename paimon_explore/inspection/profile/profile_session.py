"""The profile that the explorer shows: from statistics at once, then from rows in steps."""

from collections.abc import Mapping
from dataclasses import replace

from paimon_explore.errors import InvalidInputError
from paimon_explore.frozen_dataclass import dataclass
from paimon_explore.inspection.profile.row_profile import ProfiledRows, RowProfile
from paimon_explore.inspection.profile.table_profile import (
    Profile,
    profile_code,
    rows_result,
    statistics_result,
    where_text,
)
from paimon_explore.inspection.views.inspector import Inspector
from paimon_explore.scan.predicate.binder import bind
from paimon_explore.scan.predicate.expression import (
    TRUE,
    Column,
    Compare,
    Expression,
    In,
    IsNull,
    conjunction,
    conjuncts,
)
from paimon_explore.scan.predicate.sql_formatter import to_sql
from paimon_explore.scan.predicate.sql_parser import predicate


def rows_of(inspector: Inspector, where: str) -> ProfiledRows:
    """The rows of the inspected snapshot that match a condition.

    Raises:
        InvalidInputError: the condition is invalid.
        PaimonError: the schema cannot be read.
    """
    target = inspector.target
    row_type = target.schema.row_type
    bound = bind(predicate(where), row_type) if where.strip() else TRUE
    return ProfiledRows(target=target, row_type=row_type, where=bound)


def checked_condition(inspector: Inspector, where: str) -> str:
    """A condition on rows in normalized form; empty for none.

    Raises:
        InvalidInputError: the condition is invalid.
        PaimonError: the schema cannot be read.
    """
    return where_text(rows_of(inspector, where).where)


def snapshot_profile(inspector: Inspector, where: str) -> Profile:
    """The profile of the inspected snapshot from statistics.

    Raises:
        InvalidInputError: the condition is invalid.
        PaimonError: a metadata file cannot be read.
    """
    rows = rows_of(inspector, where)
    return _shown(inspector, statistics_result(rows, inspector.view.name), exact=False)


def _shown(inspector: Inspector, found: Profile, *, exact: bool) -> Profile:
    view = inspector.view
    code = profile_code(
        inspector.code,
        view.location,
        inspector.point_options,
        where=found.where or None,
        exact=exact or None,
    )
    return replace(found, code=code)


def combined_condition(where: str, added: Expression) -> str:
    """A condition and one more; what it says about the same column is replaced.

    >>> from paimon_explore.scan.predicate.builder import col
    >>> combined_condition("a > 3 AND b = 1", (col("a") == 5).expression)
    'b = 1 AND a = 5'
    """
    column = _column_of(conjuncts(added)[0])
    known = conjuncts(predicate(where)) if where.strip() else ()
    kept = [one for one in known if _column_of(one) != column]
    return to_sql(conjunction([*kept, added]))


def _column_of(condition: Expression) -> Column | None:
    """The column that a condition compares with constants; None for other conditions."""
    match condition:
        case Compare(left=Column() as column):
            return column
        case In(operand=Column() as column) | IsNull(operand=Column() as column):
            return column
        case _:
            return None


@dataclass(frozen=True, slots=True)
class _Opened:
    """A profile that is being shown."""

    inspector: Inspector
    rows: ProfiledRows
    run: RowProfile


class ProfileSession:
    """Answers the requests of the Profile view about the profile that was opened last."""

    def __init__(self) -> None:
        self._number = 0
        self._opened: _Opened | None = None
        self._shown: Profile | None = None

    def open(self, inspector: Inspector, found: Profile, where: str) -> Mapping[str, object]:
        """Show a profile from statistics, and prepare to read the rows.

        Args:
            inspector: the table at a snapshot.
            found: its profile.
            where: the condition of the profile.
        """
        if self._opened is not None:
            self._opened.run.stop()
        rows = rows_of(inspector, where)
        self._number += 1
        self._opened = _Opened(inspector, rows, RowProfile(rows))
        self._shown = found
        return self._state(found)

    def step(self, number: int, *, with_columns: bool) -> Mapping[str, object]:
        """Read rows for a short time.

        Args:
            number: of the profile.
            with_columns: whether the answer has the columns even if rows are left to read.

        Raises:
            InvalidInputError: another profile was opened since.
            PaimonError: a file cannot be read.
        """
        opened = self._checked(number)
        run = opened.run
        done = run.step()
        if not (done or with_columns):
            progress = {"rows": run.rows, "stored": run.stored, "total": run.total}
            return {"number": number, "complete": False, **progress}
        self._shown = _shown(
            opened.inspector, rows_result(opened.rows, run, opened.inspector.view.name), exact=True
        )
        return self._state(self._shown)

    def condition(
        self, number: int, column: int, part: str, bins: tuple[int, int], where: str
    ) -> str:
        """The condition that selects a part of a column, combined with another condition.

        Args:
            number: of the profile.
            column: index of the column.
            part: `range`, `value` or `nulls`.
            bins: first and last bin of a range; the first is also the index of a frequent value.
            where: the condition to combine it with.

        Raises:
            InvalidInputError: another profile was opened since, or there is no such part.
        """
        self._checked(number)
        columns = () if self._shown is None else self._shown.columns
        if column >= len(columns):
            raise InvalidInputError(f"The profile has no column number {column}.")
        match part:
            case "range":
                added = columns[column].range_condition(*bins)
            case "value":
                added = columns[column].value_condition(bins[0])
            case "nulls":
                added = columns[column].null_condition()
            case _:
                raise InvalidInputError("A part of a column is a range, a value or nulls.")
        return combined_condition(where, added)

    def _checked(self, number: int) -> _Opened:
        if self._opened is None or number != self._number:
            raise InvalidInputError("Another profile was opened since; reload the view.")
        return self._opened

    def _state(self, found: Profile) -> Mapping[str, object]:
        return {"number": self._number, "title": found.title, **found.figures()}
