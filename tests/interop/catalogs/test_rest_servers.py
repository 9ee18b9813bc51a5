"""REST servers of Paimon 2.0.0 and 1.4.2: races, partitions, functions, and refusals."""

import pytest

from catalogs.homes import Home, Homes
from paimon_explore import Catalog
from paimon_explore.errors import (
    AccessDeniedError,
    AlreadyExistsError,
    InvalidInputError,
    NotFoundError,
    UnsupportedFeatureError,
)
from paimon_explore.metastore.identifier import plain_identifier
from paimon_explore.metastore.view_values import FunctionAction, FunctionChange, FunctionInfo
from peers import Peers

COLUMNS = {"id": "BIGINT NOT NULL", "by": "INT"}


@pytest.fixture(params=["rest-2.0.0", "rest-1.4.2"], scope="module")
def home(request: pytest.FixtureRequest, homes: Homes) -> Home:
    """Each server in turn."""
    name: str = request.param
    found = homes.get(name)
    found.catalog.create_database("served", if_not_exists=True)
    return found


def test_partitions_are_kept_by_the_server(home: Home) -> None:
    table = home.catalog.create_table(
        "served.parts",
        {"id": "INT", "dt": "STRING", "hour": "INT"},
        partition_by=["dt", "hour"],
        options={"metastore.partitioned-table": True},
    )
    table.append([{"id": 1, "dt": "a", "hour": 1}, {"id": 2, "dt": "b", "hour": 2}])
    table.append([{"id": 3, "dt": "b", "hour": 2}])
    found = home.catalog.partitions("served.parts")
    assert found is not None
    counts = {tuple(one.statistics.spec.values()): one.statistics.record_count for one in found}
    assert counts == {("a", "1"): 1, ("b", "2"): 2}
    told = {tuple(one["spec"].values()): one for one in home.java.partitions("served.parts")}
    assert {spec: one["record_count"] for spec, one in told.items()} == counts
    sizes = {
        tuple(one.statistics.spec.values()): one.statistics.file_size_in_bytes for one in found
    }
    assert {spec: one["file_size_in_bytes"] for spec, one in told.items()} == sizes
    table.drop_partitions({"dt": "b", "hour": 2})
    left = home.catalog.partitions("served.parts")
    assert left is not None
    assert [one.statistics.spec for one in left] == [{"dt": "a", "hour": "1"}]
    home.catalog._metastore.mark_partitions_done(
        plain_identifier("served.parts"), [{"dt": "a", "hour": "1"}]
    )
    home.catalog.create_table("served.plain", {"id": "INT", "dt": "STRING"}, partition_by="dt")
    assert home.catalog.partitions("served.plain") is None
    with pytest.raises(UnsupportedFeatureError):
        home.catalog._metastore.mark_partitions_done(
            plain_identifier("served.plain"), [{"dt": "a"}]
        )


def test_functions_are_created_listed_and_dropped(home: Home) -> None:
    catalog = home.catalog
    definition = {"type": "lambda", "definition": "x -> x + 1", "language": "JAVA"}
    given = FunctionInfo(definitions={"spark": definition}, comment="adds one", options={"a": "1"})
    catalog.create_function("served.plus", given)
    assert catalog.functions("served") == ["plus"]
    assert catalog.function("served.plus") == given
    with pytest.raises(AlreadyExistsError, match="'plus'"):
        catalog.create_function("served.plus", given)
    catalog.create_function("served.plus", given, if_not_exists=True)
    changed = {**definition, "definition": "x -> x + 2"}
    catalog.alter_function(
        "served.plus",
        FunctionChange(action=FunctionAction.UPDATE_DEFINITION, key="spark", definition=changed),
        FunctionChange(action=FunctionAction.ADD_DEFINITION, key="flink", definition=definition),
        FunctionChange(action=FunctionAction.SET_OPTION, key="b", value="2"),
        FunctionChange(action=FunctionAction.REMOVE_OPTION, key="a"),
        FunctionChange(action=FunctionAction.UPDATE_COMMENT, value="adds two"),
    )
    assert catalog.function("served.plus") == FunctionInfo(
        definitions={"spark": changed, "flink": definition}, comment="adds two", options={"b": "2"}
    )
    catalog.drop_function("served.plus")
    assert catalog.functions("served") == []
    with pytest.raises(NotFoundError, match="'plus'"):
        catalog.function("served.plus")


def test_wrong_credentials_are_refused(home: Home) -> None:
    wrong = {"token": "wrong", "dlf.access-key-secret": "wrong"}
    options = {key: wrong.get(key, text) for key, text in home.options.items()}
    with pytest.raises(AccessDeniedError, match="401"):
        Catalog(options=options)
    with pytest.raises(NotFoundError, match="Warehouse 'other'"):
        Catalog(options={**home.options, "warehouse": "other"})


def test_changes_that_the_server_refuses_are_told(home: Home) -> None:
    table = home.catalog.create_table("served.refusing", COLUMNS)
    table.append([{"id": 1, "by": 1}])
    with pytest.raises(NotFoundError, match="9"):
        table.rollback_to(9)
    with pytest.raises(NotFoundError, match="'nine'"):
        table.rollback_to(tag="nine")
    with pytest.raises(NotFoundError, match="'nine'"):
        table.create_branch("b", "nine")
    with pytest.raises(InvalidInputError):
        table.set_options({"bucket": "x"})
    with pytest.raises(NotFoundError, match="'nowhere'"):
        table.drop_column("nowhere")
    assert home.catalog.table("served.refusing").count() == 1


def test_pypaimon_rust_reads_and_lists_what_we_wrote(home: Home, peers: Peers) -> None:
    home.catalog.create_table("served.rust", COLUMNS).append([{"id": 1, "by": 1}])
    found = peers.read("rust", home.options, "served.rust")
    assert found.to_pylist() == [{"id": 1, "by": 1}]


def test_format_tables_are_created_by_the_server(home: Home) -> None:
    columns = {"id": "BIGINT", "v": "STRING", "day": "STRING"}
    made = home.catalog.create_format_table("served.files", columns, "parquet", partition_by="day")
    rows: list[dict[str, object]] = [
        {"id": 1, "v": "a", "day": "x"},
        {"id": 2, "v": None, "day": "y"},
    ]
    made.append(rows)
    assert "files" in home.catalog.tables("served")
    opened = home.catalog.format_table("served.files")
    assert (opened.file_format, opened.partitions()) == ("parquet", [{"day": "x"}, {"day": "y"}])
    assert opened.to_arrow().to_pylist() == rows
    with pytest.raises(AlreadyExistsError):
        home.catalog.create_format_table("served.files", columns, "parquet")
    assert home.java.read("served.files").sort_by("id").to_pylist() == rows
    home.catalog.drop_table("served.files")
