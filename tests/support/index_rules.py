"""Options of primary-key indexes that Java 2.0.0 accepts or refuses, and what we say to them."""

from collections.abc import Mapping
from dataclasses import dataclass

from paimon_explore.data_types.definitions import DataField
from paimon_explore.data_types.json_parser import parse_type

FIELDS: Mapping[str, str | Mapping[str, object]] = {
    "k": "INT NOT NULL",
    "v": "STRING",
    "n": "INT",
    "by": "BYTES",
    "a": {"type": "ARRAY", "element": "INT"},
    "c": "CHAR(3)",
    "e": {"type": "VECTOR", "element": "FLOAT", "length": 3},
}
KEYS = ("k",)


def schema_fields(types: Mapping[str, str | Mapping[str, object]]) -> tuple[DataField, ...]:
    """The columns of a table."""
    return tuple(
        DataField(id=number, name=name, type=parse_type(kind, name))
        for number, (name, kind) in enumerate(types.items())
    )


@dataclass(frozen=True, slots=True)
class IndexRule:
    """Options and the problem with them.

    Attributes:
        given: of the index; the table has one bucket and deletion vectors besides.
        problem: a pattern of our message; None if the table is created.
    """

    given: Mapping[str, str]
    problem: str | None = None

    @property
    def options(self) -> Mapping[str, str]:
        """All options of the table; blank ones are left out."""
        every = {"bucket": "1", "deletion-vectors.enabled": "true", **self.given}
        return {key: value for key, value in every.items() if value != "unset"}

    def __str__(self) -> str:
        return ", ".join(f"{key}={value}" for key, value in self.given.items())


BTREE, BITMAP = "pk-btree.index.columns", "pk-bitmap.index.columns"
VECTOR, TEXT = "pk-vector.index.columns", "pk-full-text.index.columns"
SETTINGS = "fields.n.pk-btree.index.options"
NEURAL = {VECTOR: "e", "fields.e.pk-vector.index.type": "ivf-flat"}

RULES = (
    IndexRule({BTREE: "n"}),
    IndexRule({BTREE: "n, v", BITMAP: "k"}),
    IndexRule({BTREE: "c"}),
    IndexRule({BTREE: "n", "bucket": "-2"}),
    IndexRule({BTREE: "n,n"}, "'pk-btree.index.columns' names column 'n' twice"),
    IndexRule({BTREE: "n", BITMAP: "n"}, "column 'n' can have only one primary-key index"),
    IndexRule({BTREE: "zz"}, "'pk-btree.index.columns' names 'zz', which is not a column"),
    IndexRule({BTREE: ""}, "'pk-btree.index.columns' must not have an empty column name"),
    IndexRule({BTREE: "n,"}, "'pk-btree.index.columns' must not have an empty column name"),
    IndexRule({BTREE: "by"}, "cannot index column 'by' of type BYTES"),
    IndexRule({BITMAP: "by"}, "cannot index column 'by' of type BYTES"),
    IndexRule({BTREE: "a"}, "cannot index column 'a' of type ARRAY<INT>"),
    IndexRule(
        {BTREE: "n", "deletion-vectors.merge-on-read": "true"},
        "needs 'deletion-vectors.merge-on-read' = 'false'",
    ),
    IndexRule(
        {BITMAP: "n", "deletion-vectors.enabled": "unset"},
        "'pk-bitmap.index.columns' needs 'deletion-vectors.enabled' = 'true'",
    ),
    IndexRule({BTREE: "n", "bucket": "-1"}, "needs a fixed number of buckets or 'bucket' = -2"),
    IndexRule(
        {BTREE: "n", "pk-clustering-override": "true", "clustering.columns": "v"},
        "cannot be combined with 'pk-clustering-override'",
    ),
    IndexRule({BTREE: "n", SETTINGS: '{"block-size": "1 kb"}'}),
    IndexRule({BTREE: "n", SETTINGS: '{"block-size": 5, "a": null}'}),
    IndexRule({BTREE: "n", SETTINGS: "x"}, "must be a JSON object, not 'x'"),
    IndexRule({BTREE: "n", SETTINGS: "[1]"}, "must be a JSON object"),
    IndexRule({BTREE: "n", SETTINGS: '{"": "5"}'}, "has an option without a name"),
    IndexRule(
        {BTREE: "n", SETTINGS: '{"a": "1"}', "btree-index.a": "2"},
        "and the option 'btree-index.a' have different values",
    ),
    IndexRule(NEURAL),
    IndexRule({VECTOR: "e"}, "'fields.e.pk-vector.index.type' must be set"),
    IndexRule(
        {VECTOR: "n", "fields.n.pk-vector.index.type": "ivf-flat"},
        "cannot index column 'n' of type INT",
    ),
    IndexRule(
        {**NEURAL, "fields.e.pk-vector.distance.metric": "x"},
        "must be one of l2, cosine, inner_product, not 'x'",
    ),
    IndexRule({**NEURAL, VECTOR: "e,n"}, "must name one column, not 2"),
    IndexRule({**NEURAL, "deletion-vectors.enabled": "unset"}, "needs 'deletion-vectors.enabled'"),
    IndexRule({TEXT: "v"}),
    IndexRule({TEXT: "v", "merge-engine": "first-row", "deletion-vectors.enabled": "unset"}),
    IndexRule({TEXT: "n"}, "cannot index column 'n' of type INT"),
    IndexRule({TEXT: "v,c"}, "must name one column, not 2"),
    IndexRule({TEXT: "v", "deletion-vectors.enabled": "unset"}, "needs 'deletion-vectors.enabled'"),
    IndexRule({TEXT: "v", "bucket": "-1"}, "needs a fixed number of buckets"),
)
