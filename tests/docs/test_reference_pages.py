"""Reference pages that people write name what the code has."""

import re
from pathlib import Path

import yaml

ROOT = Path(__file__).parents[2]
REFERENCE = ROOT / ".github" / "docs" / "reference"
PACKAGE = ROOT / "paimon_explore"

_VARIABLE = re.compile(r'environ(?:\.get\(|\[|\.pop\(|\.setdefault\()\s*"([A-Z][A-Z0-9_]+)"')


def test_every_environment_variable_that_the_code_reads_is_listed() -> None:
    page = (REFERENCE / "environment-variables.md").read_text(encoding="utf-8")
    used = {
        name
        for path in PACKAGE.rglob("*.py")
        for name in _VARIABLE.findall(path.read_text(encoding="utf-8"))
    }
    internal = {"PYTHONPATH"}
    assert {"HIVE_CONF_DIR", "HADOOP_HOME"} <= used
    assert sorted(name for name in used - internal if f"`{name}`" not in page) == []


def test_every_page_of_the_reference_is_a_heading_and_text() -> None:
    pages = sorted(REFERENCE.glob("*.md"))
    assert len(pages) > 12
    included = {"spark.md"}
    bare = [p.name for p in pages if not p.read_text(encoding="utf-8").startswith("# ")]
    assert set(bare) <= included


ANSWERS = {"yes", "no", "part", "unknown"}
FEATURES = [
    feature
    for group in yaml.safe_load((REFERENCE / "peers.yaml").read_text(encoding="utf-8"))
    for feature in group["features"]
]


def test_each_feature_has_an_answer_for_every_implementation() -> None:
    assert len(FEATURES) > 50
    for feature in FEATURES:
        for name in ("java", "next", "pypaimon", "rust", "ours"):
            found = feature.get(name, "yes" if name == "next" else "")
            assert found.partition(":")[0] in ANSWERS, feature["feature"]
        assert feature["ours"] != "unknown", feature["feature"]


def test_each_feature_is_named_once() -> None:
    names = [feature["feature"] for feature in FEATURES]
    assert [name for name in names if names.count(name) > 1] == []


def test_each_answer_in_part_says_which_part() -> None:
    bare = [
        f"{feature['feature']}: {name}"
        for feature in FEATURES
        for name in ("java", "next", "pypaimon", "rust", "ours")
        if feature.get(name) == "part"
    ]
    assert bare == []


def test_each_of_our_answers_names_a_test_that_exists_or_the_refusal() -> None:
    for feature in FEATURES:
        if feature["ours"].startswith("no"):
            assert feature["refusal"], feature["feature"]
            continue
        path, _, name = feature["test"].partition("::")
        text = (ROOT / path).read_text(encoding="utf-8")
        assert f"\ndef {name}(" in text, feature["test"]
