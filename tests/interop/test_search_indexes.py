"""Full-text and vector indexes, exchanged with pypaimon; indexes of Rust are kept and dropped."""

from collections.abc import Sequence
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


def hits(found: pa.Table) -> list[tuple[int, int, float]]:
    """Query, id and score of the rows that we find."""
    rows = found.to_pylist()
    return [
        (int(str(row.get("_QUERY", 0))), int(str(row["id"])), float(str(row["_SCORE"])))
        for row in rows
    ]


def assert_same(
    ours: Sequence[tuple[int, int, float]], theirs: Sequence[tuple[int, int, float]]
) -> None:
    """Both implementations find the same rows with the same scores."""
    assert theirs
    # pypaimon rounds distances otherwise, and rows with the last score may be others
    assert [query for query, _, _ in ours] == [query for query, _, _ in theirs]
    expected = pytest.approx([score for _, _, score in theirs], abs=5e-4)
    assert [score for _, _, score in ours] == expected
    lowest = {query: score for query, _, score in ours}
    certain = {one[:2] for one in theirs if one[2] > lowest[one[0]] + 1e-3}
    assert certain <= {one[:2] for one in ours}


def same_hits(peers: Peers, warehouse: Path, table: Table, kind: str) -> None:
    if kind == "full-text":
        ours = table.search("s", "seven five", 300, columns=["id"])
        theirs = peers.search(warehouse, table.name, {"s": "seven five"}, 300)
    else:
        ours = table.search("v", QUERY, 5, columns=["id"])
        theirs = peers.search(warehouse, table.name, {"v": QUERY}, 5)
    assert_same(hits(ours), theirs)


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


MORE = pa.table(
    {
        "id": pa.array(range(300, 340), pa.int32()),
        "s": [f"{WORDS[i % 7]} new" if i % 4 else None for i in range(300, 340)],
        "v": pa.array(
            [[i - 200.0, 1.0, i % 2, 0.5] if i % 5 else None for i in range(300, 340)],
            pa.list_(pa.float32()),
        ),
    }
)
REFINED = {
    "scalar-index.search-mode": "full",
    "global-index.filter.refine-from-data": "true",
}
"""Options with which pypaimon evaluates conditions without an index of their columns."""
QUERIES = [QUERY, [120.0, 1.0, 1.0, 0.5], [0.0, 0.0, 0.0, 0.0]]


@pytest.fixture
def partly_indexed(peers: Peers, warehouse: Path) -> None:
    """Rows with indexes of texts and vectors, rows without, and some of both are deleted."""
    for kind in ("full-text", "ivf-flat"):
        need_module("paimon_ftindex" if kind == "full-text" else "paimon_vindex", kind)
    peers.create(
        warehouse, "db.t", ROWS.schema, options={**OPTIONS, "deletion-vectors.enabled": "true"}
    )
    table = Catalog(warehouse).table("db.t")
    table.append(ROWS)
    for kind in ("full-text", "ivf-flat"):
        table.maintenance.create_global_index(*_column(kind))
    peers.write("py", warehouse, "db.t", MORE)
    table.delete("id IN (100, 111, 301, 310)")


@pytest.mark.usefixtures("partly_indexed")
@pytest.mark.parametrize("mode", ["fast", "full", "detail"])
@pytest.mark.parametrize("own", ["of the type", "of all types"])
def test_rows_without_index_are_found_as_by_pypaimon(
    peers: Peers, warehouse: Path, mode: str, own: str
) -> None:
    for column, query in (("s", "seven five new"), ("v", QUERY), ("v", QUERIES)):
        family = "full-text-index" if column == "s" else "vector-index"
        every = "global-index.search-mode"
        options = {every: mode}
        if own == "of the type":
            options = {every: "full" if mode == "fast" else "fast", f"{family}.search-mode": mode}
        table = open_table(warehouse / "db.db" / "t", options=options)
        for limit in (7, 400):
            theirs = peers.search(warehouse, "db.t", {column: query}, limit, options=options)
            assert_same(hits(table.search(column, query, limit, columns=["id"])), theirs)
            conditions = [("id", "greater_than", 110)]
            theirs = peers.search(
                warehouse,
                "db.t",
                {column: query},
                limit,
                options={**options, **REFINED},
                conditions=conditions,
            )
            assert_same(
                hits(table.search(column, query, limit, columns=["id"], where="id > 110")), theirs
            )


@pytest.mark.parametrize("metric", [None, "l2", "cosine", "inner-product"])
def test_vectors_are_found_without_any_index(
    peers: Peers, warehouse: Path, metric: str | None
) -> None:
    options = {**OPTIONS, "vector-index.search-mode": "full"}
    del options["fields.v.distance.metric"]
    if metric:
        options["fields.v.distance.metric"] = metric
    peers.create(warehouse, "db.t", ROWS.schema, options=options)
    peers.write("py", warehouse, "db.t", ROWS)
    table = open_table(warehouse / "db.db" / "t")
    theirs = peers.search(warehouse, "db.t", {"v": QUERIES}, 9)
    assert_same(hits(table.search("v", QUERIES, 9, columns=["id"])), theirs)


@pytest.mark.usefixtures("partly_indexed")
@pytest.mark.parametrize("ranker", ["rrf", "mrr", "weighted_score"])
@pytest.mark.parametrize("mode", ["fast", "full"])
def test_texts_and_vectors_are_ranked_together_as_by_pypaimon(
    peers: Peers, warehouse: Path, ranker: str, mode: str
) -> None:
    options = {"global-index.search-mode": mode}
    table = open_table(warehouse / "db.db" / "t", options=options)
    queries = {"s": "seven five new", "v": QUERY}
    for weights in ({}, {"v": 2.5}, {"s": 0.25, "v": 0.5}):
        theirs = peers.search(
            warehouse, "db.t", queries, 12, ranker=ranker, weights=weights, options=options
        )
        ours = table.search(
            queries,  # type: ignore[arg-type]  # of different types
            limit=12,
            columns=["id"],
            ranker=ranker,
            weights=weights,
        )
        assert_same(hits(ours), theirs)


KEYED = {
    "bucket": "2",
    "deletion-vectors.enabled": "true",
    "pk-vector.index.columns": "v",
    "fields.v.pk-vector.distance.metric": "l2",
    "pk-full-text.index.columns": "s",
}


@pytest.mark.parametrize("kind", KINDS[1:])
@pytest.mark.parametrize("mode", ["fast", "full"])
def test_pypaimon_finds_rows_by_our_primary_key_indexes(
    peers: Peers, warehouse: Path, kind: str, mode: str
) -> None:
    need_packages(peers, warehouse, kind)
    need_packages(peers, warehouse / "texts", "full-text")
    table = Catalog(warehouse).create_table(
        "db.t",
        {"id": "INT", "s": "STRING", "v": "VECTOR<FLOAT, 4>"},
        primary_key="id",
        options={**KEYED, "fields.v.pk-vector.index.type": kind},
    )
    table.upsert(ROWS.slice(0, 200))
    table.upsert(ROWS.slice(100))
    table.compact(full=True)
    keyed_hits(peers, warehouse, mode)
    table.delete("id IN (100, 111)")
    table.upsert(MORE.slice(0, 20))
    table.upsert(MORE.slice(10))
    table.compact()
    keyed_hits(peers, warehouse, mode)


def keyed_hits(peers: Peers, warehouse: Path, mode: str) -> None:
    """Both implementations find the same rows."""
    options = {"vector-index.search-mode": mode}
    table = open_table(warehouse / "db.db" / "t", options=options)
    for column, query in (("s", "seven five new"), ("v", QUERY)):
        theirs = peers.search(warehouse, "db.t", {column: query}, 9, options=options)
        assert_same(hits(table.search(column, query, 9, columns=["id"])), theirs)
    conditions = [("id", "greater_than", 110)]
    theirs = peers.search(
        warehouse, "db.t", {"v": QUERY}, 9, options=options, conditions=conditions
    )
    assert_same(hits(table.search("v", QUERY, 9, columns=["id"], where="id > 110")), theirs)


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
