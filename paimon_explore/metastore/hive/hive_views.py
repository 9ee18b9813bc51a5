"""The views of a Hive metastore: one query each, in the SQL of whoever reads it."""

from collections.abc import Iterator, Sequence
from dataclasses import replace

from paimon_explore.errors import (
    AlreadyExistsError,
    NotFoundError,
    UnsupportedFeatureError,
)
from paimon_explore.metastore.hive import metastore_methods as methods
from paimon_explore.metastore.hive.hive_databases import HiveDatabases
from paimon_explore.metastore.hive.hive_table import (
    COMMENT,
    VIRTUAL_VIEW,
    is_view,
    table_fields,
)
from paimon_explore.metastore.hive.metastore_structs import (
    SerDeInfo,
    StorageDescriptor,
    Table,
)
from paimon_explore.metastore.identifier import Identifier, matches
from paimon_explore.metastore.metastore import Metastore
from paimon_explore.metastore.view_values import (
    ViewAction,
    ViewChange,
    ViewInfo,
    apply_view_changes,
)

_SERDE = "org.apache.hadoop.hive.serde2.MetadataTypedColumnsetSerDe"
_INPUT_FORMAT = "org.apache.hadoop.mapred.SequenceFileInputFormat"
_OUTPUT_FORMAT = "org.apache.hadoop.hive.ql.io.HiveSequenceFileOutputFormat"
_ANY = "*"
_ABOUT_DIALECTS = (ViewAction.ADD_DIALECT, ViewAction.UPDATE_DIALECT, ViewAction.DROP_DIALECT)


class HiveViews(HiveDatabases, Metastore):
    """The part of a Hive metastore that is about views."""

    def views(self, database: str, pattern: str | None = None) -> Iterator[str]:
        """Yield the names of a database's views, sorted; raises NotFoundError."""
        found = self._tables.client.call(methods.GET_TABLES_BY_TYPE, database, _ANY, VIRTUAL_VIEW)
        if not found:
            self.database(database)
        return (name for name in sorted(found) if pattern is None or matches(name, pattern))

    def view(self, wanted: Identifier) -> ViewInfo:
        """Return a view; raises NotFoundError."""
        return _view_of(self._load_view(wanted))

    def create_view(self, wanted: Identifier, view: ViewInfo) -> bool:
        """Create a view; False if a view or table of that name exists.

        Raises:
            UnsupportedFeatureError: a dialect has another query: Hive keeps one.
        """
        self.folder_of(wanted.database)  # checks the database
        if self._tables.find(wanted.database, wanted.table) is not None:
            return False
        return self._tables.create(self._table_of(wanted, view))

    def replace_view(self, wanted: Identifier, view: ViewInfo) -> bool:
        """Create a view in place of the one of that name, if any; False if a table has the name."""
        found = self._tables.find(wanted.database, wanted.table)
        if found is None or not is_view(found):
            return self.create_view(wanted, view)
        new = self._table_of(wanted, view)
        self._tables.alter(wanted, replace(new, owner=found.owner, create_time=found.create_time))
        return True

    def _table_of(self, wanted: Identifier, view: ViewInfo) -> Table:
        if any(query != view.query for query in view.dialects.values()):
            raise self._no_dialects()
        columns = [self._tables.mapping.column(field) for field in view.fields]
        return Table(
            table_name=wanted.table,
            db_name=wanted.database,
            owner=self._tables.mapping.owner,
            create_time=0,
            last_access_time=0,
            retention=0,
            storage=StorageDescriptor(
                columns=columns,
                input_format=_INPUT_FORMAT,
                output_format=_OUTPUT_FORMAT,
                num_buckets=-1,
                serde_info=SerDeInfo(
                    serialization_lib=_SERDE, parameters={"serialization.format": "1"}
                ),
                bucket_columns=[],
                sort_columns=[],
                parameters={},
            ),
            partition_keys=[],
            parameters=_parameters(view),
            view_original_text=view.query,
            view_expanded_text=view.query,
            table_type=VIRTUAL_VIEW,
        )

    def alter_view(self, wanted: Identifier, changes: Sequence[ViewChange]) -> None:
        """Change the options or the comment of a view."""
        table = self._load_view(wanted)
        if any(change.action in _ABOUT_DIALECTS for change in changes):
            raise self._no_dialects()
        changed = apply_view_changes(_view_of(table), changes, wanted.full_name)
        table.parameters = _parameters(changed)
        self._tables.alter(wanted, table)

    def rename_view(self, source: Identifier, target: Identifier) -> None:
        """Rename a view.

        Raises:
            NotFoundError: the view or the target's database does not exist.
            AlreadyExistsError: the target exists.
        """
        self._load_view(source)
        self.database(target.database)
        try:
            self._tables.rename(source, target)
        except AlreadyExistsError:
            raise AlreadyExistsError("view", target.table, target.database) from None

    def drop_view(self, wanted: Identifier) -> bool:
        """Drop a view; False if it does not exist."""
        table = self._tables.find(wanted.database, wanted.table)
        if table is None or not is_view(table):
            return False
        return self._tables.drop(wanted, deletes_files=False, purges=False)

    def _load_view(self, wanted: Identifier) -> Table:
        table = self._tables.find(wanted.database, wanted.table)
        if table is None or not is_view(table):
            raise NotFoundError("view", wanted.table, wanted.database)
        return table

    def _no_dialects(self) -> UnsupportedFeatureError:
        return self._refusal("a view with dialects")


def _parameters(view: ViewInfo) -> dict[str, str]:
    comment = {} if view.comment is None else {COMMENT: view.comment}
    return {**view.options, **comment}


def _view_of(table: Table) -> ViewInfo:
    options = dict(table.parameters or {})
    return ViewInfo(
        fields=table_fields(table),
        query=table.view_expanded_text or table.view_original_text or "",
        comment=options.pop(COMMENT, None),
        options=options,
    )
