"""Searches of vectors against the scores of all rows, on random tables."""

from collections.abc import Mapping, Sequence

import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from paimon_explore import Table
from paimon_explore.errors import NotFoundError
from support.depth import DEEP
from support.optional_formats import need_module
from support.small_tables import new_catalog

Vector = tuple[int, int]
Row = tuple[int, int, Vector | None]
"""Key, partition and vector."""

FULL = {"global-index.search-mode": "full", "deletion-vectors.enabled": "true"}
APPEND = {
    **FULL,
    "row-tracking.enabled": "true",
    "data-evolution.enabled": "true",
    "ivf-flat.nlist": "1",
}
KEYED = {
    **FULL,
    "bucket": "2",
    "pk-vector.index.columns": "v",
    "fields.v.pk-vector.index.type": "ivf-flat",
    "fields.v.pk-vector.index.options": '{"nlist": "1"}',
}
VECTORS = st.tuples(st.integers(-9, 9), st.integers(-9, 9))
METRICS = st.sampled_from(["l2", "cosine", "inner_product"])


def vectors_of(keys: range) -> st.SearchStrategy[list[Row]]:
    return st.tuples(
        *(st.tuples(st.just(key), st.integers(0, 1), st.none() | VECTORS) for key in keys)
    ).map(list)


def score(metric: str, query: Vector, vector: Vector) -> float:
    product = sum(a * b for a, b in zip(query, vector, strict=True))
    if metric == "inner_product":
        return product
    if metric == "l2":
        return 1 / (1 + sum((a - b) ** 2 for a, b in zip(query, vector, strict=True)))
    lengths = [sum(part * part for part in one) ** 0.5 for one in (query, vector)]
    return product / (lengths[0] * lengths[1]) if all(lengths) else 0.0


def new_table(metric: str, *, keyed: bool) -> Table:
    key = "fields.v.pk-vector.distance.metric" if keyed else "fields.v.distance.metric"
    return new_catalog().create_table(
        "db.t",
        {"k": "INT NOT NULL", "p": "INT NOT NULL", "v": "VECTOR<FLOAT, 2>"},
        partition_by="p",
        primary_key=["p", "k"] if keyed else None,
        options={**(KEYED if keyed else APPEND), key: metric},
    )


def as_rows(rows: Sequence[Row]) -> list[dict[str, object]]:
    return [{"k": k, "p": p, "v": None if v is None else list(v)} for k, p, v in rows]


def check(table: Table, rows: Sequence[Row], queries: Sequence[Vector], metric: str) -> None:
    """Each query gives the best scores, each of a row that has it; also in a partition."""
    conditions: Mapping[str | None, Sequence[Row]] = {
        None: rows,
        "p = 1": [row for row in rows if row[1] == 1],
        "k >= 3 AND p = 0": [row for row in rows if row[0] >= 3 and row[1] == 0],
    }
    for where, kept in conditions.items():
        found = table.search("v", [list(map(float, one)) for one in queries], 4, where=where)
        for number, query in enumerate(queries):
            known = {(k, p): score(metric, query, v) for k, p, v in kept if v is not None}
            own = [row for row in found.to_pylist() if row["_QUERY"] == number]
            scores = [float(str(row["_SCORE"])) for row in own]
            best = sorted(known.values(), reverse=True)[:4]
            assert scores == pytest.approx(best, abs=1e-4)
            places = [(int(str(row["k"])), int(str(row["p"]))) for row in own]
            assert [known[place] for place in places] == pytest.approx(scores, abs=1e-4)


@settings(max_examples=200 if DEEP else 8)
@given(
    metric=METRICS,
    queries=st.lists(VECTORS, min_size=1, max_size=3),
    indexed=vectors_of(range(8)),
    others=vectors_of(range(8, 14)),
    deleted=st.sets(st.integers(0, 13)),
)
def test_searches_of_partly_indexed_rows_give_the_best_scores(
    metric: str,
    queries: list[Vector],
    indexed: list[Row],
    others: list[Row],
    deleted: set[int],
) -> None:
    need_module("paimon_vindex", "paimon-vindex")
    table = new_table(metric, keyed=False)
    table.append(as_rows(indexed))
    table.maintenance.create_global_index("v", "ivf-flat")
    table.append(as_rows(others))
    every = [*indexed, *others]
    check(table, every, queries, metric)
    table.create_tag("before")
    left = [row for row in every if row[0] not in deleted]
    if deleted:
        table.delete(f"k IN ({', '.join(map(str, deleted))})")
    check(table, left, queries, metric)
    check(table.at("before"), every, queries, metric)
    table.set_options({"global-index.search-mode": "fast"})
    try:
        check(table, [row for row in left if row[0] < 8], queries, metric)
    except NotFoundError:  # there was no vector to index
        assert all(vector is None for _, _, vector in indexed)


@settings(max_examples=200 if DEEP else 8)
@given(
    metric=METRICS,
    queries=st.lists(VECTORS, min_size=1, max_size=2),
    first=vectors_of(range(8)),
    second=vectors_of(range(5, 11)),
    deleted=st.sets(st.integers(0, 10)),
)
def test_searches_of_primary_key_tables_give_the_best_scores(
    metric: str, queries: list[Vector], first: list[Row], second: list[Row], deleted: set[int]
) -> None:
    need_module("paimon_vindex", "paimon-vindex")
    table = new_table(metric, keyed=True)
    live: dict[tuple[int, int], Row] = {}
    for rows in (first, second):
        table.upsert(as_rows(rows))
        live |= {(row[0], row[1]): row for row in rows}
        table.compact()
        check(table, list(live.values()), queries, metric)
    if deleted:
        table.delete(f"k IN ({', '.join(map(str, deleted))})")
        table.compact(full=True)
    left = [row for row in live.values() if row[0] not in deleted]
    check(table, left, queries, metric)
    assert pa.types.is_float64(table.search("v", [1.0, 1.0]).schema.field("_SCORE").type)
