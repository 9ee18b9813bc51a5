"""Checks the contents of a wheel and an sdist: everything that is needed, and nothing else.

Run: python .ci/release_contents.py dist/*
"""

import subprocess
import sys
import tarfile
import zipfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
PACKAGE = "paimon_explore"
FRONTEND = f"{PACKAGE}/widgets/frontend/"
LABEXTENSION = f"{PACKAGE}/widgets/labextension/"
SETTINGS = f"{PACKAGE}/widgets/jupyter_server_config.d/"
DIST_INFO = ("METADATA", "WHEEL", "entry_points.txt", "licenses/LICENSE", "RECORD")
NEEDED = (
    f"{PACKAGE}/py.typed",
    f"{PACKAGE}/widgets/static/explorer.js",
    f"{LABEXTENSION}package.json",
    f"{LABEXTENSION}static/remoteEntry.js",
    "notebooks/01-first-table.ipynb",
    "LICENSE",
)
"""Files without which the package does not work."""


def sources() -> set[str]:
    """The files of the repository that belong into a release."""
    done = subprocess.run(
        ["git", "ls-files", PACKAGE, "notebooks", "LICENSE", "README.md", "pyproject.toml"],
        cwd=ROOT,
        check=True,
        capture_output=True,
        text=True,
    )
    return {name for name in done.stdout.splitlines() if not name.startswith(FRONTEND)}


def wheel_names(files: set[str], version: str) -> set[str]:
    """The expected names in a wheel."""
    data = f"{PACKAGE}-{version}.data/data"
    found = {f"{PACKAGE}-{version}.dist-info/{name}" for name in DIST_INFO}
    for name in files:
        if name.startswith("notebooks/"):
            found.add(f"{PACKAGE}/{name}")
        elif name.startswith(f"{PACKAGE}/"):
            found.add(name)
        if name.startswith(LABEXTENSION):
            end = name.removeprefix(LABEXTENSION)
            found.add(f"{data}/share/jupyter/labextensions/paimon-explore/{end}")
        if name.startswith(SETTINGS):
            end = name.removeprefix(SETTINGS)
            found.add(f"{data}/etc/jupyter/jupyter_server_config.d/{end}")
    return found


def sdist_names(files: set[str], version: str) -> set[str]:
    """The expected names in an sdist."""
    return {f"{PACKAGE}-{version}/{name}" for name in {*files, "PKG-INFO", ".gitignore"}}


def problems(archive: Path) -> list[str]:
    """What is missing in an archive, and what should not be there."""
    files = sources()
    found = [f"not in the repository: {name}" for name in NEEDED if name not in files]
    if archive.suffix == ".whl":
        version = archive.name.split("-")[1]
        with zipfile.ZipFile(archive) as opened:
            names = {one for one in opened.namelist() if not one.endswith("/")}
        expected = wheel_names(files, version)
    else:
        version = archive.name.removesuffix(".tar.gz").split("-")[1]
        with tarfile.open(archive) as opened:
            names = {one.name for one in opened.getmembers() if one.isfile()}
        expected = sdist_names(files, version)
    found += [f"missing: {name}" for name in sorted(expected - names)]
    return found + [f"should not be there: {name}" for name in sorted(names - expected)]


def main(archives: list[str]) -> int:
    """Print the size of each archive and its problems."""
    is_wrong = False
    for archive in map(Path, archives):
        found = problems(archive)
        print(f"{archive.name}: {archive.stat().st_size / 1e6:.2f} MB", *found, sep="\n  ")
        is_wrong = is_wrong or bool(found)
    return int(is_wrong)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
