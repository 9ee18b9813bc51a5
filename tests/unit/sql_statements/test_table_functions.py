"""Searches and changes as table functions, which return what the methods of tables return."""

import shutil
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest

import paimon_explore as pe
from paimon_explore.errors import InvalidInputError, NotFoundError, UnsupportedFeatureError
from support.optional_formats import need_module
from support.small_tables import new_catalog

OPTIONS = {"row-tracking.enabled": "true", "data-evolution.enabled": "true"}
SCORE = "__paimon_search_score"
QUERY = [3.0, 1.0]
NEAR = "vector_search('t', 'v', array(3.0f, 1.0f), {})"
Run = Callable[..., pa.Table]


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A warehouse with numbered texts and points on a line, with their indexes."""
    need_module("paimon_vindex", "paimon-vindex")
    need_module("paimon_ftindex", "paimon-ftindex")
    folder = tmp_path_factory.mktemp("built")
    types = {"id": "INT", "s": "STRING", "v": "ARRAY<FLOAT>"}
    made = new_catalog(folder).create_table(
        "db.t", types, options={**OPTIONS, "fields.v.metric": "l2"}
    )
    texts = ["red shoes", "blue shoes", None, "red red hat"]
    made.append([{"id": i, "s": texts[i % 4], "v": [float(i), 1.0]} for i in range(20)])
    made.maintenance.create_global_index("v", "ivf-flat")
    made.maintenance.create_global_index("s", "full-text")
    return folder


@pytest.fixture
def table(built: Path, tmp_path: Path) -> pe.Table:
    """A copy of the table."""
    shutil.copytree(built, tmp_path, dirs_exist_ok=True)
    return pe.open_table(tmp_path / "db.db" / "t")


@pytest.fixture
def run(table: pe.Table) -> Run:
    def rows(text: str, **settings: object) -> pa.Table:
        return pe.sql(text, t=table, **settings).to_arrow()  # type: ignore[arg-type]  # as given

    return rows


def select(items: str, source: str) -> str:
    return f"SELECT {items} FROM {source}"  # noqa: S608 - the test's own text


def in_sql(found: pa.Table) -> pa.Table:
    return found.rename_columns([SCORE if n == "_SCORE" else n for n in found.column_names])


SEARCHES: dict[str, Callable[[pe.Table], pa.Table]] = {
    NEAR.format(4): lambda t: t.search("v", QUERY, 4),
    "vector_search('t', 'v', array(3, 1.0), 4L, map('ivf.nprobe', '2'))": (
        lambda t: t.search("v", QUERY, 4, options={"ivf.nprobe": 2})
    ),
    "vector_search('t', 'v', array(3D, 1D), 4, 'ivf.nprobe=2')": (
        lambda t: t.search("v", QUERY, 4, options={"ivf.nprobe": 2})
    ),
    "full_text_search('t', 's', 'red hat', 6)": lambda t: t.search("s", "red hat", 6),
    """full_text_search('t', 's', '{"match": {"query": "shoes"}}', 3)""": (
        lambda t: t.search("s", {"match": {"query": "shoes"}}, 3)
    ),
    "hybrid_search('t', array(named_struct('field', 'v', 'query_vector', array(3.0f, 1.0f))), "
    "array(named_struct('column', 's', 'query', 'red', 'weight', 2.0f, 'options', map())), 5)": (
        lambda t: t.search({"v": QUERY, "s": "red"}, limit=5, weights={"s": 2.0})
    ),
    "hybrid_search('t', array(named_struct('vector_column', 'v', 'query_vector', array(3f, 1f), "
    "'limit', 9, 'options', map('ivf.nprobe', '99'))), "
    "array(named_struct('column', 's', 'query', 'red', 'limit', 9)), 5, 'weighted_score')": (
        lambda t: t.search({"v": QUERY, "s": "red"}, limit=5, candidates=9, ranker="weighted_score")
    ),
}


@pytest.mark.parametrize("function", SEARCHES)
def test_a_function_finds_what_the_method_finds(table: pe.Table, run: Run, function: str) -> None:
    expected = in_sql(SEARCHES[function](table))
    assert expected.num_rows
    found = run(select(f"*, {SCORE}", function))
    assert found.column_names == expected.column_names
    assert found.to_pylist() == expected.to_pylist()


def test_only_a_query_that_names_the_score_gets_it(run: Run) -> None:
    near = NEAR.format(2)
    every = select(f"*, {SCORE}", near)
    texts = {
        select("*", near): ["id", "s", "v"],
        select("n.*", f"{near} n ORDER BY {SCORE}"): ["id", "s", "v"],
        select(f"* EXCEPT (v), {SCORE}", near): ["id", "s", SCORE],
        select(SCORE, near): [SCORE],
        select("*", f"({select(f'id, {SCORE} AS score', near)})"): ["id", "score"],
        f"WITH n AS ({every}) {select('*', 'n')}": ["id", "s", "v", SCORE],
    }
    assert {text: run(text).column_names for text in texts} == texts
    assert run(select("count(*) AS n", near)).to_pylist() == [{"n": 2}]
    text = select(f"* EXCLUDE (v), {SCORE}", near)
    assert run(text, dialect="duckdb").column_names == ["id", "s", SCORE]


@pytest.mark.parametrize("column", ["id", "n.id", "t.id"])
def test_a_condition_applies_before_rows_are_ranked(table: pe.Table, run: Run, column: str) -> None:
    alias = " n" if column == "n.id" else ""
    text = select("id", f"{NEAR.format(3)}{alias} WHERE {column} > 7")
    expected = table.search("v", QUERY, 3, columns=["id"], where="id > 7")
    assert run(text).column("id").to_pylist() == expected.column("id").to_pylist() == [8, 9, 10]
    beyond = select("id", f"{NEAR.format(3)} WHERE {SCORE} > 0.9 AND id > 2")
    assert run(beyond).column("id").to_pylist() == [3]


def test_a_search_is_joined_like_a_table(run: Run) -> None:
    found = run(select("t.id", f"{NEAR.format(2)} n JOIN t ON t.id = n.id + 1 ORDER BY 1"))
    assert found.column("id").to_pylist() == [3, 4]


def test_a_search_reads_branches_and_points_in_time(table: pe.Table, run: Run) -> None:
    table.create_tag("v1")
    table.create_branch("b", "v1")
    table.overwrite([{"id": 7, "s": "new", "v": [7.0, 1.0]}])
    table.maintenance.create_global_index("v", "ivf-flat")
    assert run(select("id", NEAR.format(1))).to_pylist() != [{"id": 3}]
    old = pe.sql(select("id", NEAR.format(1)), t=table.at(tag="v1")).to_arrow()
    assert old.to_pylist() == [{"id": 3}]
    catalog = pe.Catalog(table.path.rpartition("/db.db/")[0])
    text = select("id", NEAR.format(1)).replace("'t'", "'db.t$branch_b'")
    assert catalog.sql(text).to_arrow().to_pylist() == [{"id": 3}]


PARAMETERS: dict[str, object] = {
    "SELECT id FROM vector_search(:t, :column, :vector, :most) WHERE id < :end": {
        "t": "t",
        "column": "v",
        "vector": np.array(QUERY, np.float32),
        "most": 2,
        "end": 3,
    },
    "SELECT id FROM vector_search('t', 'v', ?, ?) WHERE id < ?": [QUERY, 2, 3],
    "SELECT id FROM (SELECT ? AS a) JOIN vector_search('t', 'v', ?, ?) WHERE id < ?": [
        "a",
        QUERY,
        3,
        3,
    ],
}


@pytest.mark.parametrize("text", PARAMETERS)
def test_arguments_may_be_parameters(run: Run, text: str) -> None:
    assert run(text, parameters=PARAMETERS[text]).column("id").to_pylist()[:1] == [2]


def test_points_in_time_and_ends_of_increments_may_be_parameters(table: pe.Table, run: Run) -> None:
    table.append([{"id": 99, "s": "new", "v": [0.0, 0.0]}])
    new = table.snapshots.latest().id  # type: ignore[union-attr]  # there is one
    for text, args in {
        "SELECT id FROM paimon_incremental_query('t', :start, :end) WHERE id > :least": {
            "start": new - 1,
            "end": new,
            "least": 0,
        },
        "SELECT id FROM t VERSION AS OF :v WHERE id > :least": {"v": new, "least": 98},
    }.items():
        assert run(text, parameters=args).to_pylist() == [{"id": 99}]
    counted = run("SELECT ? AS a, count(*) AS n FROM t VERSION AS OF ?", parameters=["a", 1])
    assert counted.to_pylist() == [{"a": "a", "n": 20}]
    with pytest.raises(InvalidInputError, match="has 1 parameters, but 2 values"):
        run("SELECT * FROM t VERSION AS OF ?", parameters=[1, 2])


REFUSED = {
    "vector_search('t', 'v', array(1f, 1f))": r"requires 4 or 5 arguments.* 3 \(line 1, column 15",
    "full_text_search('t', 's')": r"requires 4 arguments, but the query passes 2 \(line 1, col",
    "hybrid_search('t', array(), array(), 1, 'rrf', 2)": r"4 or 5 arguments.* 6 \(line 1, col",
    "paimon_incremental_query('t', 1)": r"requires 3 arguments, .* 2 \(line 1, column 15",
    "paimon_incremental_to_auto_tag('t', 'a', 'b')": r"requires 2 arguments, .* 3 \(line 1",
    "vector_search('t', 'w', array(1f, 1f), 3)": r"no column 'w' \(line 1, column 34",
    "full_text_search('t', 'w', 'x', 3)": r"no column 'w' \(line 1, column 37",
    "vector_search('t', 'v', 'words', 3)": r"must be an array of numbers, not 'words' \(line 1",
    "vector_search('t', 'v', array(array(1f, 1f)), 3)": "must be an array of numbers",
    "vector_search('t', 'v', array(1f), 3)": "1 dimensions; those of the index have 2",
    "vector_search('t', 'v', array(1f, 1f), 0)": r"limit must be .* at least 1.*\(line 1",
    "vector_search('t', 'v', array(1f, 1f), '3')": "limit",
    "vector_search('t', 'v', array(1f, 1f), 3, map('ivf.x', '1'))": "'ivf.x' is not valid",
    "vector_search('t', 'v', array(1f, 1f), 3, 'diskann.l_search=9')": "of type ivf_flat",
    "vector_search('t', 'v', array(1f, 1f), 3, 'ivf.nprobe=0')": "must be a positive integer",
    "full_text_search('t', 's', array(1f), 3)": "query",
    "hybrid_search('t', 'v', array(), 3)": r"takes an array of routes.*named_struct",
    "hybrid_search('t', array(), array(), 3)": "list of searches is empty",
    "hybrid_search('t', array(), array(named_struct('field', 's', 'query', 'x')), 3)": (
        "cannot have 'field'.*"
    ),
    "hybrid_search('t', array(), array(named_struct('column', 's', 'query', 'x', "
    "'options', map('a', 'b'))), 3)": "takes no options",
    "hybrid_search('t', array(), array(named_struct('column', 's', 'query', 'x', 'weight', 0)), "
    "3)": "must be positive numbers",
    "hybrid_search('t', array(), array(named_struct('column', 's', 'query', 'x')), 3, 'best')": (
        "ranker must be one of"
    ),
}


@pytest.mark.parametrize("function", REFUSED)
def test_arguments_that_are_wrong_are_named_with_their_place(run: Run, function: str) -> None:
    with pytest.raises(InvalidInputError, match=REFUSED[function]):
        run(select("*", function))


def test_what_has_no_index_or_no_rows_to_search_is_refused(table: pe.Table, run: Run) -> None:
    table.maintenance.drop_global_index("v", "ivf-flat")
    with pytest.raises(NotFoundError, match="Column 'v' has no index"):
        run(select("*", NEAR.format(1)))
    lateral = "SELECT * FROM t q, LATERAL (SELECT * FROM vector_search('t', 'v', q.v, 1))"
    with pytest.raises(InvalidInputError, match=r"argument q\.v of vector_search is not a const"):
        run(lateral)
    with pytest.raises(UnsupportedFeatureError, match="over the system table"):
        run("SELECT * FROM vector_search('t$files', 'v', array(1f, 1f), 1)")
