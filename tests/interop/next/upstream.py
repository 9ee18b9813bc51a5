"""Lists what changed in what Java writes to disk since the revision that was last looked at.

python tests/interop/next/upstream.py GITDIR [--since REVISION] [--until REVISION]

GITDIR is a git folder of apache/paimon. Compared are names and numbers in the sources that decide
what files contain: fields of manifests, snapshots and schemas, table options with their defaults,
types, and identifiers of formats, indexes and aggregate functions.
"""

import argparse
import re
import subprocess
from collections.abc import Iterator, Mapping
from pathlib import Path

LOOKED_AT = Path(__file__).parent / "REVISION"
CORE, API = (
    "paimon-core/src/main/java/org/apache/paimon",
    "paimon-api/src/main/java/org/apache/paimon",
)
COMMON, FORMAT = CORE.replace("core", "common", 1), CORE.replace("core", "format", 1)
OPTION = r'key\(\s*"([^"]+)"\)\s*\.(\w+)\([^;]*?(noDefaultValue|defaultValue\(.*?\)\s*\.)'
FIELD = r'new DataField\(\s*(-?\d+),\s*("?\w+"?),\s*(.*?)\)[,;)]'
JSON_NAME = r'FIELD_\w+ = "(\w+)"'
NAMED = (
    r'(?:IDENTIFIER|NAME\w*|MAGIC\w*|VERSION\w*|FORMAT_\w+)\s*=\s*("[^"]*"|-?[0-9x][0-9A-Fa-fxL]*)'
)
PLACES: Mapping[str, tuple[str, tuple[str, ...]]] = {
    "records of manifests, data files and index files": (
        FIELD,
        (f"{CORE}/manifest", f"{CORE}/io", f"{CORE}/index", f"{CORE}/deletionvectors"),
    ),
    "members of JSON files": (
        JSON_NAME,
        (f"{API}/Snapshot.java", f"{CORE}/schema", f"{API}/schema", f"{CORE}/tag", f"{CORE}/stats"),
    ),
    "table options": (
        OPTION,
        (
            f"{API}/CoreOptions.java",
            f"{CORE}/iceberg",
            f"{COMMON}/globalindex",
            f"{COMMON}/fileindex",
        ),
    ),
    "types": (r"^    ([A-Z_]+)\((?:DataTypeFamily|\n)", (f"{API}/types/DataTypeRoot.java",)),
    "identifiers, magic numbers and versions": (
        NAMED,
        (
            *(
                f"{CORE}/{name}"
                for name in ("io", "index", "manifest", "mergetree", "stats", "tag")
            ),
            *(f"{COMMON}/{name}" for name in ("globalindex", "fileindex", "sst", "format", "data")),
            *(
                FORMAT,
                f"{CORE}/deletionvectors",
                "paimon-vector/src/main",
                "paimon-full-text/src/main",
            ),
        ),
    ),
}
"""What is listed: a pattern, and the files or folders in which it is looked for."""


def git(folder: Path, *arguments: str) -> str:
    """Run git and return its output."""
    command = ["git", "--git-dir", str(folder), *arguments]
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout  # noqa: S603


def found(folder: Path, revision: str, pattern: str, places: tuple[str, ...]) -> Iterator[str]:
    """Yield what a pattern finds at a revision, each after the name of its class."""
    paths = git(folder, "ls-tree", "-r", "--name-only", revision, *places).splitlines()
    for path in (path for path in paths if path.endswith(".java")):
        text = git(folder, "show", f"{revision}:{path}")
        for match in re.finditer(pattern, text, re.MULTILINE | re.DOTALL):
            words = (
                " ".join(part for part in match.groups() if part).replace('"_', "").replace('"', "")
            )
            yield f"{Path(path).stem}: {' '.join(words.split())}"


def main() -> None:
    """Print what was added and removed, and the commits that touched these sources."""
    arguments = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    arguments.add_argument("git", type=Path)
    arguments.add_argument("--since", default=LOOKED_AT.read_text(encoding="utf-8").strip())
    arguments.add_argument("--until", default="HEAD")
    given = arguments.parse_args()
    lines = [f"{given.since} to {git(given.git, 'rev-parse', given.until).strip()}"]
    touched: list[str] = []
    for title, (pattern, places) in PLACES.items():
        before, after = (
            set(found(given.git, revision, pattern, places))
            for revision in (given.since, given.until)
        )
        lines += ["", title]
        lines += [f"  + {line}" for line in sorted(after - before)]
        lines += [f"  - {line}" for line in sorted(before - after)]
        touched += places
    log = ["log", "--format=%h %s", f"{given.since}..{given.until}", "--", *sorted(set(touched))]
    lines += ["", "commits", *(f"  {line}" for line in git(given.git, *log).splitlines())]
    print("\n".join(lines))  # noqa: T201 - a program


if __name__ == "__main__":
    main()
