"""A stream into a table, one epoch for each file of a folder, whose driver is killed now and then.

Run as a module with a folder it is the driver: it goes on where the checkpoint says, until all
files are read, and some tasks fail at their first attempt. With the master of a cluster behind the
folder Spark speculates: other first attempts hang when their rows are written, and lose.
"""

import os
import random
import signal
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import suppress
from functools import partial
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from paimon_explore.table.table import Table, open_table
from support.depth import DEEP
from support.small_tables import new_catalog
from support.spark_cluster import QUICK_START, descendants, kill_tree

ROWS = 40
_FAILS = 5  # of so many epochs one has a task that fails once
_HANGS = 7  # on a cluster, of so many epochs one has a first attempt that hangs
_HANG_SECONDS = 60.0
_END_SECONDS = 6000.0 if DEEP else 600.0  # deep runs are given little of the machine


def prepare(folder: Path, epochs: int) -> Table:
    """The files of a stream, and the table that it goes to."""
    (folder / "in").mkdir(parents=True)
    for number in range(epochs):
        ids = pa.array(range(number * ROWS, (number + 1) * ROWS), pa.int64())
        file = folder / "in" / f"{number:05d}.parquet"
        pq.write_table(pa.table({"id": ids}), file)
        os.utime(file, (1_700_000_000 + number, 1_700_000_000 + number))
    return new_catalog(folder / "warehouse").create_table("db.t", {"id": "BIGINT"})


def drive(folder: Path, master: str | None = None) -> None:
    """Stream all that is not in the table yet."""
    from paimon_explore.spark.session import session  # noqa: PLC0415 - the parent starts no Spark

    config = {"spark.driver.memory": "600m", "spark.driver.extraJavaOptions": QUICK_START}
    if master is None:
        spark = session(master="local[2,2]", config=config)
    else:
        package = Path(sys.modules["paimon_explore"].__path__[0])
        spark = session(master=master, config={**config, **_SPECULATION}, py_files=[package])
    files = spark.readStream.schema("id BIGINT").option("maxFilesPerTrigger", "1")
    trouble = partial(_sometimes_fail, None if master is None else folder)
    rows = files.parquet(str(folder / "in")).mapInArrow(trouble, "id BIGINT")
    writer = rows.writeStream.format("paimon_explore")
    writer = writer.option("checkpointLocation", str(folder / "checkpoint"))
    query = writer.trigger(availableNow=True).start(str(folder / "warehouse" / "db.db" / "t"))
    query.awaitTermination()
    spark.stop()


_SPECULATION = {
    "spark.executor.memory": "600m",
    "spark.executor.cores": "1",
    "spark.executor.extraJavaOptions": QUICK_START,
    "spark.task.maxFailures": "4",
    "spark.speculation": "true",
    "spark.speculation.interval": "100ms",
    "spark.speculation.task.duration.threshold": "1s",
}


def _sometimes_fail(
    folder: Path | None, batches: Iterator[pa.RecordBatch]
) -> Iterator[pa.RecordBatch]:
    """The rows; where there is a folder, attempts may hang, and winners of these leave a file."""
    from pyspark import TaskContext  # noqa: PLC0415 - runs in the worker

    context = TaskContext.get()
    attempt = 0 if context is None else context.attemptNumber()
    for batch in batches:
        yield batch
        epoch = int(batch.column(0)[0].as_py()) // ROWS
        if epoch % _FAILS == 0 and attempt == 0:
            raise OSError("the first attempt fails")
        if folder is not None and epoch % _HANGS == 0 and epoch % _FAILS:
            if attempt == 0:
                time.sleep(_HANG_SECONDS)
            else:
                (folder / f"second-{epoch}").touch()


def killed_and_resumed(folder: Path, epochs: int, kills: int, *master: str) -> list[int]:
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
        driver = _driver(folder, *master)
        try:
            _wait_for(folder, driver, point + 1)
            time.sleep(dice.random() * 0.4)
            kill_driver(driver, alone=number % 2 == 0)
        finally:
            kill_tree(driver)
        left.append(commits(folder))
    last = _driver(folder, *master)
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


def _driver(folder: Path, *master: str) -> "subprocess.Popen[bytes]":
    with (folder / "driver.log").open("ab") as log:
        return subprocess.Popen(  # noqa: S603 - this very module
            [sys.executable, "-m", "support.stream_job", str(folder), *master],
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
    drive(Path(sys.argv[1]), *sys.argv[2:])
