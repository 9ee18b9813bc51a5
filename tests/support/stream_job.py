"""A stream into a table, one epoch for each file of a folder, whose driver is killed now and then.

Run as a module with a folder it is the driver: it goes on where the checkpoint says, until all
files are read, and some tasks fail at their first attempt.
"""

import os
import random
import signal
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import suppress
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from paimon_explore.table.catalog import Catalog
from paimon_explore.table.table import Table, open_table
from support.depth import DEEP
from support.spark_cluster import QUICK_START, descendants, kill_tree

ROWS = 40
_FAILS = 5  # of so many epochs one has a task that fails once
_END_SECONDS = 6000.0 if DEEP else 600.0  # deep runs are given little of the machine


def prepare(folder: Path, epochs: int) -> Table:
    """The files of a stream, and the table that it goes to."""
    (folder / "in").mkdir(parents=True)
    for number in range(epochs):
        ids = pa.array(range(number * ROWS, (number + 1) * ROWS), pa.int64())
        file = folder / "in" / f"{number:05d}.parquet"
        pq.write_table(pa.table({"id": ids}), file)
        os.utime(file, (1_700_000_000 + number, 1_700_000_000 + number))
    catalog = Catalog(folder / "warehouse")
    catalog.create_database("db")
    return catalog.create_table("db.t", {"id": "BIGINT"})


def drive(folder: Path) -> None:
    """Stream all that is not in the table yet."""
    from paimon_explore.spark.session import session  # noqa: PLC0415 - the parent starts no Spark

    config = {"spark.driver.memory": "600m", "spark.driver.extraJavaOptions": QUICK_START}
    spark = session(master="local[2,2]", config=config)
    files = spark.readStream.schema("id BIGINT").option("maxFilesPerTrigger", "1")
    rows = files.parquet(str(folder / "in")).mapInArrow(_sometimes_fail, "id BIGINT")
    writer = rows.writeStream.format("paimon_explore")
    writer = writer.option("checkpointLocation", str(folder / "checkpoint"))
    query = writer.trigger(availableNow=True).start(str(folder / "warehouse" / "db.db" / "t"))
    query.awaitTermination()
    spark.stop()


def _sometimes_fail(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    from pyspark import TaskContext  # noqa: PLC0415 - runs in the worker

    context = TaskContext.get()
    for batch in batches:
        yield batch
        first = batch.column(0)[0].as_py()
        if context is not None and context.attemptNumber() == 0 and first // ROWS % _FAILS == 0:
            msg = "the first attempt fails"
            raise OSError(msg)


def killed_and_resumed(folder: Path, epochs: int, kills: int) -> list[int]:
    """Run the stream to its end, with a new driver after each kill.

    The kills come when so many commits are there, and a moment later. Every other time the Python
    processes of the tasks and of the commit outlive their driver.

    Returns:
        The number of commits that each killed driver left.
    """
    dice = random.Random(11)  # noqa: S311 - the same every time
    points: Sequence[int] = sorted(dice.sample(range(epochs - kills), kills))
    left: list[int] = []
    for number, point in enumerate(points):
        driver = _driver(folder)
        try:
            _wait_for(folder, driver, point + 1)
            time.sleep(dice.random() * 0.4)
            kill_driver(driver, alone=number % 2 == 1)
        finally:
            kill_tree(driver)
        left.append(commits(folder))
    last = _driver(folder)
    try:
        assert last.wait(_END_SECONDS) == 0, (folder / "driver.log").read_text("utf-8")[-3000:]
    finally:
        kill_tree(last)
    return left


def kill_driver(driver: "subprocess.Popen[bytes]", *, alone: bool) -> None:
    """Kill a driver and its Java process, and all that they started, or not these."""
    started = descendants(driver.pid)
    java = [pid for pid in started if _name(pid) == "java"]
    for pid in [*java, driver.pid] if alone else [driver.pid, *started]:
        with suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)
    driver.wait()
    end = time.monotonic() + _END_SECONDS
    while any(_name(pid).startswith("python") for pid in started) and time.monotonic() < end:
        time.sleep(0.05)  # they end when they see that the driver is gone


def _name(pid: int) -> str:
    with suppress(OSError):
        return Path(f"/proc/{pid}/comm").read_text("utf-8").strip()
    return ""


def _driver(folder: Path) -> "subprocess.Popen[bytes]":
    with (folder / "driver.log").open("ab") as log:
        return subprocess.Popen(  # noqa: S603 - this very module
            [sys.executable, "-m", "support.stream_job", str(folder)],
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=subprocess.STDOUT,
            env={**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))},
        )


def _wait_for(folder: Path, driver: "subprocess.Popen[bytes]", number: int) -> None:
    end = time.monotonic() + _END_SECONDS
    while commits(folder) < number:
        assert driver.poll() is None, (folder / "driver.log").read_text("utf-8")[-3000:]
        assert time.monotonic() < end
        time.sleep(0.02)


def commits(folder: Path) -> int:
    """The number of snapshots of the table."""
    table = open_table(str(folder / "warehouse" / "db.db" / "t"))
    return len(table.snapshots)


if __name__ == "__main__":
    drive(Path(sys.argv[1]))
