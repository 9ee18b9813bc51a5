"""Full-text and vector indexes: built, dropped and searched."""

import sys
from collections.abc import Sequence
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from paimon_explore import Table
from paimon_explore.errors import (
    CorruptFileError,
    InvalidInputError,
    NotFoundError,
    UnsupportedFeatureError,
)
from support.optional_formats import need_module
from support.small_tables import new_catalog

OPTIONS = {"row-tracking.enabled": "true", "data-evolution.enabled": "true"}
TEXTS = ("hello world", "foo", "bar hello", None, "x y", "hello hello hello")
VECTOR_TYPES = ("ivf-flat", "ivf-pq", "ivf-sq", "ivf-rq", "diskann")


@pytest.fixture
def text_package() -> None:
    need_module("paimon_ftindex", "paimon-ftindex")


@pytest.fixture
def vector_package() -> None:
    need_module("paimon_vindex", "paimon-vindex")


def texts(*values: str | None, partition_by: str | None = None, **options: str) -> Table:
    """A table of numbered texts."""
    table = new_catalog().create_table(
        "db.t",
        {"id": "INT", "s": "STRING", "p": "INT"},
        partition_by=partition_by,
        options={**OPTIONS, **options},
    )
    table.append([{"id": i, "s": text, "p": i % 2} for i, text in enumerate(values)])
    return table


def vectors(count: int, kind: str = "ARRAY<FLOAT>", **options: str) -> Table:
    """A table of numbered points on a line; one of ten is null."""
    table = new_catalog().create_table(
        "db.t", {"id": "INT", "v": kind}, options={**OPTIONS, **options}
    )
    rows: list[dict[str, object]] = [
        {"id": i, "v": None if i % 10 == 3 else [float(i), 1.0, -2.0, 0.5]} for i in range(count)
    ]
    table.append(rows)
    return table


def ids(found: pa.Table) -> list[int]:
    return [int(str(row["id"])) for row in found.select(["id"]).to_pylist()]


def index_files(table: Table) -> list[tuple[str, str, int, int, int]]:
    """Type, column, first row, last row and number of rows."""
    return sorted(
        (
            str(row["index_type"]),
            str(row["index_field_name"]),
            int(str(row["row_range_start"])),
            int(str(row["row_range_end"])),
            int(str(row["row_count"])),
        )
        for row in table.inspect.system_table("table_indexes").to_arrow().to_pylist()
        if row["row_range_start"] is not None  # a deletion vector has no rows
    )


@pytest.mark.usefixtures("text_package")
def test_words_are_found_the_best_rows_first() -> None:
    table = texts(*TEXTS)
    assert table.maintenance.create_global_index("s", "full-text").row_count == 6
    found = table.search("s", "hello")
    assert found.schema.names == ["id", "s", "p", "_SCORE"]
    assert ids(found) == [5, 0, 2]
    scores = [float(str(row["_SCORE"])) for row in found.to_pylist()]
    assert scores == sorted(scores, reverse=True)
    assert ids(table.search("s", "hello", 1, columns=["id"])) == [5]
    assert ids(table.search("s", "hello foo", where="id < 3")) == [1, 0, 2]
    phrase = {"match_phrase": {"query": "bar hello", "column": "text"}}
    assert ids(table.search("s", phrase)) == [2]
    assert table.search("s", "nothing").num_rows == 0


@pytest.mark.usefixtures("text_package")
def test_new_rows_are_found_after_the_next_build() -> None:
    table = texts(*TEXTS)
    table.maintenance.create_global_index("s", "full-text")
    table.append([{"id": 9, "s": "hello again"}])
    assert 9 not in ids(table.search("s", "again hello"))
    assert table.maintenance.create_global_index("s", "full-text").row_count == 1
    assert table.maintenance.create_global_index("s", "full-text").files == ()
    assert 9 in ids(table.search("s", "again hello"))
    assert index_files(table) == [("full-text", "s", 0, 5, 6), ("full-text", "s", 6, 6, 1)]


@pytest.mark.usefixtures("text_package")
def test_deleted_rows_are_not_found() -> None:
    table = texts(*TEXTS, **{"deletion-vectors.enabled": "true"})
    table.maintenance.create_global_index("s", "full-text")
    table.delete("id = 5")
    assert ids(table.search("s", "hello", 2)) == [0, 2]
    table.overwrite([{"id": 7, "s": "other"}])
    with pytest.raises(NotFoundError, match="no index of type full-text"):
        table.search("s", "hello")


@pytest.mark.usefixtures("text_package")
def test_indexes_of_partitions_and_shards() -> None:
    table = texts(*TEXTS, partition_by="p", **{"global-index.row-count-per-shard": "2"})
    one = table.maintenance.create_global_index("s", "full-text", partitions={"p": 0})
    assert one.row_count == 3
    assert table.maintenance.create_global_index("s", "full-text").row_count == 3
    covered = [i for _, _, start, end, _ in index_files(table) for i in range(start, end + 1)]
    assert sorted(covered) == list(range(6))
    assert all(end - start < 2 for _, _, start, end, _ in index_files(table))
    assert sorted(ids(table.search("s", "hello"))) == [0, 2, 5]
    assert ids(table.search("s", "hello", where="p = 1")) == [5]


@pytest.mark.usefixtures("text_package")
def test_an_update_drops_or_refuses() -> None:
    table = texts(*TEXTS)
    table.maintenance.create_global_index("s", "full-text")
    with pytest.raises(UnsupportedFeatureError, match="has a global index"):
        table.update({"s": "'new'"}, where="id = 1")
    table.update({"id": "id + 10"}, where="id = 1")
    assert ids(table.search("s", "foo")) == [11]
    table.compact(full=True)
    assert ids(table.search("s", "foo")) == [11]
    assert len(table.maintenance.drop_global_index("s", "full-text").files) == 1
    with pytest.raises(NotFoundError):
        table.search("s", "foo")


@pytest.mark.usefixtures("text_package")
def test_options_of_full_text_indexes_are_checked() -> None:
    table = texts(*TEXTS, **{"full-text.tokenizer": "nope"})
    with pytest.raises(InvalidInputError, match="unsupported tokenizer 'nope'"):
        table.maintenance.create_global_index("s", "full-text")
    assert index_files(table) == []


@pytest.mark.usefixtures("text_package")
def test_texts_without_index_are_found_if_the_mode_says_so() -> None:
    table = texts(*TEXTS, **{"full-text-index.search-mode": "full"})
    assert ids(table.search("s", "hello")) == [5, 0, 2]
    best = table.search("s", "hello").column("_SCORE")
    table.maintenance.create_global_index("s", "full-text")
    assert table.search("s", "hello").column("_SCORE") == best
    table.append([{"id": 9, "s": "foo"}, {"id": 10, "s": None}])
    assert sorted(ids(table.search("s", "foo"))) == [1, 9]
    assert ids(table.search("s", "foo", where="id < 9")) == [1]
    table.set_options({"full-text-index.search-mode": "fast"})
    assert ids(table.search("s", "foo")) == [1]


@pytest.mark.usefixtures("text_package")
def test_scores_of_texts_without_index_do_not_depend_on_a_filter() -> None:
    options = {"global-index.search-mode": "full", "global-index.row-count-per-shard": "4"}
    table = texts(*TEXTS, **options)
    every = {row["id"]: row["_SCORE"] for row in table.search("s", "hello").to_pylist()}
    assert set(every) == {0, 2, 5}
    found = table.search("s", "hello", where="id > 1").to_pylist()
    assert {row["id"]: row["_SCORE"] for row in found} == {2: every[2], 5: every[5]}


@pytest.mark.usefixtures("vector_package")
def test_modes_of_vector_searches() -> None:
    table = vectors(20, **{"vector-index.search-mode": "detail", "fields.v.metric": "l2"})
    table.maintenance.create_global_index("v", "ivf-flat")
    table.append([{"id": 20, "v": [1.0, 2.0, 3.0, 4.0]}])
    assert ids(table.search("v", [1.0, 2, 3, 4], 1)) == [20]
    table.set_options({"vector-index.search-mode": "fast"})
    assert 20 not in ids(table.search("v", [1.0, 2, 3, 4], 30))
    table.set_options({"global-index.search-mode": "full"})
    assert 20 not in ids(table.search("v", [1.0, 2, 3, 4], 30))
    table.set_options({"vector-index.search-mode": None})
    assert 20 in ids(table.search("v", [1.0, 2, 3, 4], 30))


def scanned_vectors(kind: str = "ARRAY<FLOAT>", **options: str) -> Table:
    """Vectors that are found without an index."""
    return vectors(
        20, kind, **{"global-index.search-mode": "full", "fields.v.metric": "l2", **options}
    )


def test_vectors_are_found_without_index_and_package(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "paimon_vindex", None)
    for kind in ("ARRAY<FLOAT>", "VECTOR<FLOAT, 4>"):
        found = scanned_vectors(kind).search("v", [7.0, 1, -2, 0.5], 3)
        assert ids(found) == [7, 6, 8]
        assert found.column("_SCORE").to_pylist() == [1.0, 0.5, 0.5]


def test_several_vectors_are_searched_at_once() -> None:
    table = scanned_vectors()
    queries = [[7.0, 1, -2, 0.5], [0.0, 1, -2, 0.5]]
    expected = [(7, 0), (6, 0), (0, 1), (1, 1)]
    fixed = pa.array(queries, pa.list_(pa.float64(), 2 * 2))
    for given in (queries, np.array(queries), fixed, pa.chunked_array([fixed])):
        found = table.search("v", given, 2)
        assert found.schema.names == ["id", "v", "_QUERY", "_SCORE"]
        assert [(row["id"], row["_QUERY"]) for row in found.to_pylist()] == expected
    assert table.search("v", fixed[0], 2, columns=["id"]).schema.names == ["id", "_SCORE"]
    none = table.search("v", queries, columns=["id"], where="id < 0")
    assert none.schema.names == ["id", "_QUERY", "_SCORE"]


def test_vectors_of_other_dimensions_and_numbers() -> None:
    table = scanned_vectors()
    table.append([{"id": 20, "v": [float("nan"), 1, 1, 1]}, {"id": 21, "v": [1.0, None, 1, 1]}])
    assert {20, 21}.isdisjoint(ids(table.search("v", [1.0, 1, 1, 1], 100)))
    with pytest.raises(
        InvalidInputError, match=r"has 2 dimensions; in column 'v' the row .* has 4"
    ):
        table.search("v", [1.0, 2.0])
    wrongs: tuple[Any, ...] = (
        [],
        [[]],
        [[1.0], [1.0, 2.0]],
        [[[1.0]]],
        [None],
        ["1"],
        [True],
        [1e300],
        5,
        None,
    )
    for wrong in wrongs:
        with pytest.raises(InvalidInputError):
            table.search("v", wrong)
    for limit in (0, -1):
        with pytest.raises(InvalidInputError, match="limit"):
            table.search("v", [1.0], limit)
    with pytest.raises(InvalidInputError, match="needs a column of type VECTOR"):
        table.search("id", [1.0])
    with pytest.raises(InvalidInputError, match="needs a column of texts; 'id' is INT"):
        table.search("id", "a")
    table.set_options({"fields.v.metric": "manhattan"})
    with pytest.raises(InvalidInputError, match="metric of column 'v' must be one of"):
        table.search("v", [1.0, 1, 1, 1])


@pytest.mark.usefixtures("text_package")
def test_several_columns_are_searched_together() -> None:
    table = new_catalog().create_table(
        "db.t",
        {"id": "INT", "s": "STRING", "v": "VECTOR<FLOAT, 2>"},
        options={**OPTIONS, "global-index.search-mode": "full", "fields.v.metric": "l2"},
    )
    table.append([{"id": i, "s": text, "v": [i, 1]} for i, text in enumerate(TEXTS)])
    queries = {"s": "hello", "v": [1.0, 1.0]}  # 5, 0, 2 and 1, 0, 2

    def found(**more: Any) -> list[tuple[int, float]]:  # noqa: ANN401 - arguments of a search
        rows = table.search(queries, limit=3, **more).to_pylist()  # type: ignore[arg-type]
        return [(int(str(row["id"])), round(float(str(row["_SCORE"])), 4)) for row in rows]

    assert found() == [(0, round(2 / 62, 4)), (2, round(2 / 63, 4)), (1, round(1 / 61, 4))]
    assert found(ranker="mrr", weights={"s": 3}) == [(5, 3.0), (0, 2.0), (2, 1.3333)]
    assert found(ranker="weighted_score", candidates=1) == [(1, 1.0), (5, 1.0)]
    assert found(where="id = 2") == [(2, round(2 / 61, 4))]
    for wrong in (
        {"weights": {"x": 1}},
        {"weights": {"s": 0}},
        {"weights": {"s": "1"}},
        {"weights": {"s": float("inf")}},
        {"weights": {"s": float("nan")}},
        {"weights": [1]},
        {"ranker": "best"},
        {"candidates": 0},
        {"query": "hello"},
    ):
        with pytest.raises(InvalidInputError):
            found(**wrong)
    for columns in ({}, {"s": ["a"]}, {"v": [[1.0, 1.0]]}, {"zz": "a"}, {1: "a"}):
        with pytest.raises(InvalidInputError):
            table.search(columns)  # type: ignore[arg-type]
    for more in ({"weights": {"s": 1}}, {"ranker": "mrr"}, {"candidates": 3}):
        with pytest.raises(InvalidInputError, match="are for searches in several columns"):
            table.search("s", "hello", **more)


KEYED = {
    "bucket": "2",
    "deletion-vectors.enabled": "true",
    "pk-full-text.index.columns": "s",
    "pk-vector.index.columns": "v",
    "fields.v.pk-vector.index.type": "ivf-flat",
    "fields.v.pk-vector.distance.metric": "l2",
    "fields.v.pk-vector.index.options": '{"nlist": "1"}',
}


def keyed(**options: str) -> Table:
    return new_catalog().create_table(
        "db.t",
        {"id": "INT", "s": "STRING", "v": "VECTOR<FLOAT, 2>"},
        primary_key="id",
        options={**KEYED, **options},
    )


def numbered(*keys: int, text: str = "hello") -> list[dict[str, object]]:
    """Each third row has neither text nor vector."""
    return [
        {"id": i, "s": f"{text} {i}", "v": [float(i), 1.0]} if i % 3 else {"id": i} for i in keys
    ]


@pytest.mark.usefixtures("text_package", "vector_package")
def test_compactions_build_primary_key_indexes_that_searches_use() -> None:
    table = keyed()
    assert table.search("s", "hello").num_rows == 0
    table.upsert(numbered(*range(20)))
    table.upsert(numbered(*range(15, 40)))
    table.compact(full=True)
    assert ids(table.search("v", [20.2, 1.0], 2)) == [20, 19]
    assert ids(table.search("s", "22")) == [22]
    assert ids(table.search("v", [20.2, 1.0], 2, where="id < 20")) == [19, 17]
    assert ids(table.search({"s": "19", "v": [20.2, 1.0]}, limit=1)) == [19]
    before = index_files(table)
    assert {(kind, name) for kind, name, *_ in before} == {("full-text", "s"), ("ivf-flat", "v")}
    table.delete("id = 20")
    assert ids(table.search("v", [20.2, 1.0], 2)) == [19, 22]
    table.create_tag("old")
    table.upsert([{"id": 19, "s": "other", "v": [0.0, 0.0]}, {"id": 20, "v": [20.0, 1.0]}])
    table.compact(full=True)
    assert ids(table.search("v", [20.2, 1.0], 2)) == [20, 22]
    assert ids(table.search("s", "other")) == [19]
    assert ids(table.at("old").search("v", [20.2, 1.0], 2)) == [19, 22]
    assert list(table.maintenance.fsck(read_rows=True)) == []
    table.compact(full=True)
    assert ids(table.search("s", "other")) == [19]


@pytest.mark.usefixtures("text_package", "vector_package")
def test_rows_of_primary_key_tables_without_index_are_found_if_the_mode_says_so() -> None:
    table = keyed(**{"global-index.search-mode": "full", "fields.v.pk-vector.index.type": "x"})
    table.upsert(numbered(*range(20)))
    table.upsert([{"id": 19, "s": "other", "v": [0.0, 0.0]}])
    table.compact(full=True)
    assert {kind for kind, *_ in index_files(table)} == {"full-text"}
    assert ids(table.search("v", [19.0, 1.0], 2)) == [17, 16]
    assert ids(table.search("v", [0.0, 0.0], 1)) == [19]
    merged = new_catalog().create_table(
        "db.t",
        {"id": "INT", "v": "VECTOR<FLOAT, 2>"},
        primary_key="id",
        options={"global-index.search-mode": "full"},
    )
    with pytest.raises(NotFoundError, match=r"Set the option 'pk-vector\.index\.columns'"):
        merged.search("v", [1.0, 1.0])


@pytest.mark.usefixtures("text_package", "vector_package")
def test_primary_key_indexes_of_nulls_and_numbers_that_are_not_finite() -> None:
    table = keyed(bucket="1")
    table.upsert([{"id": 1}, {"id": 2}])
    table.compact(full=True)
    table.upsert([{"id": 3}])
    table.compact(full=True)
    assert [(kind, count) for kind, *_, count in index_files(table)] == [
        ("full-text", 3),
        ("ivf-flat", 0),
    ]
    assert table.search("v", [1.0, 1.0]).num_rows == 0
    assert table.search("s", "a").num_rows == 0
    table.upsert([{"id": 4, "v": [float("nan"), 1]}, {"id": 5, "s": "word", "v": [1, 1]}])
    table.compact(full=True)
    assert ids(table.search("v", [1.0, 1.0])) == [5]
    assert ids(table.search("s", "word")) == [5]


@pytest.mark.parametrize("module", ["paimon_ftindex", "paimon_vindex"])
def test_a_compaction_without_the_package_builds_no_such_index(
    module: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    need_module("paimon_ftindex", "paimon-ftindex")
    need_module("paimon_vindex", "paimon-vindex")
    monkeypatch.setitem(sys.modules, module, None)
    table = keyed(bucket="1")
    table.upsert(numbered(1, 2))
    table.upsert(numbered(2, 4))
    table.compact(full=True)
    built = {kind for kind, *_ in index_files(table)}
    assert built == ({"ivf-flat"} if module == "paimon_ftindex" else {"full-text"})


@pytest.mark.usefixtures("vector_package")
def test_index_files_of_different_metrics_are_refused() -> None:
    table = vectors(20, **{"fields.v.metric": "l2"})
    table.maintenance.create_global_index("v", "ivf-flat")
    table.set_options({"fields.v.metric": "cosine"})
    table.append([{"id": 20, "v": [1.0, 2.0, 3.0, 4.0]}])
    table.maintenance.create_global_index("v", "ivf-flat")
    with pytest.raises(UnsupportedFeatureError, match="different metrics, 'l2' and 'cosine'"):
        table.search("v", [1.0, 1, 1, 1])


@pytest.mark.usefixtures("text_package")
def test_damaged_full_text_indexes_and_wrong_queries() -> None:
    table = texts(*TEXTS)
    (name,) = table.maintenance.create_global_index("s", "full-text").files
    with pytest.raises(InvalidInputError, match="unknown variant"):
        table.search("s", {"nope": 1})
    path = table._store.paths.index(name)
    table._store.file_io.replace(path, table._store.file_io.read(path)[:-9])
    with pytest.raises(CorruptFileError, match=name):
        table.search("s", "hello")


@pytest.mark.usefixtures("vector_package")
@pytest.mark.parametrize("kind", VECTOR_TYPES)
@pytest.mark.parametrize("column", ["ARRAY<FLOAT>", "VECTOR<FLOAT, 4>"])
def test_the_nearest_vectors_are_found(kind: str, column: str) -> None:
    table = vectors(300, column, **{"fields.v.distance.metric": "l2"})
    report = table.maintenance.create_global_index("v", kind)
    assert (len(report.files), report.row_count) == (1, 300)
    found = table.search("v", [100.2, 1, -2, 0.5], 3, columns=["id"])
    assert ids(found)[0] == 100
    assert set(ids(found)) == {100, 101, 99}
    best = found.column("_SCORE").to_pylist()[0]
    assert best == pytest.approx(1 / 1.04, abs=0.05)
    assert ids(table.search("v", [100.2, 1, -2, 0.5], 1, where="id > 200")) == [201]


@pytest.mark.usefixtures("vector_package")
@pytest.mark.parametrize(
    ("metric", "query", "best"),
    [
        ("l2", [7.0, 1, -2, 0.5], 7),
        ("inner_product", [1.0, 0, 0, 0], 19),
        ("cosine", [0.0, 1, -2, 0.5], 0),
    ],
)
def test_metrics(metric: str, query: Sequence[float], best: int) -> None:
    table = vectors(20, **{"ivf-flat.metric": metric, "ivf-flat.nlist": "1"})
    table.maintenance.create_global_index("v", "ivf-flat")
    assert ids(table.search("v", query, 1)) == [best]


@pytest.mark.usefixtures("vector_package")
def test_vectors_that_cannot_be_indexed_or_searched() -> None:
    table = vectors(20)
    with pytest.raises(InvalidInputError, match=r"cannot be built: .*nlist"):
        _with_option(table, "ivf-flat.nlist", "x").maintenance.create_global_index("v", "ivf-flat")
    table.append([{"id": 20, "v": [1.0]}])
    with pytest.raises(InvalidInputError, match=r"row 20 .* has 1 elements, but the .* has 4"):
        table.maintenance.create_global_index("v", "ivf-flat")
    table = vectors(20)
    table.append([{"id": 20, "v": [1.0, 2.0, float("nan"), 0.0]}])
    with pytest.raises(InvalidInputError, match=r"row 20 .* not a finite number"):
        table.maintenance.create_global_index("v", "ivf-flat")
    table = vectors(20)
    table.maintenance.create_global_index("v", "ivf-flat")
    with pytest.raises(InvalidInputError, match="2 dimensions; those of the index have 4"):
        table.search("v", [1.0, 2.0])
    with pytest.raises(InvalidInputError, match="finite numbers"):
        table.search("v", [1.0, float("inf"), 0, 0])


def _with_option(table: Table, key: str, value: str) -> Table:
    table.set_options({key: value})
    return table


@pytest.mark.usefixtures("vector_package")
def test_columns_of_nulls_have_no_index_files() -> None:
    table = new_catalog().create_table("db.t", {"id": "INT", "v": "ARRAY<FLOAT>"}, options=OPTIONS)
    table.append([{"id": 1}])
    assert table.maintenance.create_global_index("v", "ivf-flat").files == ()


@pytest.mark.usefixtures("vector_package")
def test_damaged_vector_indexes() -> None:
    table = vectors(20)
    (name,) = table.maintenance.create_global_index("v", "ivf-flat").files
    path = table._store.paths.index(name)
    table._store.file_io.replace(path, b"\0" * 10)
    with pytest.raises(CorruptFileError, match=name):
        table.search("v", [1.0, 2.0, 3.0, 4.0])


def test_columns_that_cannot_be_searched_are_named() -> None:
    table = texts("a")
    with pytest.raises(InvalidInputError, match="Column 'zz' does not exist"):
        table.search("zz", "a")
    with pytest.raises(NotFoundError, match="'s' has no index of type full-text"):
        table.search("s", "a")
    with pytest.raises(NotFoundError, match="'s' has no index of type ivf-flat or"):
        table.search("s", [1.0])
    with pytest.raises(InvalidInputError, match="needs a column of texts; 'id' is INT"):
        table.maintenance.create_global_index("id", "full-text")
    with pytest.raises(InvalidInputError, match=r"column of type VECTOR<FLOAT, n> or ARRAY<FLOAT>"):
        table.maintenance.create_global_index("s", "ivf-pq")


@pytest.mark.parametrize(
    ("kind", "reason"),
    [
        ("multivalue", "Only pypaimon-rust and Java after 2.0"),
        ("fm", "format is not published"),
        ("lumina", "a vector index of another type"),
        ("xyz", "Supported: 'btree', 'bitmap', 'full-text'"),
    ],
)
def test_other_types_are_refused_with_the_reason(kind: str, reason: str) -> None:
    with pytest.raises(UnsupportedFeatureError, match=f"type '{kind}' is not supported.*{reason}"):
        texts("a").maintenance.create_global_index("s", kind)


@pytest.mark.parametrize(
    ("module", "extra", "kind"),
    [("paimon_ftindex", "full-text", "full-text"), ("paimon_vindex", "vindex", "ivf-flat")],
)
def test_a_missing_package_is_named(
    module: str, extra: str, kind: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("full_text_file", "vector_file"):
        monkeypatch.delitem(
            sys.modules, f"paimon_explore.encoding.global_index.{name}", raising=False
        )
    package = sys.modules.get("paimon_explore.encoding.global_index")
    for name in ("full_text_file", "vector_file"):
        monkeypatch.delattr(package, name, raising=False)
    monkeypatch.setitem(sys.modules, module, None)
    table = texts("a") if kind == "full-text" else vectors(3)
    needs = rf"without the package {module}.*explore\[{extra}\]"
    with pytest.raises(UnsupportedFeatureError, match=needs):
        table.maintenance.create_global_index("s" if kind == "full-text" else "v", kind)
    assert index_files(table) == []
