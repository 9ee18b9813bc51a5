"""Iceberg metadata that Java and we write for the same steps: Iceberg readers see the same rows.

Two readers judge: one that follows the specification, and pyiceberg if it is installed.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date
from decimal import Decimal
from importlib import import_module
from importlib.util import find_spec
from itertools import product
from pathlib import Path
from typing import Any

import pytest

from oracle import ROW_KIND, JavaPaimon, difference
from paimon_explore import Table, open_table
from support.depth import some
from support.iceberg_reader import IcebergReader

pytestmark = pytest.mark.interop

Row = Mapping[str, object]
Judge = Callable[[Path], list[dict[str, Any]]]

IN_TABLE = {"metadata.iceberg.storage": "table-location"}
VECTORS = {
    "deletion-vectors.enabled": "true",
    "deletion-vectors.bitmap64": "true",
    "metadata.iceberg.format-version": "3",
}


@dataclass(frozen=True)
class Step:
    """A change of a table, as Java and as we do it."""

    java: Callable[[JavaPaimon, Path], object]
    ours: Callable[[Table], object]


def write(*rows: Row) -> Step:
    kinds = any(ROW_KIND in row for row in rows)
    plain = [{**row, "_ROW_KIND": row.get(ROW_KIND, "+I")} if kinds else row for row in rows]

    def ours(table: Table) -> object:
        return table.upsert(plain) if table.schema.primary_keys else table.append(plain)

    return Step(lambda java, path: java.write(path, list(rows)), ours)


def overwrite(*rows: Row) -> Step:
    return Step(
        lambda java, path: java.write(path, list(rows), overwrite="dynamic"),
        lambda table: table.overwrite(list(rows)),
    )


def add_column(name: str) -> Step:
    return Step(
        lambda java, path: java.alter(
            path, {"change": "add_column", "column": name, "type": "BIGINT"}
        ),
        lambda table: table.add_column(name, "BIGINT"),
    )


def rename_column(name: str, new: str) -> Step:
    return Step(
        lambda java, path: java.alter(
            path, {"change": "rename_column", "column": name, "name": new}
        ),
        lambda table: table.rename_column(name, new),
    )


COMPACT = Step(lambda java, path: java.compact(path), lambda table: table.compact(full=True))
TAG = Step(lambda java, path: java.create_tag(path, "v"), lambda table: table.create_tag("v"))
TRUNCATE = Step(lambda java, path: java.truncate(path), lambda table: table.truncate())
EXPIRE = Step(
    lambda java, path: java.expire(
        path, {"snapshot.num-retained.min": "1", "snapshot.num-retained.max": "1"}
    ),
    lambda table: table.maintenance.expire_snapshots(retain_max=1, retain_min=1),
)


@dataclass(frozen=True)
class Case:
    fields: Sequence[tuple[str, str | Mapping[str, Any]]]
    steps: Sequence[Step]
    primary_keys: Sequence[str] = ()
    partition_keys: Sequence[str] = ()
    options: Mapping[str, str] = field(default_factory=dict)


KV: list[tuple[str, str | Mapping[str, Any]]] = [("k", "INT NOT NULL"), ("v", "STRING")]
KEYED = {"bucket": "1", "write-only": "true"}
A, B, C = {"k": 1, "v": "a"}, {"k": 2, "v": None}, {"k": 3, "v": "c"}
TYPES: list[tuple[str, str | Mapping[str, Any]]] = [
    ("b", "BOOLEAN"),
    ("i", "TINYINT"),
    ("l", "BIGINT"),
    ("f", "DOUBLE"),
    ("n", "DECIMAL(12, 3)"),
    ("d", "DATE"),
    ("s", "VARCHAR(9)"),
    ("x", "BYTES"),
    ("a", {"type": "ARRAY", "element": "INT"}),
    ("m", {"type": "MAP", "key": "INT", "value": "STRING"}),
]
VALUES = {
    "b": True,
    "i": -3,
    "l": 2**40,
    "f": 1.5,
    "n": Decimal("-12.125"),
    "d": date(1969, 12, 31),
    "s": "äö",
    "x": b"\x00\xff",
    "a": [1, None],
    "m": [(1, "x")],
}
CASES: Mapping[str, Case] = {
    "append": Case(KV, [write(A), write(B, C), overwrite(C), write(A), TRUNCATE, write(B)]),
    "types": Case(TYPES, [write(VALUES), write(dict.fromkeys(VALUES))]),
    "partitions": Case(
        [*KV, ("d", "DATE NOT NULL"), ("p", "STRING NOT NULL")],
        [
            write({**A, "d": date(2024, 1, 1), "p": "x"}),
            write({**B, "d": date(2024, 1, 2), "p": "y"}, {**C, "d": date(2024, 1, 1), "p": "x"}),
            overwrite({**A, "d": date(2024, 1, 3), "p": "z"}),
        ],
        partition_keys=["d", "p"],
    ),
    "evolution": Case(
        KV,
        [
            write(A),
            add_column("n"),
            write({**B, "n": 5}),
            rename_column("v", "w"),
            write({"k": 3, "w": "c", "n": None}),
        ],
    ),
    "keyed": Case(
        KV,
        [
            write(A, B),
            write({"k": 1, "v": "new"}),
            COMPACT,
            write(C),
            COMPACT,
            write({**A, ROW_KIND: "-D"}),
            COMPACT,
            write(A),
        ],
        primary_keys=["k"],
        options=KEYED,
    ),
    "keyed_partitions": Case(
        [*KV, ("p", "INT NOT NULL")],
        [
            write({**A, "p": 1}, {**B, "p": 2}),
            COMPACT,
            write({**C, "p": 1}),
            COMPACT,
            overwrite({**A, "p": 2}),
        ],
        primary_keys=["k", "p"],
        partition_keys=["p"],
        options=KEYED,
    ),
    "vectors": Case(
        KV,
        [write(A, B), COMPACT, write({"k": 1, "v": "new"}), COMPACT, write(C), COMPACT],
        primary_keys=["k"],
        options={**KEYED, **VECTORS},
    ),
    "merged_manifests": Case(
        KV,
        [write({"k": number, "v": "a"}) for number in range(5)] + [overwrite(A), write(B)],
        options={
            "metadata.iceberg.compaction.min.file-num": "2",
            "metadata.iceberg.compaction.max.file-num": "3",
        },
    ),
    "expiry": Case(
        KV,
        [write(A), write(B), overwrite(C), EXPIRE, write(A), write(B)],
        options={"snapshot.num-retained.min": "1", "snapshot.num-retained.max": "2"},
    ),
    "tags": Case(KV, [write(A), TAG, write(B)]),
    "kept_versions": Case(
        KV,
        [write(A), write(B), overwrite(C)],
        options={
            "metadata.iceberg.previous-versions-max": "1",
            "metadata.iceberg.manifest-legacy-version": "true",
            "metadata.iceberg.manifest-compression": "deflate",
        },
    ),
}


def by_specification(path: Path) -> list[dict[str, Any]]:
    return reader(path).rows()


def by_pyiceberg(path: Path) -> list[dict[str, Any]]:
    opened: Any = import_module("pyiceberg.table")
    version = (path / "metadata" / "version-hint.text").read_text()
    table = opened.StaticTable.from_metadata(str(path / "metadata" / f"v{version}.metadata.json"))
    return sorted(table.scan().to_arrow().to_pylist(), key=repr)


JUDGES: list[Judge] = [by_specification]
if find_spec("pyiceberg") is not None:
    JUDGES.append(by_pyiceberg)
BEYOND_PYICEBERG = {"vectors"}
"""Its puffin files are not those of Paimon."""


def reader(path: Path) -> IcebergReader:
    return IcebergReader(lambda file: Path(file).read_bytes(), str(path / "metadata"))


def judged(path: Path, name: str) -> list[list[dict[str, Any]]]:
    judges = JUDGES[:1] if name in BEYOND_PYICEBERG else JUDGES
    return [judge(path) for judge in judges] if (path / "metadata").exists() else []


def facts(path: Path) -> dict[str, Any]:
    """What the metadata of both writers has in common, besides names of files and times."""
    found = reader(path)
    metadata = found.metadata
    keys = ("format-version", "schemas", "current-schema-id", "partition-specs", "refs")
    operations = [one["summary"]["operation"] for one in metadata["snapshots"]]
    names = ("status", "snapshot_id", "sequence_number", "file_sequence_number")
    entries = [
        sorted(
            tuple(entry[name] for name in names) for entry in found.records(one["manifest_path"])
        )
        for one in found.manifests()
    ]
    return {
        **{key: metadata[key] for key in (*keys, "last-partition-id", "default-spec-id")},
        "snapshots": list(found.snapshots),
        "operations": operations,
        "entries": entries,
        "versions": sorted(file.name for file in (path / "metadata").glob("v*")),
        "kinds": sorted(file.suffix for file in (path / "metadata").iterdir()),
    }


def make(java: JavaPaimon, folder: Path, case: Case) -> Path:
    path = folder / "t"
    folder.mkdir()
    java.create_table(
        path,
        case.fields,
        partition_keys=case.partition_keys,
        primary_keys=case.primary_keys,
        options={**IN_TABLE, **case.options},
    )
    return path


@pytest.mark.parametrize("name", some([*CASES], 2, 1))
def test_the_metadata_has_the_same_rows_and_entries_as_that_of_java(
    java: JavaPaimon, tmp_path: Path, name: str
) -> None:
    case = CASES[name]
    theirs, ours = make(java, tmp_path / "a.db", case), make(java, tmp_path / "b.db", case)
    for number, step in enumerate(case.steps):
        step.java(java, theirs)
        step.ours(open_table(str(ours)))
        assert judged(ours, name) == judged(theirs, name), (name, number)
        if (theirs / "metadata").exists():
            assert facts(ours) == facts(theirs), (name, number)


@pytest.mark.parametrize(("name", "first"), some([*product(CASES, ("java", "ours"))], 4))
def test_java_and_we_continue_each_others_metadata(
    java: JavaPaimon, tmp_path: Path, name: str, first: str
) -> None:
    case = CASES[name]
    theirs, both = make(java, tmp_path / "a.db", case), make(java, tmp_path / "b.db", case)
    for number, step in enumerate(case.steps):
        step.java(java, theirs)
        if (number % 2 == 0) == (first == "java"):
            step.java(java, both)
        else:
            step.ours(open_table(str(both)))
        assert judged(both, name) == judged(theirs, name), (name, number)
        assert difference(java.read(theirs), java.read(both)) == ""
    uuids = {reader(both).metadata["table-uuid"]}
    assert len(uuids) == 1
