"""The documentation site, built once per test run, and the links of its pages."""

import json
import subprocess
import sys
import zlib
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cached_property
from html.parser import HTMLParser
from pathlib import Path
from posixpath import dirname, join, normpath
from urllib.parse import unquote, urlsplit

import pytest

ROOT = Path(__file__).parents[2]
SOURCES = ROOT / ".github" / "docs"
BUILD_SECONDS = 600
NOTEBOOK_RUN = "12-sql"
"""The notebook that is executed; `tests/notebooks` executes all of them."""
CODE = frozenset({"code", "pre", "script", "style", "svg"})
SERVICE_PAGES = frozenset({"search.html"})
"""Pages of the theme without content of ours; their scripts fill them."""


@dataclass
class Page:
    """One page: the identifiers it defines, and the addresses it refers to."""

    identifiers: set[str] = field(default_factory=set)
    links: list[str] = field(default_factory=list)
    pictures: int = 0
    """How many figures it has."""
    texts: list[str] = field(default_factory=list)
    """Prose: the text outside code."""


class _Reader(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.page = Page()
        self._open_code: list[str] = []

    def handle_endtag(self, tag: str) -> None:
        if self._open_code and tag == self._open_code[-1]:
            self._open_code.pop()

    def handle_data(self, data: str) -> None:
        if not self._open_code and data.strip():
            self.page.texts.append(data)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag in CODE:
            self._open_code.append(tag)
        self.page.pictures += tag == "figure"
        for name, value in attrs:
            if name == "id" or (tag == "a" and name == "name"):
                self.page.identifiers.add(value or "")
            elif name in {"href", "src", "action"} and tag != "use":
                self.page.links.append(value or "")


@dataclass
class Site:
    """A built site."""

    folder: Path
    output: str

    @cached_property
    def pages(self) -> dict[str, Page]:
        """The pages by their path below the site's folder."""
        found = {}
        for path in sorted(self.folder.rglob("*.html")):
            if "_static" not in path.parts:
                reader = _Reader()
                reader.feed(path.read_text(encoding="utf-8"))
                found[path.relative_to(self.folder).as_posix()] = reader.page
        return found

    @cached_property
    def inventory(self) -> dict[str, str]:
        """The entries of the Python reference by full name, with the kind of each."""
        data = (self.folder / "objects.inv").read_bytes()
        lines = zlib.decompress(data.split(b"\n", 4)[4]).decode("utf-8").splitlines()
        kinds = [line.split(" ")[:2] for line in lines]
        return {name: kind for name, kind in kinds if kind.startswith("py:")}

    @cached_property
    def search_entries(self) -> dict[str, str]:
        """The names that a search finds as such, with the kind that it shows for each."""
        text = (self.folder / "searchindex.js").read_text(encoding="utf-8")
        index = json.loads(text.removeprefix("Search.setIndex(").removesuffix(")"))
        kinds = {int(number): names[2] for number, names in index["objnames"].items()}
        return {
            f"{prefix}.{name}".removeprefix("."): kinds[kind]
            for prefix, entries in index["objects"].items()
            for _, kind, _, _, name in entries
        }

    def documents(self, name: str) -> bool:
        """Whether the reference has an entry whose full name ends like this."""
        return any(entry.endswith(f".{name}") for entry in self.inventory)

    def targets(self, name: str) -> Iterator[tuple[str, str, str]]:
        """The internal links of a page: as written, the file, and the anchor ("" without one)."""
        for link in self.pages[name].links:
            parts = urlsplit(link)
            if not parts.scheme and not parts.netloc:
                path = normpath(join(dirname(name), unquote(parts.path))) if parts.path else name
                yield link, path, unquote(parts.fragment)

    def broken_links(self) -> list[str]:
        """The internal links whose file or anchor does not exist."""
        broken = []
        for name in self.pages:
            for link, path, anchor in self.targets(name):
                page = self.pages.get(path)
                missing_file = page is None and not (self.folder / path).is_file()
                missing_anchor = page is not None and anchor and anchor not in page.identifiers
                if missing_file or missing_anchor:
                    broken.append(f"{name}: {link}")
        return broken

    def reachable(self, start: str) -> set[str]:
        """The pages that links lead to from one page."""
        seen, waiting = set(SERVICE_PAGES), [start]
        while waiting:
            name = waiting.pop()
            if name not in seen:
                seen.add(name)
                waiting += [path for _, path, _ in self.targets(name) if path in self.pages]
        return seen


def build(folder: Path) -> Site:
    """Build the site with warnings as errors.

    Raises:
        AssertionError: the build failed, or warned.
    """
    command = [sys.executable, "-m", "sphinx", "-b", "html", "-q", "-W", "--keep-going", "-n"]
    settings = ["-D", f"run_notebooks={NOTEBOOK_RUN}"]
    paths = ["-d", str(folder / "doctrees"), str(SOURCES), str(folder / "html")]
    done = subprocess.run(  # noqa: S603 - Sphinx of our own environment
        [*command, *settings, *paths],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
        timeout=BUILD_SECONDS,
    )
    assert done.returncode == 0, (done.stdout + done.stderr)[-6000:]
    return Site(folder / "html", done.stdout + done.stderr)


@pytest.fixture(scope="session")
def site(tmp_path_factory: pytest.TempPathFactory) -> Site:
    """The documentation site, built once per process."""
    pytest.importorskip("sphinx", reason="install the extra docs")
    return build(tmp_path_factory.mktemp("site"))
