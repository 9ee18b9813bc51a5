"""What the file browser's viewer asks the server: checked, and answered by reading only."""

import base64
from pathlib import Path

import pytest

import paimon_explore as pe
from paimon_explore.errors import InvalidInputError
from paimon_explore.widgets.jupyter_server_handlers import (
    _content,
    _jupyter_server_extension_points,
    _message,
    resolve_path,
)


@pytest.fixture
def root(tmp_path: Path) -> Path:
    (tmp_path / "secret").write_text("no")
    pe.demo(tmp_path / "root")
    (tmp_path / "root" / ".hidden").write_text("no")
    (tmp_path / "root" / "out").symlink_to(tmp_path / "secret")
    return tmp_path / "root"


def test_a_file_below_the_root_is_found(root: Path) -> None:
    path = "demo.db/orders/snapshot/snapshot-1"
    assert resolve_path(str(root), path) == (root / path).resolve()
    assert resolve_path(str(root), f"/{path}") == (root / path).resolve()


@pytest.mark.parametrize(
    "path",
    [
        "",
        "..",
        "../secret",
        "demo.db/../../secret",
        "demo.db/orders/../orders/snapshot/snapshot-1",
        "out",
        ".hidden",
        "demo.db",
        "nothing",
        "a\0b",
    ],
)
def test_other_paths_are_refused(root: Path, path: str) -> None:
    with pytest.raises(InvalidInputError):
        resolve_path(str(root), path)
    with pytest.raises(InvalidInputError):
        resolve_path("", path)


def test_a_message_is_answered(root: Path) -> None:
    path = "demo.db/orders/snapshot/snapshot-1"
    opened = _content(str(root), path, {"id": 1, "op": "bytes"}, allow_hidden=False)
    body = opened["body"]
    assert isinstance(body, dict)
    assert (body["name"], body["layout"], body["handle"]) == ("snapshot-1", "snapshot", 1)
    asked = {"id": 2, "op": "byte_data", "handle": 1, "within": "", "offset": 0, "length": 4}
    given = _content(str(root), path, asked, allow_hidden=False)
    assert base64.b64decode(str(given["data"]))[:4] == (root / path).read_bytes()[:4]
    refused = _content(str(root), path, {"id": 3, "op": "delete"}, allow_hidden=False)
    assert refused["ok"] is False
    missing = _content(str(root), "nothing", {"id": 4, "op": "bytes"}, allow_hidden=False)
    assert missing["ok"] is False


def test_a_file_that_changes_is_read_anew(root: Path) -> None:
    path = root / "demo.db/orders/snapshot/LATEST"
    name = "demo.db/orders/snapshot/LATEST"
    path.write_text("7")
    first = _content(str(root), name, {"id": 1, "op": "bytes"}, allow_hidden=False)
    path.write_text("12")
    second = _content(str(root), name, {"id": 1, "op": "bytes"}, allow_hidden=False)
    assert (first["body"]["size"], second["body"]["size"]) == (1, 2)  # type: ignore[index]


def test_messages_that_are_none_are_refused() -> None:
    for text in ("x", "[]", "1", "x" * 9000):
        with pytest.raises(Exception, match="400"):
            _message(text)
    assert _message('{"id": 1}') == {"id": 1}
    assert _jupyter_server_extension_points() == [
        {"module": "paimon_explore.widgets.jupyter_server_handlers"}
    ]
