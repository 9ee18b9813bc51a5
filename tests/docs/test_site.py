"""The documentation site builds without warnings, and its links lead somewhere."""

from support.site import Site


def test_the_site_builds_without_warnings(site: Site) -> None:
    assert (site.folder / "index.html").is_file()
    assert len(site.pages) > 5


def test_every_internal_link_and_anchor_resolves(site: Site) -> None:
    assert sum(len(page.links) for page in site.pages.values()) > 50
    assert site.broken_links() == []


def test_every_page_is_reachable_from_the_index(site: Site) -> None:
    assert sorted(set(site.pages) - site.reachable("index.html")) == []
