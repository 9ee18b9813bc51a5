"""Ctrl+C while DuckDB runs a query."""

import os
import signal
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from threading import Timer
from types import FrameType

import duckdb
import pytest

import paimon_explore as pe
from paimon_explore.sql_statements.duckdb import database
from paimon_explore.sql_statements.duckdb.functions import database_functions
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


class Stop:
    """Ctrl+C in a given call of the functions of a module, as a profiler that counts them."""

    def __init__(self, at: int) -> None:
        self.left = at

    def __call__(self, frame: FrameType, event: str, _: object) -> None:
        if event == "call" and frame.f_code.co_filename == database_functions.__file__:
            self.left -= 1
            if self.left == 0:
                raise KeyboardInterrupt


def test_ctrl_c_while_functions_are_defined_leaves_none_out() -> None:
    catalog = pe.demo()
    query = "SELECT conv('ff', 16, 10) AS a, soundex('Robert') AS b, positive(2) AS c"
    is_stopped, at = True, 0
    while is_stopped:
        at += 1
        database._database.forget()
        stop = Stop(at)
        sys.setprofile(stop)
        try:
            catalog.sql(query)
        except KeyboardInterrupt:
            is_stopped = True
        else:
            is_stopped = False
        finally:
            sys.setprofile(None)
        found = catalog.sql(query).to_arrow().to_pylist()
        assert found == [{"a": "255", "b": "R163", "c": 2}]
    assert at > 5


@pytest.mark.parametrize(
    "error",
    [
        RuntimeError("Query interrupted"),
        duckdb.InvalidInputException("reading the schema of 't' failed: KeyboardInterrupt:"),
        duckdb.InvalidInputException(
            "Invalid Input Error: Python exception occurred while executing the UDF:"
            " KeyboardInterrupt: "
        ),
    ],
)
def test_errors_of_duckdb_about_ctrl_c_are_keyboard_interrupts(error: Exception) -> None:
    with pytest.raises(KeyboardInterrupt), database.duckdb_errors():
        raise error


def test_ctrl_c_in_rows_that_duckdb_reads_is_a_keyboard_interrupt() -> None:
    class Rows:
        def __arrow_c_stream__(self, requested_schema: object = None) -> object:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        database.new_cursor({"t": Rows()}, "SELECT * FROM t").sql("SELECT * FROM t")
