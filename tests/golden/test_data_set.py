"""The golden tables as a data set for other implementations: packed, and run against readers.

A deep run reads every table with our reader; the others some.
"""

import json
import subprocess
import sys
import tarfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest

from support.depth import DEEP
from support.golden import unpack
from support.required import lacking

DATA_SET = Path(__file__).parent / "data_set"
ROOT = Path(__file__).parents[2]
PEERS = ROOT / ".venv-peers" / "bin" / "python"
WRITER = "rust04"
JSON_READER = """
import json, sys
from pathlib import Path
import pyarrow.parquet as pq

def other(value):
    return value.hex() if isinstance(value, bytes) else \
        value.isoformat() if hasattr(value, "isoformat") else str(value)

root, folder, point = sys.argv[1:]
tables = json.loads((Path(root) / "manifest.json").read_text("utf-8"))["tables"]
table = next(one for one in tables if folder.endswith(one["folder"]))
read = next(one for one in table["reads"] if one["point"] == point)
for row in pq.read_table(Path(root) / read["rows"]).to_pylist():
    print(json.dumps(row, default=other))
"""
"""Prints the expected rows as JSON lines."""
SOME = ("append_part_null", "se_pk")


@dataclass(frozen=True)
class DataSet:
    """The unpacked data set."""

    folder: Path

    @property
    def manifest(self) -> dict[str, Any]:
        """Its manifest."""
        found: dict[str, Any] = json.loads((self.folder / "manifest.json").read_text("utf-8"))
        return found

    def check(self, command: list[object], *arguments: str) -> "subprocess.CompletedProcess[str]":
        """Run its runner."""
        words = [sys.executable, self.folder / "check_reader.py", *arguments, "--", *command]
        return subprocess.run(  # noqa: S603 - our own program
            [str(word) for word in words], capture_output=True, text=True, check=False, timeout=3000
        )


@pytest.fixture(scope="module")
def data_set(tmp_path_factory: pytest.TempPathFactory) -> DataSet:
    folder = tmp_path_factory.mktemp("data_set")
    archive = folder / "golden.tar.xz"
    words = [sys.executable, str(DATA_SET / "pack.py"), str(archive)]
    writers = [] if DEEP else ["--writer", WRITER]
    ran = subprocess.run(  # noqa: S603 - our own program
        [*words, *writers], capture_output=True, text=True, check=False, timeout=900
    )
    assert ran.returncode == 0, ran.stderr
    with tarfile.open(archive) as packed:
        unpack(packed, folder)
    return DataSet(folder / "paimon-golden-tables")


@pytest.fixture
def reader(tmp_path: Path) -> Callable[[str], list[object]]:
    """The command of a reader with the given body."""

    def written(body: str) -> list[object]:
        path = tmp_path / "reader.py"
        path.write_text(f"import sys\n{body}\n", encoding="utf-8")
        return [sys.executable, path]

    return written


def test_the_manifest_lists_every_table_and_its_reads(data_set: DataSet) -> None:
    tables = {table["id"]: table for table in data_set.manifest["tables"]}
    table = tables["rust04/seq_field"]
    assert table["primary_keys"] == ["k"]
    assert table["options"] == {"bucket": "1", "sequence.field": "seq"}
    assert [read["point"] for read in table["reads"]] == ["1", "2", "3", "4", "latest"]
    assert len([name for name in tables if name.startswith(f"{WRITER}/")]) == 50
    for one in tables.values():
        assert (data_set.folder / one["folder"] / "schema").is_dir()
        for read in one["reads"]:
            files = [read["rows"], read.get("or", read["rows"])]
            assert all((data_set.folder / file).is_file() for file in files)
            assert pq.read_metadata(data_set.folder / read["rows"]).num_rows == read["count"]


def test_our_reader_is_right(data_set: DataSet) -> None:
    only = [] if DEEP else [f"--only={WRITER}/{name}" for name in SOME]
    ran = data_set.check(
        [sys.executable, data_set.folder / "readers" / "paimon_explore_reader.py"], *only
    )
    assert ran.returncode == 0, ran.stdout + ran.stderr
    last = ran.stdout.splitlines()[-1]
    assert last.startswith(f"{WRITER}: ")
    assert last.endswith(" 0 unsupported, 0 wrong, 0 failed")


def test_pypaimon_is_right(data_set: DataSet, tmp_path: Path) -> None:
    if not PEERS.exists():
        lacking("peers", f"{PEERS} does not exist")
    report = tmp_path / "report.jsonl"
    command = [PEERS, data_set.folder / "readers" / "pypaimon_reader.py"]
    ran = data_set.check([*command], f"--only={WRITER}/sql_cow", f"--report={report}")
    assert ran.returncode == 0, ran.stdout + ran.stderr
    lines = [json.loads(line) for line in report.read_text("utf-8").splitlines()]
    assert [(line["table"], line["point"], line["outcome"]) for line in lines] == [
        ("rust04/sql_cow", point, "right") for point in ("1", "2", "3", "latest")
    ]


def test_json_lines_are_compared_by_the_types_of_the_expected_rows(
    data_set: DataSet, reader: Callable[[str], list[object]]
) -> None:
    table = next(
        one
        for one in data_set.manifest["tables"]
        if one["id"] == f"{WRITER}/all_types_append_parquet"
    )
    assert len(table["fields"]) == 32
    ran = data_set.check([*reader(JSON_READER), data_set.folder], f"--only={table['id']}")
    assert ran.returncode == 0, ran.stdout + ran.stderr


BAD_READER = """
import time
match sys.argv[2]:
    case "1":
        print('{"id": 1, "v": "x"}')
    case "2":
        print('{"key": 1}')
    case "3":
        sys.exit("no such snapshot")
    case _:
        print("it has branches", file=sys.stderr)
        sys.exit(3)
"""
"""A reader that does each thing that a reader can do wrong."""


def test_wrong_rows_failures_and_refusals_are_told_apart(
    data_set: DataSet, reader: Callable[[str], list[object]]
) -> None:
    ran = data_set.check(reader(BAD_READER), f"--only={WRITER}/sql_cow")
    differs = "50 rows missing, 1 rows too many; missing (1, 'v1'); not expected (1, 'x')"
    assert ran.returncode == 1
    assert ran.stdout.splitlines() == [
        f"wrong: rust04/sql_cow 1: {differs}",
        "failed: rust04/sql_cow 2: the output cannot be read: unknown columns ['key']",
        "failed: rust04/sql_cow 3: no such snapshot",
        "unsupported: rust04/sql_cow latest: it has branches",
        "rust04: 4 reads: 0 right, 1 unsupported, 1 wrong, 2 failed",
    ]


def test_refusals_count_only_in_a_strict_run(
    data_set: DataSet, reader: Callable[[str], list[object]]
) -> None:
    refuses = reader("sys.exit(3)")
    only = f"--only={WRITER}/append_orc"
    assert data_set.check(refuses, only).returncode == 0
    strict = data_set.check(refuses, only, "--strict")
    assert strict.returncode == 1
    assert strict.stdout.splitlines()[0] == "unsupported: rust04/append_orc 1: exit status 3"


def test_a_reader_that_does_not_end_is_stopped(
    data_set: DataSet, reader: Callable[[str], list[object]]
) -> None:
    waits = reader("import time\ntime.sleep(600)")
    ran = data_set.check(waits, f"--only={WRITER}/stats_none", "--timeout=0.2")
    assert "failed: rust04/stats_none 1: no answer in 0.2 s" in ran.stdout


def test_the_archive_has_no_times_and_owners_and_no_code_of_this_package(data_set: DataSet) -> None:
    with tarfile.open(data_set.folder.parent / "golden.tar.xz") as packed:
        members = packed.getmembers()
    assert {(one.mtime, one.uid, one.gid, one.mode) for one in members} == {(0, 0, 0, 0o644)}
    names = [one.name.removeprefix("paimon-golden-tables/") for one in members]
    assert names[:4] == ["manifest.json", "README.md", "LICENSE", "check_reader.py"]
    assert names[6:] == sorted(names[6:])
    runner = (data_set.folder / "check_reader.py").read_text(encoding="utf-8")
    assert "paimon_explore" not in runner
