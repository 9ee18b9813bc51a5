"""`pe.spark.merge_into`: merges a DataFrame into a table by a condition, in one commit.

The API is that of Spark's `DataFrame.mergeInto`, which does not support Python sources. Of the
clauses of one kind the first with a true condition applies; columns are `target.x` and `source.x`.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import reduce
from os import PathLike

from pyspark.sql import Column, DataFrame, Window
from pyspark.sql import functions as f

from paimon_explore.commit.planned_again import repeated
from paimon_explore.data_types.definitions import DataField, RowType
from paimon_explore.errors import InvalidInputError, choices
from paimon_explore.frozen_dataclass import dataclass
from paimon_explore.metadata.options.table_options import SEQUENCE_FIELD, UPSERT_KEY
from paimon_explore.metadata.schema.table_schema import TableSchema
from paimon_explore.metadata.snapshot import Snapshot
from paimon_explore.scan.predicate.unset_argument import NOT_GIVEN, NotGiven, refuse_none
from paimon_explore.spark.argument_checks import check_frame
from paimon_explore.spark.row_level.assigned_values import (
    new_column,
    targets_by_column,
)
from paimon_explore.spark.row_level.row_change_job import (
    ACT,
    DELETE,
    INSERT,
    UPDATE,
    ChangeTarget,
    change_target,
)
from paimon_explore.spark.row_level.row_tracking_write import (
    Clause,
    has_row_ids,
    merge_here,
    stored_source,
)
from paimon_explore.spark.spark_types import paimon_type, spark_type
from paimon_explore.spark.writes.store_assignment import assigned_column
from paimon_explore.sql_statements.merge_clause import MergeAction, MergeRows, evolve
from paimon_explore.sql_statements.parameter_markers import default_text
from paimon_explore.sql_statements.quoted_names import quoted
from paimon_explore.table.latest_schema import latest_schema
from paimon_explore.table.table import Table, open_table
from paimon_explore.table.table_base import store_of

_HERE = "_paimon_here"
_NUMBER = "_paimon_number"
_TARGET, _SOURCE = "target", "source"
_OF_TABLE = (MergeRows.MATCHED, MergeRows.NOT_MATCHED_BY_SOURCE)
Condition = str | Column | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Merge:
    """A merge builder; each method returns a new builder with one more clause.

    Attributes:
        source: the rows to merge.
        table: the table.
        on: the join condition, or names of columns in both.
        clauses: in order.
        target_alias: alias of the table in conditions.
        source_alias: alias of the source in conditions.
        evolves: whether new columns of the source are added to the table.
        pads: whether CHAR columns are padded, as in SQL.
    """

    source: DataFrame
    table: Table
    on: str | Column | Sequence[str]
    clauses: tuple[Clause, ...] = ()
    target_alias: str = _TARGET
    source_alias: str = _SOURCE
    evolves: bool = False
    pads: bool = False

    def whenMatched(self, condition: Condition | NotGiven = NOT_GIVEN) -> "When":  # noqa: N802 - Spark's name
        """Add a clause for rows of the table that match a row of the source."""
        return When(merge=self, rows=MergeRows.MATCHED, condition=_stated(condition))

    def whenNotMatched(self, condition: Condition | NotGiven = NOT_GIVEN) -> "When":  # noqa: N802 - Spark's name
        """Add a clause for rows of the source that match no row of the table."""
        return When(merge=self, rows=MergeRows.NOT_MATCHED, condition=_stated(condition))

    def whenNotMatchedBySource(self, condition: Condition | NotGiven = NOT_GIVEN) -> "When":  # noqa: N802 - Spark's
        """Add a clause for rows of the table that match no row of the source."""
        return When(merge=self, rows=MergeRows.NOT_MATCHED_BY_SOURCE, condition=_stated(condition))

    def withSchemaEvolution(self) -> "Merge":  # noqa: N802 - Spark's name
        """Add the columns that clauses assign and only the source has to the table.

        Types become wider where values of the source need it. Clauses for all columns assign
        those of the source; of others an update keeps the values, an insert takes the defaults.
        """
        return replace(self, evolves=True)

    when_matched = whenMatched
    when_not_matched = whenNotMatched
    when_not_matched_by_source = whenNotMatchedBySource
    with_schema_evolution = withSchemaEvolution

    def merge(self) -> Snapshot | None:
        """Run the merge, in one commit.

        Returns:
            The snapshot; None if nothing changed.

        Raises:
            InvalidInputError: no clause; an unknown or key column; a row of the table that more
                than one row of the source would change.
            UnsupportedFeatureError: rows of the table cannot be changed with Spark.
            CommitConflictError: concurrent commits replaced the files of a row in each of several
                attempts.
        """
        return repeated(self.table.options, lambda _: self.merge_once())

    def merge_once(self) -> Snapshot | None:
        """Run the merge without another attempt after a conflict; see `merge`."""
        if self.evolves:
            clauses = evolved(self.table, self.source, self.clauses, self.source_alias)
            return replace(self, clauses=clauses, evolves=False).merge_once()
        if has_row_ids(self.table):
            aliases = (self.target_alias, self.source_alias)
            source, clauses = self.source, self.clauses
            if self.pads:
                source, clauses = stored_source(source, self.table, clauses, self.source_alias)
            return merge_here(self.table, source, self.on, clauses, aliases)
        target = change_target(self.source.sparkSession, self.table, pads=self.pads)
        return target.apply(_Plan(self, target).changes(), once=_may_double(self.clauses))


_ACTS = {MergeAction.INSERT: INSERT, MergeAction.UPDATE: UPDATE, MergeAction.DELETE: DELETE}


@dataclass(frozen=True, slots=True, kw_only=True)
class When:
    """A WHEN clause of a merge that still needs its action."""

    merge: Merge
    rows: MergeRows
    condition: Condition

    def update(self, assignments: Mapping[str, object]) -> Merge:
        """Update columns of the table's row.

        Args:
            assignments: the new values by column: a string is an SQL expression over `target.x`
                and `source.x`, as is a Spark column; anything else is a constant.
        """
        return self._with(_OF_TABLE, MergeAction.UPDATE, assignments)

    def updateAll(self) -> Merge:  # noqa: N802 - Spark's name
        """Update all columns with the values of the source."""
        return self._with((MergeRows.MATCHED,), MergeAction.UPDATE, None)

    def insert(self, assignments: Mapping[str, object]) -> Merge:
        """Insert a row with these values, given as for `update`."""
        return self._with((MergeRows.NOT_MATCHED,), MergeAction.INSERT, assignments)

    def insertAll(self) -> Merge:  # noqa: N802 - Spark's name
        """Insert the row of the source."""
        return self._with((MergeRows.NOT_MATCHED,), MergeAction.INSERT, None)

    def delete(self) -> Merge:
        """Delete the row of the table."""
        return self._with(_OF_TABLE, MergeAction.DELETE, {})

    update_all = updateAll
    insert_all = insertAll

    def _with(
        self,
        allowed: Sequence[MergeRows],
        action: MergeAction,
        values: Mapping[str, object] | None,
    ) -> Merge:
        if self.rows not in allowed:
            raise InvalidInputError(
                f"{action.value} is not allowed in a {self.rows.value} clause.",
                hint="Insert rows of the source in a WHEN NOT MATCHED clause. Update or delete "
                "rows of the table in a WHEN MATCHED or WHEN NOT MATCHED BY SOURCE clause.",
            )
        clause = Clause(rows=self.rows, condition=self.condition, action=action, values=values)
        return replace(self.merge, clauses=(*self.merge.clauses, clause))


def merge_into(
    df: DataFrame,
    table: Table | str | PathLike[str],
    on: str | Column | Sequence[str],
    *,
    target_alias: str = _TARGET,
    source_alias: str = _SOURCE,
) -> Merge:
    """Build a merge of a DataFrame into a table; `merge()` runs it.

    Args:
        df: the source.
        table: the table, or its path.
        on: a condition over `target.x` and `source.x`, or names of columns in both.
        target_alias: alias of the table in conditions.
        source_alias: alias of the source in conditions.

    Example:
        made = pe.spark.merge_into(df, t, on=["id"]).whenMatched("source.gone").delete()
        made.whenMatched().updateAll().whenNotMatched().insertAll().merge()
    """
    check_frame(df)
    opened = table if isinstance(table, Table) else open_table(table)
    return Merge(
        source=df, table=opened, on=on, target_alias=target_alias, source_alias=source_alias
    )


def upsert_by_key(df: DataFrame, table: Table) -> Snapshot | None:
    """Merge rows by the option `upsert-key` of a table, as `Table.upsert` does.

    Args:
        df: the rows; columns that they lack get their default values, or null.
        table: the table.
    """
    keys, sequence = table.options.value(UPSERT_KEY), table.options.value(SEQUENCE_FIELD)
    missing = [one for one in table.schema.fields if one.name not in df.columns]
    df = df.withColumns(
        {one.name: f.expr(default_text(one)).cast(spark_type(one.type)) for one in missing}
    )
    if sequence:
        newest = Window.partitionBy(*map(quoted, keys)).orderBy(
            *(f.col(quoted(name)).desc() for name in sequence)
        )
        df = df.withColumn(_NUMBER, f.row_number().over(newest)).filter(f"{_NUMBER} = 1")
        df = df.drop(_NUMBER)
    merge = merge_into(df, table, _all("<=>", keys)).whenNotMatched().insertAll()
    return merge.whenMatched(_all("<=", sequence) or NOT_GIVEN).updateAll().merge()


def _all(comparison: str, names: Sequence[str]) -> str:
    """Return the condition that columns of both sides compare as given."""
    sides = [(f"{_TARGET}.{quoted(name)}", f"{_SOURCE}.{quoted(name)}") for name in names]
    return " AND ".join(f" {comparison} ".join(pair) for pair in sides)


def _stated(condition: Condition | NotGiven) -> Condition:
    """Return the condition of a clause; None if it was omitted."""
    refuse_none(condition, "condition", "Omit the condition to select all rows of the clause.")
    return None if condition is NOT_GIVEN else condition


def _may_double(clauses: Sequence[Clause]) -> bool:
    """Return whether two source rows that match one row of the table are an error."""
    matched = [clause for clause in clauses if clause.rows is MergeRows.MATCHED]
    if len(matched) != 1 or matched[0].action is not MergeAction.DELETE:
        return bool(matched)
    return matched[0].condition is not None


@dataclass(frozen=True, slots=True)
class _Plan:
    """Computes the changes of a merge as a DataFrame."""

    merge: Merge
    target: ChangeTarget

    def changes(self) -> DataFrame:
        merge = self.merge
        if not merge.clauses:
            raise InvalidInputError("The merge has no clauses.", hint="Add a WHEN clause.")
        self._check()
        joined = self._joined()
        act = self._chosen({n: f.lit(_ACTS[c.action]) for n, c in enumerate(merge.clauses)})
        columns = [self._column(joined, one).alias(one.name) for one in self.target.schema.fields]
        row_locations = [self._of_target(name).alias(name) for name in self.target.place]
        return joined.select(*columns, *row_locations, act.alias(ACT)).filter(
            f.col(ACT).isNotNull()
        )

    def _check(self) -> None:
        known = self.target.schema.row_type.names
        for clause in self.merge.clauses:
            if clause.values is None:
                self._check_source(self.merge.source.columns)
            if clause.action is MergeAction.UPDATE:
                self.target.check_update(clause.values or {})
                continue
            if clause.action is MergeAction.DELETE:
                self.target.check_delete()
            for name in clause.values or {}:
                if name not in known:
                    msg = f"{clause.rows.value}: the table has no column {name!r}."
                    raise InvalidInputError(msg, hint=f"Available columns: {choices(known)}.")

    def _check_source(self, source: Sequence[str]) -> None:
        lower = [name.lower() for name in source]
        for name in self.target.schema.row_type.names:
            if name.lower() not in lower:
                raise InvalidInputError(
                    f"The source has no column {name!r}, but * assigns all columns of the table.",
                    hint=f"Available columns: {choices(source)}. List columns instead of *.",
                )

    def _joined(self) -> DataFrame:
        merge = self.merge
        here = f.lit(True)  # noqa: FBT003 - a column
        left = self.target.rows.withColumn(_HERE, here).alias(merge.target_alias)
        right = merge.source.withColumn(_HERE, here).alias(merge.source_alias)
        kinds = {clause.rows for clause in merge.clauses}
        sides = (MergeRows.NOT_MATCHED_BY_SOURCE in kinds, MergeRows.NOT_MATCHED in kinds)
        how = {
            (False, False): "inner",
            (True, False): "left",
            (False, True): "right",
            (True, True): "full",
        }[sides]
        return left.join(right, self._on(), how)

    def _on(self) -> Column:
        on = self.merge.on
        if isinstance(on, Column):
            return on
        if isinstance(on, str) and on not in self.target.schema.row_type.names:
            return f.expr(on)
        names = [on] if isinstance(on, str) else list(on)
        if not names:
            raise InvalidInputError("The argument 'on' must contain at least one column.")
        equal = [self._of_target(name) == self._of_source(name) for name in names]
        return reduce(lambda one, other: one & other, equal)

    def _of_target(self, name: str) -> Column:
        return f.col(f"{quoted(self.merge.target_alias)}.{quoted(name)}")

    def _of_source(self, name: str) -> Column:
        return f.col(f"{quoted(self.merge.source_alias)}.{quoted(name)}")

    def _chosen(self, values: Mapping[int, Column]) -> Column:
        """Return the value of the first clause that matches a row; null if none does."""
        in_target, in_source = self._of_target(_HERE), self._of_source(_HERE)
        fits = {
            MergeRows.MATCHED: in_target.isNotNull() & in_source.isNotNull(),
            MergeRows.NOT_MATCHED: in_target.isNull(),
            MergeRows.NOT_MATCHED_BY_SOURCE: in_source.isNull(),
        }
        made: Column | None = None
        for number, clause in enumerate(self.merge.clauses):
            fit = fits[clause.rows]
            if clause.condition is not None:
                fit = fit & f.coalesce(_column(clause.condition), f.lit(False))  # noqa: FBT003 - a column
            made = f.when(fit, values[number]) if made is None else made.when(fit, values[number])
        return f.lit(None) if made is None else made

    def _column(self, joined: DataFrame, one: DataField) -> Column:
        values = {
            number: self._value(joined, clause, one)
            for number, clause in enumerate(self.merge.clauses)
        }
        return self._chosen(values)

    def _value(self, joined: DataFrame, clause: Clause, one: DataField) -> Column:
        keys = () if self.target.placed is not None else self.target.fixed
        old = self._of_target(one.name)
        is_update = clause.action is MergeAction.UPDATE
        if clause.action is MergeAction.DELETE or (is_update and one.name in keys):
            return old
        if clause.values is None:
            given = self._of_source(one.name)
            kind = joined.select(given.alias("v")).schema["v"].dataType
            return assigned_column(given, kind, one)
        found = targets_by_column(clause.values, self.target.schema.row_type).get(one.name, ())
        if not found:
            return old if is_update else f.expr(default_text(one)).cast(spark_type(one.type))
        return new_column(joined, old, one, found, clause.values)


def _column(condition: str | Column) -> Column:
    return f.expr(condition) if isinstance(condition, str) else condition


def evolved(
    table: Table, source: DataFrame, clauses: Sequence[Clause], alias: str
) -> tuple[Clause, ...]:
    """Change the schema of a table for a merge, and return the clauses with explicit columns.

    Args:
        table: the table.
        source: the rows to merge.
        clauses: in order.
        alias: alias of the source.

    Raises:
        InvalidInputError: a column of the source has a type that Paimon does not support.
    """
    schema = latest_schema(store_of(table))
    assigned = [name for clause in clauses for name in clause.values or {}]
    takes_all = any(clause.values is None for clause in clauses)
    evolve(table, _source_type(source), assigned, takes_all=takes_all)
    names = latest_schema(store_of(table)).row_type.names
    given = {name.lower(): name for name in source.columns}
    values = {
        name: f"{quoted(alias)}.{quoted(given[name.lower()])}"
        for name in names
        if name.lower() in given
    }
    return tuple(
        replace(clause, values=_updatable(clause, values, schema))
        if clause.values is None
        else clause
        for clause in clauses
    )


def _updatable(clause: Clause, values: dict[str, str], schema: TableSchema) -> dict[str, str]:
    """Return the columns that a clause of all columns assigns: updates leave keys."""
    if clause.action is MergeAction.INSERT:
        return values
    fixed = (*schema.primary_keys, *schema.partition_keys) if schema.primary_keys else ()
    return {name: text for name, text in values.items() if name not in fixed}


def _source_type(source: DataFrame) -> RowType:
    fields = []
    for at, one in enumerate(source.schema.fields):
        kind = paimon_type(one.dataType)
        if kind is None:
            raise InvalidInputError(
                f"Column {one.name!r} of the source has type {one.dataType.simpleString()}, which "
                "Paimon does not support.",
                hint="Cast the column to another type in the source.",
            )
        fields.append(DataField(id=at, name=one.name, type=kind))
    return RowType(fields=tuple(fields))
