"""The session and the cost of its tasks."""

import subprocess
import sys
from collections.abc import Iterator, MutableMapping
from pathlib import Path

import pyarrow as pa
import pytest
from pyspark.sql import SparkSession
from pyspark.sql.types import LongType, StructField, StructType

from paimon_explore.errors import InvalidInputError
from paimon_explore.spark.data_source import PaimonDataSource
from paimon_explore.spark.session import session
from support.spark_cluster import QUICK_START


def test_a_running_session_is_given_again(spark: SparkSession) -> None:
    assert session() is spark


def test_the_users_time_zone_is_kept(spark: SparkSession) -> None:
    assert spark.conf.get("spark.sql.session.timeZone") == "Asia/Tokyo"


def test_tasks_do_not_read_the_archives_of_spark_again(spark: SparkSession) -> None:
    """What `invalidate_caches` would read at the start of a task that follows one of ours.

    And the collector of garbage does not go through all modules behind it.
    """

    def archives(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        import gc  # noqa: PLC0415 - runs in the worker
        import sys  # noqa: PLC0415 - the same
        from zipimport import zipimporter  # noqa: PLC0415 - the same

        import pyarrow as pa  # noqa: PLC0415 - the same

        from paimon_explore.spark.python_worker_patches import lighten_worker  # noqa: PLC0415 - the same

        for batch in batches:
            finders = sys.path_importer_cache.values()
            found = [finder for finder in finders if isinstance(finder, zipimporter)]
            collected = gc.get_freeze_count() == 0
            lighten_worker()
            counts = pa.array([len(found) + collected] * batch.num_rows, pa.int64())
            yield pa.RecordBatch.from_arrays([counts], names=["n"])

    def run() -> int:
        frame = spark.range(0, 1, 1, 1).mapInArrow(archives, "n long")
        return int(frame.collect()[0].n)

    run()
    run()
    assert run() == 0


def test_plans_of_a_data_source_do_not_read_them_either(
    spark: SparkSession, demo_warehouse: Path
) -> None:
    class Counted(PaimonDataSource):
        def __init__(self, options: MutableMapping[str, str]) -> None:
            import sys  # noqa: PLC0415 - runs in the worker
            from zipimport import zipimporter  # noqa: PLC0415 - the same

            finders = sys.path_importer_cache.values()
            self._count = sum(isinstance(finder, zipimporter) for finder in finders)
            PaimonDataSource.__init__(self, options)

        @classmethod
        def name(cls) -> str:
            return "counted"

        def schema(self) -> StructType:
            return StructType([StructField(f"n{self._count}", LongType())])

    def run() -> str:
        table = demo_warehouse / "demo.db" / "orders"
        return spark.read.format("counted").load(str(table)).columns[0]

    spark.dataSource.register(Counted)
    run()
    run()
    assert run() == "n0"


def test_a_new_process_says_nothing_while_spark_starts_and_leaves_no_sockets(
    tmp_path: Path,
) -> None:
    code = (
        "import paimon_explore as pe\n"
        f"quick = {{'spark.driver.extraJavaOptions': {QUICK_START!r}}}\n"
        "spark = pe.spark.session(master='local[1]', config=quick)\n"
        "t = pe.demo().table('demo.orders')\n"
        "print(pe.spark.read(spark, t).count())\n"
        "print(spark.conf.get('spark.python.unix.domain.socket.dir', 'none'))\n"
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
    count, sockets = done.stdout.splitlines()
    assert (count, Path(sockets).exists()) == ("30", False)
    assert done.stderr == ""


def test_packages_and_modules_go_along_to_the_tasks(spark: SparkSession, tmp_path: Path) -> None:
    package = tmp_path / "sent_along"
    package.mkdir()
    (package / "__init__.py").write_text("WORD = 'here'\n", encoding="utf-8")
    assert session(py_files=[package]) is spark

    def words(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        from importlib import import_module  # noqa: PLC0415 - runs in the worker

        for batch in batches:
            word = import_module("sent_along").WORD
            yield pa.RecordBatch.from_pydict({"word": [word] * batch.num_rows})

    assert spark.range(1).mapInArrow(words, "word string").collect()[0].word == "here"
    with pytest.raises(InvalidInputError, match="which does not exist"):
        session(py_files=[tmp_path / "nothing.txt"])
    (tmp_path / "words.txt").write_text("here")
    with pytest.raises(InvalidInputError, match="which is neither"):
        session(py_files=[tmp_path / "words.txt"])
