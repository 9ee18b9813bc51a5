"""Full-text and vector indexes: built, dropped and searched."""

import sys
from collections.abc import Sequence

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
def test_modes_that_search_rows_without_index_are_refused_if_there_are_any() -> None:
    table = texts(*TEXTS, **{"full-text-index.search-mode": "full"})
    table.maintenance.create_global_index("s", "full-text")
    assert ids(table.search("s", "foo")) == [1]
    table.append([{"id": 9, "s": "foo"}])
    with pytest.raises(UnsupportedFeatureError, match=r"rows without index \(1\).*'full'"):
        table.search("s", "foo")
    assert ids(table.search("s", "foo", where="id < 9")) == [1]


@pytest.mark.usefixtures("vector_package")
def test_modes_of_vector_searches() -> None:
    table = vectors(20, **{"vector-index.search-mode": "detail"})
    table.maintenance.create_global_index("v", "ivf-flat")
    assert table.search("v", [1.0, 1, 1, 1], 2, where="v IS NOT NULL").num_rows == 2
    table.append([{"id": 20, "v": [1.0, 2.0, 3.0, 4.0]}])
    with pytest.raises(UnsupportedFeatureError, match=r"rows without index \(1\).*'detail'"):
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
    with pytest.raises(InvalidInputError, match=r"must have 4 dimensions; row 20 .* has 1"):
        table.maintenance.create_global_index("v", "ivf-flat")
    table = vectors(20)
    table.append([{"id": 20, "v": [1.0, 2.0, float("nan"), 0.0]}])
    with pytest.raises(InvalidInputError, match="finite numbers; row 20"):
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
