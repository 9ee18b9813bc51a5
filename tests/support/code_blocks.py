"""The code blocks of the documentation: found in its pages, run, and their output compared.

A page is Markdown. Its blocks in `python`, `bash` and `sql` run one after the other, in one
namespace and one empty folder. A block in `text` directly after one of them is its output; a block
in `console` has commands after `$ ` and their output. Two comments steer this, unseen by readers:

- `<!-- setup: CODE -->` is Python that runs where it stands;
- `<!-- needs: WHAT -->` before a block says what it cannot run without; tests that have it run it.

The last expression of a Python block is displayed as in an interactive session. Output is compared
without what differs from run to run: ids, times, durations, sizes of files, and runs of spaces. In
expected output `…` stands for any characters, and alone in a line for any number of lines.

`python tests/support/code_blocks.py PAGE…` writes the real output into pages, where it differs.
"""

import ast
import io
import os
import re
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import chdir, contextmanager, redirect_stdout
from dataclasses import dataclass, replace
from difflib import unified_diff
from pathlib import Path
from textwrap import dedent

ROOT = Path(__file__).parents[2]
LANGUAGES = ("python", "bash", "console", "sql")
OUTPUT = "text"
COLUMNS = "100"
"""The width of the terminal for which pages show output."""
FOLDER = "/data"
"""What pages show in place of the folder that they run in."""
_FENCE = re.compile(r"^\s*(?P<ticks>```+)\s*(?P<info>[^`]*?)\s*$")
_SETUP = "<!-- setup:"
_NEEDS = re.compile(r"^<!-- needs: (.+) -->$")
_VARIABLE = (
    (re.compile(r"\b[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}\b"), "ID"),
    (re.compile(r"(?<=-)[0-9a-f]{7,8}(-[0-9a-f]+)*…?"), "ID"),
    (re.compile(r"\b20\d\d-\d\d-\d\d[ T]\d\d:\d\d(:\d\d(\.\d+)?)?( ?UTC|[+-]\d\d:\d\d)?"), "TIME"),
    (re.compile(r"\b\d+(\.\d+)? (ns|µs|ms|s|seconds?|minutes?|min)\b"), "DURATION"),
    (re.compile(r"\b\d+(\.\d+)? (B|kB|MB|GB|bytes)\b"), "SIZE"),
    (re.compile(r"[-─━═]{2,}"), "LINE"),
    (re.compile(r"\s+"), " "),
)
"""What differs from run to run -> its placeholder."""


@dataclass(frozen=True, slots=True)
class Block:
    """A block of a page."""

    language: str
    code: str
    line: int
    """Of the first line of the code, from 1."""
    expected: str | None = None
    """The output that the page shows, if it shows one."""
    expected_lines: tuple[int, int] = (0, 0)
    """The lines of the expected output, from 0, without the fences."""
    needs: str | None = None
    """What the block cannot run without."""


Run = Callable[[Block], str]
"""Runs a block of a page and returns its output."""


def blocks(text: str) -> list[Block]:
    """The blocks of a page that run, in order."""
    found: list[Block] = []
    needs: str | None = None
    last_end = -1
    lines = text.split("\n")
    for start, end, info in _pieces(lines):
        body = dedent("\n".join(lines[start:end]))
        gap = "".join(lines[last_end + 1 : start - 1]).strip()
        if info in LANGUAGES or info == "setup":
            language = "python" if info == "setup" else info
            found.append(Block(language, body, start + 1, needs=needs))
            needs = None
        elif info == OUTPUT and found and not gap:
            found[-1] = replace(found[-1], expected=body, expected_lines=(start, end))
        elif info.startswith("needs:"):
            needs = info.removeprefix("needs:").strip()
            continue
        last_end = end
    return found


def _pieces(lines: list[str]) -> Iterator[tuple[int, int, str]]:
    """Fenced blocks and steering comments: first line and end of the content, and the kind."""
    number = 0
    while number < len(lines):
        line = lines[number]
        fence = _FENCE.match(line)
        comment = _NEEDS.match(line.strip())
        end = number
        if fence is not None and fence["info"]:
            end = _next(lines, number + 1, fence["ticks"])
            yield number + 1, end, fence["info"]
        elif line.strip() == _SETUP:
            end = _next(lines, number + 1, "-->")
            yield number + 1, end, "setup"
        elif comment is not None:
            yield number + 1, number + 1, f"needs: {comment[1]}"
        number = end + 1


def _next(lines: list[str], start: int, end: str) -> int:
    """The first line from `start` on that has only the text `end`."""
    return next(number for number in range(start, len(lines)) if lines[number].strip() == end)


class Page:
    """A page whose blocks are run, in an empty folder of their own."""

    def __init__(self, path: Path, sql: Callable[[str], str] | None = None) -> None:
        """Read a page.

        Args:
            path: the Markdown file.
            sql: runs the text of a `sql` block and returns its output.
        """
        self.path = path
        self.name = str(path.relative_to(ROOT)) if path.is_relative_to(ROOT) else path.name
        self.text = path.read_text(encoding="utf-8")
        self.blocks = blocks(self.text)
        self._sql = sql
        self.namespace: dict[str, object] = {"__name__": "__main__"}

    @property
    def uses_spark(self) -> bool:
        """Whether a block needs a Spark session."""
        run = [block for block in self.blocks if block.needs is None]
        return any(block.language == "sql" or "pe.spark" in block.code for block in run)

    def outputs(
        self, folder: Path, providers: Mapping[str, Callable[[Block, Run], str]] | None = None
    ) -> Iterator[tuple[Block, str]]:
        """Run the blocks in a folder.

        Args:
            folder: becomes the current one.
            providers: what a block needs -> runs the block there, by the given function. Blocks
                that need something else are left out.

        Yields:
            Each block with its output.
        """
        with _isolated(folder):
            for block in self.blocks:
                provider = (providers or {}).get(block.needs or "")
                if provider is not None:
                    yield block, provider(block, self._run).replace(str(folder), FOLDER)
                elif block.needs is None:
                    yield block, self._run(block).replace(str(folder), FOLDER)

    def differences(
        self, folder: Path, providers: Mapping[str, Callable[[Block, Run], str]] | None = None
    ) -> list[str]:
        """Run the blocks in a folder; the outputs that are not what the page shows, as a diff."""
        found = []
        for block, output in self.outputs(folder, providers):
            expected = shown(block)
            if expected is not None and not same(expected, output):
                diff = unified_diff(
                    normalized(expected), normalized(output), "page", "run", lineterm=""
                )
                found.append(f"{self.name}:{block.line}\n" + "\n".join(diff))
        return found

    def _run(self, block: Block) -> str:
        if block.language == "python":
            return run_python(block.code, self.namespace, self.path, block.line)
        if block.language == "bash":
            return run_bash(block.code)
        if block.language == "console":
            return "\n".join(_console(block.code))
        assert self._sql is not None, f"{self.path}:{block.line}: no Spark session for SQL"
        return self._sql(block.code)


def documentation() -> list[Page]:
    """The README and all pages of the documentation."""
    github = ROOT / ".github"
    paths = (ROOT / "README.md", *github.glob("*.md"), *(github / "docs").rglob("*.md"))
    return [Page(path) for path in sorted(paths)]


@contextmanager
def _isolated(folder: Path) -> Iterator[None]:
    """Make a folder the current one and the home, and the terminal as wide as that of the pages."""
    before = {name: os.environ.get(name) for name in ("HOME", "COLUMNS")}
    os.environ |= {"HOME": str(folder), "COLUMNS": COLUMNS}
    try:
        with chdir(folder):
            yield
    finally:
        for name, value in before.items():
            os.environ.pop(name)
            os.environ |= {} if value is None else {name: value}


def run_python(code: str, namespace: dict[str, object], path: Path, line: int) -> str:
    """Run Python code of a page and return what it prints; errors name the line of the page."""
    tree = ast.parse(code, filename=str(path))
    ast.increment_lineno(tree, line - 1)
    last = tree.body[-1] if tree.body and isinstance(tree.body[-1], ast.Expr) else None
    printed = io.StringIO()
    with redirect_stdout(printed):
        if last is not None:
            tree.body.pop()
        exec(compile(tree, str(path), "exec"), namespace)  # noqa: S102 - the code of our own pages
        if last is not None:
            value = eval(compile(ast.Expression(last.value), str(path), "eval"), namespace)  # noqa: S307 - as above
            if value is not None:
                print(repr(value))  # noqa: T201 - as an interactive session displays it
    return printed.getvalue()


def run_bash(code: str) -> str:
    """Run commands in the current folder and return their output; the first failure ends them."""
    done = subprocess.run(  # noqa: S603 - the commands of our own pages
        ["bash", "-euo", "pipefail", "-c", code],  # noqa: S607
        env=environment(os.environ),
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert done.returncode == 0, f"{code}\nends with {done.returncode}: {done.stderr}{done.stdout}"
    return done.stdout


def environment(outer: Mapping[str, str]) -> dict[str, str]:
    """Let commands find this Python's programs and this checkout's package; a home of their own."""
    paths = (str(Path(sys.executable).parent), outer.get("PATH", ""))
    packages = (str(ROOT), outer.get("PYTHONPATH", ""))
    return {
        **outer,
        "PATH": os.pathsep.join(filter(None, paths)),
        "PYTHONPATH": os.pathsep.join(filter(None, packages)),
        "TZ": "UTC",
    }


def _console(code: str) -> Iterator[str]:
    """Run the commands of a `console` block; yields the block with their real output."""
    for command in re.findall(r"^\$ (.*(?:\\\n.*)*)$", code, re.MULTILINE):
        yield f"$ {command}"
        output = run_bash(command).rstrip("\n")
        if output:
            yield output


def shown(block: Block) -> str | None:
    """The output that the page shows for a block."""
    return block.code if block.language == "console" else block.expected


def same(expected: str, real: str) -> bool:
    """Whether real output is what a page shows, up to what differs from run to run."""
    pattern = "".join(_line_pattern(line) for line in normalized(expected))
    return re.fullmatch(pattern, "".join(f"{line}\n" for line in normalized(real))) is not None


def _line_pattern(line: str) -> str:
    if line == "…":
        return r"(?:.*\n)*"
    return ".*".join(re.escape(part) for part in line.split("…")) + r"\n"


def normalized(output: str) -> list[str]:
    """The lines of an output without blank lines, and without what differs from run to run."""
    lines = []
    for line in output.split("\n"):
        text = line
        for pattern, placeholder in _VARIABLE:
            text = pattern.sub(placeholder, text)
        if text.strip():
            lines.append(text.strip())
    return lines


def with_real_outputs(page: Page, folder: Path) -> str:
    """The page with the real output in place of the shown one, where they differ."""
    lines = page.text.split("\n")
    for block, output in reversed(list(page.outputs(folder))):
        expected = shown(block)
        if expected is None or same(expected, output):
            continue
        start, end = block.expected_lines
        if block.language == "console":
            start, end = block.line - 1, block.line - 1 + len(block.code.split("\n"))
        lines[start:end] = [line.rstrip() for line in output.rstrip("\n").split("\n")]
    return "\n".join(lines)


def main(paths: Iterable[str]) -> None:
    """Write the real output into pages."""
    for path in map(Path, paths):
        with tempfile.TemporaryDirectory() as folder:
            path.write_text(with_real_outputs(Page(path.absolute()), Path(folder)), "utf-8")


if __name__ == "__main__":
    sys.path[:0] = [str(ROOT)]
    main(sys.argv[1:])
