"""The methods of a table that write rows, each in one commit, and transactions of several."""

from collections.abc import Iterable, Mapping, Sequence
from functools import partial
from os import PathLike
from typing import TYPE_CHECKING

from paimon_explore.arguments import boolean, integers, names, optional_string
from paimon_explore.errors import InvalidInputError
from paimon_explore.fileio.concurrent_requests import max_requests
from paimon_explore.frozen_dataclass import dataclass
from paimon_explore.metadata.options.table_options import TableOptions
from paimon_explore.metadata.snapshot import LatestSnapshot, Snapshot
from paimon_explore.scan.predicate.unset_argument import NOT_GIVEN, NotGiven
from paimon_explore.table import lazy_types as types
from paimon_explore.table import transactions
from paimon_explore.table.latest_schema import latest_schema, snapshot_and_schema
from paimon_explore.table.table_base import BaseTable, changeable_store, check_writable

if TYPE_CHECKING:
    from paimon_explore.table.table_write import TableWriter


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class WritableTable(BaseTable):
    """A table with its writes.

    Every write takes `properties`, texts by key that are stored in the snapshot, and
    `commit_user`, the name under which it commits; by default a new user per write.
    """

    def append(
        self,
        data: "types.Rows",
        *,
        cast: str = "safe",
        merge_schema: bool = False,
        properties: Mapping[str, str] | None = None,
        commit_user: str | None = None,
    ) -> Snapshot | None:
        """Add rows in one commit.

        Columns are matched by name. In a table with a primary key the rows are merged with stored
        rows of the same key, as the table's merge engine defines.

        Args:
            data: an Arrow table, batch or reader; a pandas or polars data frame; a dictionary of
                columns; a list of dictionaries; or a list or generator of any of these. The rows of
                a generator are written as they arrive.
            cast: how values are converted to the types of the columns: `safe`, if no value changes;
                `strict`, not at all; `parse`, texts also as numbers, booleans, dates and times.
            merge_schema: add columns that the table does not have, and widen types where no
                stored value changes (INT to BIGINT, FLOAT to DOUBLE); atomic with the rows.
            properties: texts by key that are stored in the snapshot.
            commit_user: the commit user; None for a new one.

        Returns:
            The new snapshot; None if there were no rows.

        Raises:
            InvalidInputError: the table is a view of a point in time, or the data does not fit the
                table; the message names column, row and rule.
            UnsupportedFeatureError: the table uses a feature that cannot be written.
            CommitError: the commit failed; nothing is visible, and its files are removed.
            CommitOutcomeUnknownError: the storage did not answer; check the table before writing
                again.

        >>> import paimon_explore as pe
        >>> t = pe.demo().table("demo.notes")
        >>> t.append([{"id": 9, "text": "new", "stars": 5}]).delta_record_count
        1
        >>> t.append([{"id": "10", "stars": " 4 "}], cast="parse").delta_record_count
        1
        >>> snapshot = t.append([{"id": 11, "author": "Ada"}], merge_schema=True)
        >>> t.scan(["id", "author"], "id = 11").to_arrow().to_pylist()
        [{'id': 11, 'author': 'Ada'}]
        """
        if boolean("merge_schema", merge_schema):
            with self.transaction(properties=properties, commit_user=commit_user) as tx:
                tx.append(data, cast=cast, merge_schema=True)
            return tx.snapshot
        return self._writer(properties, commit_user, cast=cast).insert(data)

    def upsert(
        self,
        data: "types.Rows",
        *,
        cast: str = "safe",
        merge_schema: bool = False,
        properties: Mapping[str, str] | None = None,
        commit_user: str | None = None,
    ) -> Snapshot | None:
        """Insert or update rows of a table with a key, in one commit.

        The key is the primary key, or in a table without one the option `upsert-key`: the rows are
        then merged into those of the same key, as by INSERT INTO of Spark. Of rows with one key
        the first with the highest `sequence.field` counts, if it is not lower than that of the
        table. Without this option several rows that update the same row are an error, and new rows
        are all added, also several with one key.

        Args:
            data: as for `append`. With a primary key the optional column `_ROW_KIND` (`+I`, `-U`,
                `+U`, `-D`) marks each row as insert, update or delete.
            cast: as for `append`.
            merge_schema: as for `append`.
            properties: texts by key that are stored in the snapshot.
            commit_user: the commit user; None for a new one.

        Raises:
            InvalidInputError: the table has no key; else as for `append`.

        >>> import paimon_explore as pe
        >>> t = pe.demo().table("demo.customers")
        >>> snapshot = t.upsert({"id": [1], "name": ["Ada"], "city": ["Oslo"]})
        >>> t.scan(where="id = 1").to_arrow().to_pylist()
        [{'id': 1, 'name': 'Ada', 'city': 'Oslo'}]
        """
        if boolean("merge_schema", merge_schema):
            with self.transaction(properties=properties, commit_user=commit_user) as tx:
                tx.upsert(data, cast=cast, merge_schema=True)
            return tx.snapshot
        return self._writer(properties, commit_user, keyed=True, cast=cast).upsert(data)

    def delete(
        self,
        where: "types.Where",
        *,
        properties: Mapping[str, str] | None = None,
        commit_user: str | None = None,
    ) -> Snapshot | None:
        """Delete the rows that match a condition, in one commit.

        In a table without a primary key their files are rewritten, or with
        `deletion-vectors.enabled` the rows are marked in deletion vectors.

        Args:
            where: SQL text or `pe.col("a") > 3`. `"true"` deletes all rows; `truncate` is faster.
            properties: texts by key that are stored in the snapshot.
            commit_user: the commit user; None for a new one.

        Returns:
            The new snapshot; None if no row matches.

        Raises:
            InvalidInputError: None, a condition that cannot be parsed, or a merge engine that does
                not support deletes.
            UnsupportedFeatureError: the table uses a feature that prevents deletes.
            CommitConflictError: other commits changed the same rows in each of several attempts.

        >>> import paimon_explore as pe
        >>> t = pe.demo().table("demo.orders")
        >>> snapshot = t.delete("id >= 100")
        >>> t.count()
        6
        """
        return self._writer(properties, commit_user).delete(where)

    def update(
        self,
        set: "Mapping[str, types.NewValue]",  # noqa: A002  # as SQL calls it, and Delta and Iceberg
        where: "types.Where | NotGiven" = NOT_GIVEN,
        *,
        properties: Mapping[str, str] | None = None,
        commit_user: str | None = None,
    ) -> Snapshot | None:
        """Update columns of the rows that match a condition, in one commit.

            table.update({"price": pe.col("price") * 2, "seen": datetime.now()})

        Args:
            set: the new values by column, or by a field of a ROW column: `{"address.city":
                "'Rome'"}`. A str is an SQL expression over the old row, and so is a term such as
                `pe.col("a") + 1`; anything else is the value itself. To set a text write it in
                quotes, or as `pe.lit("text")`.
            where: which rows; all if it is left out. None is an error, so that a variable that was
                never set does not update every row.
            properties: texts by key that are stored in the snapshot.
            commit_user: the commit user; None for a new one.

        Returns:
            The new snapshot; None if no row matches.

        Raises:
            InvalidInputError: an unknown column, a column of the primary key, a value that does not
                fit its column, a condition that cannot be parsed, or a merge engine that does not
                support updates.
            UnsupportedFeatureError: the table uses a feature that prevents updates.
            CommitConflictError: other commits changed the same rows in each of several attempts.

        >>> import paimon_explore as pe
        >>> t = pe.demo().table("demo.notes")
        >>> snapshot = t.update({"stars": "stars + 1", "text": "'good'"}, where="id = 3")
        >>> t.scan(where="id = 3").to_arrow().to_pylist()
        [{'id': 3, 'text': 'good', 'stars': 2}]
        """
        return self._writer(properties, commit_user).update(set, where)

    def merge(
        self,
        source: "types.Rows",
        on: "types.On",
        *,
        source_alias: str | None = None,
        target_alias: str | None = None,
        properties: Mapping[str, str] | None = None,
        commit_user: str | None = None,
    ) -> "types.Merge":
        """Start a merge of source rows into the table: MERGE INTO of SQL.

        Args:
            source: rows in any form that `append` takes, including another table.
            on: columns that are equal on both sides (`"id"`, `["id", "dt"]`), the table's columns
                mapped to the source's (`{"id": "key"}`), or a condition (`"target.id =
                source.key"`).
            source_alias: another name for `source` in expressions.
            target_alias: another name for `target`.
            properties: texts by key that are stored in the snapshot.
            commit_user: the commit user; None for a new one.

        Returns:
            The merge, which gets its clauses and then `execute()`.

        Raises:
            InvalidInputError: the table is a view of a point in time.

        >>> import paimon_explore as pe
        >>> t = pe.demo().table("demo.customers")
        >>> merge = t.merge([{"id": 1, "name": "Ada"}, {"id": 99, "name": "Bo"}], on="id")
        >>> merge = merge.when_matched_update({"name": "source.name"}).when_not_matched_insert()
        >>> snapshot = merge.execute()
        >>> t.scan(["id", "name"], "id IN (1, 99)").to_arrow().sort_by("id").to_pylist()
        [{'id': 1, 'name': 'Ada'}, {'id': 99, 'name': 'Bo'}]
        """
        writer = self._writer(properties, commit_user)
        return writer.start_merge(source, on, (source_alias, target_alias))

    def overwrite(
        self,
        data: "types.Rows",
        partition: Mapping[str, object] | NotGiven | None = NOT_GIVEN,
        *,
        cast: str = "safe",
        merge_schema: bool = False,
        properties: Mapping[str, str] | None = None,
        commit_user: str | None = None,
    ) -> Snapshot | None:
        """Replace rows in one commit.

        Args:
            data: the new rows; without any, the replaced rows are only removed.
            partition: values of some partition columns: all rows with these values are replaced,
                and the new rows may leave out these columns. `{}` replaces all rows. If left out:
                the partitions of the new rows, or all rows of a table without partitions; with the
                option `dynamic-partition-overwrite=false` always all rows. None means the same, but
                is an error where that would be all rows of several partitions.
            cast: as for `append`.
            merge_schema: as for `append`.
            properties: texts by key that are stored in the snapshot.
            commit_user: the commit user; None for a new one.

        Raises:
            InvalidInputError: a new row is outside of the partition; else as for `append`.

        >>> import paimon_explore as pe
        >>> t = pe.demo().table("demo.orders")
        >>> snapshot = t.overwrite([{"id": 7}], partition={"dt": "2026-01-01"})
        >>> t.scan(["id"], "dt = '2026-01-01'").to_arrow().to_pylist()
        [{'id': 7}]
        """
        if boolean("merge_schema", merge_schema):
            with self.transaction(properties=properties, commit_user=commit_user) as tx:
                tx.overwrite(data, partition, cast=cast, merge_schema=True)
            return tx.snapshot
        writer = self._writer(properties, commit_user, cast=cast)
        return writer.overwrite(data, writer.partition_argument(partition))

    def truncate(
        self, *, properties: Mapping[str, str] | None = None, commit_user: str | None = None
    ) -> Snapshot | None:
        """Remove all rows in one commit.

        Args:
            properties: texts by key that are stored in the snapshot.
            commit_user: the commit user; None for a new one.

        >>> import paimon_explore as pe
        >>> t = pe.demo().table("demo.orders")
        >>> snapshot = t.truncate()
        >>> t.count()
        0
        """
        return self._writer(properties, commit_user).drop([{}])

    def drop_partitions(
        self,
        *partitions: Mapping[str, object] | Sequence[Mapping[str, object]],
        properties: Mapping[str, str] | None = None,
        commit_user: str | None = None,
    ) -> Snapshot | None:
        """Remove all rows of one or several partitions in one commit.

        Args:
            partitions: values of some partition columns each, such as `{"dt": "2026-01-01"}`.
            properties: texts by key that are stored in the snapshot.
            commit_user: the commit user; None for a new one.

        Raises:
            InvalidInputError: no partition is given, or a column is not a partition column.

        >>> import paimon_explore as pe
        >>> t = pe.demo().table("demo.orders")
        >>> snapshot = t.drop_partitions({"dt": "2026-01-01"}, {"dt": "2026-01-02"})
        >>> t.count()
        10
        """
        return self._writer(properties, commit_user).drop_partitions(partitions)

    def compact(  # noqa: PLR0913 - the options of one compaction
        self,
        *,
        full: bool = True,
        partitions: Mapping[str, object] | Sequence[Mapping[str, object]] | None = None,
        buckets: int | Sequence[int] | None = None,
        strategy: str | None = None,
        columns: Sequence[str] | str | None = None,
        properties: Mapping[str, str] | None = None,
        commit_user: str | None = None,
    ) -> Snapshot | None:
        """Rewrite the files into fewer and larger ones with the same rows, in one commit.

        On tables with deletion vectors and on first-row tables compaction makes new rows visible;
        the changelogs of the producers `lookup` and `full-compaction` are written by it.

        Args:
            full: compact everything that can be improved; False: only what the table's options ask
                for by number and size of files.
            partitions: values of some partition columns, or several of these; None for the whole
            table.
            buckets: a bucket, or several, of a table with fixed buckets; None for all.
            strategy: also sort the rows of an append table, so that filters skip more files:
                `order`, `zorder`, `hilbert`, or `auto` by the number of columns.
            columns: the columns to sort by; by default those of the option `clustering.columns`.
            properties: texts by key that are stored in the snapshot.
            commit_user: the commit user; None for a new one.

        Returns:
            The new snapshot; None if there was nothing to compact.

        Raises:
            UnsupportedFeatureError: the table uses a feature that prevents compaction.
            InvalidInputError: an unknown strategy or column.
            CommitConflictError: other commits replaced the same files in each of several attempts.

        >>> import paimon_explore as pe
        >>> t = pe.demo().table("demo.orders")
        >>> t.inspect.files().num_rows, t.compact().commit_kind.value, t.inspect.files().num_rows
        (15, 'COMPACT', 3)
        >>> t.compact(strategy="zorder", columns=["id", "amount"]).commit_kind.value
        'OVERWRITE'
        """
        optional_string("strategy", strategy)
        wanted = () if columns is None else names("columns", columns)
        writer = self._writer(properties, commit_user)
        specs = None if partitions is None else writer.partition_specs(partitions)
        chosen = integers("buckets", buckets)
        if chosen is not None and (strategy is not None or wanted):
            raise InvalidInputError(
                "compact() with a strategy or columns sorts whole partitions: leave buckets out."
            )
        if strategy is not None or wanted:
            return writer.sort(strategy=strategy, columns=wanted, partitions=specs)
        boolean("full", full)
        return writer.compact(full=full, partitions=specs, buckets=chosen)

    @property
    def maintenance(self) -> "types.Maintenance":
        """Expiry, orphan files, checks, statistics, indexes, rescale, and rarer changes of tags.

        >>> import paimon_explore as pe
        >>> pe.demo().table("demo.trips").maintenance.rename_tag("before", "start").name
        'start'
        """
        from paimon_explore.table.maintenance import Maintenance

        return Maintenance(
            _readable=self._store,
            _changeable=partial(changeable_store, self),
            _dynamic_options=self._dynamic_options,
        )

    def add_files(
        self,
        files: "str | PathLike[str] | Iterable[str | PathLike[str]]",
        *,
        partition: Mapping[str, object] | None = None,
        mode: str = "copy",
        storage_options: Mapping[str, object] | None = None,
        properties: Mapping[str, str] | None = None,
        commit_user: str | None = None,
    ) -> Snapshot | None:
        """Add existing Parquet and ORC files to a table without primary key, in one commit.

        The files are not rewritten. They are read once, to check that their columns have the names
        and types of the table's and to collect statistics.

        Args:
            files: paths of files, or of folders, whose Parquet and ORC files are added.
            partition: the values of all partition columns; None to take them from the rows. Each
                file has rows of one partition and contains its columns.
            mode: `copy` the files into the table; `link` them, without copying bytes, on one local
                disk; or `move` them: copy, and delete them after the commit.
            storage_options: settings and secrets of the storage of the files; see `open_table`.
            properties: texts by key that are stored in the snapshot.
            commit_user: the commit user; None for a new one.

        Returns:
            The new snapshot; None if the files have no rows.

        Raises:
            InvalidInputError: a file has other columns or types, or rows of other partitions.
            UnsupportedFeatureError: the table has a primary key, fixed buckets or BLOB columns.
            NotFoundError: there is no such file.

        >>> import tempfile
        >>> import paimon_explore as pe
        >>> import pyarrow as pa
        >>> import pyarrow.parquet as pq
        >>> catalog = pe.demo()
        >>> t = catalog.create_table("demo.adopted", pa.schema([("id", pa.int64())]))
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     pq.write_table(pa.table({"id": [1, 2]}), f"{folder}/a.parquet")
        ...     t.add_files(folder).delta_record_count
        2
        """
        from paimon_explore.write.adopted_files import adoption_mode, foreign_files

        chosen = adoption_mode(mode)
        writer = self._writer(properties, commit_user)
        return writer.add_files(foreign_files(files, storage_options), chosen, partition)

    def transaction(
        self, *, properties: Mapping[str, str] | None = None, commit_user: str | None = None
    ) -> "transactions.Transaction":
        """Start a transaction: several writes that become visible at once, or not at all.

            with table.transaction() as tx:
                tx.delete("dt < '2026-01-01'")
                tx.append(rows)

        It commits at the end of the block, as one snapshot. If the block raises, nothing is
        committed, and the files that were written are removed; see `Transaction`.

        Args:
            properties: texts by key that are stored in the snapshot.
            commit_user: the commit user; None for a new one.

        Raises:
            InvalidInputError: the table is a view of a point in time.
            UnsupportedFeatureError: the catalog restricts reads of the table.

        >>> import paimon_explore as pe
        >>> t = pe.demo().table("demo.orders")
        >>> with t.transaction(properties={"job": "nightly"}) as tx:
        ...     tx.delete("id = 1")
        ...     tx.append([{"id": 9, "city": "Rome", "dt": "2026-01-01"}], cast="parse")
        >>> tx.snapshot.commit_kind.value, t.snapshot.properties
        ('OVERWRITE', {'job': 'nightly'})
        """
        from paimon_explore.table.transactions.transaction import begin_transaction

        return begin_transaction(
            self.name, self._writer(properties, commit_user), self._dynamic_options
        )

    def _writer(
        self,
        properties: Mapping[str, str] | None = None,
        commit_user: str | None = None,
        *,
        keyed: bool = False,
        cast: str = "safe",
    ) -> "TableWriter":
        """Return the writer of the table.

        Args:
            properties: texts by key for the snapshots.
            commit_user: the commit user; None for a new one.
            keyed: whether the table must have a key; the state of its buckets is then
                needed, so its latest snapshot is read together with the schema.
            cast: how input values are converted.
        """
        from paimon_explore.table.table_write import (
            TableWriter,
            check_keyed,
            checked_user,
            commit_note,
        )
        from paimon_explore.write.input.cast_policy import cast_policy

        if self._travel.given:
            if keyed:
                check_keyed(self.schema, self.options, self.name)
            check_writable(self)
        latest: LatestSnapshot | None = None
        if keyed and max_requests(self._store.file_io) > 1:
            snapshot, schema = snapshot_and_schema(self._store)
            latest = LatestSnapshot(snapshot)
        else:
            schema = latest_schema(self._store)
        options = TableOptions({**schema.options, **self._dynamic_options})
        if keyed:
            check_keyed(schema, options, self.name)
        return TableWriter(
            store=self._store,
            schema=schema,
            options=options,
            latest=latest,
            note=commit_note(properties),
            commit_user=checked_user(commit_user),
            cast=cast_policy(cast),
        )
