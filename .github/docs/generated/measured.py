"""What was measured and compared: benchmarks, tables of other writers, other implementations."""

import ast
import json
import tarfile
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from functools import cache
from pathlib import Path
from typing import Any

import yaml

from benchmarks.report import summary
from generated.markdown import code, grid

ROOT = Path(__file__).parents[3]
TESTS = ROOT / "tests"
_WRITERS = {
    "java09": "Java 0.9",
    "java142": "Java 1.4.2",
    "java200": "Java 2.0",
    "java21": "Java 2.1 (unreleased)",
    "pypaimon21": "pypaimon 2.1",
    "rust04": "pypaimon-rust 0.4",
}
Meta = Mapping[str, Any]


def benchmarks() -> str:
    """Return the table of benchmarks."""
    results = json.loads((TESTS / "benchmarks" / "results.json").read_text(encoding="utf-8"))
    return f"{summary(results)}\n"


@cache
def golden() -> dict[str, tuple[Meta, ...]]:
    """What each writer said of its tables in the archives of tests."""
    return {writer: tuple(_metas(TESTS / "golden" / f"{writer}.tar.xz")) for writer in _WRITERS}


def _metas(archive: Path) -> Iterator[Meta]:
    with tarfile.open(archive) as tar:
        for member in tar:
            if member.name.endswith("/meta.json") and "/expected/" in member.name:
                file = tar.extractfile(member)
                assert file is not None
                yield json.load(file)


def _option(key: str, *values: str) -> Callable[[Meta], bool]:
    return lambda meta: str(meta["options"].get(key, "")) in values


def _has(part: str) -> Callable[[Meta], bool]:
    return lambda meta: any(part in key for key in meta["options"])


def _types(part: str) -> Callable[[Meta], bool]:
    return lambda meta: part in json.dumps(meta["fields"])


def _bucket(value: str) -> Callable[[Meta], bool]:
    return lambda meta: bool(meta["primary_keys"]) and meta["options"].get("bucket", "-1") == value


FEATURES: Mapping[str, Callable[[Meta], bool]] = {
    "append tables": lambda meta: not meta["primary_keys"],
    "primary-key tables": lambda meta: bool(meta["primary_keys"]),
    "partitioned": lambda meta: bool(meta["partition_keys"]),
    "merge engine partial-update": _option("merge-engine", "partial-update"),
    "merge engine aggregation": _option("merge-engine", "aggregation"),
    "merge engine first-row": _option("merge-engine", "first-row"),
    "sequence fields": _has("sequence.field"),
    "changelog producer input": _option("changelog-producer", "input"),
    "changelog producer lookup": _option("changelog-producer", "lookup"),
    "changelog producer full-compaction": _option("changelog-producer", "full-compaction"),
    "deletion vectors": _option("deletion-vectors.enabled", "true"),
    "64-bit deletion vectors": _option("deletion-vectors.bitmap64", "true"),
    "dynamic buckets": _bucket("-1"),
    "postponed buckets": _bucket("-2"),
    "row tracking": _option("row-tracking.enabled", "true"),
    "data evolution": _option("data-evolution.enabled", "true"),
    "file indexes": _has("file-index."),
    "schema evolution": lambda meta: str(meta["table"]).startswith("se_"),
    "branches": lambda meta: str(meta["table"]).startswith("branch"),
    "tags": lambda meta: str(meta["table"]).startswith("tag"),
    "data files in Avro": _option("file.format", "avro"),
    "data files in ORC": _option("file.format", "orc"),
    "data files in CSV or JSON": _option("file.format", "csv", "json"),
    "manifests in ORC or Parquet": _option("manifest.format", "orc", "parquet"),
    "nested types": lambda meta: any(isinstance(f["type"], dict) for f in meta["fields"]),
    "VARIANT": _types('"VARIANT'),
    "BLOB": _types('"BLOB'),
    "external data paths": _has("data-file.external-paths"),
}
"""Features of tables, and how the writer's description tells that a table has one."""


def golden_table() -> str:
    """Return the number of tables by feature and writer."""
    rows: list[tuple[object, ...]] = []
    for feature, matches in FEATURES.items():
        counts = [sum(map(matches, metas)) for metas in golden().values()]
        rows.append((feature, *(count or "" for count in counts)))
    totals = [f"**{len(metas)}**" for metas in golden().values()]
    return grid(("feature", *_WRITERS.values()), [("**tables**", *totals), *rows])


def interop_table() -> str:
    """Return the tests in which others and this library read each other's tables."""
    rows = []
    for path in sorted((TESTS / "interop").glob("test_*.py")):
        tree = ast.parse(path.read_text(encoding="utf-8"))
        names = [n.name for n in tree.body if isinstance(n, ast.FunctionDef)]
        count = sum(name.startswith("test_") for name in names)
        text = (ast.get_docstring(tree) or "").partition("\n\n")[0].replace("\n", " ")
        rows.append((code(path.name), text, count))
    return grid(("file in tests/interop", "what is compared", "test functions"), rows)


def kinds() -> str:
    """Return the kinds of tables that each of these tests writes and reads."""
    tree = ast.parse((TESTS / "support" / "written.py").read_text(encoding="utf-8"))
    for node in tree.body:
        target = node.target if isinstance(node, ast.AnnAssign) else None
        target = node.targets[0] if isinstance(node, ast.Assign) else target
        value = node.value if isinstance(node, ast.Assign | ast.AnnAssign) else None
        if isinstance(target, ast.Name) and target.id == "KINDS" and isinstance(value, ast.Dict):
            names = [str(ast.literal_eval(key)) for key in value.keys if key is not None]
            return f"{', '.join(map(code, names))} ({len(names)} kinds).\n"
    raise LookupError("KINDS")


def peers_file() -> list[dict[str, Any]]:
    """Return what each implementation does, by feature; see `peers.yaml`."""
    path = Path(__file__).parents[1] / "reference" / "peers.yaml"
    found: list[dict[str, Any]] = yaml.safe_load(path.read_text(encoding="utf-8"))
    return found


PEER_NAMES = {
    "java": "Java 2.0",
    "next": "Java 2.1 (unreleased)",
    "pypaimon": "pypaimon 2.1",
    "rust": "pypaimon-rust 0.4",
}


def answer(feature: dict[str, Any], name: str) -> str:
    """Return an answer; of the next version of Java it is by default that of the released one."""
    found: str = feature.get(name, feature["java"]) if name == "next" else feature[name]
    return found


_SIGNS = {"yes": "yes", "no": "no", "part": "partly", "unknown": "unknown"}


def peers() -> str:
    """Return the table of features and implementations, with the test that proves each of ours."""
    parts = []
    for group in peers_file():
        rows = []
        for one in group["features"]:
            others = [_cell(answer(one, name)) for name in ("java", "next", "pypaimon", "rust")]
            proof = f"test: {code(one['test'].partition('::')[2])}" if "test" in one else ""
            ours = _cell(one["ours"])
            rows.append((one["feature"], *others, ours, proof or one.get("refusal", "")))
        head = ("feature", *PEER_NAMES.values(), "paimon_explore", "proof")
        parts.append(f"## {group['group']}\n\n{grid(head, rows)}")
    return "\n".join(parts)


def _cell(text: str) -> str:
    """A cell: `yes`, or `no: what happens instead`."""
    sign, _, note = str(text).partition(": ")
    return f"{_SIGNS[sign]}{f' ({note})' if note else ''}"


def peer_counts() -> str:
    """Return how often each answer is given, by implementation."""
    names = {**PEER_NAMES, "ours": "paimon_explore"}
    features = [one for group in peers_file() for one in group["features"]]
    rows = []
    for key, name in names.items():
        counts = Counter(str(answer(one, key)).partition(": ")[0] for one in features)
        rows.append((name, *(counts[sign] for sign in _SIGNS)))
    return grid(("implementation", *_SIGNS.values()), rows)
