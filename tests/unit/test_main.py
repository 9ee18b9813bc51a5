"""The command line: what it prints, and its exit codes."""

import subprocess
import sys
from pathlib import Path

import pytest

from paimon_explore.__main__ import main
from paimon_explore.command_line.tutorial import lab_command, notebooks_folder, prepare_tutorial


def test_show_prints_the_text_of_a_table(
    demo_warehouse: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["show", str(demo_warehouse / "demo.db" / "orders")]) == 0
    said = capsys.readouterr().out
    assert said.startswith("orders  (")
    assert "snapshot 5" in said


def test_show_prints_a_table_at_a_snapshot(
    demo_warehouse: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["show", "--snapshot", "2", str(demo_warehouse / "demo.db" / "orders")]) == 0
    assert "snapshot 2" in capsys.readouterr().out


def test_show_lists_the_tables_of_a_warehouse(
    demo_warehouse: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["show", str(demo_warehouse)]) == 0
    assert capsys.readouterr().out.splitlines()[:3] == [
        "demo",
        "  demo.customers",
        "  demo.empty",
    ]


def test_show_lists_the_tables_of_a_database(
    demo_warehouse: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["show", f"{demo_warehouse}/demo.db/"]) == 0
    assert "  demo.stock" in capsys.readouterr().out.splitlines()


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="the system has no /dev/full")
@pytest.mark.parametrize("command", ["show", "ls"])
def test_an_output_that_cannot_be_written_is_a_failure_in_one_line(
    demo_warehouse: Path, command: str
) -> None:
    arguments = [sys.executable, "-m", "paimon_explore", command, str(demo_warehouse)]
    with Path("/dev/full").open("w") as full:
        done = subprocess.run(arguments, stdout=full, stderr=subprocess.PIPE, check=False)  # noqa: S603 - our own command
    said = "paimon-explore: Cannot write the output: No space left on device.\n"
    assert (done.returncode, done.stderr.decode()) == (1, said)


def test_the_version_is_an_option(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--version"]) == 0
    assert capsys.readouterr().out.startswith("paimon-explore ")


def test_the_lab_gets_every_notebook_and_a_warehouse_and_keeps_what_is_there(
    tmp_path: Path,
) -> None:
    (tmp_path / "01-first-table.ipynb").write_text("mine", encoding="utf-8")
    tutorial = prepare_tutorial(tmp_path)
    assert tutorial.read_text(encoding="utf-8") == "mine"
    there = {path.name for path in tmp_path.iterdir()}
    assert there >= {path.name for path in notebooks_folder().glob("*.ipynb")} | {"warehouse"}
    assert (tmp_path / "warehouse" / "demo.db" / "orders" / "schema" / "schema-0").exists()


def test_the_lab_opens_the_tutorial_on_the_wanted_port() -> None:
    command = lab_command(Path("/x/01-first-table.ipynb"), port=9999, browser=False)
    assert [part for part in command if part != "--allow-root"] == [
        sys.executable,
        "-m",
        "jupyterlab",
        "--ServerApp.ip=127.0.0.1",
        "--ServerApp.root_dir=/x",
        "--LabApp.default_url=/lab/tree/01-first-table.ipynb",
        "--port=9999",
        "--no-browser",
    ]


@pytest.mark.parametrize("closed", ["stdout", "stderr"])
def test_a_process_with_a_closed_output_ends_as_usual(
    demo_warehouse: Path,
    closed: str,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(sys, "stdout", sys.stdout)  # to have both again afterwards
    monkeypatch.setattr(sys, "stderr", sys.stderr)
    for line, code in (
        (["head", str(demo_warehouse / "demo.db" / "orders")], 0),
        (["head", str(demo_warehouse / "nothing")], 1),
        (["show", str(demo_warehouse / "nothing")], 1),
        (["nothing"], 2),
    ):
        monkeypatch.setattr(sys, closed, None)
        assert main(line) == code
        getattr(sys, closed).close()
        said = capsys.readouterr()
        assert said.out.strip() == "" if closed == "stdout" or code else said.err == ""
