"""The session and the cost of its tasks."""

import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pyarrow as pa
from pyspark.sql import SparkSession

from paimon_explore.spark.session import session


def test_a_running_session_is_given_again(spark: SparkSession) -> None:
    assert session() is spark


def test_the_users_time_zone_is_kept(spark: SparkSession) -> None:
    assert spark.conf.get("spark.sql.session.timeZone") == "Asia/Tokyo"


def test_tasks_do_not_read_the_archives_of_spark_again(spark: SparkSession) -> None:
    """What `invalidate_caches` would read at the start of a task that follows one of ours."""

    def archives(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        import sys  # noqa: PLC0415 - runs in the worker

        import pyarrow as pa  # noqa: PLC0415 - the same

        from paimon_explore.spark.worker import lighten_worker  # noqa: PLC0415 - the same

        for batch in batches:
            found = [p for p in sys.path_importer_cache if p.endswith((".zip", ".jar"))]
            lighten_worker()
            counts = pa.array([len(found)] * batch.num_rows, pa.int64())
            yield pa.RecordBatch.from_arrays([counts], names=["n"])

    def run() -> int:
        frame = spark.range(0, 1, 1, 1).mapInArrow(archives, "n long")
        return int(frame.collect()[0].n)

    run()
    run()
    assert run() == 0


def test_a_new_process_says_nothing_while_spark_starts(tmp_path: Path) -> None:
    code = (
        "import paimon_explore as pe\n"
        "spark = pe.spark.session(master='local[1]')\n"
        "t = pe.demo().table('demo.orders')\n"
        "print(pe.spark.read(spark, t).count())\n"
        "spark.stop()\n"
    )
    root = str(Path(__file__).parents[2])
    done = subprocess.run(  # noqa: S603 - our own Python
        [sys.executable, "-c", f"import sys; sys.path.insert(0, {root!r})\n{code}"],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        timeout=240,
        check=True,
    )
    assert done.stdout == "30\n"
    assert done.stderr == ""
