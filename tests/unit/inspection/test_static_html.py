import base64
import re
import xml.etree.ElementTree as ET
from html.parser import HTMLParser

from paimon_explore.inspection.explorer.static_html import explorer_html, timeline_svg
from paimon_explore.inspection.explorer.text_rendering import explorer_text
from paimon_explore.inspection.history.timeline import read_timeline
from paimon_explore.inspection.views.inspector import Inspector
from support.explored import History, golden_view, hostile_history
from support.golden import GoldenTables

TAGS = {
    "h3",
    "p",
    "br",
    "code",
    "b",
    "img",
    "table",
    "thead",
    "tbody",
    "tr",
    "th",
    "td",
    "ul",
    "li",
}


class Tags(HTMLParser):
    """Collects the tags and attributes of a text."""

    def __init__(self) -> None:
        super().__init__()
        self.tags: set[str] = set()
        self.attributes: set[str] = set()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.add(tag)
        self.attributes |= {name for name, _ in attrs}


def tags_of(html: str) -> Tags:
    parser = Tags()
    parser.feed(html)
    return parser


def test_the_picture_and_the_files_stand_in_plain_tags(golden: GoldenTables) -> None:
    html = explorer_html(Inspector(golden_view(golden.table("java200", "manifest_merge").folder)))
    found = tags_of(html)
    assert found.tags <= TAGS
    assert found.attributes == {"alt", "src"}
    assert "dt=d" in html
    assert len(html) < 30_000


def test_the_overview_stands_before_the_timeline(golden: GoldenTables) -> None:
    html = explorer_html(Inspector(golden_view(golden.table("java200", "tags").folder)))
    sentences = re.sub("<[^>]+>", "", html[: html.index("<img")])
    topics = ["What this table is", "How large it is", "How it is written", "What is wrong"]
    places = [sentences.index(topic) for topic in topics]
    assert places == sorted(places)
    assert "3 files" in sentences
    assert "Why is my query slow?" not in html


def test_an_empty_table_is_described_without_a_timeline() -> None:
    html = explorer_html(Inspector(History().view))
    assert "What this table is" in html
    assert "The table has no snapshot yet: nothing has been written." in html
    assert "<img" not in html


def test_health_rules_of_large_tables_are_not_evaluated_for_the_picture() -> None:
    history = History()
    history.commit(*(("+", f"f{i:03d}") for i in range(201)))
    html = explorer_html(Inspector(history.view))
    assert "Not checked, because the table has 201 files" in html


def test_hostile_names_add_no_tag_and_no_attribute() -> None:
    html = explorer_html(Inspector(hostile_history().view))
    found = tags_of(html)
    assert found.tags <= TAGS
    assert found.attributes == {"alt", "src"}
    assert "\u202e" not in html
    assert "\x1b" not in html


def test_the_picture_is_well_formed_and_names_nothing_from_data() -> None:
    history = hostile_history()
    history.commit()
    svg = timeline_svg(read_timeline(history.view), 1)
    assert ET.fromstring(svg).tag.endswith("svg")  # noqa: S314 - made above
    assert "onerror" not in svg


def test_the_picture_is_embedded() -> None:
    history = History()
    history.commit(("+", "a"))
    html = explorer_html(Inspector(history.view))
    data = re.findall(r'src="data:image/svg\+xml;base64,([^"]+)"', html)
    assert len(data) == 1
    assert base64.b64decode(data[0]).startswith(b"<svg")


def test_the_card_of_text_is_short_and_harmless(golden: GoldenTables) -> None:
    card = explorer_text(Inspector(golden_view(golden.table("java200", "tags").folder)))
    lines = card.splitlines()
    assert lines[0].startswith("tags  (")
    assert lines[2] == "3 files  4.8 kB  43 rows   L0: 2 files  L5: 1 file"
    assert lines[3] == "snapshots 1 to 6  AAA"
    hostile = explorer_text(Inspector(hostile_history().view))
    assert len(hostile.splitlines()) <= 25
    assert "\x1b" not in hostile
    assert explorer_text(Inspector(History().view)).endswith("no snapshot yet")


def test_a_list_of_files_has_a_text_and_an_html_face() -> None:
    history = History()
    history.commit(*(("+", f"f{i:03d}") for i in range(30)))
    files = Inspector(history.view).files()
    assert len(repr(files).splitlines()) <= 25
    assert "… 10 more files" in repr(files)
    assert tags_of(files._repr_html_()).tags <= TAGS
    hostile = Inspector(hostile_history().view).files()
    assert tags_of(hostile._repr_html_()).tags <= TAGS
    assert "\x1b" not in repr(hostile)
