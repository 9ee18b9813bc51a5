"""Statements cut into tokens, and read part by part."""

import pytest

from paimon_explore.errors import InvalidInputError
from paimon_explore.sql_statements.tokenizer import Kind, Reader, statements_of, tokens_of


def test_every_token_knows_its_place_in_the_text() -> None:
    text = "SELECT `a``b`, 1L, 'it''s', x'0A' -- end\n GROUP  BY t.2x"
    tokens = tokens_of(text)
    assert [text[t.start : t.end] for t in tokens[:3]] == ["SELECT", "`a``b`", ","]
    assert [t.text for t in tokens if t.kind is Kind.NAME] == ["a`b"]
    assert [t.word for t in tokens if t.word] == ["SELECT", "GROUP", "BY", "T", "2X"]
    assert tokens[3].text == "1L"
    assert tokens[-1].kind is Kind.END


def test_words_that_begin_commands_are_words_like_others() -> None:
    for word in ("SHOW", "CALL", "EXPLAIN", "ANALYZE", "MSCK"):
        assert [t.word for t in tokens_of(f"{word} a b")] == [word, "A", "B", ""]


def test_statements_are_parted_by_semicolons_outside_of_quotes_and_comments() -> None:
    text = "SELECT ';' ; -- a; b\n SELECT 2;;"
    assert statements_of(text) == ["SELECT ';'", "-- a; b\n SELECT 2"]


def test_hints_with_options_are_clauses_at_the_same_place() -> None:
    text = "SELECT '/*+ OPTIONS(1) */' FROM t /*+\nOptions ( 'a' = '(b)' ) */ AS x; SELECT 2"
    first, second = statements_of(text)
    assert first == "SELECT '/*+ OPTIONS(1) */' FROM t    \nWITH    ( 'a' = '(b)' )    AS x"
    assert (len(first), second) == (text.index(";"), "SELECT 2")


@pytest.mark.parametrize("text", ["", " ; ", "-- a", "/* a */ ; -- b\n;", "\n-- a; b"])
def test_comments_alone_are_no_statement(text: str) -> None:
    assert statements_of(text) == []
    assert statements_of(f"SELECT 1; {text}") == ["SELECT 1"]


def test_names_take_their_dollar_and_stars_stay() -> None:
    assert Reader("db.t$branch_b1$files x").path("a table") == ("db", "t$branch_b1$files")
    assert Reader("db . `t$files`").path("a table") == ("db", "t$files")
    reader = Reader("t.*")
    assert reader.path("a table") == ("t",)
    assert reader.takes(".", "*")


def test_expressions_end_outside_of_parentheses_and_cases() -> None:
    reader = Reader("f(a, WHEN) + CASE WHEN b THEN c END WHEN MATCHED")
    assert reader.until("WHEN") == "f(a, WHEN) + CASE WHEN b THEN c END"
    assert reader.takes("WHEN", "MATCHED")
    types = Reader("MAP<INT, ARRAY<STRING>> COMMENT 'x', b")
    assert types.until("COMMENT", ",", angles=True) == "MAP<INT, ARRAY<STRING>>"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("SELECT 'abc", "a quote or a comment is not closed"),
        ("(a, (b)", "expected '\\)'"),
    ],
)
def test_what_does_not_end_is_said(text: str, message: str) -> None:
    with pytest.raises(InvalidInputError, match=message):
        Reader(text).group("the list")


def test_errors_name_part_line_and_column() -> None:
    reader = Reader("MERGE\n  INTTO t")
    reader.next()
    with pytest.raises(InvalidInputError) as refused:
        reader.expect("INTO", part="MERGE")
    expected = "MERGE cannot be read: expected INTO (line 2, column 3, at 'INTTO t')."
    assert str(refused.value) == expected
