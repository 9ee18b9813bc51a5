"""A partition is found by its values and by its text, whatever the values are."""

from itertools import product

import pyarrow as pa
import pytest

from paimon_explore.errors import InvalidInputError
from paimon_explore.inspection.partition_argument import parse_partition, resolve_partition
from support.odd_names import ODD_PARTITION_VALUES
from support.small_tables import append_table, columns

COLUMNS = columns(id=pa.int32(), p=pa.string(), q=pa.string())
VALUES = (*ODD_PARTITION_VALUES, None)


def test_every_partition_is_found_by_its_values_and_by_its_text() -> None:
    rows = [{"id": at, "p": value, "q": "x"} for at, value in enumerate(VALUES)]
    table = append_table(COLUMNS, rows, partition_by=["p", "q"])
    texts = table.partitions().to_arrow()["partition"].to_pylist()
    assert len(set(texts)) == len(rows)
    for row in rows:
        given = {"p": row["p"], "q": "x"}
        assert table.rows(partition=given).to_arrow().to_pylist() == [row]
    by_text = [table.rows(partition=text).to_arrow().to_pylist() for text in texts]
    assert sorted(row["id"] for (row,) in by_text) == list(range(len(rows)))


def test_values_that_look_like_another_partition_are_quoted() -> None:
    pairs = list(product((None, "null", "a", "a/q=b", "'"), (None, "null", "b/q=c", "c")))
    rows = [{"id": at, "p": p, "q": q} for at, (p, q) in enumerate(pairs)]
    table = append_table(COLUMNS, rows, partition_by=["p", "q"])
    texts = table.partitions().to_arrow()["partition"].to_pylist()
    assert len(set(texts)) == len(pairs)
    assert {"p=null/q=null", "p='null'/q=c", "p='a/q=b'/q=c", "p=''''/q='b/q=c'"} <= set(texts)
    for row in rows:
        found = table.rows(partition=(row["p"], row["q"])).to_arrow().to_pylist()
        assert found == [row]


@pytest.mark.parametrize(
    ("text", "values"),
    [
        ("dt=d1/h=3", {"dt": "d1", "h": "3"}),
        ("dt = d1 , h = 3", {"dt": "d1", "h": "3"}),
        ("h=3, dt=d1", {"dt": "d1", "h": "3"}),
        ("dt='d1'/h=\"3\"", {"dt": "d1", "h": "3"}),
        ("dt=a/b, c/h=x=y", {"dt": "a/b, c", "h": "x=y"}),
        ("dt=null/h='null'", {"dt": None, "h": "null"}),
        ("dt='it''s'/h=", {"dt": "it's", "h": ""}),
        ("nothing=1", {"nothing": "1"}),
        ("nothing", {"nothing": ""}),
    ],
)
def test_texts_of_partitions_are_parsed(text: str, values: dict[str, str | None]) -> None:
    assert parse_partition(text, ["dt", "h"]) == values


def test_the_value_of_the_only_column_is_taken_as_it_is() -> None:
    assert parse_partition(" a/b", ["a=b"]) == {"a=b": " a/b"}
    assert parse_partition("a=b=c=d", ["a=b"]) == {"a=b": "c=d"}
    assert resolve_partition("a/b", ["p"], ["p='a/b'"]) == "p='a/b'"
    assert resolve_partition("p=a/b", ["p"], ["p='a/b'"]) == "p='a/b'"
    with pytest.raises(InvalidInputError, match="must have a value for each"):
        resolve_partition("q=1", ["p"], ["p=1"])
