"""Kinds of tables of earlier versions, written again by the next version in several states."""

import json
import re
from collections.abc import Mapping
from pathlib import Path

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from oracle import ROW_KIND, JavaPaimon
from support.golden import GoldenTable, GoldenTables

MODEL = "java200"
KINDS = (
    *("add_before_partition", "all_types_append_avro", "all_types_append_orc"),
    *("all_types_append_parquet", "all_types_append_parquet_nested", "all_types_pk_avro"),
    *("all_types_pk_orc", "all_types_pk_parquet", "append_bucketed", "append_compacted"),
    *("append_csv", "append_part_null", "append_part_types", "append_row_format", "blob_more"),
    *("bucket_hive", "bucket_mod", "cl_full_aggregation", "cl_input", "cl_lookup"),
    *("cl_lookup_partial", "clustering_incremental", "clustering_pk", "comp_orc_zstd"),
    *("comp_parquet_gzip", "defaults20", "deletion_mor", "dv_bitmap64", "dv_pk", "external_paths"),
    *("fi_bitmap", "fi_bloom_types", "fi_more", "global_btree", "me_agg", "me_agg_more_partial"),
    *("me_first_row", "me_partial", "me_partial_seq", "odd_names", "part_nonlegacy"),
    *("path_directory", "per_level", "pk_all_key_types", "pk_composite", "pk_dynamic"),
    *("pk_dynamic_part", "pk_index_bitmap", "pk_index_btree", "pk_levels", "pk_part_multi"),
    *("record_expire", "row_tracking", "row_tracking_dv", "rowkind_field", "seq_field2"),
    *("seq_snapshot", "stats_dense", "stats_level", "thin_mode", "variant", "variant_inferred"),
    "vector_type",
)
EXTERNAL = "data-file.external-paths"


def replay(java: JavaPaimon, models: GoldenTables, name: str, folder: Path) -> str:
    """Write a table of the kind of a golden table; return what it shows."""
    golden = models.table(MODEL, name)
    meta = golden.meta
    options = dict(meta["options"])  # type: ignore[call-overload]
    options.pop("path", None)
    if EXTERNAL in options:
        options[EXTERNAL] = f"file://{folder.parents[1]}/external/{name}"
    java.create_table(
        folder,
        meta["fields"],  # type: ignore[arg-type]
        partition_keys=meta["partition_keys"],  # type: ignore[arg-type]
        primary_keys=meta["primary_keys"],  # type: ignore[arg-type]
        options=options,
    )
    rows = _most_rows(golden)
    keyed = bool(meta["primary_keys"])
    engine = options.get("merge-engine", "deduplicate")

    def part(start: float, end: float) -> pa.Table:
        first, last = int(len(rows) * start), int(len(rows) * end)
        return rows.slice(first, max(last - first, 1))

    java.write(folder, part(0, 0.5), commit_user="first")
    java.write(folder, part(0.3, 1), commit_user="second", watermark=1_700_000_000_000)
    java.create_tag(folder, "two")
    compact(java, folder, options, keyed=keyed)
    if keyed and engine == "deduplicate" and "rowkind.field" not in options:
        gone = part(0, 0.2)
        kinds = pa.array(["-D"] * len(gone))
        java.write(folder, gone.append_column(ROW_KIND, kinds))
    java.write(folder, part(0.1, 0.4))
    return str(meta["desc"])


def compact(
    java: JavaPaimon, folder: Path, options: Mapping[str, str], *, keyed: bool, full: bool = True
) -> None:
    """Compact a table as its kind needs it."""
    if keyed or options.get("bucket", "-1") != "-1":
        java.compact(folder, full=full)
    elif "clustering.incremental" not in options:
        java.append_compact(folder, options={"compaction.min.file-num": "2"})


def _most_rows(golden: GoldenTable) -> pa.Table:
    """The rows of the snapshot that has most of them in the latest schema."""
    names = [field["name"] for field in golden.meta["fields"]]  # type: ignore[attr-defined]
    most = pa.table({})
    for path in golden.expected.glob("*.parquet"):
        if not re.fullmatch(r"(truth-)?\d+|latest", path.stem):
            continue
        found = pq.read_table(path)
        if found.schema.names == names and len(found) > len(most):
            most = found
    for field in golden.meta["fields"]:  # type: ignore[attr-defined]
        if "VARIANT" in json.dumps(field["type"]):
            most = most.filter(pc.is_valid(most.column(field["name"])))
    return most
