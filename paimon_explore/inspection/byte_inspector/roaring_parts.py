"""Layout of Roaring bitmaps in the portable format: cookie, keys, offsets, containers.

Spec: https://github.com/RoaringBitmap/RoaringFormatSpec.
"""

from paimon_explore.errors import InvalidInputError
from paimon_explore.inspection.byte_inspector.primitive_encodings import Value
from paimon_explore.inspection.byte_inspector.spans import Spans

_COOKIE = 0x303A
_RUN_COOKIE = 0x303B
_OFFSETS_FROM = 4
_ARRAY_MAX = 4096
_BITSET_BYTES = 8192
_SPACE = 1 << 16


def roaring_parts(spans: Spans) -> int:
    """Build the spans of a bitmap; returns its cardinality."""
    runs, count = _cookie(spans)
    cardinalities = _keys(spans, count)
    if runs is None or count >= _OFFSETS_FROM:
        rule = "Offset of each container from the start of the bitmap."
        spans.row("offsets", "uint32 LE", count, rule=rule)
    for index, (key, cardinality) in enumerate(cardinalities):
        if runs is not None and runs[index >> 3] >> (index & 7) & 1:
            _runs(spans, index, key)
        else:
            _values(spans, index, key, cardinality)
    return sum(cardinality for _, cardinality in cardinalities)


def _cookie(spans: Spans) -> tuple[bytes | None, int]:
    spans.need(4)
    cookie = int.from_bytes(spans.data[spans.position : spans.position + 4], "little")
    if cookie & 0xFFFF == _RUN_COOKIE:
        spans.number(
            "cookie",
            "uint32 LE",
            rule="0x303B: run containers exist; upper half: number of containers minus 1.",
            say=lambda value: (
                f"{int(value):#x}: {(int(value) >> 16) + 1} containers, some with runs"
            ),
        )
        count = (cookie >> 16) + 1
        flags = spans.leaf(
            "run flags",
            "bytes",
            (count + 7) // 8,
            rule="One bit per container: whether it is a run container.",
        )
        assert isinstance(flags, bytes)  # noqa: S101 - of this form
        return flags, count
    if cookie != _COOKIE:
        raise InvalidInputError(f"A bitmap must start with 0x303A or 0x303B, not {cookie:#x}.")
    spans.number("cookie", "uint32 LE", rule="0x303A: the bitmap has no run containers.", say=_hex)
    count = spans.number(
        "containers", "uint32 LE", rule="Number of containers, each for a range of 65,536 values."
    )
    if count > _SPACE:
        raise InvalidInputError(f"A bitmap must have at most {_SPACE:,} containers, not {count:,}.")
    return None, count


def _hex(value: Value) -> str:
    return f"{int(value):#x}"


def _keys(spans: Spans, count: int) -> list[tuple[int, int]]:
    found: list[tuple[int, int]] = []
    if not count:
        return found
    spans.need(4 * count)
    start = spans.position
    data = spans.data
    for at in range(start, start + 4 * count, 4):
        key = int.from_bytes(data[at : at + 2], "little")
        found.append((key, int.from_bytes(data[at + 2 : at + 4], "little") + 1))

    def build(inner: Spans) -> None:
        while inner.left:
            number = (inner.position - start) // 4
            with inner.group(f"container {number}") as note:
                key = inner.number(
                    "key", "uint16 LE", rule="Upper 16 bits of the values of the container."
                )
                size = inner.number(
                    "cardinality",
                    "uint16 LE",
                    rule="Number of values minus 1.",
                    say=lambda value: f"{int(value)}: {int(value) + 1} values",
                )
                note.about = f"values from {key << 16:,}: {size + 1:,}"

    spans.chunks("keys", 4, range(count), build, rule="Key and cardinality of each container.")
    return found


def _values(spans: Spans, index: int, key: int, cardinality: int) -> None:
    name = f"container {index}"
    if cardinality > _ARRAY_MAX:
        spans.leaf(
            name,
            "bytes",
            _BITSET_BYTES,
            rule="A bitset: one bit for each of 65,536 values.",
            say=lambda _: f"bitset of {cardinality:,} values",
        )
        return
    base = key << 16
    rule = "The lower 16 bits of each value, ascending."
    spans.row(
        name,
        "uint16 LE",
        cardinality,
        rule=rule,
        say=lambda value: f"{int(value)}: {base + int(value):,}",
    )


def _runs(spans: Spans, index: int, key: int) -> None:
    base = key << 16
    with spans.group(f"container {index}", rule="Runs of consecutive values.") as note:
        count = spans.number("runs", "uint16 LE")
        note.about = f"{count} runs" if count != 1 else "1 run"
        start = spans.position

        def build(inner: Spans) -> None:
            while inner.left:
                with inner.group(f"run {(inner.position - start) // 4}") as one:
                    first = base + inner.number("first", "uint16 LE")
                    more = inner.number(
                        "further",
                        "uint16 LE",
                        rule="Number of values of the run after the first value.",
                    )
                    one.about = f"{first:,} to {first + more:,}"

        spans.chunks("runs", 4, range(count), build)
