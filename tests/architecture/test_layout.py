"""Layers, sizes of modules, and what committed files may not hold."""

import ast
import re
import shutil
import subprocess
import sys
import tomllib
from collections import Counter
from pathlib import Path

import pytest

from support.package_picture import PAGE, replaced

ROOT = Path(__file__).parents[2]
PACKAGE = ROOT / "paimon_explore"
LINES = 600
MODULES = 25
FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)
TOP_LEVEL = {
    *("pyproject.toml", "paimon_explore", "notebooks", "tests", "binder", "README.md", "LICENSE"),
}

# put together here, so that this file does not find itself
MACHINE = re.compile(r"(?<![\w.])/" + r"(?:work|home|root|Users)/")
WHEEL = re.compile(r"https?://\S*\." + r"whl\b")
REGISTRY = re.compile("--" + r"(?:extra-)?index-url|registry" + r"=https?://")


def contract() -> list[list[str]]:
    """The layers of the import contract, high to low; those of one height together."""
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    contracts = settings["tool"]["importlinter"]["contracts"]
    layers = next(entry["layers"] for entry in contracts if entry["type"] == "layers")
    return [[name.strip() for name in layer.split("|")] for layer in layers]


def committed() -> list[Path]:
    """The files that git has, without those of other people's making."""
    git = shutil.which("git")
    if git is None or not (ROOT / ".git").exists():
        pytest.skip("no git checkout: nothing tells which files are committed")
    listed = subprocess.run(  # noqa: S603 - git itself
        [git, "ls-files", "-z"], cwd=ROOT, capture_output=True, text=True, check=True
    )
    paths = [ROOT / name for name in listed.stdout.split("\0") if name]
    return [path for path in paths if path.is_file() and "static" not in path.parts]


def test_imports_keep_to_the_layers() -> None:
    command = Path(sys.executable).with_name("lint-imports")
    if not command.exists():
        pytest.skip(f"no {command}; install the extra dev")
    done = subprocess.run(  # noqa: S603 - a tool of our own environment
        [str(command), "--no-cache"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
    )
    assert done.returncode == 0, done.stdout[-3000:]


def test_the_architecture_shows_the_layers_of_the_contract() -> None:
    text = (ROOT / ".github" / "ARCHITECTURE.md").read_text(encoding="utf-8")
    rows = re.findall(r"^\| (`.*`) \|", text, re.MULTILINE)
    shown = [re.findall(r"`(\w+)(?:/|\.py)`", row) for row in rows]
    assert [row for row in shown if row] == contract()


def test_the_picture_of_the_packages_is_that_of_the_code() -> None:
    page = PAGE.read_text(encoding="utf-8")
    assert replaced(page) == page, "run: python tests/support/package_picture.py"


def test_every_folder_of_the_package_is_a_layer() -> None:
    folders = {path.parent.name for path in PACKAGE.glob("*/__init__.py")}
    modules = {path.stem for path in PACKAGE.glob("*.py") if path.stem != "__init__"}
    assert folders | modules == {name for layer in contract() for name in layer}


def test_the_top_level_holds_what_it_may_and_nothing_else() -> None:
    names = {path.relative_to(ROOT).parts[0] for path in committed()}
    assert {name for name in names if not name.startswith(".")} <= TOP_LEVEL


def test_no_module_is_too_long() -> None:
    sizes = {
        str(path.relative_to(ROOT)): len(path.read_text(encoding="utf-8").splitlines())
        for path in PACKAGE.rglob("*.py")
        if "node_modules" not in path.parts
    }
    assert {name: size for name, size in sizes.items() if size > LINES} == {}


def test_no_folder_holds_too_many_modules() -> None:
    counts = Counter(path.parent.relative_to(ROOT) for path in PACKAGE.rglob("*.py"))
    assert {str(folder): n for folder, n in counts.items() if n > MODULES} == {}


@pytest.mark.parametrize("pattern", [MACHINE, WHEEL, REGISTRY], ids=["folder", "wheel", "registry"])
def test_committed_files_name_no_place_of_one_machine(pattern: re.Pattern[str]) -> None:
    found = []
    for path in committed():
        data = path.read_bytes()
        if b"\0" not in data[:8192]:
            text = data.decode("utf-8", errors="replace")
            found += [f"{path.relative_to(ROOT)}: {hit}" for hit in pattern.findall(text)]
    assert found == []


def test_tests_are_not_skipped_for_a_module_of_the_package_that_does_not_exist() -> None:
    wanted = re.compile(r"importorskip\(\s*\"(paimon_explore[\w.]*)\"")
    names = {
        name
        for path in (ROOT / "tests").rglob("*.py")
        for name in wanted.findall(path.read_text(encoding="utf-8"))
    }
    assert names
    paths = {name: ROOT / name.replace(".", "/") for name in names}
    missing = [n for n, p in paths.items() if not (p.is_dir() or p.with_suffix(".py").exists())]
    assert missing == []


def test_annotations_of_a_class_use_no_names_that_its_body_binds() -> None:
    """Python 3.14 evaluates them on access, when `list` is the method `list` of the class."""
    found = [
        f"{path.relative_to(ROOT)}:{name.lineno}: {name.id}"
        for path in sorted(PACKAGE.rglob("*.py"))
        for body in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(body, ast.ClassDef)
        for bound in [{bound_name(member) for member in body.body}]
        for member in body.body
        for annotation in annotations(member)
        for name in ast.walk(annotation)
        if isinstance(name, ast.Name) and name.id in bound
    ]

    assert not found, "write builtins.list and the like"


def bound_name(member: ast.stmt) -> str | None:
    """The name of a field, a method or a class in the body of a class."""
    if isinstance(member, ast.AnnAssign):
        return member.target.id if isinstance(member.target, ast.Name) else None
    return getattr(member, "name", None)


def annotations(member: ast.stmt) -> list[ast.expr]:
    """The annotations of a field or a method of a class."""
    if isinstance(member, ast.AnnAssign):
        return [member.annotation]
    if not isinstance(member, FUNCTIONS):
        return []
    arguments = [node.annotation for node in ast.walk(member.args) if isinstance(node, ast.arg)]
    return [one for one in [*arguments, member.returns] if one is not None]
