"""Wrong usage, missing packages, pipes, findings, confirmations and dry runs."""

import io
import os
import subprocess
import sys
import warnings
from collections.abc import Sequence
from importlib.util import find_spec
from pathlib import Path

import click
import pytest

import paimon_explore.__main__ as entry
from paimon_explore.command_line import command as command_module
from paimon_explore.table.catalog import warehouse_listing
from paimon_explore.table.catalog.catalog import Catalog
from support.command_line import Program, all_commands
from support.new_process import printed

WRONG = {
    "no command": "",
    "unknown command": "explode",
    "no table": "head",
    "two formats": "head wh/demo.db/orders --json --csv",
    "a number that is none": "head wh/demo.db/orders -n many",
    "an unknown option": "ls wh --colour",
    "no place": "ls",
    "unknown shell": "completion tcsh",
    "unknown engine": "sql --engine spark x",
    "a narrow width": "ls wh --width 5",
    "an option without a value": "compact wh/demo.db/orders --partition dt --dry-run",
    "two schemas": "schema wh/demo.db/orders --history --options",
    "options of a new table": "import wh/demo.db/orders x.csv --primary-key id",
    "no files": "import wh/demo.db/orders",
    "a snapshot as a time": "head wh/demo.db/orders --at 1",
    "a system table at a snapshot": "head wh/demo.db/orders$files --snapshot 1",
    "a system table at a tag": "head demo.orders$snapshots -w wh --tag v1",
    "a system table at a time": "head demo.orders$snapshots -w wh --at 2026-01-01",
    "a file that is standard input": "import wh/demo.db/orders -",
    "a long delimiter": "import wh/demo.db/orders x.csv --delimiter ;;",
}
FAILED = {
    "no such table": ("head wh/demo.db/nothing", "wh/demo.db/nothing' does not exist."),
    "a name without a catalog": ("head demo.orders", "--warehouse PATH, or --catalog NAME"),
    "a warehouse": ("fsck wh", "demo.TABLE --warehouse wh"),
    "a table as a warehouse": ("ls wh/demo.db/orders", "It is the folder of a table"),
    "no such name": ("head demo.order -w wh", "Did you mean 'orders'?"),
    "no such catalog": ("ls --catalog none", "none"),
    "no such column": ("head wh/demo.db/orders --columns nme", "nme"),
    "a condition that is none": ("head wh/demo.db/orders --where 'id >'", "id >"),
    "no such snapshot": ("head wh/demo.db/orders --snapshot 9", "Snapshot 9 does not exist."),
    "no such tag": ("tag delete wh/demo.db/orders x --dry-run", "x"),
    "no such system table": ("head wh/demo.db/orders$fils", "Did you mean 'files'?"),
    "a column of a system table": ("head wh/demo.db/orders$files --columns x", "Columns: "),
    "no primary key": ("history wh/demo.db/orders 1", "primary key"),
    "an option of no form": ("ls wh -o x", "KEY=VALUE"),
    "an age that is none": ("orphans wh/demo.db/orders --older-than soon", "soon"),
    "a duration that is none": ("tag create wh/demo.db/orders x --retain soon", "soon"),
    "a snapshot that is none": ("tail wh/demo.db/orders --from now", "Tag 'now' does not exist"),
    "a table of SQL": ("sql -w wh 'SELECT * FROM demo.nothing'", "nothing"),
    "SQL that is none": ("sql -w wh SELEKT", "SELEKT"),
    "SQL without tables": ("sql 'SELECT 1'", "--warehouse PATH"),
}


@pytest.fixture
def folder(demo_warehouse: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(demo_warehouse.parent)
    monkeypatch.setenv("HOME", str(demo_warehouse.parent))
    return demo_warehouse.parent


def words(command: str) -> list[str]:
    """The words of a command line, in single quotes or apart."""
    parts = command.split("'")
    return [word for i, part in enumerate(parts) for word in ([part] if i % 2 else part.split())]


@pytest.mark.usefixtures("folder")
@pytest.mark.parametrize("name", WRONG)
def test_wrong_usage_ends_with_2(name: str, run: Program) -> None:
    ran = run(*words(WRONG[name]))
    assert (ran.code, ran.out) == (2, "")
    assert "usage: paimon-explore" in ran.err.lower()


@pytest.mark.usefixtures("folder")
@pytest.mark.parametrize("name", FAILED)
def test_a_failure_ends_with_1_and_one_line_on_stderr(name: str, run: Program) -> None:
    command, said = FAILED[name]
    ran = run(*words(command))
    assert (ran.code, ran.out) == (1, "")
    assert said in ran.err
    assert ran.err.startswith("paimon-explore: ")
    assert "Traceback" not in ran.err


def test_findings_end_with_3(own_warehouse: Path, run: Program) -> None:
    table = own_warehouse / "demo.db" / "orders"
    assert run("fsck", table).code == 0
    assert run("health", own_warehouse / "demo.db" / "customers").code == 0
    lost = next(table.glob("dt=*/bucket-0/*"))
    lost.unlink()
    ran = run("fsck", table)
    assert ran.code == 3
    assert lost.name in ran.out
    assert len(run("fsck", table, "--json").lines) == ran.out.count("  rule: ")
    assert run("health", table).code == 3


def test_a_broken_table_is_a_failure_in_every_command(own_warehouse: Path, run: Program) -> None:
    table = own_warehouse / "demo.db" / "orders"
    (table / "snapshot" / "snapshot-5").write_bytes(b"{")
    for command in ("head", "files", "diff"):
        ran = run(command, table)
        assert (command, ran.code) == (command, 1)
        assert "snapshot-5" in ran.err
    assert run("fsck", table).code == 3
    assert run("ls", own_warehouse, "--long").code == 0


def test_a_pipe_that_is_closed_is_no_failure(demo_warehouse: Path) -> None:
    table = demo_warehouse / "demo.db" / "orders"
    for command in (["head", str(table), "--all"], ["explain", str(table)], ["--help"]):
        reading, writing = os.pipe()
        os.close(reading)
        words = [sys.executable, "-m", "paimon_explore", *command]
        done = subprocess.run(  # noqa: S603 - our own command
            words, stdout=writing, stderr=subprocess.PIPE, check=False, timeout=60
        )
        os.close(writing)
        assert (command, done.returncode, done.stderr) == (command, 0, b"")


@pytest.mark.parametrize(
    ("option", "shown"),
    [([], b"Z\\xfcrich"), (["--csv"], "Zürich".encode()), (["--json"], "Zürich".encode())],
)
def test_text_follows_the_encoding_and_json_and_csv_are_utf_8(
    option: Sequence[str], shown: bytes, demo_warehouse: Path
) -> None:
    table = str(demo_warehouse / "demo.db" / "orders")
    words = [sys.executable, "-m", "paimon_explore", "head", table, "-n", "2", *option]
    environment = {**os.environ, "PYTHONIOENCODING": "ascii", "PYTHONUTF8": "0"}
    done = subprocess.run(  # noqa: S603 - our own command
        words, env=environment, capture_output=True, check=True, timeout=60
    )
    assert shown in done.stdout


def test_statements_of_the_standard_input_are_utf_8(demo_warehouse: Path) -> None:
    words = [sys.executable, "-m", "paimon_explore", "sql", "--csv", "--warehouse"]
    environment = {**os.environ, "PYTHONIOENCODING": "cp1252", "PYTHONUTF8": "0"}
    done = subprocess.run(  # noqa: S603 - our own command
        [*words, str(demo_warehouse)],
        env=environment,
        input="\ufeffSELECT 'Zürich' AS name".encode(),
        capture_output=True,
        check=True,
        timeout=60,
    )
    assert done.stdout == "name\nZürich\n".encode()


@pytest.mark.parametrize(
    ("command", "folder", "heavy"),
    [
        ("show", "", ("click", "rich", "prompt_toolkit", "duckdb", "pandas", "typer")),
        ("head", "demo.db/orders", ("prompt_toolkit", "duckdb", "pandas", "pyspark", "IPython")),
    ],
)
def test_a_command_loads_no_package_that_it_does_not_need(
    command: str, folder: str, heavy: Sequence[str], demo_warehouse: Path
) -> None:
    program = (
        "import sys\n"
        "from paimon_explore.__main__ import main\n"
        "main(sys.argv[1:3])\n"
        "print([name for name in sys.argv[3:] if name in sys.modules])"
    )
    found = printed(program, command, str(demo_warehouse / folder), *heavy)
    assert found.splitlines()[-1] == "[]"


def test_without_the_extra_show_works_and_other_commands_name_it(
    folder: Path, run: Program, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(
        entry, "find_spec", lambda name: None if name == "click" else find_spec(name)
    )
    assert run("show", folder / "wh").code == 0
    ran = run("head", "wh/demo.db/orders")
    assert (ran.code, ran.out) == (1, "")
    assert "pip install 'paimon-explore[cli]'" in ran.err
    ran = run("--help")
    assert ran.code == 0
    assert "paimon-explore[cli]" in " ".join(ran.out.split())


def test_ctrl_c_ends_with_130(folder: Path, run: Program, monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupted(*_: object, **__: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("paimon_explore.table.scan.Scan.to_batches", interrupted)
    ran = run("head", folder / "wh/demo.db/orders")
    assert (ran.code, ran.out, ran.err) == (130, "", "")


CHANGES = {
    "compact": "compact {wh}/demo.db/orders",
    "sort": "compact {wh}/demo.db/orders --sort order --by id",
    "compact with a key": "compact {wh}/demo.db/stock",
    "expire": "expire {wh}/demo.db/orders --retain-max 1",
    "orphans": "orphans {wh}/demo.db/orders --older-than 2100-01-01",
    "tag delete": "tag delete {wh}/demo.db/trips before",
    "branch delete": "branch delete {wh}/demo.db/trips draft",
    "fast-forward": "branch fast-forward {wh}/demo.db/trips draft",
    "overwrite": "import {wh}/demo.db/empty {wh}/rows.csv --overwrite",
}
"""Commands that remove or rewrite files."""


@pytest.fixture
def changed(own_warehouse: Path) -> Path:
    """A warehouse in which each of these commands has something to do."""
    (own_warehouse / "demo.db" / "orders" / "manifest" / "manifest-orphan-0").write_bytes(b"x")
    (own_warehouse / "rows.csv").write_text("id\n1\n2\n", encoding="utf-8")
    return own_warehouse


def files_of(folder: Path) -> dict[str, bytes]:
    """Every file with its bytes."""
    return {str(path): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


@pytest.mark.parametrize("name", CHANGES)
def test_a_dry_run_writes_nothing(name: str, changed: Path, run: Program) -> None:
    before = files_of(changed)
    for form in ("--width=80", "--json", "--csv"):
        ran = run(*CHANGES[name].format(wh=changed).split(), "--dry-run", form)
        assert (ran.code, ran.err) == (0, "")
        assert ran.out
    assert files_of(changed) == before


@pytest.mark.parametrize("name", CHANGES)
def test_without_a_terminal_yes_is_required(name: str, changed: Path, run: Program) -> None:
    before = files_of(changed)
    command = CHANGES[name].format(wh=changed).split()
    ran = run(*command)
    assert ran.code == 1
    assert "Add --yes to run it, or --dry-run" in ran.err
    assert files_of(changed) == before
    ran = run(*command, "--yes")
    assert (ran.code, ran.err) == (0, "")
    assert files_of(changed) != before


def test_every_command_with_a_dry_run_is_tested_here() -> None:
    asking = {
        name
        for name, command in all_commands()
        if "is_dry_run" in {parameter.name for parameter in command.params}
    }
    tested = {" ".join(command.split("{")[0].split()) for command in CHANGES.values()}
    assert asking == tested


class Keyboard(io.StringIO):
    """Answers, typed at a terminal."""

    def isatty(self) -> bool:
        return True


@pytest.mark.parametrize(("answer", "is_done"), [("y", True), ("n", False), ("", False)])
def test_a_terminal_is_asked(
    *,
    answer: str,
    is_done: bool,
    own_warehouse: Path,
    run: Program,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    asked: list[str] = []

    def confirm(question: str, **_: object) -> bool:
        asked.append(question)
        return answer == "y"

    monkeypatch.setattr(sys, "stdin", Keyboard())
    monkeypatch.setattr(command_module, "is_interactive", lambda: True)
    monkeypatch.setattr(click, "confirm", confirm)
    table = own_warehouse / "demo.db" / "trips"
    ran = run("tag", "delete", table, "before")
    assert asked == ["demo.trips: delete tag 'before' of snapshot 1?"]
    assert (ran.code == 0) is is_done
    assert (table / "tag" / "tag-before").exists() is not is_done


def test_a_warning_is_one_line_without_a_place_in_the_code(
    run: Program, demo_warehouse: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def warned(*_: object) -> object:
        warnings.warn("careful\x1b[31m", UserWarning, stacklevel=1)
        return listing(Catalog(demo_warehouse))

    listing = warehouse_listing.catalog_listing
    monkeypatch.setattr(warehouse_listing, "catalog_listing", warned)
    with warnings.catch_warnings():
        warnings.simplefilter("default")
        assert run("ls", demo_warehouse).err == "paimon-explore: warning: careful\\x1b[31m\n"


def test_completion_lists_commands_options_and_tables(
    demo_warehouse: Path, run: Program, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert "_PAIMON_EXPLORE_COMPLETE=zsh_complete" in run("completion", "zsh").out
    monkeypatch.setenv("_PAIMON_EXPLORE_COMPLETE", "zsh_complete")

    def completed(line: str) -> list[str]:
        count = len(line.split()) - (not line.endswith(" "))
        monkeypatch.setenv("COMP_WORDS", line)
        monkeypatch.setenv("COMP_CWORD", str(count))
        return run().out.splitlines()[1::3]

    assert completed("paimon-explore sn") == ["snapshots"]
    assert "--where" in completed("paimon-explore head --w")
    line = f"paimon-explore head -w {demo_warehouse} "
    assert completed(f"{line}d") == ["demo."]
    assert completed(f"{line}demo.or") == ["demo.orders"]
