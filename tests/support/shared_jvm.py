"""One Java process for the Spark sessions of several Python processes, one after the other.

PySpark connects to a running process if `PYSPARK_GATEWAY_PORT` and `PYSPARK_GATEWAY_SECRET` say so.
"""

import os
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

import pyspark

from paimon_explore.spark.java_runtime import spark_environment
from support.spark_cluster import QUICK_START

_START_SECONDS = 120.0
_PORT_BYTES = 4
SHORT_RUN = (
    *("--driver-java-options", QUICK_START),
    *("--conf", "spark.sql.shuffle.partitions=2"),
    *("--conf", "spark.ui.enabled=false"),
)
"""Arguments of `spark-submit` for little data and a short life."""


@contextmanager
def shared_jvm(folder: Path, package_folder: Path) -> Iterator[Mapping[str, str]]:
    """Start a Java process; it ends with the block.

    Args:
        folder: an empty folder, for its log.
        package_folder: where Python workers find the package.

    Returns:
        The environment variables with which PySpark uses it.
    """
    home = Path(pyspark.__file__).parent
    answer = folder / "connection"
    environment = {
        **os.environ,
        **spark_environment(),
        "SPARK_HOME": str(home),
        "SPARK_CONNECT_MODE": "0",
        "SPARK_LOCAL_IP": "127.0.0.1",
        "PYSPARK_PYTHON": sys.executable,
        "PYTHONPATH": os.pathsep.join(
            filter(None, (str(package_folder), os.environ.get("PYTHONPATH")))
        ),
        "_PYSPARK_DRIVER_CONN_INFO_PATH": str(answer),
    }
    with (folder / "log").open("wb") as log:
        process = subprocess.Popen(  # noqa: S603 - Spark's own launcher
            [home / "bin" / "spark-submit", *SHORT_RUN, "pyspark-shell"],
            stdin=subprocess.PIPE,  # the process ends when it is closed
            stdout=log,
            stderr=log,
            env=environment,
        )
    try:
        port, secret = _connection(process, answer, folder / "log")
        yield {"PYSPARK_GATEWAY_PORT": str(port), "PYSPARK_GATEWAY_SECRET": secret}
    finally:
        process.communicate(timeout=60)


def _connection(process: "subprocess.Popen[bytes]", answer: Path, log: Path) -> tuple[int, str]:
    """The port and the secret that the process tells."""
    until = time.monotonic() + _START_SECONDS
    while not answer.exists():
        assert process.poll() is None, log.read_text("utf-8", "replace")
        assert time.monotonic() < until, "Java does not start"
        time.sleep(0.05)
    told = answer.read_bytes()
    port = int.from_bytes(told[:_PORT_BYTES], "big")
    return port, told[2 * _PORT_BYTES :].decode()
