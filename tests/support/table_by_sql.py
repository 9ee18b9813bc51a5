"""A state machine whose acts are statements of `Catalog.sql`."""

from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from types import SimpleNamespace
from typing import Any, cast

from paimon_explore import Catalog, Table
from paimon_explore.errors import NotFoundError
from paimon_explore.metadata.snapshot import Snapshot
from paimon_explore.write.input.table_batches import Rows
from support.table_machine import TableMachine
from support.table_model import Line

_Rows = Sequence[Mapping[str, object]]


class SqlTableMachine(TableMachine):
    """Everything that can be done to a table, by statements as far as there are some."""

    def __init__(self) -> None:
        self.one_catalog: Catalog | None = None
        super().__init__()

    @property
    def catalog(self) -> Catalog:
        """A catalog that lasts, with its session."""
        self.one_catalog = self.one_catalog or super().catalog
        return self.one_catalog

    def pick(self, who: int) -> tuple[Table, Line]:
        table, line = super().pick(who)
        return self.opened(table), line

    def opened(self, table: Table) -> Table:
        """A table that is written by statements."""
        return cast("Table", _TableBySql(table, table, self.catalog))


class _Statements:
    """The methods of a table or its upkeep, some of them as statements."""

    def __init__(self, methods: object, table: Table, catalog: Catalog) -> None:
        self._methods = methods
        self._table = table
        self._catalog = catalog
        self._name = table.name

    def __getattr__(self, name: str) -> Any:  # noqa: ANN401 - whatever the methods return
        return getattr(self._methods, name)

    def _run(self, statement: str) -> list[tuple[object, ...]]:
        found = self._catalog.sql(statement).to_arrow().to_pylist()
        return [tuple(row.values()) for row in found]

    def _call(self, procedure: str, **given: object) -> list[tuple[object, ...]]:
        told = {"table": self._name, **given}
        texts = [f"{key} => {_literal(value)}" for key, value in told.items() if value is not None]
        return self._run(f"CALL sys.{procedure}({', '.join(texts)})")

    def _made(self, statement: str, branch: str | None = None) -> Snapshot | None:
        """Run a statement; the newest snapshot if it is new."""
        store = self._table._store if branch is None else self._table._store.for_branch(branch)
        before = store.snapshots.latest_id()
        self._run(statement)
        made = store.snapshots.latest()
        return made if made is not None and made.id != before else None


class _TableBySql(_Statements):
    """A table that is written by SQL."""

    @property
    def maintenance(self) -> "_MaintenanceBySql":
        return _MaintenanceBySql(self._table.maintenance, self._table, self._catalog)

    def append(self, rows: Rows, **more: Any) -> Snapshot | None:  # noqa: ANN401
        if more or not isinstance(rows, list):
            return self._table.append(rows, **more)
        return self._insert("INTO", rows)

    def upsert(self, rows: _Rows, **more: Any) -> Snapshot | None:  # noqa: ANN401
        if more or "_ROW_KIND" in rows[0]:
            return self._table.upsert(rows, **more)
        return self._insert("INTO", rows)

    def overwrite(
        self, rows: Rows, partition: Mapping[str, object] | None = None
    ) -> Snapshot | None:
        if not isinstance(rows, list):
            return self._table.overwrite(rows, partition=partition)
        if partition is None:
            self._run("SET spark.sql.sources.partitionOverwriteMode = dynamic")
            return self._insert("OVERWRITE", rows)
        kept = [{n: value for n, value in row.items() if n not in partition} for row in rows]
        return self._insert("OVERWRITE", kept, f" PARTITION ({_spec(partition)})")

    def _insert(self, how: str, rows: _Rows, where: str = "") -> Snapshot | None:
        names = ", ".join(rows[0])
        values = ", ".join(f"({', '.join(map(_literal, row.values()))})" for row in rows)
        return self._made(f"INSERT {how} {self._name}{where} ({names}) VALUES {values}")  # noqa: S608 - of the test

    def delete(self, where: str) -> Snapshot | None:
        return self._made(f"DELETE FROM {self._name} WHERE {where}")  # noqa: S608 - of the test

    def update(self, given: Mapping[str, object], where: str) -> Snapshot | None:
        values = {n: v if isinstance(v, str) else _literal(v) for n, v in given.items()}
        changes = ", ".join(f"{name} = {value}" for name, value in values.items())
        return self._made(f"UPDATE {self._name} SET {changes} WHERE {where}")  # noqa: S608 - of the test

    def truncate(self) -> Snapshot | None:
        return self._made(f"TRUNCATE TABLE {self._name}")

    def drop_partitions(self, spec: Mapping[str, object]) -> Snapshot | None:
        try:
            return self._made(f"ALTER TABLE {self._name} DROP PARTITION ({_spec(spec)})")
        except NotFoundError:
            return self._table.drop_partitions(spec)

    def compact(
        self,
        *,
        full: bool = True,
        partitions: Sequence[Mapping[str, object]] = (),
        strategy: str | None = None,
        columns: Sequence[str] = (),
    ) -> Snapshot | None:
        how = f"compact_strategy => '{'full' if full else 'minor'}'"
        if strategy is not None:
            how = f"order_strategy => '{strategy}', order_by => '{','.join(columns)}'"
        for partition in partitions:
            how += f", partitions => '{','.join(f'{n}={v}' for n, v in partition.items())}'"
        return self._made(f"CALL sys.compact(table => '{self._name}', {how})")

    def add_column(self, name: str, data_type: str) -> None:
        self._run(f"ALTER TABLE {self._name} ADD COLUMN {name} {data_type}")

    def drop_column(self, name: str) -> None:
        self._run(f"ALTER TABLE {self._name} DROP COLUMN {name}")

    def rename_column(self, name: str, new: str) -> None:
        self._run(f"ALTER TABLE {self._name} RENAME COLUMN {name} TO {new}")

    def alter_column_type(self, name: str, data_type: str) -> None:
        self._run(f"ALTER TABLE {self._name} ALTER COLUMN {name} TYPE {data_type}")

    def set_options(self, options: Mapping[str, str]) -> None:
        texts = ", ".join(f"'{name}' = '{value}'" for name, value in options.items())
        self._run(f"ALTER TABLE {self._name} SET TBLPROPERTIES ({texts})")

    def create_tag(
        self, name: str, snapshot: int | None = None, *, retained: timedelta | None = None
    ) -> None:
        kept = None if retained is None else f"{retained // timedelta(milliseconds=1)} ms"
        self._call("create_tag", tag=name, snapshot=snapshot, time_retained=kept)

    def delete_tag(self, name: str) -> None:
        self._call("delete_tag", tag=name)

    def create_branch(self, name: str, tag: str) -> None:
        self._call("create_branch", branch=name, tag=tag)

    def delete_branch(self, name: str) -> None:
        self._call("delete_branch", branch=name)

    def fast_forward(self, name: str) -> None:
        self._call("fast_forward", branch=name)

    def rollback_to(self, *, snapshot: int | None = None, tag: str | None = None) -> None:
        self._call("rollback", snapshot=snapshot, tag=tag)


class _MaintenanceBySql(_Statements):
    """The upkeep of a table by procedures."""

    def replace_tag(self, name: str, snapshot: int) -> None:
        self._call("replace_tag", tag=name, snapshot=snapshot)

    def rename_tag(self, name: str, new: str) -> None:
        self._call("rename_tag", tag=name, target_tag=new)

    def rename_branch(self, name: str, new: str) -> None:
        self._call("rename_branch", from_branch=name, to_branch=new)

    def merge_branch(self, source: str, target: str) -> Snapshot | None:
        given = f"source_branch => '{source}', target_branch => '{target}'"
        name = self._name.partition("$")[0]
        return self._made(f"CALL sys.merge_branch(table => '{name}', {given})", target)

    def expire_snapshots(self, **kept: object) -> SimpleNamespace:
        return self._expired("snapshots", **kept)

    def expire_changelogs(self, **kept: object) -> SimpleNamespace:
        return self._expired("changelogs", **kept)

    def _expired(self, what: str, **kept: object) -> SimpleNamespace:
        ids = getattr(self._table._store, what).ids
        before = ids()
        [(count,)] = self._call(f"expire_{what}", **kept)
        gone = sorted({*before} - {*ids()})
        assert count == len(gone)
        return SimpleNamespace(expired=gone)

    def expire_partitions(self, older_than: timedelta) -> list[dict[str, str]]:
        texts = self._call("expire_partitions", expiration_time=f"{older_than.days} d")
        return [{"p": str(text).partition("=")[2]} for (text,) in texts if "=" in str(text)]

    def expire_tags(self) -> list[object]:
        return [name for (name,) in self._call("expire_tags") if name != "No expired tags."]

    def rescale(
        self,
        buckets: int | None = None,
        *,
        partitions: Sequence[Mapping[str, object]] | None = None,
    ) -> SimpleNamespace:
        plan = self._table.maintenance.rescale(buckets, partitions=partitions, dry_run=True)
        texts = [f"{n}={v}" for partition in partitions or () for n, v in partition.items()]
        chosen = ",".join(texts) or None
        report = self._report("rescale", bucket_num=buckets, partitions=chosen)
        report.partitions = plan.partitions
        return report

    def create_global_index(self, column: str, kind: str) -> SimpleNamespace:
        return self._report("create_global_index", index_column=column, index_type=kind)

    def drop_global_index(self, column: str, kind: str) -> SimpleNamespace:
        return self._report("drop_global_index", index_column=column, index_type=kind)

    def reassign_row_ids(self) -> SimpleNamespace:
        return self._report("reassign_row_id")

    def materialize_deletion_vectors(self) -> SimpleNamespace:
        return self._report("materialize_deletion_vectors")

    def _report(self, procedure: str, **given: object) -> SimpleNamespace:
        before = self._table._store.snapshots.latest_id()
        self._call(procedure, **given)
        made = self._table._store.snapshots.latest_id()
        return SimpleNamespace(snapshot_id=made if made != before else None)


def _spec(partition: Mapping[str, object]) -> str:
    return ", ".join(f"{name} = {_literal(value)}" for name, value in partition.items())


def _literal(value: object) -> str:
    """A value as SQL text."""
    if isinstance(value, bytes):
        return f"X'{value.hex()}'"
    if isinstance(value, list):
        return f"array({', '.join(f'CAST({item} AS FLOAT)' for item in value)})"
    if isinstance(value, str | datetime):
        return f"'{value}'"
    return "NULL" if value is None else str(value)
