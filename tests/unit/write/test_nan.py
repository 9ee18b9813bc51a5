import math
from collections.abc import Callable, Mapping
from pathlib import Path

import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from paimon_explore import Table
from paimon_explore.errors import InvalidInputError
from support.lifecycle import keyed_table

Given = list[dict[str, object]]
ACTS: Mapping[str, Callable[[Table, Given], object]] = {
    "upsert": lambda table, rows: table.upsert(rows),
    "overwrite": lambda table, rows: table.overwrite(rows),
    "update": lambda table, rows: table.update(
        {name: value for name, value in rows[0].items() if name != "k"}, where="k = 1"
    ),
    "merge": lambda table, rows: (
        table.merge(rows, on="k")
        .when_matched_update({name: f"source.{name}" for name in rows[0] if name != "k"})
        .execute()
    ),
}


def table_of(folder: Path) -> Table:
    table = keyed_table(folder)
    for name, kind in (("n", "BIGINT"), ("x", "DOUBLE"), ("d", "DECIMAL(9, 2)")):
        table.add_column(name, kind)
    table.upsert([{"k": 1, "n": 1, "x": 1.0}])
    return table


@pytest.mark.parametrize("act", ACTS)
def test_nan_is_kept_in_double_and_refused_elsewhere_by_every_write(
    tmp_path: Path, act: str
) -> None:
    table = table_of(tmp_path)
    for name in ("n", "d", "v"):
        before = table._store.snapshots.latest_id()
        with pytest.raises(InvalidInputError, match="For a missing value pass None") as caught:
            ACTS[act](table, [{"k": 1, name: math.nan}])
        assert name in str(caught.value)
        assert table._store.snapshots.latest_id() == before
    ACTS[act](table, [{"k": 1, "n": 2, "d": None, "x": math.nan}])
    (row,) = table.to_arrow().select(["n", "x"]).to_pylist()
    assert row["n"] == 2
    assert math.isnan(row["x"])


def test_missing_values_of_data_frames_are_null(tmp_path: Path) -> None:
    table = table_of(tmp_path)
    table.overwrite(pd.DataFrame({"k": [1, 2], "n": [None, 2.0], "x": [None, 2.0]}))
    wanted = [(1, None, None), (2, 2, 2.0)]
    rows = table.to_arrow().sort_by("k").select(["k", "n", "x"]).to_pylist()
    assert [tuple(row.values()) for row in rows] == wanted
    table.overwrite(pl.DataFrame({"k": [1, 2], "n": [None, 2.0], "x": [None, 2.0]}))
    rows = table.to_arrow().sort_by("k").select(["k", "n", "x"]).to_pylist()
    assert [tuple(row.values()) for row in rows] == wanted
    with pytest.raises(InvalidInputError, match=r"fill_nan\(None\)"):
        table.overwrite(pl.DataFrame({"k": [1], "n": [math.nan]}))
    with pytest.raises(InvalidInputError, match="from_pandas=True"):
        table.overwrite(pa.table({"k": [1], "n": [math.nan]}))
