"""What Spark needs for our tables, beside what it needs for the same Parquet files of its own.

`python -m benchmarks.spark_ratios [rows] [rounds]`: rounds take turns in one session; the CPU
seconds are of the whole tree of processes: this one, Java, and Python's workers.
"""

import os
import shutil
import statistics
import sys
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from tempfile import mkdtemp

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as f

from paimon_explore.spark.reads.read_table import read
from paimon_explore.spark.reads.row_count import count
from paimon_explore.spark.session import session
from paimon_explore.spark.writes.distributed_compaction import compact
from paimon_explore.spark.writes.write_table import write
from paimon_explore.table.catalog.catalog import Catalog
from paimon_explore.table.table import Table, open_table

_TICKS = os.sysconf("SC_CLK_TCK")
_BUCKETS = 4
_RUNS = 5
_COLUMNS = {"id": "BIGINT NOT NULL", "a": "BIGINT", "b": "DOUBLE", "name": "STRING"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """A line of the report: our way, the one it is compared with, and the goal for the ratio.

    What comes `before` our way is not measured.
    """

    title: str
    ours: Callable[[], object]
    native: Callable[[], object]
    cpu: float | None = None
    wall: float | None = None
    before: Callable[[], object] | None = None


def tree_cpu(pid: int) -> float:
    """CPU seconds of a process and all that it has started, also of those that have ended."""
    total = 0.0
    with suppress(OSError):
        fields = Path(f"/proc/{pid}/stat").read_text("utf-8").rpartition(")")[2].split()
        total += sum(map(int, fields[11:15])) / _TICKS
        for task in Path(f"/proc/{pid}/task").iterdir():
            total += sum(tree_cpu(int(child)) for child in (task / "children").read_text().split())
    return total


def timed(run: Callable[[], object]) -> tuple[float, float]:
    """CPU and wall seconds of a run."""
    cpu, wall = tree_cpu(os.getpid()), time.perf_counter()
    run()
    return tree_cpu(os.getpid()) - cpu, time.perf_counter() - wall


def noop(rows: DataFrame) -> None:
    """Make all rows, and drop them."""
    rows.write.format("noop").mode("overwrite").save()


def source(spark: SparkSession, first: int, rows: int) -> DataFrame:
    """New rows, with keys from the first on in no order."""
    return spark.range(0, rows, 1, 4).selectExpr(
        f"{first} + pmod(id * 7919, {rows}) AS id",
        "id % 1000 AS a",
        "id / 3.0D AS b",
        "concat('name-', id % 100000) AS name",
    )


def made(spark: SparkSession, catalog: Catalog, rows: int) -> tuple[Table, Table]:
    """A primary-key table of overlapping runs, and an append table."""
    catalog.create_database("db", if_not_exists=True)
    options = {"bucket": str(_BUCKETS), "write-only": "true"}
    keyed = catalog.create_table("db.keyed", _COLUMNS, primary_key=["id"], options=options)
    each = rows // _RUNS
    for run in range(_RUNS):
        new = source(spark, run * each // 2, each).coalesce(1)  # one sorted run for each bucket
        write(new, keyed, "upsert")
    plain = catalog.create_table("db.plain", _COLUMNS)
    write(source(spark, 0, rows), plain)
    return keyed, plain


def cases(spark: SparkSession, catalog: Catalog, folder: Path, rows: int) -> list[Row]:
    """All comparisons."""
    keyed, plain = made(spark, catalog, rows)
    cached = source(spark, 0, rows)
    options = {"bucket": str(_BUCKETS), "write-only": "true"}

    def files(table: Table) -> DataFrame:
        return spark.read.parquet(*map(str, Path(table.path).rglob("data-*.parquet"))).select(
            list(_COLUMNS)
        )

    def window() -> None:
        spark.read.parquet(
            *map(str, Path(keyed.path).rglob("data-*.parquet"))
        ).createOrReplaceTempView("runs")
        noop(
            spark.sql(
                "SELECT id, a, b, name FROM (SELECT *, row_number() OVER "
                "(PARTITION BY id ORDER BY _SEQUENCE_NUMBER DESC) AS place FROM runs) "
                "WHERE place = 1"
            )
        )

    def new(kind: str) -> Table:
        catalog.drop_table(f"db.{kind}", if_exists=True)
        if kind == "upserted":
            return catalog.create_table(
                "db.upserted", _COLUMNS, primary_key=["id"], options=options
            )
        return catalog.create_table(f"db.{kind}", _COLUMNS)

    def sorted_files() -> None:
        placed = cached.repartition(_BUCKETS, f.pmod(f.hash("id"), f.lit(_BUCKETS)))
        placed.sortWithinPartitions("id").write.mode("overwrite").parquet(str(folder / "sorted"))

    def appended() -> None:
        cached.write.mode("overwrite").parquet(str(folder / "appended"))

    def uncompacted() -> None:
        shutil.rmtree(folder / "compacted", ignore_errors=True)
        shutil.copytree(keyed.path, folder / "compacted")

    one = "id = 12345"
    few = f"id < {rows // 100}"
    return [
        Row(
            title="keyed, merged, all columns",
            ours=lambda: noop(read(spark, keyed)),
            native=lambda: noop(files(keyed)),
            cpu=1.0,
        ),
        Row(
            title="the same beside Spark's window merge",
            ours=lambda: noop(read(spark, keyed)),
            native=window,
            cpu=1 / 3.5,
        ),
        Row(
            title="keyed, sum of a column",
            ours=lambda: read(spark, keyed, ["a"]).agg(f.sum("a")).collect(),
            native=lambda: files(keyed).agg(f.sum("a")).collect(),
            cpu=2.6,
        ),
        Row(
            title="keyed, one key",
            ours=lambda: read(spark, keyed, where=one).collect(),
            native=lambda: files(keyed).filter(one).collect(),
            cpu=0.5,
        ),
        Row(
            title="keyed, count",
            ours=lambda: count(spark, keyed),
            native=lambda: files(keyed).count(),
            cpu=1.4,
        ),
        Row(
            title="append, all columns",
            ours=lambda: noop(read(spark, plain)),
            native=lambda: noop(files(plain)),
            cpu=1.3,
        ),
        Row(
            title="append, sum of a column",
            ours=lambda: read(spark, plain, ["a"]).agg(f.sum("a")).collect(),
            native=lambda: files(plain).agg(f.sum("a")).collect(),
            cpu=1.25,
        ),
        Row(
            title="append, 1 % of the rows",
            ours=lambda: noop(read(spark, plain, where=few)),
            native=lambda: noop(files(plain).filter(few)),
            cpu=1.1,
        ),
        Row(
            title="append, count",
            ours=lambda: count(spark, plain),
            native=lambda: files(plain).count(),
            cpu=0.9,
        ),
        Row(
            title="append write",
            ours=lambda: write(cached, new("appended")),
            native=appended,
            cpu=1.25,
        ),
        Row(
            title="upsert",
            ours=lambda: write(cached, new("upserted"), "upsert"),
            native=sorted_files,
            cpu=0.75,
            wall=0.6,
        ),
        Row(
            title="compaction beside the merged read",
            before=uncompacted,
            ours=lambda: compact(spark, open_table(folder / "compacted")),
            native=lambda: noop(read(spark, keyed)),
            cpu=2.0,
        ),
    ]


def report(rows: list[Row], rounds: int) -> None:
    """Measure in turns, and tell the medians and their ratio."""
    found: dict[str, list[tuple[tuple[float, float], tuple[float, float]]]] = {}
    for number in range(rounds + 1):
        for row in rows:
            if row.before is not None:
                row.before()
            pair = (timed(row.ours), timed(row.native))
            sys.stderr.write(f"{number} {row.title}: {pair}\n")
            if number:  # the first round warms up
                found.setdefault(row.title, []).append(pair)
    out = sys.stdout.write
    out(
        f"load {os.getloadavg()}\n| what | CPU s: ours / Spark | ratio, goal | wall ratio, goal |\n"
    )
    out("| --- | --- | --- | --- |\n")
    for row in rows:
        pairs = found[row.title]
        cpu = [statistics.median(pair[side][0] for pair in pairs) for side in (0, 1)]
        wall = [statistics.median(pair[side][1] for pair in pairs) for side in (0, 1)]
        goals = [f"≤ {goal:.2f}" if goal else "" for goal in (row.cpu, row.wall)]
        out(
            f"| {row.title} | {cpu[0]:.2f} / {cpu[1]:.2f} | {cpu[0] / max(cpu[1], 0.01):.2f} "
            f"{goals[0]} | {wall[0] / wall[1]:.2f} {goals[1]} |\n"
        )


def main(rows: int, rounds: int) -> None:
    """Make the tables in a folder of their own, measure, and remove them."""
    folder = Path(mkdtemp(prefix="spark-ratios-"))
    spark = session(master="local[2]", config={"spark.driver.memory": "2g"})
    try:
        report(cases(spark, Catalog(folder / "warehouse"), folder, rows), rounds)
    finally:
        spark.stop()
        shutil.rmtree(folder)


if __name__ == "__main__":
    main(*(int(text) for text in (sys.argv[1:] + ["5000000", "3"][len(sys.argv) - 1 :])))
