"""A standalone Spark cluster on loopback: a master and workers, each a process of its own.

They know nothing of the package or of this process's environment: what tasks need must be shipped.
"""

import os
import signal
import socket
import subprocess
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path

import pyspark

from paimon_explore.spark.java_runtime import java_home

QUICK_START = (
    "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC "
    "-XX:+UnlockDiagnosticVMOptions -XX:-BytecodeVerificationRemote"
)
"""Options of short-lived Java processes: Spark loads 18,000 classes, whose check takes 2 CPU-s."""
_ADDRESS = "127.0.0.1"
_START_SECONDS = 120.0
_HIDDEN = ("PYTHONPATH", "PYSPARK_PYTHON", "JAVA_HOME", "SPARK_HOME")


@dataclass(slots=True)
class Cluster:
    """A running master, whose workers may be killed and replaced.

    Attributes:
        folder: of logs and work.
        port: of the master.
        memory: of each worker, in MB.
        workers: the running ones, oldest first.
    """

    folder: Path
    port: int
    memory: int
    workers: list["subprocess.Popen[bytes]"] = field(default_factory=list)
    _begun: list["subprocess.Popen[bytes]"] = field(default_factory=list)

    @property
    def url(self) -> str:
        """Spark's master."""
        return f"spark://{_ADDRESS}:{self.port}"

    def start_master(self) -> None:
        """Start the master, and wait until it listens."""
        place = ("--host", _ADDRESS, "--port", str(self.port), "--webui-port", "0")
        self._launch("master.Master", *place)
        _wait(lambda: _listens(self.port), "the master does not listen")

    def add_worker(self) -> None:
        """Start a worker of one core, and wait until the master knows it."""
        _wait(self._launch_worker(), "the worker is not registered")

    def _launch_worker(self) -> Callable[[], bool]:
        """Start a worker; returns what tells whether the master knows it."""
        log = self.folder / f"worker{len(self._begun)}.log"
        size = ("--cores", "1", "--memory", f"{self.memory}m", "--work-dir", str(self.folder))
        host = f"127.0.0.{1 + len(self._begun) % 2}"  # second attempts go to another host
        place = ("--host", host, "--webui-port", "0")
        self.workers.append(self._launch("worker.Worker", *place, *size, self.url, host=host))
        known = "Successfully registered with master"
        return lambda: known in log.read_text("utf-8", "replace")

    def add_workers(self, number: int) -> None:
        """Start some workers at the same time."""
        registered = [self._launch_worker() for _ in range(number)]
        _wait(lambda: all(is_so() for is_so in registered), "the workers are not registered")

    def kill_worker(self) -> None:
        """Kill the oldest worker with all that it started, at once."""
        kill_tree(self.workers.pop(0))

    def stop(self) -> None:
        """End all processes."""
        for process in reversed(self._begun):
            kill_tree(process)

    def _launch(
        self, name: str, *arguments: str, host: str = _ADDRESS
    ) -> "subprocess.Popen[bytes]":
        home = Path(pyspark.__file__).parent
        environment = {k: v for k, v in os.environ.items() if k not in _HIDDEN}
        environment |= {
            "JAVA_HOME": java_home(os.environ),
            "SPARK_HOME": str(home),
            "SPARK_NO_DAEMONIZE": "1",
            "SPARK_LOCAL_IP": host,
            "SPARK_DAEMON_MEMORY": "256m",
            "SPARK_DAEMON_JAVA_OPTS": QUICK_START,
        }
        kind = "worker" if name.startswith("worker") else "master"
        with (self.folder / f"{kind}{len(self._begun)}.log").open("wb") as log:
            process = subprocess.Popen(  # noqa: S603 - Spark's own launcher
                [home / "bin" / "spark-class", f"org.apache.spark.deploy.{name}", *arguments],
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=subprocess.STDOUT,
                env=environment,
                cwd=self.folder,
            )
        self._begun.append(process)
        return process


@contextmanager
def running_cluster(folder: Path, workers: int = 2, memory: int = 1024) -> Iterator[Cluster]:
    """A master and its workers, until the end of the block."""
    folder.mkdir(parents=True, exist_ok=True)
    cluster = Cluster(folder=folder, port=_free_port(), memory=memory)
    try:
        cluster.start_master()
        cluster.add_workers(workers)
        yield cluster
    finally:
        cluster.stop()


def descendants(pid: int) -> list[int]:
    """The processes that a process has started, and theirs."""
    found: list[int] = []
    with suppress(OSError):
        for task in Path(f"/proc/{pid}/task").iterdir():
            for child in (task / "children").read_text("ascii").split():
                found += [int(child), *descendants(int(child))]
    return found


def kill_tree(process: "subprocess.Popen[bytes]") -> None:
    """Kill a process of ours and all that it has started."""
    if process.poll() is not None:
        return
    for pid in [process.pid, *descendants(process.pid)]:
        with suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)
    process.wait()


def _free_port() -> int:
    with socket.socket() as one:
        one.bind((_ADDRESS, 0))
        return int(one.getsockname()[1])


def _listens(port: int) -> bool:
    with socket.socket() as one:
        return one.connect_ex((_ADDRESS, port)) == 0


def _wait(true: Callable[[], bool], otherwise: str) -> None:
    end = time.monotonic() + _START_SECONDS
    while not true():
        assert time.monotonic() < end, otherwise
        time.sleep(0.05)
