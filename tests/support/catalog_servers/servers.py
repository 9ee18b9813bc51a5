"""Catalog servers on loopback: REST catalogs, PostgreSQL, the Hive metastore.

    with rest_server("/warehouse", token="secret") as url: ...         # Paimon 2.0.0
    with rest_server("/warehouse", dlf=("key", "secret")) as url: ...  # signed requests (DLF)
    with iceberg_rest() as url: ...                                    # Iceberg's REST catalog
    with postgres() as jdbc_url: ...
    with hive_metastore("/warehouse") as uri: ...                      # thrift://127.0.0.1:PORT

They need Java 17 with javac and, the first time, Maven; jars and classes are kept in the user's
cache folder. A server that cannot start raises `ServerUnavailableError`; `started`
skips the tests then. The REST server keeps its state in memory beside the files of the folder; its
warehouse is named `wh`, its prefix `paimon`. PostgreSQL has the user `postgres` without a password.
"""

import os
import shutil
import socket
import subprocess
import tempfile
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, ExitStack, contextmanager, suppress
from pathlib import Path

from support.required import lacking

HERE = Path(__file__).resolve().parent
COPY = "org.apache.maven.plugins:maven-dependency-plugin:2.8"
PACKAGES = ("java.lang", "java.util", "java.net", "java.nio", "java.util.concurrent", "sun.nio.ch")
OPENED = [f"--add-opens=java.base/{name}=ALL-UNNAMED" for name in PACKAGES]
QUICK = [
    *("-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC", "-Xmx512m"),
    *("-XX:+UnlockDiagnosticVMOptions", "-XX:-BytecodeVerificationRemote"),
]
"""Settings that let short-lived servers start in half of the time."""
SOURCES = {
    "rest": "RestServer",
    "postgres": "Postgres",
    "hive": "HiveMetastore",
    "iceberg": "IcebergServer",
}
WAIT = 60
"""Seconds that a server may take to start."""


class ServerUnavailableError(Exception):
    """Java or Maven is missing, or a server did not start."""


def cache() -> Path:
    """The folder of jars and classes."""
    base = os.environ.get("XDG_CACHE_HOME")
    return (Path(base) if base else Path.home() / ".cache") / "paimon-catalog-servers"


def program(name: str) -> str:
    """The path of a program."""
    home = os.environ.get("JAVA_HOME")
    below = shutil.which(name, path=f"{home}/bin") if home else None
    found = below or shutil.which(name)
    if found is None:
        raise ServerUnavailableError(f"{name} is not installed")
    return found


def run(*command: str) -> None:
    done = subprocess.run(  # noqa: S603 - Java and Maven
        command, capture_output=True, text=True, check=False, timeout=600
    )
    if done.returncode:
        text = (done.stdout + done.stderr)[-1500:]
        raise ServerUnavailableError(f"{' '.join(command[:4])} failed:\n{text}")


def jars(kind: str, singles: Sequence[str] = ()) -> Path:
    """The folder with the jars of a profile and single jars (without what these depend on)."""
    folder = cache() / "-".join((kind, *(name.split(":")[2] for name in singles[:1])))
    if is_complete(folder, kind):
        return folder
    import fcntl  # noqa: PLC0415 - Windows has none

    cache().mkdir(parents=True, exist_ok=True)
    with (cache() / "lock").open("w") as file:  # one process fills the folder
        fcntl.flock(file, fcntl.LOCK_EX)
        if not (folder / ".complete").exists():
            fill(folder, kind, singles)
        elif not is_complete(folder, kind):
            compile_server(folder, kind)
    return folder


def is_complete(folder: Path, kind: str) -> bool:
    """Whether a folder has the jars and the compiled server."""
    server = SOURCES.get(kind)
    compiled = server is None or (folder / f"{server}.class").exists()
    return (folder / ".complete").exists() and compiled


def fill(folder: Path, kind: str, singles: Sequence[str]) -> None:
    """Fetch jars with Maven and compile the server."""
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    mvn = program("mvn")
    goal = f"{COPY}:copy-dependencies"
    pom = str(HERE / "pom.xml")
    run(mvn, "-q", "-B", "-f", pom, f"-P{kind}", goal, f"-DoutputDirectory={folder}")
    for artifact in singles:
        run(
            mvn, "-q", "-B", f"{COPY}:copy", f"-Dartifact={artifact}", f"-DoutputDirectory={folder}"
        )
    compile_server(folder, kind)
    (folder / ".complete").touch()


def compile_server(folder: Path, kind: str) -> None:
    if kind not in SOURCES:
        return
    source = str(HERE / "java" / f"{SOURCES[kind]}.java")
    run(program("javac"), "-nowarn", "-cp", f"{folder}/*", "-d", str(folder), source)


@contextmanager
def java(
    folder: Path, *arguments: str, environment: Mapping[str, str] | None = None
) -> Iterator[str]:
    """A Java process that prints READY and an address, and ends when its standard input does."""
    command = [program("java"), *OPENED, *QUICK, "-cp", f"{folder}/*:{folder}", *arguments]
    with tempfile.TemporaryFile("w+") as errors:
        process = subprocess.Popen(  # noqa: S603 - Java
            command,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=errors,
            text=True,
            env=None if environment is None else dict(environment),
        )
        assert process.stdin is not None
        assert process.stdout is not None
        watch = threading.Timer(WAIT, process.kill)
        watch.start()
        try:
            ready = next((one for one in process.stdout if one.startswith("READY ")), None)
            watch.cancel()
            if ready is None:
                errors.seek(0)
                raise ServerUnavailableError("did not start:\n" + errors.read()[-1500:])
            yield ready.split(maxsplit=1)[1].strip()
        finally:
            watch.cancel()
            process.stdin.close()
            try:
                process.wait(10)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()
            process.stdout.close()


def rest_server(
    folder: Path | str,
    *,
    token: str = "secret",  # noqa: S107 - of a test server
    dlf: tuple[str, str] | None = None,
    version: str = "2.0.0",
) -> AbstractContextManager[str]:
    """Paimon's own REST catalog server; yields its URL.

    Args:
        folder: the warehouse.
        token: the bearer token that requests need.
        dlf: key and secret, if requests are signed as DLF asks instead (region `cn-hangzhou`).
        version: the release of Paimon: 2.0.0 or 1.4.2.
    """
    core = "paimon-flink-2.0" if version.startswith("2.") else "paimon-bundle"
    artifacts = (
        f"org.apache.paimon:{core}:{version}",
        f"org.apache.paimon:paimon-core:{version}:jar:tests",
        "junit:junit:4.13.2",
        "org.hamcrest:hamcrest-core:1.3",
    )
    way = ("dlf", *dlf) if dlf else ("bear", token)
    return java(jars("rest", artifacts), "RestServer", str(folder), *way)


def postgres() -> AbstractContextManager[str]:
    """PostgreSQL 14; yields its JDBC URL."""
    return java(jars("postgres"), "Postgres", environment={**os.environ, "LC_ALL": "C"})


def iceberg_rest() -> AbstractContextManager[str]:
    """Iceberg's own REST catalog, with its tables in memory; yields its URL."""
    return java(jars("iceberg"), "IcebergServer")


def drivers() -> Path:
    """The folder of Java's drivers of SQLite and PostgreSQL."""
    return jars("drivers")


def free_port() -> int:
    """A port that nothing listens on."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        return int(free.getsockname()[1])


def hive_jars() -> Path:
    """The folder of Hive's jars, which Java's Hive catalog needs, too."""
    return jars("hive", ("org.apache.hive:hive-exec:2.3.10",))


@contextmanager
def hive_metastore(folder: Path | str) -> Iterator[str]:
    """The Hive metastore 2.3.10 on Derby; yields its thrift URI."""
    found = hive_jars()
    port = free_port()
    with tempfile.TemporaryDirectory() as home, Path(home, "log").open("w+") as log:
        settings = {
            "javax.jdo.option.ConnectionURL": f"jdbc:derby:;databaseName={home}/db;create=true",
            "datanucleus.schema.autoCreateAll": "true",
            "hive.metastore.schema.verification": "false",
            "hive.metastore.warehouse.dir": str(folder),
            "hive.metastore.disallow.incompatible.col.type.changes": "false",
        }
        command = [program("java"), *OPENED, *QUICK, f"-Dderby.system.home={home}"]
        command.append("-Dderby.system.durability=test")  # without waiting for the disk
        command += [f"-D{key}={value}" for key, value in settings.items()]
        command += ["-cp", f"{found}/*:{found}", "HiveMetastore", "-p", str(port)]
        process = subprocess.Popen(command, stdout=log, stderr=log, cwd=home)  # noqa: S603 - Java
        try:
            if not listens(port, process):
                log.seek(0)
                raise ServerUnavailableError("did not start:\n" + log.read()[-1500:])
            yield f"thrift://127.0.0.1:{port}"
        finally:
            process.terminate()
            process.wait()


def listens(port: int, process: subprocess.Popen[bytes]) -> bool:
    """Wait until a process listens on a port; False if it ended or takes too long."""
    for _ in range(WAIT * 10):
        with suppress(OSError), socket.create_connection(("127.0.0.1", port), 1):
            return True
        if process.poll() is not None:
            return False
        time.sleep(0.1)
    return False


@contextmanager
def started(server: Callable[[], AbstractContextManager[str]]) -> Iterator[str]:
    """Start a server and yield its address; skip the tests if Java or Maven is missing."""
    with ExitStack() as stack:
        try:
            address = stack.enter_context(server())
        except ServerUnavailableError as error:
            lacking("java", str(error))
        yield address
