"""One file of a table goes wrong, then everything that reads is asked for."""

import json
import os
import random
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Any

import pyarrow as pa

import paimon_explore as pe
from paimon_explore.errors import PaimonError
from paimon_explore.inspection.explorer.explorer_reports import REPORTS, Hint
from paimon_explore.inspection.explorer.explorer_state import ExplorerState, ViewInput
from paimon_explore.inspection.explorer.static_html import explorer_html
from paimon_explore.inspection.system_tables.history_tables import SYSTEM_TABLES
from paimon_explore.inspection.views.inspector import Inspector
from paimon_explore.inspection.views.manifest_tree import parse_key
from paimon_explore.metadata.manifest.index_manifest import IndexEntries
from paimon_explore.metadata.manifest.manifest_codec import (
    decode_entries,
    decode_index_entries,
    encode_records,
)
from paimon_explore.metadata.manifest.manifest_entry import ManifestEntries
from paimon_explore.metadata.manifest.manifest_list import ManifestFiles
from paimon_explore.store.manifests import shared_cache
from paimon_explore.table.audit_log_binlog_tables import ROW_TABLES
from paimon_explore.table.table import Table
from support.decoding import decode_manifest_list

_LONG_AGO = 1_600_000_000
_MOST_NODES, _NEWEST = 60, 4
_GONE = object()
_ODD_VALUES: tuple[object, ...] = (
    None,
    True,
    -1,
    0,
    2**31,
    2**63 - 1,
    -(2**63),
    2**63,
    10**40,
    1.5,
    float("nan"),
    "",
    "x",
    "../../../../etc/passwd",
    "/etc/passwd",
    "a\0b",
    "\ud800",
    "\u202e<svg onload=alert(1)>",
    "9" * 5000,
    "y" * 100_000,
    [],
    {},
    [[]],
    {"": {}},
    "INT NOT NULL",
    "DECIMAL(99, 98)",
    "ARRAY<INT>",
    "ROW<a INT>",
    "VARCHAR(99999999999)",
    "TIMESTAMP(12)",
    "true",
    "-5",
    "100000000000 gb",
)


@dataclass(frozen=True)
class Damage:
    """What was done to one file, and what it held before."""

    path: Path
    before: bytes
    what: str

    def undo(self) -> None:
        """Put back what was there."""
        _write(self.path, self.before)


def spoil(folder: Path, chance: random.Random) -> Damage:
    """Change one file of a table."""
    by_kind: dict[str, list[Path]] = {}
    for path in sorted(p for p in folder.rglob("*") if p.is_file() and p.suffix != ".crc"):
        by_kind.setdefault(_kind(path.relative_to(folder)), []).append(path)
    path = chance.choice(by_kind[chance.choice(sorted(by_kind))])
    before = path.read_bytes()
    others = [p for kind in by_kind.values() for p in kind if p != path]
    what, after = _spoilt_manifest(path, before, chance) or spoilt(before, chance, others)
    _write(path, after)
    return Damage(path=path, before=before, what=f"{path.relative_to(folder)}: {what}")


def look_at_everything(folder: Path) -> list[PaimonError]:
    """Ask a table for all it can tell; the errors that it may raise.

    Raises:
        Exception: any that is no `PaimonError`.
    """
    shared_cache().clear()
    refused: list[PaimonError] = []
    for ask in _questions(folder):
        try:
            ask()
        except PaimonError as error:
            refused.append(error)
    return refused


def age(folder: Path) -> None:
    """Make all files of a folder look old: young ones are waited for."""
    for path in folder.rglob("*"):
        os.utime(path, (_LONG_AGO, _LONG_AGO))


def _explorer_panes(inspector: Inspector) -> Iterator[Callable[[], object]]:
    """Every request of the explorer, for the newest snapshots of the timeline."""
    state = ExplorerState(inspector)
    yield state.open
    yield state.history
    yield lambda: state.filter(0, "level = 0 and size < 1 MB")
    for mark in inspector.timeline().marks[-_NEWEST:]:
        yield from _panes_at(state, mark.snapshot_id)
    for pane in REPORTS:
        yield lambda pane=pane: _sheet(state, pane, state.newest)  # type: ignore[misc]


def _panes_at(state: ExplorerState, number: int) -> Iterator[Callable[[], object]]:
    yield lambda: state.resolve(str(number))
    yield lambda: _file_pane(state, number)
    yield lambda: state.code(number, "files", "", str(number))
    pending = [""]
    for _ in range(_MOST_NODES):
        if not pending:
            break
        key = pending.pop()
        yield lambda key=key: pending.extend(_children(state, number, key))  # type: ignore[misc]
        yield lambda key=key: state.detail(f"{number}/{key}" if key else str(number))  # type: ignore[misc]


def _sheet(state: ExplorerState, pane: str, number: int) -> None:
    """A view, and what it proposes to ask."""
    found = state.result(pane, number, ViewInput())
    if isinstance(found, Hint) and found.examples:
        found = state.result(pane, number, ViewInput(text=found.examples[0]))
    json.dumps(found.state())
    assert len(repr(found).splitlines()) <= 25


def _children(state: ExplorerState, number: int, key: str) -> list[str]:
    found = state.tree(number, [key]).body["children"]
    assert isinstance(found, dict)
    if key not in found:
        return []
    keys = [str(node["key"]) for node in found[key]["nodes"] if node["type"] != "problem"]
    for one in keys:
        parse_key(one)
    return keys[:6]


def _file_pane(state: ExplorerState, number: int) -> None:
    answer = state.files(number)
    frame = answer.body["frame"]
    assert isinstance(frame, int)
    for row in range(min(len(answer.columns["size"]), 3)):
        state.rows(frame, [row])
        state.detail(f"file/{frame}/{row}")


def _questions(folder: Path) -> Iterator[Callable[[], object]]:
    try:
        table = pe.open_table(folder)
    except PaimonError as error:
        refused = error
        yield lambda: _again(refused)
        return
    yield lambda: repr(table)
    yield table._repr_html_
    yield lambda: table.scan().plan()
    yield lambda: table.to_arrow().validate(full=True)
    yield lambda: list(islice(table.changes(), 20))
    for name in sorted(SYSTEM_TABLES):
        yield lambda name=name: getattr(table.inspect, name)()  # type: ignore[misc]
    for name in sorted(ROW_TABLES):
        yield lambda name=name: table.inspect.system_table(name).to_arrow()  # type: ignore[misc]
    yield from _points(table)
    try:
        inspector = table._inspector()
    except PaimonError as error:
        refused = error
        yield lambda: _again(refused)
        return
    yield lambda: explorer_html(inspector)
    yield from _explorer_panes(inspector)


def _points(table: Table) -> Iterator[Callable[[], object]]:
    for name in table._store.tags.names():
        yield lambda name=name: table.at(tag=name).to_arrow()  # type: ignore[misc]
    for name in table._store.branches.names():
        yield lambda name=name: pe.open_table(table.path, branch=name).to_arrow()  # type: ignore[misc]
    for number in table._store.snapshots.ids()[:2]:
        yield lambda number=number: table.at(snapshot=number).to_arrow()  # type: ignore[misc]


def _again(error: PaimonError) -> None:
    raise error


def _kind(path: Path) -> str:
    first = path.parts[0]
    if first.startswith("branch"):
        return "branch"
    if first == "manifest":
        return path.name.partition("-")[0] + ("-list" if "list" in path.name else "")
    return first if first in {"snapshot", "schema", "tag", "index", "changelog"} else "data"


def spoilt(before: bytes, chance: random.Random, others: Sequence[Path] = ()) -> tuple[str, bytes]:
    """What was done to a file's content, and what came of it.

    JSON gets odd values, other files get other bytes.
    """
    if chance.random() < 0.8 and before.lstrip()[:1] == b"{":
        return _spoilt_json(before, chance)
    return _spoilt_bytes(before, chance, others)


def _spoilt_manifest(path: Path, before: bytes, chance: random.Random) -> tuple[str, bytes] | None:
    """A manifest with an odd cell, or with odd bytes below its compression."""
    if path.parent.name != "manifest" or before[:3] != b"Obj" or chance.random() < 0.2:
        return None
    try:
        what, after = _with_odd_cell(path, before, chance)
    except (AssertionError, OverflowError, pa.ArrowException, TypeError, ValueError):
        return None  # what cannot be written
    return (what, after) if what and chance.random() < 0.8 else spoilt(after, chance)


def _with_odd_cell(path: Path, before: bytes, chance: random.Random) -> tuple[str, bytes]:
    if path.name.startswith("manifest-list"):
        lists = decode_manifest_list(before, "f")
        what, table = _odd_cell(lists.table, chance)
        after = encode_records(ManifestFiles(table), "null")
    elif path.name.startswith("index-manifest"):
        what, table = _odd_cell(decode_index_entries(before, "f").table, chance)
        after = encode_records(IndexEntries(table), "null")
    else:
        what, table = _odd_cell(decode_entries([("f", before)])[0].table, chance)
        after = encode_records(ManifestEntries(table), "null")
    return what, after


def _odd_cell(table: pa.Table, chance: random.Random) -> tuple[str, pa.Table]:
    """One cell of a table with another value of its type; no text if there is none."""
    rows = table.to_pylist()
    if not rows:
        return "", table
    row, field = chance.randrange(len(rows)), chance.choice(list(table.schema))
    old = rows[row][field.name]
    rows[row][field.name] = new = _odd_of(field.type, old, chance)
    try:
        return f"{field.name} of {row} = {str(new)[:60]}", pa.Table.from_pylist(rows, table.schema)
    except (pa.ArrowException, OverflowError):
        return "", table


def _odd_of(kind: pa.DataType, old: object, chance: random.Random) -> object:
    """A value of a type, or almost; some are null."""
    if chance.random() < 0.1:
        return None
    if pa.types.is_integer(kind):
        bits = kind.bit_width - 1
        return chance.choice([-1, 0, 1, 2**bits - 1, -(2**bits), 2 ** (bits // 2), 1 << 20])
    match old:
        case bytes():
            return spoilt(old, chance)[1]
        case list():
            return _odd_list(kind, old, chance)
        case dict() if isinstance(kind, pa.StructType):
            key = chance.choice(sorted(old))
            return {**old, key: _odd_of(kind.field(key).type, old[key], chance)}
    texts = [value for value in _ODD_VALUES if isinstance(value, str) and value != "\ud800"]
    return b"" if pa.types.is_binary(kind) else chance.choice(texts)


def _odd_list(kind: pa.DataType, old: list[object], chance: random.Random) -> list[object]:
    if old and isinstance(kind, pa.ListType) and chance.random() < 0.5:
        return [_odd_of(kind.value_type, old[0], chance), *old[1:]]
    return chance.choice([[], [*old, *old], old[:-1], [None], [old[0] if old else None] * 99])


def _spoilt_json(before: bytes, chance: random.Random) -> tuple[str, bytes]:
    try:
        value = json.loads(before)
    except ValueError:
        return "the last byte cut", before[:-1]
    if chance.random() < 0.03:
        return "nested deep", b'{"a":' * 100_000 + b"1" + b"}" * 100_000
    holder, key = chance.choice(list(places_in(value)))
    holder[key] = new = _odd_value(holder[key], chance)
    if new is _GONE:
        del holder[key]
    return f"{key!r} = {str(new)[:60]!r}", json.dumps(value).encode("utf-8", "surrogatepass")


def _odd_value(old: object, chance: random.Random) -> object:
    match chance.choice(["odd", "odd", "odd", "gone", "near", "deep"]):
        case "gone":
            return _GONE
        case "near" if isinstance(old, int):
            return old + chance.choice([-1, 1, 2**31, -(2**40)])
        case "near" if isinstance(old, list):
            return [*old, *old]
        case "deep":
            deep: object = "INT"
            for _ in range(chance.choice([10, 300])):
                deep = {"type": "ARRAY", "element": deep}
            return deep
        case _:
            return chance.choice(_ODD_VALUES)


def places_in(value: object) -> Iterator[tuple[Any, Any]]:
    """Each member of an object and element of a list, with what holds it."""
    if isinstance(value, dict | list):
        items = value.items() if isinstance(value, dict) else enumerate(value)
        for key, inner in list(items):
            yield value, key
            yield from places_in(inner)


def _spoilt_bytes(
    before: bytes, chance: random.Random, others: Sequence[Path]
) -> tuple[str, bytes]:
    if others and chance.random() < 0.03:
        other = chance.choice(others)
        return f"the content of {other.name}", other.read_bytes()
    data = before
    done = []
    for _ in range(chance.choice([1, 1, 1, 2, 4])):
        at = _place(len(data), chance)
        how = chance.choice([*_CHANGES])
        done.append(f"{how} at {at} of {len(data)}")
        data = data[:at] + _CHANGES[how](data[at:], chance)
    return ", ".join(done), data


def _place(size: int, chance: random.Random) -> int:
    """Anywhere, more often near the begin and the end, where headers and footers are."""
    near = chance.randrange(min(size, 64) + 1)
    return chance.choice(
        [chance.randrange(size + 1), chance.randrange(size + 1), near, size - near]
    )


def _flipped(rest: bytes, chance: random.Random) -> bytes:
    return bytes(byte ^ (1 << chance.randrange(8)) for byte in rest[:1]) + rest[1:]


def _byte(rest: bytes, chance: random.Random) -> bytes:
    return bytes([chance.choice([0, 1, 2, 127, 128, 254, 255, chance.randrange(256)])]) + rest[1:]


def _word(rest: bytes, chance: random.Random) -> bytes:
    words = (b"\xff" * 4, b"\x7f" + b"\xff" * 3, b"\xff" * 3 + b"\x7f", bytes(4))
    return chance.choice(words) + rest[4:]


def _cut(rest: bytes, chance: random.Random) -> bytes:
    return rest[chance.choice([1, 2, 4, 8, 100, len(rest)]) :]


def _added(rest: bytes, chance: random.Random) -> bytes:
    return chance.randbytes(chance.choice([1, 2, 4, 9])) + rest


def _doubled(rest: bytes, chance: random.Random) -> bytes:
    return rest[: chance.choice([1, 4, 16, 200, 5000])] + rest


_CHANGES: Mapping[str, Callable[[bytes, random.Random], bytes]] = {
    "a bit flipped": _flipped,
    "another byte": _byte,
    "another word": _word,
    "bytes cut": _cut,
    "bytes added": _added,
    "a block doubled": _doubled,
}


def _write(path: Path, data: bytes) -> None:
    """Write a file that looks old."""
    path.write_bytes(data)
    os.utime(path, (_LONG_AGO, _LONG_AGO))
