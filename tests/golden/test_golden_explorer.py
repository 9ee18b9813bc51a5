"""The explorer on other writers' tables: every pane at every snapshot, and the writers' figures.

By default some tables of each writer, at their first and last snapshots; with
PAIMON_EXPLORE_DEEP set, every table at every snapshot (some ten minutes).
"""

import json
import os
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence

import pytest

import paimon_explore as pe
from paimon_explore.errors import PaimonError
from paimon_explore.inspection.explain.scan_explanation import ScanExplanation
from paimon_explore.inspection.explorer.explorer_reports import REPORTS, Hint
from paimon_explore.inspection.explorer.explorer_state import ExplorerState, ViewInput
from paimon_explore.inspection.rendering.result import Result
from paimon_explore.inspection.views.lsm_tree_view import LsmSection
from paimon_explore.inspection.views.schema_history import SchemaHistory
from support.depth import some
from support.figures import Figures
from support.golden import WRITERS, GoldenTable, GoldenTables

pytestmark = pytest.mark.slow

DEEP = bool(os.environ.get("PAIMON_EXPLORE_DEEP"))
SAMPLE = (
    *("dv_pk", "pk_levels", "tags", "branches", "se_pk", "empty_table", "me_agg", "fi_bitmap"),
    *("changelog_decoupled", "fallback_branch", "append_dv", "pk_dynamic", "commit_users"),
    *("analyze", "pk_part_multi", "cl_input", "pk_postpone", "btree_index_refreshed"),
    *("multivalue_index", "key_index_multivalue", "blob_key", "geometry_key", "nullable_key"),
    *("column_sequences", "chain_hours", "postponed_default", "iceberg_rows"),
)
MOST_NODES = 40

Rows = Sequence[Mapping[str, object]]
Told = Counter[tuple[object, ...]]


def tables(golden: GoldenTables, writer: str) -> Iterator[tuple[GoldenTable, ExplorerState]]:
    """Tables of a writer, each as an explorer opens it."""
    known = golden.names(writer)
    sample = [name for name in SAMPLE if name in known]
    turn = WRITERS.index(writer) % 3
    for name in known if DEEP else sample[turn::3]:
        table = golden.table(writer, name)
        yield table, ExplorerState(pe.open_table(table.folder)._inspector())


def chosen_snapshots(state: ExplorerState) -> list[int]:
    ids = [mark.snapshot_id for mark in state.inspector.timeline().marks]
    return ids if DEEP or len(ids) < 3 else [ids[0], ids[-1]]


# every pane


def check_report(state: ExplorerState, pane: str, snapshot: int) -> int:
    """A view asked nothing, and what it proposes itself; how many answers there were."""
    texts = {"explain": ["", "1 = 1 limit 2"], "diff": ["", "0 rows"]}.get(pane, [""])
    found = state.result(pane, snapshot, ViewInput(text=texts[0]))
    if isinstance(found, Hint):
        texts = [*texts, *found.examples[:2]]
    for text in texts:
        faces(state.result(pane, snapshot, ViewInput(text=text)))
    return len(texts)


def faces(result: Result) -> None:
    """All faces that need no other package."""
    assert json.loads(json.dumps(result.state()))["kind"] == result.kind
    assert len(repr(result).splitlines()) <= 25
    assert result._repr_html_()
    assert result.to_arrow() is not None


def tree_panes(state: ExplorerState, snapshot: int) -> int:
    """The tree down to its entries, each node's details and bytes; how many answers there were."""
    asked = 0
    pending = [""]
    for key in pending:
        node = f"{snapshot}/{key}" if key else str(snapshot)
        assert state.detail(node).body["sections"]
        assert state.code(snapshot, "files", "", node)[0]
        bytes_of(state, node)
        asked += 3
        if len(pending) < MOST_NODES:
            children = state.tree(snapshot, [key]).body["children"]
            assert isinstance(children, dict)
            found = children.get(key, {"nodes": []})["nodes"]
            assert not [one for one in found if one["type"] == "problem"], found
            pending += [one["key"] for one in found][:6]
            asked += 1
    return asked


def bytes_of(state: ExplorerState, node: str) -> None:
    """The bytes behind a node; nodes whose file is gone or that have none say so."""
    try:
        body = state.bytes(node).body
    except PaimonError as error:
        assert error.message  # noqa: PT017 - what is raised is the answer
    else:
        handle = body["handle"]
        assert isinstance(handle, int)
        assert state.byte_session.fields(handle, "", 0)["fields"]


def grid_panes(state: ExplorerState, snapshot: int) -> int:
    """The grid of files, a filter, names and details of rows."""
    frame, count = frame_of(state, snapshot)
    state.filter(frame, "level = 0 and size < 1 MB")
    state.resolve(str(snapshot))
    state.rows(frame, range(min(count, 500)))
    for row in range(min(count, 3)):
        assert state.detail(f"file/{frame}/{row}").body["sections"]
        bytes_of(state, f"file/{frame}/{row}")
    return 4 + 2 * min(count, 3)


def frame_of(state: ExplorerState, snapshot: int) -> tuple[int, int]:
    answer = state.files(snapshot)
    frame = answer.body["frame"]
    assert isinstance(frame, int)
    return frame, len(answer.columns["size"])


@pytest.mark.parametrize("writer", WRITERS)
def test_every_pane_opens_at_every_snapshot(
    golden: GoldenTables, writer: str, figures: Figures
) -> None:
    for _, state in tables(golden, writer):
        assert state.open().body["table"]
        assert state.inspector.partitions() is not None
        while not state.history().body["done"]:
            pass
        figures.add("tables explored", 1)
        for snapshot in chosen_snapshots(state):
            asked = grid_panes(state, snapshot) + tree_panes(state, snapshot)
            asked += sum(check_report(state, pane, snapshot) for pane in REPORTS)
            assert "total" in state.findings(snapshot).body
            figures.add("snapshots explored", 1)
            figures.add("answers of panes", asked)


# the writers' figures


def counted(rows: Rows, names: Sequence[str]) -> Told:
    return Counter(tuple(row.get(name) for name in names) for row in rows)


def told_snapshots(table: GoldenTable, state: ExplorerState) -> tuple[Told, Told]:
    names = (
        *("snapshot_id", "schema_id", "commit_user", "commit_identifier", "commit_kind"),
        *("total_record_count", "delta_record_count", "changelog_record_count", "watermark"),
    )
    rows = state.inspector.timeline().to_arrow().to_pylist()
    return counted(system(table, "snapshots"), names), counted(
        [row for row in rows if not row["expired"]], names
    )


def told_files(table: GoldenTable, state: ExplorerState) -> tuple[Told, Told]:
    return listed_files(system(table, "files")), shown_files(state, state.newest)


def told_files_of_each_snapshot(table: GoldenTable, state: ExplorerState) -> tuple[Told, Told]:
    recorded = table.system.get("files_at", {})
    assert isinstance(recorded, dict)
    expected: Told = Counter()
    ours: Told = Counter()
    for number in some(sorted(recorded, key=int), 1 if DEEP else 4):
        if isinstance(recorded[number], list):
            expected += named(number, listed_files(recorded[number]))
            ours += named(number, shown_files(state, int(number)))
    return expected, ours


def named(number: str, found: Told) -> Told:
    return Counter({(number, *row): count for row, count in found.items()})


def listed_files(rows: Rows) -> Told:
    return Counter(
        (
            str(row["file_path"]).rpartition("/")[2],
            *(row[name] for name in ("bucket", "level", "record_count", "file_size_in_bytes")),
            row["schema_id"],
        )
        for row in rows
    )


def shown_files(state: ExplorerState, snapshot: int) -> Told:
    """The rows of the grid as the browser gets them."""
    if not snapshot:
        return Counter()
    answer = state.files(snapshot)
    frame, columns = answer.body["frame"], answer.columns
    assert isinstance(frame, int)
    rows = state.rows(frame, range(len(columns["size"]))).body["rows"]
    assert isinstance(rows, list)
    numbers = [columns[name].tolist() for name in ("bucket", "level", "rows", "size", "schema")]
    return Counter((row["name"], *values) for row, *values in zip(rows, *numbers, strict=True))


def told_manifests(table: GoldenTable, state: ExplorerState) -> tuple[Told, Told]:
    names = ("file_name", "file_size", "num_added_files", "num_deleted_files")
    nodes = [node for kind in ("base", "delta", "changelog") for node in children(state, kind)]
    ours = [(n["label"], n["size"], n["added"], n["deleted"]) for n in nodes]
    return counted(system(table, "manifests"), names), Counter(ours)


def children(state: ExplorerState, key: str) -> list[dict[str, object]]:
    """The nodes below a node of the newest snapshot."""
    found: list[dict[str, object]] = []
    while state.newest:
        answer = state.tree(state.newest, [key], len(found)).body["children"]
        assert isinstance(answer, dict)
        page = answer.get(key, {"nodes": [], "total": 0})
        found += page["nodes"]
        if not page["nodes"] or len(found) >= page["total"]:
            break
    return found


def told_indexes(table: GoldenTable, state: ExplorerState) -> tuple[Told, Told]:
    expected = counted(system(table, "table_indexes"), ("file_name", "file_size"))
    return expected, Counter((n["label"], n.get("size")) for n in children(state, "index"))


def told_partitions(table: GoldenTable, state: ExplorerState) -> tuple[Told, Told]:
    expected = counted(
        system(table, "partitions"), ("file_count", "record_count", "file_size_in_bytes")
    )
    ours = state.inspector.partitions().to_pylist()
    return expected, counted(ours, ("files", "rows", "bytes"))


def told_buckets(table: GoldenTable, state: ExplorerState) -> tuple[Told, Told]:
    expected = counted(
        system(table, "buckets"), ("bucket", "file_count", "record_count", "file_size_in_bytes")
    )
    found = state.result("lsm", state.newest, ViewInput())
    buckets = found.buckets if isinstance(found, LsmSection) else ()
    return expected, Counter((b.bucket, b.files, b.rows, b.bytes) for b in buckets)


def told_flags(system_name: str, kind: str, names: Sequence[str]) -> "Telling":
    def told(table: GoldenTable, state: ExplorerState) -> tuple[Told, Told]:
        flags = state.open().body["flags"]
        assert isinstance(flags, list)
        ours = [(f["name"], f["snapshot"])[: len(names)] for f in flags if f["kind"] == kind]
        return counted(system(table, system_name), names), Counter(ours)

    return told


def told_schemas(table: GoldenTable, state: ExplorerState) -> tuple[Told, Told]:
    expected: Told = Counter(
        (row["schema_id"], str([field["name"] for field in json.loads(str(row["fields"]))]))
        for row in system(table, "schemas")
    )
    versions = schema_history(state).versions
    ours = ((one.schema.id, str([field.name for field in one.schema.fields])) for one in versions)
    return expected, Counter(ours)


def told_options(table: GoldenTable, state: ExplorerState) -> tuple[Told, Told]:
    versions = schema_history(state).versions
    options = versions[-1].schema.options if versions else {}
    return counted(system(table, "options"), ("key", "value")), Counter(options.items())


def schema_history(state: ExplorerState) -> SchemaHistory:
    found = state.result("schema", state.newest, ViewInput())
    assert isinstance(found, SchemaHistory)
    return found


def told_splits(table: GoldenTable, state: ExplorerState) -> tuple[Told, Told]:
    """The files that the explanation of a scan without condition keeps: those of all splits."""
    recorded = table.system.get("splits")
    if not isinstance(recorded, list) or not state.newest:
        return Counter(), Counter()
    expected: Told = Counter((str(file["name"]),) for split in recorded for file in split["files"])
    found = state.result("explain", state.newest, ViewInput())
    assert isinstance(found, ScanExplanation)
    kept = [(row["file_name"],) for split in found.splits for row in split.files.rows()]
    return expected, Counter(kept)


def system(table: GoldenTable, name: str) -> Rows:
    rows = table.system.get(name)
    return rows if isinstance(rows, list) else []


Telling = Callable[[GoldenTable, ExplorerState], tuple[Told, Told]]

PANES: Mapping[str, tuple[str, Telling]] = {
    "timeline": ("snapshots", told_snapshots),
    "tags": ("tags", told_flags("tags", "tag", ("tag_name", "snapshot_id"))),
    "branches": ("branches", told_flags("branches", "branch", ("branch_name",))),
    "consumers": (
        "consumers",
        told_flags("consumers", "consumer", ("consumer_id", "next_snapshot_id")),
    ),
    "tree": ("manifests", told_manifests),
    "index": ("table_indexes", told_indexes),
    "grid": ("files", told_files),
    "grid of each snapshot": ("files_at", told_files_of_each_snapshot),
    "partitions": ("partitions", told_partitions),
    "lsm": ("buckets", told_buckets),
    "schema": ("schemas", told_schemas),
    "options": ("options", told_options),
    "explain": ("splits", told_splits),
}
"""Per pane the writer's system table that shows the same, and both as they are counted."""

GRIDS = ("grid", "grid of each snapshot", "partitions")
OLD_LEVEL_0 = ("dv_pk", "dv_pk_l0", "me_first_row", "me_first_row_lookup", "pk_cross_first_row")

JAVA = ("java200", "java142")
CHAINS = ("chain_days", "chain_minutes", "chain_hours", "chain_vectors")
UNLIKE_OURS = {
    # Java shows no files that wait for a bucket
    *(
        ("java21", name, pane)
        for name in ("postponed_default", "postponed_by_rows")
        for pane in GRIDS
    ),
    *((writer, "pk_postpone", pane) for writer in JAVA for pane in GRIDS),
    *((writer, "postpone_compacted", pane) for writer in JAVA for pane in GRIDS),
    # its partitions are those of other branches, too, its files those of one branch, as here
    *((writer, "fallback_branch", "partitions") for writer in JAVA),
    *((writer, "chain_table", "partitions") for writer in JAVA),
    *(("java21", name, "partitions") for name in CHAINS),
    # at older snapshots it lists no files of partitions that the newest one no longer has
    *((writer, "overwrite", "grid of each snapshot") for writer in JAVA),
    *((writer, "partition_expire", "grid of each snapshot") for writer in JAVA),
    # the hint of the earliest snapshot is wrong after a fast forward; the folder holds one more
    *((writer, "branch_ff", "timeline") for writer in (*JAVA, "java09")),
    # 0.9 hid level 0 of tables with deletion vectors, and of those that keep the first row
    ("java09", "dv_pk_l0", "grid"),
    *(("java09", name, "grid of each snapshot") for name in OLD_LEVEL_0),
    # pypaimon lists no manifests of changelogs
    ("pypaimon21", "cl_input", "tree"),
}


@pytest.mark.parametrize("pane", PANES)
@pytest.mark.parametrize("writer", WRITERS)
def test_the_figures_of_a_pane_are_those_of_the_writer_s_system_table(
    golden: GoldenTables, writer: str, pane: str, figures: Figures
) -> None:
    name, telling = PANES[pane]
    wrong = {}
    for table, state in tables(golden, writer):
        recorded = table.system.get(name)
        if (
            not isinstance(recorded, list | dict)
            or (writer, table.folder.name, pane) in UNLIKE_OURS
        ):
            continue
        expected, ours = telling(table, state)
        figures.add(f"rows of ${name} that the explorer shows alike", expected.total())
        if expected != ours:
            wrong[table.folder.name] = (expected - ours, ours - expected)
    assert wrong == {}
