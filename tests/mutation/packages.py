"""What is mutated, and which tests must notice: `packages.toml`."""

import tomllib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]


@dataclass(frozen=True)
class Package:
    """A folder of code below the root, and patterns of tests below `tests`, in their order."""

    code: str
    tests: list[str]

    def modules(self) -> Iterator[str]:
        """Paths of the modules, relative to the root."""
        for path in sorted((ROOT / self.code).rglob("*.py")):
            if path.name != "__init__.py":
                yield path.relative_to(ROOT).as_posix()

    def test_paths(self) -> list[str]:
        """Paths of the test files; a pattern that finds nothing is an error."""
        found: dict[str, None] = {}
        for pattern in self.tests:
            paths = sorted((ROOT / "tests").glob(f"{pattern}.py"))
            if not paths:
                raise FileNotFoundError(pattern)
            found.update((path.relative_to(ROOT).as_posix(), None) for path in paths)
        return list(found)


_TEXT = Path(__file__).with_name("packages.toml").read_text(encoding="utf-8")
PACKAGES = {name: Package(**entry) for name, entry in tomllib.loads(_TEXT).items()}
