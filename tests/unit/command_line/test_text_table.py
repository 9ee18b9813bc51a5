"""Tables of text: what is cut, what is left out, and what is always whole."""

from hypothesis import given
from hypothesis import strategies as st

from paimon_explore.command_line.rendering.text_table import (
    cell_width,
    cut,
    fitted,
    middle_cut,
    widths_of,
    wrapped_lines,
)

TEXTS = st.text(st.sampled_from("ab cdé大阪市ñ"), max_size=30)


def table_lines(
    headings: list[str], rows: list[list[str]], numeric: list[bool], width: int | None
) -> list[str]:
    layout = fitted(widths_of([headings, *rows]), numeric, width)
    return [layout.headings(headings), layout.rule(), *map(layout.line, rows)]


def rows_of(count: int) -> st.SearchStrategy[list[list[str]]]:
    return st.lists(st.lists(TEXTS, min_size=count, max_size=count), min_size=1, max_size=5)


@given(rows=st.integers(1, 8).flatmap(rows_of), width=st.integers(20, 120))
def test_no_line_is_wider_than_the_terminal(rows: list[list[str]], width: int) -> None:
    numeric = [False] * len(rows[0])
    lines = list(table_lines(rows[0], rows[1:], numeric, width))
    assert len(lines) == len(rows) + 1
    assert [line for line in lines if cell_width(line) > width] == []


@given(rows=st.integers(1, 8).flatmap(rows_of))
def test_without_a_width_nothing_is_cut(rows: list[list[str]]) -> None:
    lines = list(table_lines(rows[0], rows[1:], [False] * len(rows[0]), None))
    shown = [lines[0], *lines[2:]]
    for line, row in zip(shown, rows, strict=True):
        assert "…" not in line
        assert all(text.strip() in line for text in row)


@given(text=TEXTS, width=st.integers(2, 40))
def test_a_cut_text_fits_and_says_so(text: str, width: int) -> None:
    shown = cut(text, width)
    assert cell_width(shown) <= width
    assert shown == text or (shown.endswith("…") and text.startswith(shown[:-1]))


def test_the_widest_text_is_cut_first_and_numbers_never() -> None:
    rows = [["id", "name", "note"], ["1234567890123", "a" * 20, "b" * 40]]
    assert widths_of(rows) == [13, 20, 40]
    assert fitted([13, 20, 40], [True, False, False], 60).widths == (13, 20, 23)
    assert fitted([13, 20, 40], [True, False, False], 41).widths == (13, 12, 12)
    assert fitted([13, 20, 40], [True, False, False], 40).widths == (13, 20)
    assert list(table_lines(*(rows[0], rows[1:]), [True, False, False], 41)) == [
        "           id  name          note",
        "─────────────  ────────────  ────────────",
        "1234567890123  aaaaaaaaaaa…  bbbbbbbbbbb…",
    ]


@given(text=TEXTS, width=st.integers(4, 40))
def test_a_text_cut_in_the_middle_keeps_its_ends(text: str, width: int) -> None:
    shown = middle_cut(text, width)
    assert cell_width(shown) <= width
    start, _, end = shown.partition("…")
    assert shown == text or (text.startswith(start) and text.endswith(end) and "…" in shown)


def test_headings_that_begin_alike_differ() -> None:
    layout = fitted([18, 18], [False, False], 30)
    assert layout.headings(["column_number_0001", "column_number_0002"]) == (
        "column_…r_0001  column_…r_0002"
    )


@given(text=TEXTS, width=st.integers(8, 60), indent=st.sampled_from(["", "  "]))
def test_wrapped_lines_fit_and_keep_all_words(text: str, width: int, indent: str) -> None:
    lines = wrapped_lines(text, width, indent, "    ")
    assert [line for line in lines if cell_width(line) > width] == []
    assert "".join("".join(lines).split()) == "".join(text.split())
