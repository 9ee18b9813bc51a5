"""Every command has examples in its help, and they run."""

import shlex
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from paimon_explore.command_line.command import ExampleCommand, main_group
from paimon_explore.command_line.command_names import SECTIONS
from support.command_line import Program, all_commands, copied, examples

SHOWN = ("wh", "wh/demo.db/orders", "demo.orders --warehouse wh --snapshot 2")
COMMANDS = dict(all_commands())
FINDINGS = ("health", "fsck")
CHANGING = ("import", "compact", "expire", "orphans", "tag", "branch")


@pytest.fixture(scope="module")
def shared(demo_warehouse: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder for examples that change nothing."""
    return prepared(demo_warehouse, tmp_path_factory.mktemp("examples"))


def prepared(demo_warehouse: Path, tmp_path: Path) -> Path:
    """The folder that the examples assume."""
    copied(demo_warehouse, tmp_path / "wh")
    (tmp_path / "orders.csv").write_text(
        "id,city,amount,dt\n501,Oslo,1.50,2026-01-04\n502,,2,2026-01-04\n", encoding="utf-8"
    )
    (tmp_path / "more.jsonl").write_text('{"id": 503, "dt": "2026-01-04"}\n', encoding="utf-8")
    (tmp_path / "people.csv").write_text("id,name\n1,Ada\n2,Bo\n", encoding="utf-8")
    pq.write_table(pa.table({"id": [7], "text": ["new"]}), tmp_path / "notes.parquet")
    catalogs = f"catalog:\n  prod:\n    warehouse: {tmp_path}/wh\n"
    (tmp_path / ".paimon.yaml").write_text(catalogs, encoding="utf-8")
    return tmp_path


def test_every_command_has_examples_and_a_help() -> None:
    assert len(COMMANDS) > 28
    without = [
        name
        for name, command in COMMANDS.items()
        if isinstance(command, ExampleCommand) and not command.examples
    ]
    assert without == []
    assert [name for name, command in COMMANDS.items() if not command.help] == []
    assert [
        example
        for name, command in COMMANDS.items()
        if isinstance(command, ExampleCommand)
        for example in command.examples
        if not example.startswith(f"{name} ") and example != name
    ] == []


def test_the_help_of_the_program_lists_every_command() -> None:
    listed = {name for commands in SECTIONS.values() for name in commands}
    assert listed == set(main_group.commands)


@pytest.mark.parametrize("name", [*COMMANDS, "tag", "branch"])
def test_the_help_shows_the_examples(name: str, run: Program) -> None:
    ran = run(*name.split(), "--help")
    assert ran.code == 0
    if name not in {"tag", "branch"}:
        assert "xamples:\n  paimon-explore " in ran.out
    assert run(*name.split(), "--no-such-option").code == 2


@pytest.mark.parametrize("example", examples())
def test_an_example_runs(
    example: str,
    shared: Path,
    demo_warehouse: Path,
    tmp_path: Path,
    run: Program,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    is_change = example.startswith(CHANGING)
    folder = prepared(demo_warehouse, tmp_path) if is_change else shared
    monkeypatch.setenv("HOME", str(folder))
    monkeypatch.chdir(folder)
    ran = run(*shlex.split(example))
    expected = (0, 3) if example.startswith(FINDINGS) else (0,)
    assert (ran.code in expected, ran.err) == (True, ""), ran
    assert ran.out or "--json" in example


@pytest.mark.parametrize("arguments", [*SHOWN, "demo.orders --catalog prod --json"])
def test_an_example_of_show_runs(
    arguments: str, shared: Path, run: Program, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOME", str(shared))
    monkeypatch.chdir(shared)
    ran = run("show", *shlex.split(arguments))
    assert (ran.code, ran.err) == (0, "")
    assert "orders" in ran.out
