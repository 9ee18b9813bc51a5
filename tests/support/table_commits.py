"""Acts of a state machine that commit several writes at once, whole files or an old state."""

from dataclasses import replace

import hypothesis.strategies as st
import pyarrow as pa
import pyarrow.parquet as pq
from hypothesis.stateful import precondition, rule

from paimon_explore.commit.commit_attempt import CommitNote
from paimon_explore.commit.committer import Committer
from paimon_explore.errors import UnsupportedFeatureError
from support.table_kinds import MORE, PARTITIONS, P, V, W
from support.table_lines import ROWS, WHO, Cells
from support.table_model import found_in, shown
from support.table_references import ReferenceActs

_STEPS = ("insert", "update", "delete")


class CommitActs(ReferenceActs):
    """Transactions, files that are added, old states, copies, marks."""

    @precondition(lambda self: self.kind_name != "postponed buckets")
    @rule(who=WHO, cells=ROWS, more=ROWS, steps=st.lists(st.sampled_from(_STEPS), max_size=2))
    def change_in_a_transaction(
        self, who: int, cells: Cells, more: Cells, steps: list[str]
    ) -> None:
        """Writes, each of which sees those before it, in one snapshot."""
        table, line = self.pick(who)
        changes = self.kind.deletes or self.kind.merge is None
        rows, written = self.rows(line, cells), line.latest.written
        touched = list(rows)
        transaction = table.transaction()
        write = transaction.append if self.kind.merge is None else transaction.upsert
        try:
            for step in steps:
                hit = [row for row in written if row.get(V) is not None]
                kept = tuple(row for row in written if row.get(V) is None)
                if step == "insert":
                    more_rows = self.rows(line, more)
                    write(self.given(line, more_rows))
                    written = self.kind.written(written, more_rows)
                    touched += more_rows
                elif changes and step == "update":
                    transaction.update({"w": "'u'"}, where="v IS NOT NULL")
                    written = (*kept, *({**row, W: "u"} for row in hit))
                    touched += hit
                elif changes:
                    transaction.delete("v IS NOT NULL")
                    written = kept
                    touched += hit
        except UnsupportedFeatureError:
            assert self.kind.merge is None
            transaction.rollback()
            self.count("transaction, refused")
            return
        write(self.given(line, rows))
        written = self.kind.written(written, rows)
        self.wrote(table, line, written, touched, transaction.commit())
        self.count("transaction")

    @rule(who=WHO, cells=ROWS, which=WHO)
    def insert_another_column(self, who: int, cells: Cells, which: int) -> None:
        """Rows with a column that the table does not have yet."""
        table, line = self.pick(who)
        names = [n for n in self.kind.extra if MORE[n][0] == "INT" and n not in dict(line.columns)]
        if not names or all(cell[-1] is None for cell in cells):  # values tell the type
            return
        name = names[which % len(names)]
        line.highest += 1
        line.columns = (*line.columns, (name, line.highest))
        rows = self.rows(line, cells)
        given = self.given(line, rows)
        written = self.kind.written(line.latest.written, rows)
        write = table.append if self.kind.merge is None else table.upsert
        self.wrote(table, line, written, rows, write(given, merge_schema=True))
        self.count("insert, another column")

    @precondition(lambda self: self.kind.merge is None and not self.kind.more)
    @rule(who=WHO, cells=ROWS, partition=st.sampled_from(PARTITIONS), moves=st.booleans())
    def add_a_file(self, who: int, cells: Cells, partition: str, *, moves: bool) -> None:
        """A Parquet file that others have written."""
        table, line = self.pick(who)
        rows = self.rows(line, [(partition, *cell[1:]) for cell in cells])
        self.made += 1
        path = f"{self.warehouse(self.space)}-files/{self.made}.parquet"
        file = pa.BufferOutputStream()
        pq.write_table(pa.Table.from_pylist(self.given(line, rows), table.to_arrow().schema), file)
        self.table._store.file_io.create(path, file.getvalue().to_pybytes())
        try:
            made = table.add_files(path, mode="move" if moves else "copy")
        except UnsupportedFeatureError:
            assert "bucket" in self.kind.options
            return
        assert self.table._store.file_io.exists(path) != moves
        self.wrote(table, line, (*line.latest.written, *rows), rows, made)
        self.count("add files")

    @rule(who=WHO, back=st.integers(0, 3))
    def write_an_old_state_again(self, who: int, back: int) -> None:
        table, line = self.pick(who)
        if not line.states:
            return
        number = sorted(line.states)[-1 - back % len(line.states)]
        state = line.states[number]
        if state.columns == line.columns:
            states = self.replaces(line, lambda _: True, list(state.visible))
            described = self.open(table._store.paths.branch, {"blob-as-descriptor": "true"})
            made = described.overwrite(described.at(snapshot=number), partition={})
            self.committed(table, line, *states, made)
            self.count("overwrite, an old state")

    @rule(who=WHO, partition=st.sampled_from(PARTITIONS), full=st.booleans())
    def compact_a_partition(self, who: int, partition: str, *, full: bool) -> None:
        table, line = self.pick(who)
        made = table.compact(full=full, partitions=[{"p": partition}])
        self.compacted(table, line, made, full=full, partition=partition)

    @rule(who=WHO, mark=st.integers(0, 99))
    def pass_a_watermark(self, who: int, mark: int) -> None:
        """A commit of a stream that has no rows."""
        table, line = self.pick(who)
        schema = table._store.schemas.latest()
        assert schema is not None
        commit = Committer(table._store, schema).commit
        [made] = commit([], note=CommitNote(watermark=mark), ignore_empty=False)
        mark = max(mark, line.latest.watermark or 0)
        self.same_rows(table, line, made)
        line.states[made.id] = replace(line.latest, watermark=mark)
        self.count("watermark")

    @rule()
    def rename_table(self) -> None:
        name = self.table.name
        new = "db.t" if name == "db.v" else "db.v"
        try:
            self.catalog.rename_table(name, new)
        except UnsupportedFeatureError:
            assert self.kind_name == "keyed, blobs"
            return
        self.table = self.opened(self.catalog.table(new))
        self.count("rename table")

    @rule(who=WHO)
    def take_a_schema_back(self, who: int) -> None:
        table, _ = self.pick(who)
        before = table._store.schemas.latest()
        assert before is not None
        table.maintenance.set_comment(f"of schema {before.id}")
        table.maintenance.rollback_schema(before.id)
        assert table._store.schemas.latest() == before
        self.count("roll back a schema")

    @rule(who=WHO)
    def repair_what_is_sound(self, who: int) -> None:
        """Repairs of a sound table change nothing."""
        table, line = self.pick(who)
        assert table.maintenance.expire_consumers() == []
        if line.states:
            assert table.maintenance.remove_unexisting_files(dry_run=False).files == ()
            hint = table._store.snapshots.earliest_hint()
            earliest = hint if hint in line.states else min(line.states)
            assert table.maintenance.repair_earliest_snapshot(earliest) == earliest
            self.count("repairs")

    @rule(partition=st.sampled_from(PARTITIONS))
    def mark_a_partition_done(self, partition: str) -> None:
        [path] = self.table.maintenance.mark_partition_done({"p": partition})
        file_io = self.table._store.file_io
        assert file_io.exists(f"{self.table.path}/{path}/_SUCCESS")
        self.count("mark a partition done")

    @rule(partition=st.sampled_from([None, *PARTITIONS]))
    def copy(self, partition: str | None) -> None:
        """A copy of the table, or of a partition, that goes its own way."""
        line = self.lines["main"]
        rows = [row for row in line.latest.visible if partition in (None, row[P])]
        where = "" if partition is None else f", where => 'p = ''{partition}'''"
        catalog, name = self.catalog, self.table.name
        try:
            catalog.sql(f"CALL sys.copy(source_table => '{name}', target_table => 'db.u'{where})")
        except UnsupportedFeatureError:
            self.count("copy, refused")
        else:
            copied = catalog.table("db.u")
            assert found_in(copied.to_arrow().to_pylist()) == shown(rows, line.columns)
            assert copied.maintenance.fsck(read_rows=True) == []
            copied.truncate()
            self.count("copy")
        catalog.drop_table("db.u", if_exists=True)
