"""Empty tables of ours with the schemas and options of golden tables, and rows to write to them."""

import json
import shutil
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path

import pyarrow as pa
import pyarrow.compute as pc

from oracle import JavaPaimon
from paimon_explore import Table, open_table
from paimon_explore.data_types.definitions import TypeRoot
from paimon_explore.data_types.traversal import is_root
from paimon_explore.errors import PaimonError
from paimon_explore.fileio.local import LocalFileIO
from paimon_explore.metadata.schema.schema_validation import validate_create
from paimon_explore.metadata.schema.table_schema import TableSchema
from paimon_explore.metadata.table_paths import TablePaths
from paimon_explore.store.table_store import TableStore
from support.golden import GoldenTable

EXTERNAL = "data-file.external-paths"
_BRANCHES = ("scan.fallback-branch", "scan.primary-branch")


@dataclass(frozen=True)
class GoldenKind:
    """A table of ours of the same kind as a golden table.

    Attributes:
        folder: of our table.
        schema: its schema.
        rows: what is written to it, in parts.
        unordered: list columns whose elements have no order.
    """

    folder: Path
    schema: TableSchema
    rows: pa.Table
    unordered: tuple[str, ...]

    @property
    def table(self) -> Table:
        """The table as it is now."""
        return open_table(self.folder)

    @property
    def is_keyed(self) -> bool:
        """Whether it has a primary key."""
        return bool(self.schema.primary_keys)

    def option(self, key: str, default: str = "") -> str:
        """The text of an option."""
        return self.schema.options.get(key, default)

    def part(self, start: float, end: float) -> pa.Table:
        """Some of the rows, by their share; at least one."""
        first, last = int(len(self.rows) * start), int(len(self.rows) * end)
        return self.rows.slice(first, max(last - first, 1))


def make_kind(golden: GoldenTable, folder: Path) -> GoldenKind:
    """Create the table, empty, by our own rules.

    Raises:
        InvalidInputError: our rules forbid the schema.
    """
    source = open_table(golden.folder)
    options = {key: text for key, text in source.schema.options.items() if key != "path"}
    if EXTERNAL in options:
        options[EXTERNAL] = f"file://{folder.parent / 'external' / folder.name}"
    schema = replace(source.schema, id=0, options=options)
    validate_create(schema)
    shutil.rmtree(folder, ignore_errors=True)
    store = TableStore(LocalFileIO(), TablePaths(str(folder)))
    assert store.schemas.create(schema)
    for key in _BRANCHES:
        if key in options:
            open_table(folder).create_branch(options[key])
    meta = json.loads((golden.expected / "meta.json").read_text(encoding="utf-8"))
    return GoldenKind(
        folder=folder,
        schema=schema,
        rows=_most_rows(source, schema),
        unordered=tuple(meta.get("unordered", ())),
    )


def _most_rows(source: Table, schema: TableSchema) -> pa.Table:
    """The rows of the snapshot that has most of them."""
    most = pa.table({})
    for snapshot in source.snapshots:
        try:
            found = source.at(snapshot=snapshot.id).to_arrow()
        except PaimonError:
            continue
        if tuple(found.schema.names) == tuple(schema.row_type.names) and len(found) > len(most):
            most = found
    for field in schema.fields:
        if is_root(field.type, TypeRoot.VARIANT):  # of which the tool for Java takes no nulls
            most = most.filter(pc.is_valid(most.column(field.name)))
    return most


def steps(kind: GoldenKind, java: JavaPaimon) -> Mapping[str, Callable[[], object]]:
    """What is done to the table, by us and by Java in turn."""

    def java_compact() -> None:
        if kind.is_keyed or kind.option("bucket", "-1") != "-1":
            java.compact(kind.folder)
        elif kind.option("data-evolution.enabled") != "true":  # Java has another task for them
            java.append_compact(kind.folder, options={"compaction.min.file-num": "2"})

    def compact() -> object:
        return kind.table.compact()

    def delete() -> object:
        rows = kind.part(0, 0.1)
        return kind.table.upsert(rows.append_column("_ROW_KIND", pa.array(["-D"] * len(rows))))

    removes = kind.is_keyed and kind.option("merge-engine", "deduplicate") == "deduplicate"
    expire = {"snapshot.num-retained.min": "1", "snapshot.num-retained.max": "1"}
    return {
        "append": lambda: kind.table.append(kind.part(0, 0.5)),
        "append more": lambda: kind.table.append(kind.part(0.5, 1)),
        "append again": lambda: kind.table.append(kind.part(0, 0.3)),
        "compact": compact,
        **({"delete": delete} if removes else {}),
        "append behind": lambda: kind.table.append(kind.part(0.2, 0.7)),
        "minor compaction": lambda: kind.table.compact(full=False),
        "java writes": lambda: java.write(kind.folder, kind.part(0, 0.3)),
        "java compacts": java_compact,
        "append to java's": lambda: kind.table.append(kind.part(0.5, 1)),
        "compact java's": compact,
        "overwrite": lambda: kind.table.overwrite(kind.part(0, 0.5)),
        "java expires": lambda: java.expire(
            kind.folder, {**expire, "snapshot.time-retained": "1 ms"}
        ),
        "append at last": lambda: kind.table.append(kind.part(0.4, 0.8)),
    }
