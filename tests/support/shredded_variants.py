"""Values of a VARIANT column and a type by which they are shredded."""

import json
from collections.abc import Mapping, Sequence
from decimal import Decimal

from paimon_explore.encoding.variant.json_text import json_text
from support.variants import encode_python

NULL = object()
"""A value that is null, not a variant of null."""


def shredding(*fields: tuple[str, object]) -> dict[str, object]:
    """The type by which the objects of the column `v` are shredded: names and types of members."""
    members = [{"id": n, "name": name, "type": kind} for n, (name, kind) in enumerate(fields)]
    column = {"id": 0, "name": "v", "type": {"type": "ROW", "fields": members}}
    return {"type": "ROW", "fields": [column]}


X = {"type": "ROW", "fields": [{"id": 0, "name": "x", "type": "INT"}]}
SHREDDING = shredding(
    ("a", "BIGINT"),
    ("s", "STRING"),
    ("r", X),
    ("l", {"type": "ARRAY", "element": "BIGINT"}),
    ("d", "DECIMAL(9, 2)"),
    ("t", "DOUBLE"),
    ("o", "BOOLEAN"),
)
"""By which the variants of the column `v` are shredded."""

VALUES: Sequence[object] = [
    {
        "a": 1,
        "s": "x",
        "r": {"x": 5, "y": 6},
        "l": [1, 2, "z"],
        "d": Decimal("1.25"),
        "t": 1.5,
        "o": True,
        "more": None,
    },
    {"a": "text", "s": 7, "r": 3, "l": {"q": 1}, "d": Decimal("1.255"), "t": 1, "o": None},
    None,
    5,
    "é" * 100,
    [1, 2],
    {},
    {"a": None, "t": 1e300, "l": [], "d": Decimal("12345678.9"), "r": {}},
    {"a": 2**63 - 1, "s": "é", "d": 3, "t": Decimal("2.5")},
    {"a": 1.0, "o": "true", "r": {"x": 2**40}, "b": {"c": [{}]}},
]
"""Values that fit the shredding in all parts, in some, or in none."""

INFERRED: Mapping[str, tuple[Sequence[object], Mapping[str, str]]] = {
    "values": (VALUES, {}),
    "nothing": ([NULL, NULL], {}),
    "scalars": ([NULL, 1, None, 10**17], {}),
    "long": ([10**18, 2, -(2**63)], {}),
    "long and decimal": ([10**18, Decimal("0.5")], {}),
    "decimals": ([Decimal("1.50"), Decimal("0.00"), Decimal("-123.456"), 7], {}),
    "large decimals": ([Decimal("1.5"), 10**18, Decimal("12345678901234567890.5")], {}),
    "too large decimals": ([Decimal("0." + "1" * 30), 10**17], {}),
    "mixed": ([1, "a", 1.5], {}),
    "texts": (["a", "b", None], {}),
    "others": ([{"f": 1.5, "o": True, "n": None, "l": []}], {}),
    "arrays": ([[1, 2], [], [None], [{"a": 1}, {"b": [1, "a"]}]], {}),
    "rare": ([{f"f{i % 20}": i, "a": {"x": i, f"y{i}": 1}} for i in range(40)], {}),
    "ratio": (
        [{"a": 1}, {"a": 2, "b": 1}, {"b": 2, "c": 1}, {}],
        {"variant.shredding.minFieldCardinalityRatio": "0.5"},
    ),
    "width": (
        [{f"f{i}": {"a": i, "b": [i]} for i in range(9)}],
        {"variant.shredding.maxSchemaWidth": "12"},
    ),
    "depth": (
        [{"a": {"b": {"c": 1}}, "l": [[[1]]]}],
        {"variant.shredding.maxSchemaDepth": "2"},
    ),
    "first rows": (
        [{"a": 1}, {"a": 2}, {"a": "x", "b": 1}, 5],
        {"variant.shredding.maxInferBufferRow": "2"},
    ),
    "names": ([{"\U0001f600": 1, "\uffee": 2, "B": 1, "a": 2}], {}),
}
"""Values, and options of the inference."""


def variant_of(value: object) -> dict[str, bytes]:
    """The two parts of a variant."""
    data, metadata = encode_python(value)
    return {"value": data, "metadata": metadata}


def texts(variants: Sequence[dict[str, bytes] | None]) -> list[str | None]:
    """The values as JSON, with sorted keys."""
    return [
        None
        if one is None
        else json.dumps(json.loads(json_text(one["value"], one["metadata"])), sort_keys=True)
        for one in variants
    ]
