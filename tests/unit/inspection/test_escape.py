from paimon_explore.inspection.rendering.escape import esc, truncate
from support.explored import HOSTILE


def test_markup_in_data_is_only_text() -> None:
    escaped = esc(HOSTILE)
    assert "<" not in escaped
    assert '"' not in escaped
    assert "'" not in escaped
    assert "\x00" not in escaped
    assert "\u202e" not in escaped


def test_long_texts_are_cut_before_they_are_escaped() -> None:
    assert esc("<" * 300) == "&lt;" * 256 + "…"
    assert truncate("abc", 3) == "abc"
