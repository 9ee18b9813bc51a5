"""The explanation of a scan counts what pypaimon's counts, on real tables."""

from collections.abc import Sequence

import pytest

import paimon_explore as pe
from paimon_explore.inspection.explain.scan_explanation import ScanExplanation
from peers import Peers
from support.golden import GoldenTables

pytestmark = pytest.mark.interop

Condition = tuple[str, str, object]
SIGNS = {"equal": "=", "greater_than": ">", "less_or_equal": "<="}
ASKED: Sequence[tuple[str, Sequence[Condition]]] = (
    ("dv_pk", ()),
    ("dv_pk", [("dt", "equal", "p0")]),
    ("dv_pk", [("dt", "equal", "p0"), ("k", "greater_than", 900)]),
    ("dv_pk", [("dt", "equal", "p7")]),
    ("pk_part_multi", [("k", "greater_than", 3)]),
    ("pk_part_multi", [("k", "equal", 3)]),
    ("pk_part_multi", [("hr", "less_or_equal", 1), ("city", "equal", "x=y")]),
    ("append_parquet", [("id", "equal", 3)]),
    ("append_compacted", ()),
    ("pk_levels", [("k", "less_or_equal", 20)]),
    ("manifest_merge", [("dt", "equal", "a")]),
)


def counts(found: ScanExplanation) -> dict[str, object]:
    """What pypaimon tells of a scan, by its names."""
    stages = {stage.name: stage for stage in found.stages}
    last = found.stages[-1]
    return {
        "file_count": last.kept,
        "total_file_size": last.kept_bytes,
        "estimated_row_count": last.kept_rows,
        "split_count": len(found.splits),
        "splits_raw_convertible": sum(one.raw_convertible for one in found.splits),
        "partition_before": stages["partition ranges"].total_rows,
        "partition_after": stages["partitions"].kept,
        "bucket_after": stages["bucket"].kept if "bucket" in stages else None,
        "stats_after": last.kept,
    }


@pytest.mark.parametrize(("name", "conditions"), ASKED)
def test_counts_are_those_of_pypaimon(
    golden: GoldenTables, peers: Peers, name: str, conditions: Sequence[Condition]
) -> None:
    warehouse = golden.warehouse("java200")
    where = " AND ".join(f"{c} {SIGNS[sign]} {value!r}" for c, sign, value in conditions)
    found = pe.open_table(golden.table("java200", name).folder).explain(where or None)
    ours = counts(found)
    theirs = peers.explain(warehouse, f"gold.{name}", conditions)
    cancelled = next(stage for stage in found.stages if stage.name == "cancelled entries")
    if cancelled.total != cancelled.kept:  # they count entries, of which some cancel each other
        del ours["bucket_after"], ours["stats_after"]
    compared = {k: n for k, n in ours.items() if n is not None and theirs.get(k) is not None}
    assert compared == {key: theirs[key] for key in compared}
    assert len(compared) >= 5
