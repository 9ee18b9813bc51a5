"""Bytes that went wrong: changed, cut, lengthened."""

from hypothesis import strategies as st

_NUMBERS = [0, 1, 127, 128, 254, 255]


@st.composite
def damaged(draw: st.DrawFn, original: bytes) -> bytes:
    """The bytes with a few changes; a field of 4 bytes may become huge at once."""
    data = bytearray(original)
    for _ in range(draw(st.integers(1, 4))):
        place = draw(st.integers(0, max(len(data) - 1, 0)))
        match draw(st.sampled_from(["byte", "word", "cut", "insert"])):
            case "byte" if data:
                data[place] = draw(st.sampled_from(_NUMBERS) | st.integers(0, 255))
            case "word":
                word = draw(st.sampled_from([b"\xff" * 4, b"\x7f" + b"\xff" * 3, bytes(4)]))
                data[place : place + 4] = word
            case "cut":
                del data[place : place + draw(st.integers(1, 9))]
            case _:
                data[place:place] = draw(st.binary(min_size=1, max_size=9))
    return bytes(data)
