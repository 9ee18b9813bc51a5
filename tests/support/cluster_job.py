"""What one driver does on a cluster: upserts, a read, a compaction and a look at the past.

During each phase a worker may be killed with its executor; another takes its place. Run as a module
with the folder, the number of rows, and the word `kill`; it prints its findings as JSON.
"""

import json
import shutil
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from threading import Event, Thread

import pyarrow as pa
import pyarrow.parquet as pq
from pyspark.sql import DataFrame, SparkSession

import paimon_explore as pe
from paimon_explore.spark.session import session
from paimon_explore.table.catalog.catalog import Catalog
from paimon_explore.table.table import Table
from support.small_tables import new_catalog
from support.spark_cluster import QUICK_START, Cluster, running_cluster

BUCKETS = 16
_FEW_ROWS = 1_000_000
_SLOW_FILES = 4
_SLOW_SECONDS = 60.0


@dataclass(slots=True)
class Drive:
    """The cluster, the session and the table of one run.

    Attributes:
        cluster: its workers may be killed.
        spark: the driver.
        table: what is written.
        rows: of both upserts together.
        kill: whether a worker is killed in each phase.
        seconds: that each phase took.
        hits: the phases that went on after their worker was killed.
    """

    cluster: Cluster
    spark: SparkSession
    table: Table
    rows: int
    kill: bool
    seconds: dict[str, float] = field(default_factory=dict)
    hits: list[str] = field(default_factory=list)

    @contextmanager
    def phase(self, name: str, folder: Path) -> Iterator[None]:
        """Measure a phase, and kill a worker during it: as soon as a file is there, or earlier.

        Few rows are done too quickly for that: then it is when the first task runs.
        """
        done = Event()
        begins = self._task_runs if self.rows < _FEW_ROWS else _new_file(folder)
        killer = Thread(target=self._kill, args=(name, begins, done))
        if self.kill:
            killer.start()
        start = time.monotonic()
        try:
            yield
        finally:
            done.set()
            self.seconds[name] = round(time.monotonic() - start, 1)
            if self.kill:
                killer.join()

    def _task_runs(self) -> bool:
        tracker = self.spark.sparkContext.statusTracker()
        stages = [tracker.getStageInfo(stage) for stage in tracker.getActiveStageIds()]
        return any(stage is not None and stage.numActiveTasks > 0 for stage in stages)

    def _kill(self, name: str, begins: Callable[[], bool], done: Event) -> None:
        while not done.is_set() and not begins():
            time.sleep(0.01)
        self.cluster.kill_worker()
        if not done.is_set():
            self.hits.append(name)
        self.cluster.add_worker()

    def upsert(self, name: str, first: int, factor: int) -> None:
        """Half of the rows, beginning with a key."""
        keys = self.spark.range(first, first + self.rows // 2, 1, 8)
        rows = keys.selectExpr("id", f"id * {factor} AS value", "concat('name-', id) AS name")
        with self.phase(name, Path(self.table.path)):
            pe.spark.write(rows, self.table, "upsert")

    def read(self, name: str, rows: DataFrame) -> pa.Table:
        """All rows, as the tasks see them."""
        out = self.cluster.folder / name
        with self.phase(name, self.cluster.folder):
            rows.write.mode("overwrite").parquet(str(out))
        found = pq.read_table(out)
        shutil.rmtree(out)
        return found

    def compact(self) -> None:
        """Compact by tasks."""
        with self.phase("compact", Path(self.table.path)):
            pe.spark.compact(self.spark, self.table)


def _new_file(folder: Path) -> Callable[[], bool]:
    present = {str(path) for path in folder.rglob("*.parquet")}
    return lambda: any(str(path) not in present for path in folder.rglob("*.parquet"))


def drive(folder: Path, rows: int, *, kill: bool) -> dict[str, object]:
    """Do all phases on a cluster of two workers, and say what came of them."""
    columns = {"id": "BIGINT NOT NULL", "value": "BIGINT", "name": "STRING"}
    options = {"bucket": str(BUCKETS), "write-only": "true"}
    table = new_catalog(folder / "warehouse").create_table(
        "db.t", columns, primary_key=["id"], options=options
    )
    memory = 1500 if rows >= _FEW_ROWS else 600
    with running_cluster(folder / "cluster", memory=memory) as cluster:
        settings = {
            "spark.executor.memory": f"{memory}m",
            "spark.executor.cores": "1",
            "spark.sql.session.timeZone": "UTC",
            "spark.task.maxFailures": "4",
            "spark.speculation": "true",
            "spark.speculation.quantile": "0.5",
            "spark.speculation.multiplier": "1.1",
        }
        if rows < _FEW_ROWS:
            settings["spark.executor.extraJavaOptions"] = QUICK_START
        package = Path(pe.__file__).parent
        spark = session(master=cluster.url, config=settings, py_files=[package])
        try:
            run = Drive(cluster=cluster, spark=spark, table=table, rows=rows, kill=kill)
            return {**_phases(run), "speculative": speculative(run, folder)}
        finally:
            spark.stop()


def speculative(run: Drive, folder: Path) -> dict[str, object]:
    """A stream of slow tasks, of which Spark begins second ones on the other worker."""
    executors = run.spark.sparkContext._jsc.sc().getExecutorMemoryStatus  # the driver is one too
    while executors().size() < 3:
        time.sleep(0.1)
    source = folder / "slow"
    source.mkdir()
    for number in range(_SLOW_FILES):
        ids = pa.array(range(number * 10, number * 10 + 10), pa.int64())
        pq.write_table(pa.table({"id": ids}), source / f"{number}.parquet")
    table = Catalog(folder / "warehouse").create_table("db.slow", {"id": "BIGINT"})
    files = run.spark.readStream.schema("id BIGINT").option("maxFilesPerTrigger", "2")
    rows = files.parquet(str(source)).mapInArrow(partial(_slow_at_first, folder), "id BIGINT")
    writer = rows.writeStream.format("paimon_explore")
    writer = writer.option("checkpointLocation", str(folder / "checkpoint"))
    writer.trigger(availableNow=True).start(table.path).awaitTermination()
    return {
        "ids": table.to_arrow().sort_by("id")["id"].to_pylist(),
        "epochs": [snapshot.commit_identifier for snapshot in table.snapshots],
        "second attempts": len(list(folder.glob("second-*"))),
        "orphans": len(table.maintenance.remove_orphan_files(older_than="2999-01-01").files),
    }


def _slow_at_first(folder: Path, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    from pyspark import TaskContext  # noqa: PLC0415 - runs in the worker

    context = TaskContext.get()
    for batch in batches:
        yield batch
        if context is None or context.partitionId() > 0:
            continue
        if context.attemptNumber() == 0:
            time.sleep(_SLOW_SECONDS)
        else:
            (folder / f"second-{context.stageId()}").touch()


def _phases(run: Drive) -> dict[str, object]:
    spark, table = run.spark, run.table
    run.upsert("upsert 1", 0, 3)
    run.upsert("upsert 2", run.rows // 4, 7)
    expected = _sorted(table.to_arrow())
    merged = _sorted(run.read("read", pe.spark.read(spark, table)))
    before = table.files().to_arrow().num_rows
    run.compact()
    compacted = _sorted(table.to_arrow())
    first = _sorted(run.read("travel", pe.spark.read(spark, table, snapshot=1)))
    again = _sorted(run.read("compacted", pe.spark.read(spark, table)))
    orphans = table.maintenance.remove_orphan_files(older_than="2999-01-01").files
    return {
        "seconds": run.seconds,
        "hits": run.hits,
        "rows": expected.num_rows,
        "sum": int(expected["value"].to_numpy().sum()),
        "kinds": [snapshot.commit_kind.value for snapshot in table.snapshots],
        "files": [before, table.files().to_arrow().num_rows],
        "read is local": merged.equals(expected),
        "compacted is local": compacted.equals(expected) and again.equals(expected),
        "past is local": first.equals(_sorted(table.at(snapshot=1).to_arrow())),
        "rows of the past": first.num_rows,
        "orphans": [str(file) for file in orphans],
        "problems": [str(problem) for problem in table.maintenance.fsck(read_rows=True)],
    }


def _sorted(rows: pa.Table) -> pa.Table:
    types = {"id": pa.int64(), "value": pa.int64(), "name": pa.string()}
    plain = pa.schema([pa.field(name, kind) for name, kind in types.items()])
    return rows.cast(plain).sort_by("id").combine_chunks()


if __name__ == "__main__":
    result = drive(Path(sys.argv[1]), int(sys.argv[2]), kill="kill" in sys.argv[3:])
    sys.stdout.write(json.dumps(result) + "\n")
