"""Format tables and object tables on the command line: `ls`, `head` and `sql`."""

from collections.abc import Sequence
from pathlib import Path

import pytest

from support.command_line import Program
from support.rest_catalog_stub import StubTable, rest_catalog_stub

COMMANDS: Sequence[tuple[Sequence[str], str]] = (
    (("ls", "db"), "f"),
    (("head", "db.f", "--csv"), "k,v\n1,a\n2,b\n"),
    (("head", "db.f", "--csv", "--where", "k = 2", "--columns", "v"), "v\nb\n"),
    (("head", "db.o", "--csv", "--columns", "path,length"), "path,length\nx,8\n"),
    (("sql", "SELECT max(k) AS k FROM db.f", "--csv"), "k\n2\n"),
    (("sql", "SELECT count(*) AS n FROM db.o", "--csv"), "n\n1\n"),
)


def table(folder: Path, kind: str) -> StubTable:
    fields = [{"id": 0, "name": "k", "type": "INT"}, {"id": 1, "name": "v", "type": "STRING"}]
    options = {"type": kind, "file.format": "csv"}
    schema = {"fields": fields, "partitionKeys": [], "primaryKeys": [], "options": options}
    return StubTable(f"id-{kind}", str(folder), dict(schema), external=True)


@pytest.mark.parametrize(("command", "expected"), COMMANDS, ids=[" ".join(c) for c, _ in COMMANDS])
def test_tables_of_files_are_listed_and_read(
    run: Program, tmp_path: Path, command: Sequence[str], expected: str
) -> None:
    (tmp_path / "files").mkdir()
    (tmp_path / "files/x").write_text("1,a\n2,b\n")
    with rest_catalog_stub(str(tmp_path)) as stub:
        stub.databases["db"] = {}
        stub.tables["db", "f"] = table(tmp_path / "files", "format-table")
        stub.tables["db", "o"] = table(tmp_path / "files", "object-table")
        options = {"metastore": "rest", "uri": stub.url, "token": "t"}
        given = [part for key, value in options.items() for part in ("-o", f"{key}={value}")]
        ran = run(*command, "-w", "wh", *given)
    assert ran.code == 0, ran.err
    assert expected in ran.out
