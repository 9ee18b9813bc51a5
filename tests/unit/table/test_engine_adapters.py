"""Parts of scans, and the adapters over them: Arrow's protocols, PyTorch, Ray, Daft."""

import pickle
import sys
from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from importlib import import_module
from typing import Any

import duckdb
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from paimon_explore import Table
from paimon_explore.errors import InvalidInputError
from paimon_explore.table.engine_scans.scan_part import shares
from paimon_explore.table.engine_scans.torch_arguments import resized, shuffled
from paimon_explore.table.scan import Scan
from support import torch_stub
from support.small_tables import append_table, columns, keyed_table, new_catalog

SCHEMA = columns(p=pa.string(), id=pa.int32(), weight=pa.float64())
IDS = list(range(24))


def rows(first: int) -> list[dict[str, object]]:
    return [{"p": "ab"[n % 2], "id": n, "weight": n / 2} for n in range(first, first + 8)]


@pytest.fixture(name="table", scope="module")
def make_table(tmp_path_factory: pytest.TempPathFactory) -> Table:
    """Six files of four rows, in two partitions, of three commits."""
    table = new_catalog(tmp_path_factory.mktemp("wh")).create_table(
        "db.t", SCHEMA, partition_by=["p"]
    )
    for first in (0, 8, 16):
        table.append(rows(first))
    return table


def ids(batches: Iterable[pa.RecordBatch]) -> list[int]:
    return [int(str(n)) for batch in batches for n in batch.column("id").to_pylist()]


def part_ids(scan: Scan) -> list[list[int]]:
    """The ids of each part, read by what pickle makes of it."""
    copies = [pickle.loads(pickle.dumps(part)) for part in scan.parts()]  # noqa: S301 - ours
    return [sorted(ids(part.to_batches())) for part in copies]


# ---------------------------------------------------------------- parts


def test_the_parts_of_a_scan_are_its_splits(table: Table) -> None:
    scan = table.scan(["id"])
    assert part_ids(scan) == [IDS[::2], IDS[1::2]]
    assert [(part.row_count, len(part.paths)) for part in scan.parts()] == [(12, 3), (12, 3)]
    divided = [one for part in scan.parts() for one in part.divided()]
    assert [one.row_count for one in divided] == [4] * 6
    assert sorted(n for one in divided for n in ids(one.to_batches())) == IDS
    assert "12 rows" in repr(scan.parts()[0])


def test_parts_have_the_columns_and_rows_of_the_scan(table: Table) -> None:
    assert part_ids(table.scan(["id"], "id >= 20 AND p = 'a'")) == [[20, 22]]
    (part,) = table.scan(["weight", "id"], "id = 3 AND p = 'b'").parts()
    assert part.to_batches().read_all().to_pydict() == {"weight": [1.5], "id": [3]}
    assert (part.row_count, part.schema.names) == (None, ["weight", "id"])
    assert table.scan(where="p = 'x'").parts() == ()


def test_parts_select_fields_of_row_columns() -> None:
    schema = columns(r=pa.struct([pa.field("x", pa.int32()), pa.field("y", pa.string())]))
    table = append_table(schema, [{"r": {"x": 1, "y": "a"}}])
    (part,) = table.scan(["r.x"]).parts()
    assert part.to_batches().read_all().to_pylist() == [{"r": {"x": 1}}]


def test_a_part_of_a_primary_key_table_merges_its_bucket() -> None:
    schema = columns(id=pa.int32(), n=pa.int32())
    table = keyed_table(schema, [{"id": 1, "n": 1}], [{"id": 1, "n": 2}], primary_key=["id"])
    (part,) = table.scan().parts()
    assert part.to_batches().read_all().to_pylist() == [{"id": 1, "n": 2}]
    assert (part.row_count, part.divided()) == (None, (part,))


def test_a_scan_with_a_limit_is_divided_only_if_the_limit_is_not_reached(table: Table) -> None:
    assert len(table.scan(["id"], limit=24).parts()) == 2
    for scan in (table.scan(["id"], limit=23), table.scan(["id"], "id >= 0", limit=24)):
        (part,) = scan.parts()
        assert part.divided() == (part,)
        assert len(ids(part.to_batches())) == scan.row_limit


def test_an_incremental_scan_is_one_part(table: Table) -> None:
    changed = replace(table, _dynamic_options={"incremental-between": "1,2"})
    assert part_ids(changed.scan(["id"])) == [IDS[8:16]]


def test_shares_are_disjoint_and_complete(table: Table) -> None:
    parts = table.scan(["id"]).parts()
    for count in (1, 2, 3, 6, 7):
        found = [
            [n for part in share for n in ids(part.to_batches())] for share in shares(parts, count)
        ]
        assert len(found) == count
        assert sorted(n for share in found for n in share) == IDS
    assert [len(share) for share in shares(parts, 3)] == [2, 2, 2]


@pytest.mark.parametrize(
    ("size", "expected"), [(None, [3, 2, 4]), (1, [1] * 9), (4, [4, 4, 1]), (9, [9]), (20, [9])]
)
def test_batches_are_resized(size: int | None, expected: list[int]) -> None:
    whole = pa.record_batch({"id": range(9), "s": [str(n) for n in range(9)]})
    given = [whole.slice(0, 3), whole.slice(3, 2), whole.slice(5, 4)]
    found = list(resized(given, size))
    assert [batch.num_rows for batch in found] == expected
    assert ids(found) == list(range(9))
    mixed = list(shuffled(given, 5, np.random.default_rng(1)))
    assert [sorted(ids([batch])) for batch in mixed] == [
        [0, 1, 2, 3, 4],
        [5, 6, 7, 8],
    ]


# ---------------------------------------------------------------- protocols of other libraries


def _from_duckdb(t: Table | Scan) -> list[tuple[object, ...]]:  # noqa: ARG001 - named in the query
    found = duckdb.sql("FROM t")
    assert found is not None
    return found.fetchall()


PROTOCOLS: Mapping[str, Callable[[Table | Scan], object]] = {
    "pyarrow table": lambda t: pa.table(t).sort_by("id")["id"].to_pylist(),
    "pyarrow reader": lambda t: sorted(ids(pa.RecordBatchReader.from_stream(t))),
    "polars": lambda t: pl.DataFrame(t).sort("id")["id"].to_list(),
    "pandas": lambda t: sorted(pd.DataFrame.from_arrow(t)["id"]),  # type: ignore[attr-defined]  # in stubs
    "duckdb": lambda t: sorted(int(str(row[1])) for row in _from_duckdb(t)),
}


@pytest.mark.parametrize(
    "name", [name for name in PROTOCOLS if name != "pandas" or hasattr(pd.DataFrame, "from_arrow")]
)
def test_other_libraries_read_tables_and_scans_through_their_protocols(
    table: Table, name: str
) -> None:
    read = PROTOCOLS[name]
    assert read(table) == IDS
    assert read(table.scan(where="id < 5")) == IDS[:5]


def test_polars_reads_the_interchange_protocol(table: Table) -> None:
    assert pl.from_dataframe(table).sort("id")["id"].to_list() == IDS
    assert pl.from_dataframe(table.scan(["id"], "id < 3")).shape == (3, 1)


# ---------------------------------------------------------------- missing packages

ADAPTERS: Mapping[str, Callable[[Table], object]] = {
    "ray": lambda t: t.scan().to_ray(),
    "daft": lambda t: t.scan().to_daft(),
    "torch": lambda t: t.scan().to_torch(),
    "polars": lambda t: t.scan().to_polars(),
    "duckdb": lambda t: t.scan().to_duckdb(),
}


@pytest.mark.parametrize("name", ADAPTERS)
def test_a_missing_package_is_named_with_what_pip_installs(
    table: Table, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    monkeypatch.setitem(sys.modules, name, None)
    with pytest.raises(InvalidInputError, match=f"The package {name} is not installed") as caught:
        ADAPTERS[name](table)
    assert "pip install" in str(caught.value)
    assert name in caught.value.hint


# ---------------------------------------------------------------- PyTorch


@pytest.fixture(name="stub")
def make_stub(monkeypatch: pytest.MonkeyPatch) -> torch_stub.TorchStub:
    return torch_stub.install(monkeypatch)


def test_a_torch_dataset_iterates_over_rows(table: Table, stub: torch_stub.TorchStub) -> None:
    assert stub.worker is None
    dataset = table.scan(["id", "p"], "id < 3").to_torch()
    assert sorted(dataset, key=lambda row: row["id"]) == [
        {"id": 0, "p": "a"},
        {"id": 1, "p": "b"},
        {"id": 2, "p": "a"},
    ]
    assert [row["id"] for row in table.at(1).scan(["id"]).to_torch()] == [0, 2, 4, 6, 1, 3, 5, 7]
    assert len(list(table.scan(limit=5).to_torch())) == 5


def test_workers_and_processes_share_the_splits(table: Table, stub: torch_stub.TorchStub) -> None:
    for world_size, workers in ((1, 2), (1, 5), (2, 1), (2, 3), (3, 2)):
        found: list[list[int]] = []
        for rank in range(world_size):
            dataset = table.scan(["id"]).to_torch(
                sharding_rank=rank, sharding_world_size=world_size, shuffle=True
            )
            for worker in range(workers):
                stub.worker = torch_stub.Worker(worker, workers)
                copy = pickle.loads(pickle.dumps(dataset))  # noqa: S301 - ours
                found.append([row["id"] for row in copy])
        assert sorted(n for share in found for n in share) == IDS
        assert sum(map(bool, found)) == min(6, world_size * workers)


def test_the_rank_is_that_of_the_process_that_makes_the_workers(
    table: Table, stub: torch_stub.TorchStub, monkeypatch: pytest.MonkeyPatch
) -> None:
    dataset = table.scan(["id"]).to_torch(auto_detect_rank=True)
    assert len(list(dataset)) == 24
    stub.rank = (1, 2)
    second = [row["id"] for row in dataset]
    pickled = pickle.dumps(dataset)
    stub.rank = None
    assert [row["id"] for row in pickle.loads(pickled)] == second  # noqa: S301 - ours
    monkeypatch.setenv("RANK", "0")
    with pytest.raises(InvalidInputError, match="must both be numbers"):
        list(dataset)
    monkeypatch.setenv("WORLD_SIZE", "2")
    assert sorted([*(row["id"] for row in dataset), *second]) == IDS
    monkeypatch.setenv("RANK", "2")
    with pytest.raises(
        InvalidInputError, match="RANK of the environment must be below WORLD_SIZE, 2, not 2"
    ):
        list(dataset)


def test_the_order_is_shuffled_by_seed_and_epoch(table: Table, stub: torch_stub.TorchStub) -> None:
    assert stub.rank is None

    def order(seed: int, epoch: int, buffer_size: int = 1000) -> list[int]:
        dataset = table.scan(["id"]).to_torch(shuffle=True, seed=seed, buffer_size=buffer_size)
        dataset.set_epoch(epoch)
        return [row["id"] for row in dataset]

    assert order(1, 0) == order(1, 0)
    orders = [order(1, 0), order(1, 1), order(2, 0), order(1, 0, 4)]
    assert all(sorted(one) == IDS for one in orders)
    assert len({tuple(one) for one in orders}) == 4


def test_batches_are_arrow_or_tensors(table: Table, stub: torch_stub.TorchStub) -> None:
    assert stub.rank is None
    batches = table.scan(["id"]).to_torch(batch_format="pyarrow", batch_size=10)
    assert [batch.num_rows for batch in batches] == [10, 10, 4]
    (tensors,) = table.scan(["id", "weight"], "id IN (2, 4)").to_torch(batch_format="torch")
    assert {name: tensor.tolist() for name, tensor in tensors.items()} == {
        "id": [2, 4],
        "weight": [1.0, 2.0],
    }
    lengths = table.scan().to_torch(
        batch_format="torch", batch_size=20, to_tensor_fn=lambda batch: batch.num_rows
    )
    assert list(lengths) == [20, 4]


def test_tensors_of_vectors_and_what_has_no_tensor(stub: torch_stub.TorchStub) -> None:
    assert stub.rank is None
    schema = columns(v=pa.list_(pa.float32(), 2), b=pa.bool_(), s=pa.string(), n=pa.int64())
    table = append_table(
        schema,
        [
            {"v": [1, 2], "b": True, "s": "a", "n": 1},
            {"v": [3, 4], "b": False, "s": "b", "n": None},
        ],
        options={"bucket": "-1"},
    )
    (found,) = table.scan(["v", "b"]).to_torch(batch_format="torch")
    assert found["v"].tolist() == [[1.0, 2.0], [3.0, 4.0]]
    assert found["b"].tolist() == [True, False]
    with pytest.raises(
        InvalidInputError, match="Column 's' of type string cannot be made a tensor"
    ):
        list(table.scan(["s"]).to_torch(batch_format="torch"))
    with pytest.raises(InvalidInputError, match=r"Column 'n' has nulls.*") as caught:
        list(table.scan(["n"]).to_torch(batch_format="torch"))
    assert "n IS NOT NULL" in caught.value.hint


def test_rows_in_memory_have_numbers(table: Table, stub: torch_stub.TorchStub) -> None:
    assert stub.rank is None
    dataset = table.scan(["id"], "id < 6").to_torch(streaming=False)
    assert len(dataset) == 6
    everything = dataset.__getitems__(range(6))
    assert sorted(row["id"] for row in everything) == IDS[:6]
    assert dataset[-1] == everything[5]
    for outside in (6, -7):
        with pytest.raises(IndexError, match="the dataset has 6 rows"):
            dataset[outside]


WRONG: Mapping[str, tuple[Mapping[str, Any], str]] = {
    "format": ({"batch_format": "numpy"}, "Unknown batch_format 'numpy'"),
    "size of rows": ({"batch_size": 3}, "batch_size needs batch_format="),
    "size": ({"batch_format": "torch", "batch_size": 0}, "batch_size must be an integer of at"),
    "function": ({"to_tensor_fn": len}, "to_tensor_fn needs batch_format='torch'"),
    "rank alone": ({"sharding_rank": 0}, "must be set together"),
    "rank": (
        {"sharding_rank": 2, "sharding_world_size": 2},
        "sharding_rank 2 must be below sharding_world_size 2",
    ),
    "two ranks": (
        {"sharding_rank": 0, "sharding_world_size": 1, "auto_detect_rank": True},
        "cannot be set with auto_detect_rank=True",
    ),
    "in memory": ({"streaming": False, "shuffle": True}, "shuffle needs streaming=True"),
    "text": ({"shuffle": "no"}, "shuffle must be True or False"),
}


@pytest.mark.parametrize("name", WRONG)
def test_wrong_arguments_are_refused(table: Table, name: str) -> None:
    arguments, message = WRONG[name]
    with pytest.raises(InvalidInputError, match=message):
        table.scan().to_torch(**arguments)


def test_an_adapter_reads_a_snapshot(table: Table, stub: torch_stub.TorchStub) -> None:
    assert stub.rank is None
    assert len(list(table.at(2).scan().to_torch())) == 16


# ---------------------------------------------------------------- the real libraries


def test_the_workers_of_a_real_data_loader_share_the_splits(table: Table) -> None:
    torch = pytest.importorskip("torch", reason="PyTorch is not installed")
    for workers in (0, 2):
        for context in ("fork", "spawn") if workers else (None,):
            loader = torch.utils.data.DataLoader(
                table.scan(["id", "weight"]).to_torch(batch_format="torch", shuffle=True),
                batch_size=None,
                num_workers=workers,
                multiprocessing_context=context,
            )
            found = torch.cat([batch["id"] for batch in loader])
            assert sorted(found.tolist()) == IDS
    in_memory = table.scan(["id"]).to_torch(streaming=False)
    batches = torch.utils.data.DataLoader(in_memory, batch_size=10, shuffle=True)
    assert sorted(n for batch in batches for n in batch["id"].tolist()) == IDS


def test_tasks_of_real_ray_read_the_splits(table: Table) -> None:
    pytest.importorskip("ray.data", reason="Ray Data is not installed")
    cloudpickle = pytest.importorskip("ray.cloudpickle")
    datasource = import_module("paimon_explore.table.engine_scans.adapters.ray_datasource")
    scan = table.scan(["id"])
    source = datasource.ScanDatasource(scan.parts(), scan.schema)
    for parallelism, expected in ((1, [24]), (2, [12, 12]), (3, [8, 8, 8]), (9, [4] * 6)):
        tasks = cloudpickle.loads(cloudpickle.dumps(source.get_read_tasks(parallelism)))
        found = [[n for block in task() for n in block["id"].to_pylist()] for task in tasks]
        assert [len(numbers) for numbers in found] == expected
        assert [task.metadata.num_rows for task in tasks] == expected
        assert sorted(n for numbers in found for n in numbers) == IDS
    few = table.scan(["id"], "id < 0 OR weight > 11")
    (task,) = datasource.ScanDatasource(few.parts(), few.schema).get_read_tasks(1)
    assert [block.to_pydict() for block in task()] == [{"id": [23]}]
    assert task.metadata.num_rows is None
