"""Daft reads tables through its adapter; it runs in the environment of the peers."""

import json
from pathlib import Path

import pyarrow as pa
import pytest

from paimon_explore import Table
from peers import PeersMissingError, run_by_peers
from support.required import lacking
from support.small_tables import columns, new_catalog

pytestmark = pytest.mark.interop

QUERIES = """
import json

import daft
import paimon_explore as pe

table = pe.open_table(PATH)
n, p = daft.col("id"), daft.col("p")
filters = {
    "and": (n < 6) & (p == "a"),
    "or": n.is_in([1, 2, 3]) | n.between(20, 21),
    "null": p.is_null(),
    "function": p.upper() == "B",
    "not": ~(n == 4),
}
found = {
    name: sorted(table.scan().to_daft().where(where).select("id").to_pydict()["id"])
    for name, where in filters.items()
}
found["count"] = table.scan().to_daft().count_rows()
found["all"] = sorted(table.scan().to_daft().to_pydict()["id"])
found["limit"] = table.scan().to_daft().limit(5).count_rows()
few = table.scan().to_daft().where(filters["and"]).select("weight")
found["weights"] = sorted(few.to_pydict()["weight"])
found["earlier"] = table.at(1).scan(["id"], "id < 9", 3).to_daft().count_rows()
print(json.dumps(found))
"""


@pytest.fixture(name="table")
def make_table(tmp_path: Path) -> Table:
    """Six files of four rows, in two partitions, of three commits."""
    schema = columns(p=pa.string(), id=pa.int32(), weight=pa.float64())
    table = new_catalog(tmp_path).create_table("db.t", schema, partition_by=["p"])
    for first in (0, 8, 16):
        table.append(
            [{"p": "ab"[n % 2], "id": n, "weight": n / 2} for n in range(first, first + 8)]
        )
    return table


def test_daft_pushes_columns_filters_and_limits(table: Table, tmp_path: Path) -> None:
    try:
        printed = run_by_peers(QUERIES.replace("PATH", repr(table.path)), tmp_path)
    except PeersMissingError as error:
        lacking("peers", str(error))
    assert json.loads(printed) == {
        "and": [0, 2, 4],
        "or": [1, 2, 3, 20, 21],
        "null": [],
        "function": list(range(1, 24, 2)),
        "not": [n for n in range(24) if n != 4],
        "count": 24,
        "all": list(range(24)),
        "limit": 5,
        "weights": [0.0, 1.0, 2.0],
        "earlier": 3,
    }
