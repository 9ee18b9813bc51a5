"""Full-text and vector indexes, exchanged with pypaimon; indexes of Rust are kept and dropped."""

from pathlib import Path

import pyarrow as pa
import pytest

from paimon_explore import Catalog, Table, open_table
from peers import PeerError, Peers
from support.optional_formats import need_module
from support.required import NEED
from support.written import columns

pytestmark = pytest.mark.interop

OPTIONS = {
    "row-tracking.enabled": "true",
    "data-evolution.enabled": "true",
    "bucket": "-1",
    "fields.v.distance.metric": "l2",
    "fields.v.dimension": "4",
}
KINDS = ("full-text", "ivf-flat", "ivf-pq", "ivf-sq", "ivf-rq", "diskann")
WORDS = ("one", "two", "three", "four", "five", "six", "seven")
ROWS = pa.table(
    {
        "id": pa.array(range(300), pa.int32()),
        "s": [
            f"{WORDS[i % 7]} {WORDS[i % 5]} {WORDS[i % 3]}" if i % 10 else None for i in range(300)
        ],
        "v": pa.array([[float(i), 1.0, i % 3, 0.5] for i in range(300)], pa.list_(pa.float32())),
    }
)  # fmt: skip
QUERY = [100.2, 1.0, 0.0, 0.5]


def need_packages(peers: Peers, warehouse: Path, kind: str) -> None:
    """Skip the test if one side lacks the package of a type of index."""
    module = "paimon_ftindex" if kind == "full-text" else "paimon_vindex"
    package = module.replace("_", "-")
    need_module(module, package)
    peers.create(warehouse, "db.probe", ROWS.schema, options=OPTIONS)
    peers.write("py", warehouse, "db.probe", ROWS)
    try:
        peers.create_global_index(warehouse, "db.probe", *_column(kind))
    except PeerError as error:
        if package not in str(error):
            raise
        pytest.skip(f"{NEED}the package {package} beside pypaimon")


def _column(kind: str) -> tuple[str, str]:
    return ("s" if kind == "full-text" else "v", kind)


def same_hits(peers: Peers, warehouse: Path, table: Table, kind: str) -> None:
    """Both implementations find the same rows with the same scores."""
    if kind == "full-text":
        ours = table.search("s", "seven five", 300, columns=["id"])
        theirs = peers.search(warehouse, table.name, "s", 300, words="seven five")
    else:
        ours = table.search("v", QUERY, 5, columns=["id"])
        theirs = peers.search(warehouse, table.name, "v", 5, vector=QUERY)
    scores: list[float] = ours.column("_SCORE").to_pylist()  # type: ignore[assignment]  # no nulls
    assert theirs
    # pypaimon rounds distances otherwise, and rows with the last score may be others
    assert scores == pytest.approx(sorted(theirs.values(), reverse=True), abs=1e-4)
    certain = {row for row, score in theirs.items() if score > scores[-1] + 1e-3}
    assert certain <= set(ours.column("id").to_pylist())


@pytest.mark.parametrize("kind", KINDS)
def test_an_index_of_pypaimon_is_searched(peers: Peers, kind: str, warehouse: Path) -> None:
    need_packages(peers, warehouse, kind)
    same_hits(peers, warehouse, Catalog(warehouse).table("db.probe"), kind)


@pytest.mark.parametrize("kind", KINDS)
def test_pypaimon_searches_our_index(peers: Peers, kind: str, warehouse: Path) -> None:
    need_packages(peers, warehouse, kind)
    peers.create(warehouse, "db.t", ROWS.schema, options=OPTIONS)
    table = Catalog(warehouse).table("db.t")
    table.append(ROWS)
    assert table.maintenance.create_global_index(*_column(kind)).row_count == 300
    same_hits(peers, warehouse, table, kind)


def test_indexes_that_only_rust_has_are_listed_kept_and_dropped(
    peers: Peers, warehouse: Path
) -> None:
    schema = columns({"id": pa.int32(), "s": pa.string(), "tags": pa.list_(pa.string())})
    peers.create(warehouse, "db.t", schema, options=OPTIONS)
    rows = [{"id": i, "s": f"s{i}", "tags": ["a", f"t{i}"]} for i in range(6)]
    peers.write("py", warehouse, "db.t", pa.Table.from_pylist(rows, schema))
    for column, kind in (("tags", "multivalue"), ("s", "fm")):
        peers.sql(
            warehouse,
            "CALL sys.create_global_index(`table` => 'paimon.db.t', "
            f"index_column => '{column}', index_type => '{kind}')",
        )
    table = open_table(warehouse / "db.db" / "t")

    def listed() -> list[tuple[str, str]]:
        rows = table.inspect.system_table("table_indexes").to_arrow().to_pylist()
        return sorted((str(row["index_type"]), str(row["index_field_name"])) for row in rows)

    both = [("fm", "s"), ("multivalue", "tags")]
    assert listed() == both
    assert list(table.maintenance.fsck(read_rows=True)) == []
    assert table.scan(where="s = 's3'").to_arrow().column("id").to_pylist() == [3]
    table.append([{"id": 7, "s": "new", "tags": ["a"]}])
    table.update({"id": "id + 10"}, where="id = 1")
    table.compact(full=True)
    assert listed() == both
    has_a = "SELECT id FROM paimon.db.t WHERE array_has(tags, 'a')"
    found = peers.sql(warehouse, has_a).column("id").to_pylist()
    assert set(found) == {0, 11, 2, 3, 4, 5}  # Rust leaves out the row that has no index
    table.maintenance.drop_global_index("tags", "multivalue")
    assert listed() == both[:1]
    table.overwrite([{"id": 1, "s": "only", "tags": []}])
    assert listed() == []
