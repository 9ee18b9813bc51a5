"""The documentation site: it builds, its links lead somewhere, the reference is complete.

All tests that need the built site are in this file, so that it is built once.
"""

import inspect
from typing import TYPE_CHECKING
from urllib.parse import urlencode

import pytest

import paimon_explore as pe
from paimon_explore import errors
from paimon_explore.inspection.rendering.result import Result
from paimon_explore.metadata.options.option_reference import ALL_OPTIONS
from paimon_explore.table.maintenance import Maintenance
from paimon_explore.table.merge_builder import Merge
from paimon_explore.table.previews.what_if import WhatIf
from paimon_explore.table.scan import Scan
from paimon_explore.table.table_inspection import TableInspection
from paimon_explore.table.transactions.transaction import Transaction
from support.site import NOTEBOOK_RUN, ROOT, Site

if TYPE_CHECKING:
    from playwright.sync_api import Browser

OWN_ERRORS = [
    kind
    for _, kind in inspect.getmembers(errors, inspect.isclass)
    if issubclass(kind, Exception) and kind.__module__ == errors.__name__
]
CLASSES = (
    pe.Catalog,
    pe.Table,
    Scan,
    TableInspection,
    Maintenance,
    Merge,
    Result,
    Transaction,
    WhatIf,
)


def full_name(kind: type) -> str:
    """The name by which users reach a class."""
    is_top = getattr(pe, kind.__name__, None) is kind
    return f"{'paimon_explore' if is_top else kind.__module__}.{kind.__qualname__}"


def public_members(kind: type) -> set[str]:
    """The methods and properties of a class, and the fields that a docstring describes."""
    found = {name for name in dir(kind) if not name.startswith("_")}
    return {f"{full_name(kind)}.{name}" for name in found}


def test_every_public_name_has_an_entry(site: Site) -> None:
    pytest.importorskip("pyspark")
    wanted = {f"paimon_explore.{name}" for name in pe.__all__}
    wanted |= {f"paimon_explore.inspect.{name}" for name in pe.inspect.__all__}
    wanted |= {f"paimon_explore.spark.{name}" for name in pe.spark.__all__}
    for kind in CLASSES:
        wanted |= {full_name(kind), *public_members(kind)}
    assert len(wanted) > 200
    assert sorted(wanted - set(site.inventory)) == []


def test_every_error_has_an_entry(site: Site) -> None:
    assert len(OWN_ERRORS) > 18
    missing = [kind.__name__ for kind in OWN_ERRORS if not site.documents(kind.__name__)]
    assert missing == []


def test_each_concept_has_a_picture(site: Site) -> None:
    concepts = [name for name in site.pages if name.startswith("concepts/")]
    pictures = {name: site.pages[name].pictures for name in concepts}
    assert len(concepts) >= 11
    assert [name for name, count in pictures.items() if not count] == []


def test_the_first_page_shows_the_explorer_and_leads_to_each_section(site: Site) -> None:
    links = site.pages["index.html"].links
    explorer = "_static/saved/parcels.html"
    assert explorer in links
    assert 'id="pe-recording"' in (site.folder / explorer).read_text(encoding="utf-8")
    sections = {f"{name}/index.html" for name in ("learn", "how-to", "reference", "concepts")}
    assert sections <= set(links)


def test_each_notebook_has_a_page_and_an_executed_one_its_outputs(site: Site) -> None:
    notebooks = {path.stem for path in (ROOT / "notebooks").glob("*.ipynb")}
    pages = {name for name in site.pages if name.startswith("learn/")}
    assert pages == {f"learn/{name}.html" for name in ("index", *notebooks)}
    saved = {
        name: [link for link in site.pages[name].links if "_static/saved/" in link]
        for name in pages
    }
    executed = f"learn/{NOTEBOOK_RUN}.html"
    assert [name for name, links in saved.items() if links] == [executed]
    assert {link.rpartition("/")[2] for link in saved[executed]} == {
        f"{NOTEBOOK_RUN}-explorer-1.html",
        f"{NOTEBOOK_RUN}-figure-1.html",
    }


@pytest.mark.parametrize(
    ("kind", "names"),
    [
        ("option", set(ALL_OPTIONS)),
        ("environment variable", {"PAIMON_EXPLORE_MEMORY_LIMIT", "JAVA_HOME"}),
        ("procedure", {"sys.compact", "sys.create_tag"}),
        ("system table", {"$audit_log", "$binlog"}),
        ("Python class", {kind.__name__ for kind in OWN_ERRORS}),
    ],
)
def test_the_search_finds_names_of_the_reference(site: Site, kind: str, names: set[str]) -> None:
    entries = [name for name, shown in site.search_entries.items() if shown == kind]
    found = {name.removeprefix("paimon_explore.").removeprefix("errors.") for name in entries}
    assert sorted(names - found) == []


@pytest.mark.browser
@pytest.mark.parametrize(
    "name",
    [
        "num-sorted-run.compaction-trigger",
        "CommitConflictError",
        "JAVA_HOME",
        "$files",
        "sys.compact",
    ],
)
def test_the_first_result_of_a_search_has_the_name(
    site: Site, browser: "Browser", name: str
) -> None:
    page = browser.new_page()
    page.goto(f"{(site.folder / 'search.html').as_uri()}?{urlencode({'q': name})}")
    first = page.locator("ul.search li a").first.inner_text(timeout=60_000)
    page.close()
    assert first == name or first.endswith((f".{name}", f"> {name}"))


def test_no_page_shows_markup_that_was_not_understood(site: Site) -> None:
    signs = ("`", ":py:", "{py:", "<!-- generated", "```", "::\n")
    found = [
        f"{name}: {sign!r} in {text[:60]!r}"
        for name, page in site.pages.items()
        for text in page.texts
        for sign in signs
        if sign in text
    ]
    assert found == []


def test_the_site_builds_without_warnings(site: Site) -> None:
    assert (site.folder / "index.html").is_file()
    assert len(site.pages) > 5


def test_every_internal_link_and_anchor_resolves(site: Site) -> None:
    assert sum(len(page.links) for page in site.pages.values()) > 50
    assert site.broken_links() == []


def test_every_page_is_reachable_from_the_index(site: Site) -> None:
    assert sorted(set(site.pages) - site.reachable("index.html")) == []
