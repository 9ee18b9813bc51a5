"""Every command on tables that are hard to print, in every kind of output.

Lines fit the terminal, control characters reach none, JSON and CSV parse, exit codes agree.
"""

import csv
import io
import json
import re
import sys
from pathlib import Path

import pytest

from paimon_explore.__main__ import main
from paimon_explore.command_line.rendering.text_table import cell_width
from support.command_line import Ran, obeyed
from support.depth import DEEP, some
from support.shown_tables import BROKEN, NAMES, shown_tables

COMMANDS: dict[str, tuple[str, ...]] = {
    "show": ("show", "PATH"),
    "ls": ("ls", "-w", "WAREHOUSE", "db.TABLE", "--long"),
    "schema": ("schema", "PATH"),
    "schema history": ("schema", "PATH", "--history"),
    "options": ("schema", "PATH", "--options"),
    "snapshots": ("snapshots", "PATH"),
    "files": ("files", "PATH"),
    "partitions": ("partitions", "PATH"),
    "head": ("head", "PATH"),
    "system table": ("head", "PATH$manifests"),
    "sql": ("sql", "-t", "o=PATH", "SELECT * FROM o LIMIT 3"),
    "tail": ("tail", "PATH", "--from", "earliest", "--timeout", "0"),
    "history": ("history", "PATH", "KEY"),
    "diff": ("diff", "PATH", "--rows", "3"),
    "explain": ("explain", "PATH"),
    "explain a condition": ("explain", "PATH", "--where", "id = 2"),
    "fsck": ("fsck", "PATH"),
    "health": ("health", "PATH"),
    "compact": ("compact", "PATH", "--dry-run"),
    "expire": ("expire", "PATH", "--retain-max", "1", "--dry-run"),
    "orphans": ("orphans", "PATH", "--dry-run", "--older-than", "1 ms"),
    "tags": ("tag", "list", "PATH"),
    "branches": ("branch", "list", "PATH"),
}
KEYS = {"wide": "1", "long": "1", "hostile": "id = 3, dt = 'd'"}
OUTPUTS: dict[str, tuple[int | None, tuple[str, ...]]] = {
    "terminal of 80": (80, ()),
    "pipe": (None, ()),
    "JSON": (None, ("--json",)),
    "CSV": (None, ("--csv",)),
    "terminal of 200": (200, ()),
    "terminal of 80 without colours": (80, ()),
}
"""The width of the terminal, and options."""
CASES = [(table, command) for table in NAMES for command in COMMANDS]
FAILS_PARTLY = {("diff", "missing_data_file"), ("diff", "corrupt_data_file")}
"""CSV prints the changed files, which are not broken; the other outputs also the changed rows."""
STYLE = re.compile(r"\x1b\[[0-9;]*m")
COLOUR = re.compile(r"\x1b\[(?:[0-9]+;)*[349][0-7](?:;[0-9]+)*m")


class Terminal(io.StringIO):
    """A stream that says it is a terminal."""

    def isatty(self) -> bool:
        return True


@pytest.fixture(scope="module")
def paths(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """The path of each table."""
    columns, snapshots = (1000, 1000) if DEEP else (120, 30)
    return dict(shown_tables(tmp_path_factory.mktemp("looks") / "wh", columns, snapshots))


def ran(table: str, command: str, output: str, paths: dict[str, str]) -> Ran:
    """What a command prints."""
    path = paths[table]
    names = {
        "PATH": path,
        "TABLE": table,
        "WAREHOUSE": str(Path(path).parents[1]),
        "KEY": KEYS.get(table, "dt = 'd0', id = 0"),
    }
    words = [re.sub("|".join(names), lambda one: names[one.group()], w) for w in COMMANDS[command]]
    width, options = OUTPUTS[output]
    with pytest.MonkeyPatch.context() as patch:
        out = io.StringIO() if width is None else Terminal()
        err = io.StringIO()
        patch.setattr(sys, "stdout", out)
        patch.setattr(sys, "stderr", err)
        patch.setenv("COLUMNS", str(width or 80))
        patch.setenv("TERM", "xterm-256color")
        patch.setenv("NO_COLOR", "1" if "without" in output else "")
        code = main([*words, *options])
    return Ran(code, out.getvalue(), err.getvalue())


def check_form(shown: Ran, output: str) -> None:
    """The output is what its reader understands."""
    width, _ = OUTPUTS[output]
    assert "Traceback" not in shown.out + shown.err
    assert obeyed(shown.err) == []
    if output == "CSV":
        rows = [row for row in csv.reader(io.StringIO(shown.out, newline=""), strict=True) if row]
        assert len({len(row) for row in rows}) <= 1
        return
    text = shown.out if width is None else STYLE.sub("", shown.out)
    assert obeyed(text) == []
    if output == "JSON":
        assert [line for line in text.splitlines() if not isinstance(json.loads(line), dict)] == []
    if width is not None:
        assert [line for line in text.split("\n") if cell_width(line) > width] == []
    if "without" in output:
        assert COLOUR.search(shown.out) is None


@pytest.mark.parametrize(("table", "command"), CASES, ids=[f"{t}-{c}" for t, c in CASES])
def test_the_output_of_a_command_is_in_order(
    table: str, command: str, paths: dict[str, str]
) -> None:
    first, *rest = OUTPUTS
    others = some(rest, len(rest), CASES.index((table, command)))
    found = {output: ran(table, command, output, paths) for output in [first, *others]}
    for output, shown in found.items():
        check_form(shown, output)
    codes = {shown.code for shown in found.values()}
    allowed = {0, 1, 3} if table in BROKEN else {0, 3} if command == "health" else {0}
    assert codes <= allowed
    assert len(codes) == 1 or (command, table) in FAILS_PARTLY
    for shown in found.values():
        told = [line for line in shown.err.splitlines() if not line.startswith("Following ")]
        assert all(line.startswith("paimon-explore: ") for line in told)
        assert len(told) in {0: {0}, 1: {1}, 3: {0, 1}}[shown.code]


@pytest.mark.parametrize("table", BROKEN)
def test_what_needs_the_broken_file_fails_and_fsck_finds_it(
    table: str, paths: dict[str, str]
) -> None:
    assert ran(table, "fsck", "pipe", paths).code == (1 if table.endswith("schema") else 3)
    for command in ("head", "sql", "tail", "history"):
        assert (command, ran(table, command, "pipe", paths).code) == (command, 1)


def test_columns_that_begin_alike_can_be_told_apart(paths: dict[str, str]) -> None:
    shown = STYLE.sub("", ran("wide", "diff", "terminal of 80", paths).out).splitlines()
    start = shown.index("Changed rows")
    headings = shown[start + 1].split()
    assert len(set(headings)) == len(headings) == 6
    assert any(
        line.startswith("  column_number_0005 of all: some text some text") for line in shown
    )
    assert any(
        line.startswith("  … ") and "more columns: column_number_0006" in line for line in shown
    )
