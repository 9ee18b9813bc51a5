"""The glossary behind the tooltips of the explorer."""

import re
from collections import Counter
from pathlib import Path

import pytest

import paimon_explore as pe
from paimon_explore.inspection.explorer.explorer_reports import REPORTS
from paimon_explore.inspection.explorer.explorer_state import ExplorerState, ViewInput
from paimon_explore.inspection.glossary import TERMS, all_names
from paimon_explore.metadata.snapshot import CommitKind
from support.glossary_table import PAGE, with_table
from support.golden import GoldenTables

NOTEBOOKS = Path(__file__).parents[3] / "notebooks"
SHOWN = (
    *(kind.value for kind in CommitKind),
    *(
        "snapshot",
        "manifest",
        "base manifest list",
        "delta manifest list",
        "changelog manifest list",
    ),
    *("index manifest", "level", "bucket", "partition", "sorted run", "LSM tree", "schema"),
    *("changelog", "deletion vector", "merge engine", "sequence field", "min key", "max key"),
    *("min", "max", "nulls", "primary key", "append table", "tag", "branch", "consumer"),
    *("watermark", "statistics", "row kind", "writers", "consumers"),
)
"""Terms and labels of the explorer that must have a tooltip."""


@pytest.mark.parametrize("label", SHOWN)
def test_a_term_on_the_screen_has_a_tooltip(label: str) -> None:
    assert label.lower() in all_names()


def test_each_term_is_explained_in_one_sentence() -> None:
    wrong = [n for n, t in TERMS.items() if not re.fullmatch(r"[A-Z][^.]*\.", t.text)]
    assert wrong == []
    assert [name for name, term in TERMS.items() if len(term.text) > 120] == []


def test_no_name_has_two_meanings() -> None:
    names = [name.lower() for title, term in TERMS.items() for name in {title, *term.names}]
    assert [name for name, count in Counter(names).items() if count > 1] == []


def test_the_notebooks_of_the_glossary_exist() -> None:
    named = {term.notebook for term in TERMS.values() if term.notebook}
    assert named
    assert named <= {path.stem for path in NOTEBOOKS.glob("*.ipynb")}


def test_the_architecture_lists_the_terms() -> None:
    page = PAGE.read_text(encoding="utf-8")
    assert with_table(page) == page, "run: python tests/support/glossary_table.py"


def test_tooltips_cover_headings_of_the_views(golden: GoldenTables) -> None:
    state = ExplorerState(pe.open_table(golden.table("java200", "dv_pk").folder)._inspector())
    headings: set[str] = set()
    for pane in REPORTS:
        sections = state.result(pane, state.newest, ViewInput()).state()["sections"]
        assert isinstance(sections, list)
        headings |= {name for part in sections for name in part.get("columns", [])}
    known = {name for name in headings if name.lower() in all_names()}
    assert known >= {"snapshot", "level", "partition", "bucket", "min key", "max key"}
