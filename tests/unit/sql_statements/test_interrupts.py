"""Ctrl+C while DuckDB runs a query."""

import os
import signal
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from threading import Timer

import pytest

import paimon_explore as pe
from support.ctrl_c import ctrl_c_raises

CROSS = "range(60000) AS a, range(60000) AS b WHERE a.id * b.id % 1000003 = 5"
STATEMENTS = {
    "aggregate": "SELECT count(*) FROM pairs",
    "rows": "SELECT a.id FROM pairs",
    "insert": "INSERT INTO demo.made SELECT a.id FROM pairs",
    "insert of many rows": "INSERT INTO demo.made SELECT a.id FROM range(300000) a, range(300) b",
    "update": "UPDATE demo.orders SET amount = 0 WHERE id = (SELECT count(*) FROM pairs)",
}


@contextmanager
def interrupted() -> Iterator[None]:
    """Press Ctrl+C after a moment; the block must end soon after."""
    timer = Timer(0.5, os.kill, (os.getpid(), signal.SIGINT))
    begun = time.monotonic()
    timer.start()
    try:
        with ctrl_c_raises(), pytest.raises(KeyboardInterrupt):
            yield
    finally:
        timer.cancel()
    assert time.monotonic() - begun < 5  # about 0.5 s on a machine with nothing else to do


@pytest.mark.parametrize("text", STATEMENTS.values(), ids=STATEMENTS)
def test_ctrl_c_cancels_a_statement_and_leaves_no_snapshot(text: str) -> None:
    catalog = pe.demo()
    catalog.sql("CREATE TABLE demo.made (id BIGINT)")
    with interrupted():
        catalog.sql(text.replace("pairs", CROSS)).to_arrow()
    made = catalog.table("demo.made")
    assert made.snapshot is None
    assert [path for path in Path(made.path).rglob("data-*") if path.is_file()] == []
    orders = catalog.table("demo.orders")
    assert orders.snapshot is not None
    assert orders.snapshot.id == 5
    assert catalog.sql("SELECT count(*) AS n FROM demo.orders WHERE id > 403").to_arrow()[
        "n"
    ].to_pylist() == [2]
