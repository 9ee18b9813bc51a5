"""Texts are checked at any place of a word and outside of what a slice shows."""

import pyarrow as pa
import pytest

from paimon_explore.encoding.arrow_type_conversion import check_utf8
from paimon_explore.errors import CorruptFileError


def texts(*values: bytes | None) -> "pa.Array[pa.Scalar[pa.DataType]]":
    return pa.array(values, pa.binary()).view(pa.string())


def test_good_texts_pass() -> None:
    for values in ([], [None], [b""], [b"plain", None], ["söme \U0001f600".encode()] * 9):
        check_utf8(texts(*values), path="f", column="c")


@pytest.mark.parametrize("at", range(20))
def test_a_bad_byte_is_found_wherever_it_is(at: int) -> None:
    bad = b"x" * at + b"\xff" + b"x" * (19 - at)
    with pytest.raises(CorruptFileError, match="column 'c' must be UTF-8"):
        check_utf8(texts(b"good", bad), path="f", column="c")
    check_utf8(texts(b"good", bad).slice(0, 1), path="f", column="c")


def test_a_whole_text_cut_between_two_is_no_text() -> None:
    both = "ö".encode()
    with pytest.raises(CorruptFileError):
        check_utf8(texts(both[:1], both[1:]), path="f", column="c")
