from paimon_explore.inspect.escape import cut, esc, visible
from support.explored import HOSTILE


def test_control_bidi_and_invisible_characters_become_escapes() -> None:
    assert visible("a\u202egnp\x00\x1b[31m\n\ufeff") == "a\\u{202e}gnp\\x00\\x1b[31m\\n\\u{feff}"


def test_other_scripts_stay_as_they_are() -> None:
    assert visible("中文 São 😀") == "中文 São 😀"


def test_markup_in_data_is_only_text() -> None:
    escaped = esc(HOSTILE)
    assert "<" not in escaped
    assert '"' not in escaped
    assert "'" not in escaped
    assert "\x00" not in escaped
    assert "\u202e" not in escaped


def test_long_texts_are_cut_before_they_are_escaped() -> None:
    assert esc("<" * 300) == "&lt;" * 256 + "…"
    assert cut("abc", 3) == "abc"
