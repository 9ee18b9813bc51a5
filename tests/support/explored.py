"""Tables to look at: golden ones, and small histories made of metadata alone."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

import pyarrow as pa

from paimon_explore.data_types.json_parser import parse_type
from paimon_explore.encoding.binary_row.row_encoder import encode_rows
from paimon_explore.fileio.local import LocalFileIO
from paimon_explore.inspection.table_view import TableView
from paimon_explore.metadata.manifest.manifest_codec import encode_records
from paimon_explore.metadata.manifest.manifest_list import ManifestFiles
from paimon_explore.metadata.schema.table_schema import TableSchema
from paimon_explore.metadata.snapshot import CommitKind, Snapshot
from paimon_explore.metadata.table_paths import TablePaths
from paimon_explore.metadata.tag import Tag
from paimon_explore.store.table_store import TableStore
from support.decoding import with_arity
from support.entries import EMPTY_ROW, entries, entry
from support.new_tables import new_table

HOSTILE = (
    "<img src=x onerror=alert(1)><svg onload=alert(2)></td></script>javascript:alert(3)"
    "\u202egnp\u0000\x1b[31m`'\"__proto__"
)
"""What must never run, hide or break out."""

Change = tuple[str, str] | tuple[str, str, int]
"""+ or -, the file, and its level."""


def golden_view(folder: Path) -> TableView:
    """A table on disk."""
    store = TableStore(LocalFileIO(), TablePaths(str(folder)))
    return TableView(store=store, schema=store.schemas.latest(), name=f"gold.{folder.name}")


def text_row(*values: str) -> bytes:
    """A binary row of texts, as manifests have it."""
    kinds = [parse_type("STRING", "c") for _ in values]
    rows = encode_rows([pa.array([value]) for value in values], kinds)
    row: bytes = with_arity(rows, len(values))[0].as_py()
    return row


class History:
    """A table whose snapshots are written one by one, without any data file."""

    def __init__(
        self,
        columns: Mapping[str, object] | None = None,
        partition_keys: Sequence[str] = (),
        options: Mapping[str, str] | None = None,
    ) -> None:
        self.store, self.schema = new_table(
            columns or {"a": "INT"}, partition_keys=partition_keys, options=options
        )
        self._live: list[dict[str, object]] = []
        self._next = 1

    @property
    def view(self) -> TableView:
        """The table as it is now."""
        return TableView(store=self.store, schema=self.schema, name="db.t")

    def commit(self, *changes: Change, **members: object) -> int:
        """A snapshot that adds and removes files; its number."""
        rows = [self._row(*change) for change in changes]
        number = self._next
        base, delta = f"manifest-list-{number}-0", f"manifest-list-{number}-1"
        self._list(base, f"manifest-{number}-0", self._live)
        self._list(delta, f"manifest-{number}-1", rows)
        gone = {(r["file_name"], r["level"]) for r in rows if r["kind"] == 1}
        merged = [*self._live, *(row for row in rows if row["kind"] == 0)]
        self._live = [r for r in merged if (r["file_name"], r["level"]) not in gone]
        snapshot = Snapshot(
            id=number,
            schema_id=0,
            base_manifest_list=base,
            delta_manifest_list=delta,
            commit_user="user",
            commit_identifier=number,
            commit_kind=CommitKind.APPEND,
            time_millis=1_700_000_000_000 + number * 60_000,
            total_record_count=len(self._live) * 10,
            delta_record_count=sum(10 if row["kind"] == 0 else -10 for row in rows),
        )
        assert self.store.snapshots.create(replace(snapshot, **members))  # type: ignore[arg-type]
        self._next += 1
        return number

    def _row(self, sign: str, name: str, level: int = 0) -> dict[str, object]:
        partition = EMPTY_ROW
        if self.schema.partition_keys:
            partition = text_row(name.partition("@")[2] or "p")
        file = name.replace("/", "").replace("\0", "")
        kind = 0 if sign == "+" else 1
        return entry(file, kind=kind, level=level, partition=partition, row_count=10)

    def _list(self, name: str, manifest: str, rows: list[dict[str, object]]) -> None:
        files = self.store.file_io
        listed = []
        if rows:
            data = encode_records(entries(*rows))
            assert files.create(self.store.paths.manifest(manifest), data)
            listed = [_manifest(manifest, len(data), rows)]
        table = pa.Table.from_pylist(listed, schema=ManifestFiles.empty().table.schema)
        data = encode_records(ManifestFiles(table))
        assert files.create(self.store.paths.manifest(name), data)


def _manifest(name: str, size: int, rows: list[dict[str, object]]) -> dict[str, object]:
    kinds = [row["kind"] for row in rows]
    return {
        "file_name": name,
        "file_size": size,
        "num_added_files": kinds.count(0),
        "num_deleted_files": kinds.count(1),
        "partition_min": rows[0]["partition"],
        "partition_max": rows[-1]["partition"],
        "partition_null_counts": [],
        "schema_id": 0,
        "min_bucket": 0,
        "max_bucket": 0,
        "min_level": 0,
        "max_level": 5,
    }


def hostile_history() -> History:
    """A table all of whose names are `HOSTILE`, with a tag and a consumer that are, too."""
    history = History({HOSTILE: "STRING", "p": "STRING"}, ["p"], {"bucket": "-1", HOSTILE: HOSTILE})
    name = HOSTILE.replace("/", "").replace("\0", "")
    history.commit(("+", f"{name}@{HOSTILE}"), commit_user=HOSTILE)
    held = history.store.snapshots.load(1)
    assert history.store.tags.create(Tag(name=name, snapshot=held))
    return history


def schema_of(view: TableView) -> TableSchema:
    """The newest schema, which must be there."""
    assert view.schema is not None
    return view.schema


def partitioned_history() -> History:
    """Two snapshots; the second replaces a file of partition `x` by a larger one."""
    made = History({"a": "INT", "p": "STRING"}, ["p"])
    made.commit(("+", "f1@x"), ("+", "f2@y"))
    made.commit(("-", "f1@x"), ("+", "f3@x", 5))
    return made
