"""Tables by name, made when they are missing; and empty ones for each run that writes."""

import shutil
import sys
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path

import pyarrow as pa

from benchmarks.data import many_files, many_rows, shapes, tpch
from paimon_explore.table.catalog.catalog import Catalog

_DONE = ".made-{}"
_VERSION = 1

MAKERS: Mapping[str, Callable[[str, str], object]] = {
    "files_10k_sorted": partial(many_files.make, count=10_000),
    "files_100k_sorted": partial(many_files.make, count=100_000),
    "files_100k_mixed": partial(many_files.make, count=100_000, is_mixed=True),
    "files_100k_keyed": partial(many_files.make, count=100_000, is_keyed=True),
    "files_1m_sorted": partial(many_files.make, count=1_000_000),
    "keyed_dense_1m": partial(many_rows.make_keyed, rows=1_000_000, keys=many_rows.dense),
    "keyed_dense_3m": partial(many_rows.make_keyed, rows=3_000_000, keys=many_rows.dense),
    "keyed_dense_5m": partial(many_rows.make_keyed, rows=5_000_000, keys=many_rows.dense),
    "keyed_dense_10m": partial(many_rows.make_keyed, rows=10_000_000, keys=many_rows.dense, runs=5),
    "keyed_hashed_5m": partial(many_rows.make_keyed, rows=5_000_000, keys=many_rows.hashed),
    "keyed_user_2m": partial(many_rows.make_keyed, rows=2_000_000, keys=many_rows.users),
    "keyed_uuid_2m": partial(many_rows.make_keyed, rows=2_000_000, keys=many_rows.uuids),
    "keyed_url_2m": partial(many_rows.make_keyed, rows=2_000_000, keys=many_rows.urls),
    "keyed_partial_1m": partial(
        many_rows.make_keyed, rows=1_000_000, keys=many_rows.dense, engine="partial-update"
    ),
    "keyed_aggregated_1m": partial(
        many_rows.make_keyed, rows=1_000_000, keys=many_rows.dense, engine="aggregation"
    ),
    "plain_1m": partial(many_rows.make_plain, rows=1_000_000),
    "plain_3m": partial(many_rows.make_plain, rows=3_000_000),
    "plain_10m": partial(many_rows.make_plain, rows=10_000_000),
    "plain_10m_paged": partial(many_rows.make_plain, rows=10_000_000, layout="paged"),
    "plain_10m_whole": partial(many_rows.make_plain, rows=10_000_000, layout="whole"),
    "plain_10m_small": partial(many_rows.make_plain, rows=10_000_000, layout="small"),
    "files_20k.avro": partial(many_files.make_manifest, count=20_000),
    "rows_2m.arrow": partial(many_rows.make_rows, rows=2_000_000),
    "tpch_1_append": partial(tpch.make, scale=1, is_keyed=False),
    "tpch_1_keys": partial(tpch.make, scale=1, is_keyed=True),
    "tpch_10_append": partial(tpch.make, scale=10, is_keyed=False),
    **shapes.MAKERS,
}


def ensure(warehouse: str, name: str) -> None:
    """Make a table or file unless it is there."""
    done = Path(warehouse) / _DONE.format(f"{name}-{_VERSION}")
    if done.exists():
        return
    sys.stderr.write(f"making {name}\n")
    Catalog(warehouse).create_database("db", if_not_exists=True)
    _drop(warehouse, name)
    MAKERS[name](warehouse, name)
    done.touch()


def new_append_table(warehouse: str, name: str) -> None:
    """An empty table like the rows of `rows_2m.arrow`, for appends."""
    _new(warehouse, name, many_rows.WRITTEN, (), {})


def new_keyed_table(warehouse: str, name: str) -> None:
    """An empty table like the rows of `rows_2m.arrow`, with a primary key and 4 buckets."""
    _new(warehouse, name, many_rows.WRITTEN, ("k",), {"bucket": "4"})


def new_commit_table(warehouse: str, name: str) -> None:
    """An empty table of two columns."""
    _new(
        warehouse, name, pa.schema((pa.field("id", pa.int64()), pa.field("v", pa.string()))), (), {}
    )


def count_rows(warehouse: str, name: str) -> int:
    """The rows of a table."""
    table = Catalog(warehouse).table(f"db.{name}")
    return table.to_arrow().num_rows


def _new(
    warehouse: str, name: str, schema: pa.Schema, keys: Sequence[str], options: Mapping[str, str]
) -> None:
    catalog = Catalog(warehouse)
    catalog.create_database("db", if_not_exists=True)
    _drop(warehouse, name)
    catalog.create_table(f"db.{name}", schema, primary_key=keys, options=options)


def _drop(warehouse: str, name: str) -> None:
    shutil.rmtree(Path(warehouse) / "db.db" / name, ignore_errors=True)
