"""Details of a tree node or data file, as a document of facts and tables."""

import json
from collections import Counter
from collections.abc import Iterator, Mapping

import pyarrow as pa

from paimon_explore.data_types.formatter import type_text
from paimon_explore.errors import PaimonError
from paimon_explore.frozen_dataclass import dataclass
from paimon_explore.inspection.column_bounds import (
    ColumnBounds,
    key_bounds,
    partition_bounds,
    value_bounds,
)
from paimon_explore.inspection.history.file_history import partition_type
from paimon_explore.inspection.history.timeline import FlagKind, Timeline
from paimon_explore.inspection.json_members import JsonMembers
from paimon_explore.inspection.problem import problem_of
from paimon_explore.inspection.rendering import report as reports
from paimon_explore.inspection.rendering.number_format import (
    bytes_text,
    count_text,
    plural,
    time_text,
)
from paimon_explore.inspection.rendering.report import Facts, Failed, Report, facts, grid
from paimon_explore.inspection.rendering.result import Result
from paimon_explore.inspection.rendering.value_text import partition_texts
from paimon_explore.inspection.table_view import TableView
from paimon_explore.inspection.views.manifest_tree import (
    ListKind,
    ManifestTree,
    NodeKey,
    parse_key,
    whole_number,
)
from paimon_explore.metadata.manifest.manifest_entry import FileKind, FileSource, ManifestEntries
from paimon_explore.metadata.schema.table_schema import TableSchema, schema_to_json
from paimon_explore.metadata.snapshot import (
    BATCH_COMMIT_IDENTIFIER,
    NO_WATERMARK,
    Snapshot,
    snapshot_members,
)
from paimon_explore.sanitize import masked, masked_options

_SOURCES = {FileSource.APPEND: "APPEND", FileSource.COMPACT: "COMPACT"}


@dataclass(frozen=True, slots=True, kw_only=True)
class BoundsTable(JsonMembers):
    """A table of column statistics."""

    title: str
    rows: tuple[ColumnBounds, ...]
    note: str = ""
    section = "bounds"


@dataclass(frozen=True, slots=True, kw_only=True)
class Text(JsonMembers):
    """A long text, such as the JSON of a file."""

    title: str
    text: str
    section = "text"


Section = Facts | BoundsTable | Text | Failed


_CELLS = pa.schema(
    [pa.field(name, pa.string()) for name in ("section", "name", "value", "maximum", "nulls")]
)


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class Document(Result):
    """The details of a node; texts are not escaped.

    Attributes:
        title: name of the node.
        subtitle: kind of node.
        sections: in display order.
    """

    title: str
    subtitle: str
    sections: tuple[Section, ...]
    kind = "node"

    def page(self) -> dict[str, object]:
        """The document as JSON for the detail pane of the explorer."""
        sections = [section.state() for section in self.sections]
        return {"title": self.title, "subtitle": self.subtitle, "sections": sections}

    def figures(self) -> dict[str, object]:
        """The sections as JSON."""
        return self.page()

    def to_arrow(self) -> pa.Table:
        """One row per fact and column; the `value` of a column is its minimum."""
        rows = [row for section in self.sections for row in _rows(section)]
        return pa.Table.from_pylist(rows, schema=_CELLS)

    def to_report(self) -> Report:
        """The sections as a report."""
        sections = tuple(_as_report(section) for section in self.sections)
        return Report(title=f"{self.title}: {self.subtitle}", sections=sections)

    def bounds(self, title: str) -> tuple[ColumnBounds, ...]:
        """The rows of the bounds table with a title; empty if there is none."""
        tables = [s for s in self.sections if isinstance(s, BoundsTable) and s.title == title]
        return tables[0].rows if tables else ()


def _rows(section: Section) -> Iterator[dict[str, str | None]]:
    match section:
        case Facts(rows=rows, title=title):
            for name, cell in rows:
                yield {"section": title, "name": name, "value": cell.text}
        case BoundsTable(title=title, rows=bounds):
            for one in bounds:
                nulls = None if one.null_count is None else str(one.null_count)
                cells = {"value": one.minimum, "maximum": one.maximum, "nulls": nulls}
                yield {"section": title, "name": one.column, **cells}
        case Text(title=title, text=text):
            yield {"section": title, "name": title, "value": text}
        case Failed(problem=problem):
            yield {"section": problem.kind, "name": problem.kind, "value": problem.message}


def _as_report(section: Section) -> reports.Section:
    match section:
        case BoundsTable(title=title, rows=bounds, note=note):
            heads = ("column", "type", "min", "max", "nulls#", "note")
            cells = [
                (b.column, b.type, b.minimum, b.maximum, b.null_count, b.reason or b.note)
                for b in bounds
            ]
            return grid(title, heads, cells, note=note)
        case Text(title=title, text=text):
            return grid(title, ("",), [(line,) for line in text.splitlines()])
        case Facts() | Failed():
            return section


class NodeDetails:
    """Builds the documents of the nodes of manifest trees."""

    def __init__(self, view: TableView, timeline: Timeline, tree: ManifestTree) -> None:
        self._view = view
        self._timeline = timeline
        self._tree = tree

    def of_node(self, snapshot_id: int, key: str) -> Document:
        """The document of a tree node; of the snapshot for the empty key.

        Raises:
            InvalidInputError: the key does not exist.
            NotFoundError: the snapshot does not exist.
            PaimonError: the node or one of its parents cannot be read.
        """
        node = parse_key(key)
        snapshot = self._timeline.snapshot(snapshot_id)
        match node:
            case NodeKey(list=ListKind()):
                made = self._of_list(snapshot, node)
            case NodeKey(file=int()):
                made = self._index_file(snapshot, node)
            case NodeKey(text="index"):
                made = self._index(snapshot)
            case NodeKey(text="statistics"):
                made = self._statistics(snapshot)
            case NodeKey(text="schema"):
                made = self.of_schema(snapshot.schema_id)
            case _:
                made = self._snapshot(snapshot)
        return made

    def of_file(
        self, manifest: str, entry: int, *, added: int | None, removed: int | None
    ) -> Document:
        """The document of a data file, given by its manifest entry.

        Args:
            manifest: file name of the manifest.
            entry: index of the entry in the manifest.
            added: snapshot that added the file; None if it has expired.
            removed: snapshot that removed it; None while it is live.

        Raises:
            PaimonError: the manifest cannot be read.
        """
        entries = self._view.store.manifests.read(manifest).slice(entry, 1)
        lived = (
            ("added by", "an expired snapshot" if added is None else f"snapshot {added}"),
            ("removed by", "not removed" if removed is None else f"snapshot {removed}"),
            ("manifest", manifest),
        )
        return self._file(entries, "data file", lived)

    def _snapshot(self, snapshot: Snapshot) -> Document:
        text = masked(json.dumps(snapshot_members(snapshot), indent=2, ensure_ascii=False))
        return Document(
            title=f"snapshot {snapshot.id}",
            subtitle="snapshot",
            sections=(facts(*self._snapshot_facts(snapshot)), Text(title="JSON", text=text)),
        )

    def _snapshot_facts(self, snapshot: Snapshot) -> Iterator[tuple[str, str | None]]:
        yield "commit kind", snapshot.commit_kind.value
        yield "operation", snapshot.operation or None
        yield "committed", time_text(snapshot.time_millis)
        yield "commit user", snapshot.commit_user
        batch = snapshot.commit_identifier == BATCH_COMMIT_IDENTIFIER
        number = str(snapshot.commit_identifier)
        yield "commit identifier", f"{number} (batch)" if batch else number
        yield "schema", str(snapshot.schema_id)
        total, delta = snapshot.total_record_count, snapshot.delta_record_count
        change = "" if delta is None else f" ({delta:+,})"
        yield "stored rows", f"{count_text(total)}{change}"
        if snapshot.changelog_record_count:
            yield "changelog rows", count_text(snapshot.changelog_record_count)
        watermark = snapshot.watermark
        if watermark is not None and watermark != NO_WATERMARK:
            yield "watermark", time_text(watermark)
        flags = self._timeline.flags_at(snapshot.id)
        references = [f"{f.kind.value} {f.name}" for f in flags if f.kind is not FlagKind.HINT]
        yield "referenced by", ", ".join(references) or None
        for name, value in (snapshot.properties or {}).items():
            yield f"property {name}", value

    def _of_list(self, snapshot: Snapshot, node: NodeKey) -> Document:
        if node.entry is not None:
            return self._entry(snapshot, node)
        if node.manifest is not None:
            return self._manifest(snapshot, node)
        kind = node.list or ListKind.BASE
        files = self._tree.manifests(snapshot, kind)
        meaning = {
            ListKind.BASE: "the manifests that existed before this commit",
            ListKind.DELTA: "the manifests that this commit added",
            ListKind.CHANGELOG: "the manifests of the changelog files of this commit",
        }
        added, deleted = (files.total(f"num_{what}_files") for what in ("added", "deleted"))
        shown = facts(
            ("contains", meaning[kind]),
            ("manifests", f"{plural(len(files), 'manifest')}, {bytes_text(files.total_size)}"),
            ("entries", f"{added:,} ADD, {deleted:,} DELETE"),
        )
        title = kind.file_of(snapshot) or ""
        return Document(title=title, subtitle=f"{kind.value} manifest list", sections=(shown,))

    def _manifest(self, snapshot: Snapshot, node: NodeKey) -> Document:
        row = self._tree.manifest_row(snapshot, node)
        name = str(row["file_name"])
        rows = [
            ("size", bytes_text(whole_number(row["file_size"]))),
            ("entries", f"{row['num_added_files']:,} ADD, {row['num_deleted_files']:,} DELETE"),
            ("schema", f"{row['schema_id']} or earlier"),
            ("buckets", _span(row["min_bucket"], row["max_bucket"])),
            ("levels", _span(row["min_level"], row["max_level"])),
        ]
        if node.list is not ListKind.CHANGELOG:
            first, last = self._tree.holders(snapshot.id, name)
            one = f"snapshot {first} only" if first == last else f"snapshots {first} to {last}"
            rows.insert(0, ("used by", one))
        if row["min_row_id"] is not None:
            rows.append(("row ids", _span(row["min_row_id"], row["max_row_id"])))
        sections: list[Section] = [facts(*rows)]
        schema = self._view.schema
        if schema is not None and schema.partition_keys:
            bounds = partition_bounds(row, schema)
            sections.append(BoundsTable(title="Partition bounds", rows=bounds))
        return Document(title=name, subtitle="manifest", sections=tuple(sections))

    def _entry(self, snapshot: Snapshot, node: NodeKey) -> Document:
        entries = self._tree.entries(snapshot, node).slice(node.entry or 0, 1)
        kinds = [FileKind(whole_number(row["kind"])).name for row in entries.rows()]
        return self._file(entries, f"data file · {' '.join(kinds)} entry", ())

    def _file(
        self, entries: ManifestEntries, subtitle: str, more: tuple[tuple[str, str], ...]
    ) -> Document:
        if not len(entries):
            return Document(
                title="The manifest entry does not exist", subtitle="data file", sections=()
            )
        entry = entries.rows()[0]
        partition = partition_texts(entries.table, partition_type(self._view))[0]
        sections: list[Section] = [facts(*_file_facts(entry, partition), *more)]
        try:
            schema = self._view.store.schemas.load(whole_number(entry["schema_id"]))
        except PaimonError as error:
            sections.append(Failed(problem=problem_of(error)))
        else:
            sections += _bounds_sections(entry, schema)
        return Document(title=str(entry["file_name"]), subtitle=subtitle, sections=tuple(sections))

    def _index(self, snapshot: Snapshot) -> Document:
        files = self._view.store.manifests.index_of(snapshot)
        types = Counter(str(row["index_type"]) for row in files.rows())
        rows = facts(*((name, plural(count, "file")) for name, count in types.items()))
        title = snapshot.index_manifest or ""
        return Document(title=title, subtitle="index manifest", sections=(rows,))

    def _index_file(self, snapshot: Snapshot, node: NodeKey) -> Document:
        row = self._tree.index_row(snapshot, node)
        file = facts(
            ("index", str(row["index_type"])),
            ("bucket", str(row["bucket"])),
            ("size", bytes_text(whole_number(row["file_size"]))),
            ("entries", count_text(whole_number(row["row_count"]))),
        )
        sections: list[Section] = [file]
        vectors = row["dv_ranges"]
        if isinstance(vectors, list) and vectors:
            held = ((str(v["data_file"]), _vector_text(v)) for v in vectors)
            sections.append(facts(*held, title="Deletion vectors"))
        return Document(
            title=str(row["file_name"]), subtitle="index file", sections=tuple(sections)
        )

    def _statistics(self, snapshot: Snapshot) -> Document:
        name = snapshot.statistics or ""
        found = self._view.store.statistics.load(name)
        analyzed = facts(
            ("snapshot", str(found.snapshot_id)),
            ("schema", str(found.schema_id)),
            ("rows after merging", count_text(found.merged_record_count)),
            ("size after merging", bytes_text(found.merged_record_size or 0)),
        )
        columns = tuple(
            ColumnBounds(
                column=column,
                type=""
                if one.distinct_count is None
                else f"{plural(one.distinct_count, 'distinct value')}",
                minimum=one.min,
                maximum=one.max,
                null_count=one.null_count,
                reason="" if one.min is not None and one.max is not None else "not collected",
            )
            for column, one in found.columns.items()
        )
        table = BoundsTable(title="Columns", rows=columns)
        return Document(title=name, subtitle="statistics", sections=(analyzed, table))

    def of_schema(self, schema_id: int) -> Document:
        """The document of a schema version.

        Raises:
            NotFoundError: the version does not exist.
            PaimonError: the schema file cannot be read.
        """
        schema = self._view.store.schemas.load(schema_id)
        properties = facts(
            ("primary key", ", ".join(schema.primary_keys) or "none"),
            ("partition", ", ".join(schema.partition_keys) or "none"),
            ("created", time_text(schema.time_millis)),
            ("comment", schema.comment or None),
        )
        fields = ((f"{f.id} {f.name}", type_text(f.type)) for f in schema.fields)
        sections: list[Section] = [properties, facts(*fields, title="Fields")]
        if schema.options:
            sections.append(facts(*masked_options(schema.options).items(), title="Options"))
        text = masked(json.dumps(schema_to_json(schema), indent=2, ensure_ascii=False))
        sections.append(Text(title="JSON", text=text))
        return Document(title=f"schema {schema_id}", subtitle="schema", sections=tuple(sections))


def _file_facts(entry: Mapping[str, object], partition: str) -> Iterator[tuple[str, str | None]]:
    yield "partition", partition or None
    total = whole_number(entry["total_buckets"])
    yield "bucket", f"{entry['bucket']} of {total}" if total > 0 else str(entry["bucket"])
    yield "level", str(entry["level"])
    deletes = entry["delete_row_count"]
    retracts = "" if deletes is None or deletes == 0 else f", {deletes:,} of them retractions"
    yield "rows", f"{whole_number(entry['row_count']):,}{retracts}"
    yield "size", bytes_text(whole_number(entry["file_size"]))
    yield "schema", str(entry["schema_id"])
    yield "sequence", _span(entry["min_sequence_number"], entry["max_sequence_number"])
    created = entry["creation_time"]
    if isinstance(created, int):
        yield "created", f"{time_text(created, zone='')} (local time of the writer)"
    source = entry["file_source"]
    if isinstance(source, int):
        yield "source", _SOURCES[FileSource(source)]
    if entry["first_row_id"] is not None:
        yield "first row id", str(entry["first_row_id"])
    if entry["external_path"] is not None:
        yield "external path", str(entry["external_path"])
    extra = entry["extra_files"]
    if isinstance(extra, list) and extra:
        yield "extra files", ", ".join(map(str, extra))
    index = entry["embedded_file_index"]
    if isinstance(index, bytes):
        yield "file index", f"{len(index):,} bytes, stored in the manifest"


def _bounds_sections(entry: Mapping[str, object], schema: TableSchema) -> Iterator[Section]:
    keys = key_bounds(entry, schema)
    if keys:
        yield BoundsTable(title="Key bounds", rows=keys)
    note = f"The bounds are decoded with schema {schema.id}, the schema of the file."
    yield BoundsTable(title="Value bounds", rows=value_bounds(entry, schema), note=note)


def _vector_text(vector: Mapping[str, object]) -> str:
    cardinality = vector["cardinality"]
    rows = (
        "an unknown number of rows"
        if cardinality is None
        else plural(whole_number(cardinality), "row")
    )
    return f"{rows} deleted; {vector['length']} bytes at offset {vector['offset']}"


def _span(low: object, high: object) -> str:
    if low is None:
        return "unknown"
    return str(low) if low == high else f"{low} … {high}"
