"""System tables of other writers' tables hold what the writer's own hold.

By default one of three tables of each writer, others for each: most wrote the same kinds.
"""

from collections.abc import Collection, Mapping

import pyarrow.parquet as pq
import pytest

from paimon_explore import open_table
from support.golden import WRITERS, GoldenTable, GoldenTables
from support.rows import difference
from support.system_rows import facts

pytestmark = pytest.mark.slow

METADATA = (
    *("snapshots", "schemas", "options", "tags", "consumers", "statistics", "manifests", "files"),
    *("file_key_ranges", "partitions", "buckets", "table_indexes", "aggregation_fields"),
)
ALWAYS = (
    *("append_part_types", "pk_composite", "dv_pk", "tags", "analyze", "branches", "me_agg"),
    *("data_evolution", "stats_dense", "row_tracking", "append_dv", "global_btree"),
)
"""Tables of the newest release that have something to say in each of these."""
UNLIKE: Mapping[tuple[str, str], Collection[str]] = {
    # bounds of a column whose type has changed since say nothing exact: none is shown
    ("se_casts", "files"): ("min_value_stats", "max_value_stats"),
}
FIGURES: Mapping[str, Collection[str]] = {
    "snapshots": (
        *("snapshot_id", "schema_id", "commit_user", "commit_identifier", "commit_kind"),
        *("base_manifest_list", "delta_manifest_list", "changelog_manifest_list"),
        *("total_record_count", "delta_record_count", "changelog_record_count", "watermark"),
    ),
    "files": (
        *("bucket", "file_path", "schema_id", "level", "record_count", "file_size_in_bytes"),
        *("min_sequence_number", "max_sequence_number"),
    ),
    "manifests": (
        *("file_name", "file_size", "num_added_files", "num_deleted_files", "schema_id"),
    ),
    "partitions": ("record_count", "file_size_in_bytes", "file_count"),
    "buckets": ("bucket", "record_count", "file_size_in_bytes", "file_count"),
    "tags": ("tag_name", "snapshot_id", "schema_id", "record_count"),
    "options": ("key", "value"),
}
UNLIKE_OURS = {
    # the hint of the earliest snapshot is wrong after a fast forward; the folder holds one more
    ("java200", "branch_ff", "snapshots"),
    ("java142", "branch_ff", "snapshots"),
    ("java09", "branch_ff", "snapshots"),
    # 0.9 hid level 0 of tables with deletion vectors
    ("java09", "dv_pk_l0", "files"),
    # pypaimon lists no manifests of changelogs; Java does
    ("pypaimon21", "cl_input", "manifests"),
    # Java shows no files that wait for a bucket, the others do
    ("pypaimon21", "pk_postpone", "files"),
    ("pypaimon21", "pk_postpone", "partitions"),
    ("rust04", "pk_postpone", "files"),
    ("rust04", "pk_postpone", "partitions"),
}


def wrong_tables(
    golden: GoldenTables, writer: str, system: str, columns: Collection[str] | None
) -> list[str]:
    """The tables of a writer whose system table does not hold what the writer says.

    Args:
        golden: all tables.
        writer: who wrote them.
        system: the system table's name.
        columns: those to compare; None for all that the writer has.
    """
    wrong = []
    always = ALWAYS if writer == "java200" else ()
    for name in sorted({*golden.some_names(writer, 3), *always}):
        table = golden.table(writer, name)
        expected = table.system.get(system)
        if not isinstance(expected, list) or (writer, name, system) in UNLIKE_OURS:
            continue
        known = expected[0] if expected else {}
        wanted = set(columns or known) - set(UNLIKE.get((name, system), ()))
        ours = open_table(table.folder).inspect.system_table(system).to_arrow()
        if facts(expected, wanted) != facts(ours, wanted) or len(expected) != ours.num_rows:
            wrong.append(name)
    return wrong


@pytest.mark.parametrize("system", METADATA)
def test_java_s_newest_release_and_we_say_the_same(golden: GoldenTables, system: str) -> None:
    assert wrong_tables(golden, "java200", system, None) == []


@pytest.mark.parametrize("system", FIGURES)
@pytest.mark.parametrize("writer", ["java142", "java09", "pypaimon21", "rust04"])
def test_the_figures_are_those_of_the_writer(
    golden: GoldenTables, writer: str, system: str
) -> None:
    assert wrong_tables(golden, writer, system, FIGURES[system]) == []


ROWS_UNLIKE_OURS = {
    # what 0.9 misreads itself, or what later releases do otherwise
    ("ro", "java09", "all_types_append_parquet_nested"),
    ("audit_log", "java09", "all_types_append_parquet_nested"),
    ("audit_log", "java09", "all_types_pk_parquet_nested"),
    ("ro", "java09", "defaults"),
    ("audit_log", "java09", "defaults"),
    ("ro", "java09", "dv_pk"),
    ("ro", "java09", "dv_pk_l0"),
    ("ro", "java09", "pk_cross_first_row"),
    ("audit_log", "java09", "me_agg_more_aggregation"),
    ("audit_log", "java142", "me_agg_more_aggregation"),
    ("audit_log", "java09", "me_partial_rm"),
    # Rust reads nested rows of Avro as null, and what Java hides below a compaction
    ("audit_log", "rust04", "all_types_append_avro"),
    ("audit_log", "rust04", "me_first_row"),
    ("audit_log", "rust04", "pk_postpone"),
}


def row_difference(table: GoldenTable, system: str) -> str:
    """How the rows of a system table differ from the writer's and from the newest release's."""
    ours = open_table(table.folder).inspect.system_table(system).to_arrow()
    unordered = table.meta.get("unordered", [])
    assert isinstance(unordered, list)
    found = ""
    for name in (f"{system}.parquet", f"newest-{system}.pq"):
        path = table.expected / name
        if path.exists():
            found = difference(pq.ParquetFile(path).read(), ours, unordered)
            if not found:
                return ""
    return found


@pytest.mark.parametrize("system", ["ro", "audit_log"])
@pytest.mark.parametrize("writer", WRITERS)
def test_the_rows_of_system_tables_are_those_of_the_writer(
    golden: GoldenTables, writer: str, system: str
) -> None:
    wrong = [
        name
        for name in golden.some_names(writer, 3)
        if row_difference(golden.table(writer, name), system)
        and (system, writer, name) not in ROWS_UNLIKE_OURS
    ]
    assert wrong == []


@pytest.mark.parametrize("writer", WRITERS)
def test_row_ids_and_binlogs_are_those_of_the_writer(golden: GoldenTables, writer: str) -> None:
    for name in golden.names(writer):
        table = golden.table(writer, name)
        for system, columns in (
            ("row_tracking", ("_ROW_ID", "_SEQUENCE_NUMBER")),
            ("binlog", None),
        ):
            expected = table.system.get(system)
            if isinstance(expected, list) and expected:
                ours = open_table(table.folder).inspect.system_table(system).to_arrow()
                assert facts(expected, columns) == facts(ours, columns), (name, system)
