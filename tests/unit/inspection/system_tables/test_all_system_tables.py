import pytest

from paimon_explore import open_table
from support.golden import GoldenTables
from support.system_rows import facts

NAMES = ["append_part_types", "pk_composite", "dv_pk", "tags", "analyze", "branches", "me_agg"]
NAMES += ["data_evolution", "stats_dense", "row_tracking", "append_dv", "global_btree"]
LATER = "writer_version"
"""A column that this version of Java does not have yet."""


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize(
    "system",
    [
        "aggregation_fields",
        "buckets",
        "consumers",
        "files",
        "file_key_ranges",
        "manifests",
        "options",
        "partitions",
        "schemas",
        "snapshots",
        "statistics",
        "table_indexes",
        "tags",
    ],
)
def test_a_system_table_says_what_java_says(name: str, system: str, golden: GoldenTables) -> None:
    expected = golden.table("java200", name)
    listed = expected.system[system]
    assert isinstance(listed, list)
    found = getattr(open_table(expected.folder).inspect, system)()
    wanted = [name for name in found.schema.names if name != LATER]
    assert facts(found, wanted) == facts(listed, wanted)
