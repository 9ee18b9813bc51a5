"""Merging columns at once gives what merging record by record gives."""

from collections.abc import Iterable, Mapping, Sequence

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from paimon_explore.data_types.arrow_buffers import as_python
from paimon_explore.errors import FormatError
from paimon_explore.merge.in_memory_merge import merge_sorted
from paimon_explore.merge.merge_spec import merge_spec
from paimon_explore.merge.sort_merge import merge_runs
from support.merge_model import Record, RefusedError, model_merge
from support.merging import KINDS, Row, batch_of, cut, rows_of, schema_of

ROWS = {
    "type": "ARRAY",
    "element": {
        "type": "ROW",
        "fields": [
            {"id": 20, "name": "i", "type": "INT"},
            {"id": 21, "name": "s", "type": "STRING"},
            {"id": 22, "name": "n", "type": "INT"},
        ],
    },
}
TEXTS = {"type": "ARRAY", "element": "STRING"}
MAP = {"type": "MAP", "key": "STRING NOT NULL", "value": "INT"}
WHOLE = st.none() | st.integers(-3, 3)
TEXT = st.none() | st.sampled_from(["a", "b", "ab", " ", ""])
ELEMENT = st.fixed_dictionaries({"i": st.none() | st.integers(0, 2), "s": TEXT, "n": WHOLE})
VALUES: Mapping[str, st.SearchStrategy[object]] = {
    "INT": WHOLE,
    "BIGINT": WHOLE,
    "STRING": TEXT,
    "BOOLEAN": st.none() | st.booleans(),
    repr(TEXTS): st.none() | st.lists(TEXT, max_size=3),
    repr(MAP): st.none()
    | st.dictionaries(st.sampled_from("xyz"), WHOLE, max_size=3).map(
        lambda found: [*found.items()]
    ),
    repr(ROWS): st.none() | st.lists(st.none() | ELEMENT, max_size=3),
}

FUNCTIONS: Mapping[str, object] = {
    "sum": "BIGINT",
    "product": "BIGINT",
    "max": "STRING",
    "min": "INT",
    "bool_or": "BOOLEAN",
    "bool_and": "BOOLEAN",
    "last_value": "INT",
    "last_non_null_value": "STRING",
    "first_value": "INT",
    "first_non_null_value": "STRING",
    "listagg": "STRING",
    "collect": TEXTS,
    "merge_map": MAP,
    "nested_update": ROWS,
    "nested_partial_update": ROWS,
}
TAKE_BACK = {"sum", "last_value", "last_non_null_value", "collect", "merge_map", "nested_update"}
SETTINGS: Mapping[str, Sequence[Mapping[str, str]]] = {
    "listagg": [{}, {"distinct": "true", "list-agg-delimiter": "b"}],
    "collect": [{}, {"distinct": "true"}],
    "nested_update": [
        {},
        {"count-limit": "2"},
        {"nested-key": "i"},
        {"nested-key": "i,s", "nested-sequence-field": "n", "count-limit": "3"},
    ],
    "nested_partial_update": [{"nested-key": "i"}],
}


@st.composite
def function_columns(draw: st.DrawFn) -> tuple[dict[str, object], dict[str, str]]:
    """Columns with functions, that take back or ignore what is taken back."""
    columns: dict[str, object] = {}
    options = {}
    for name in draw(
        st.lists(st.sampled_from(sorted(FUNCTIONS)), min_size=1, max_size=4, unique=True)
    ):
        column = f"f_{name}"
        columns[column] = FUNCTIONS[name]
        options[f"fields.{column}.aggregate-function"] = name
        chosen = draw(st.sampled_from(SETTINGS.get(name, [{}])))
        options |= {f"fields.{column}.{key}": value for key, value in chosen.items()}
        if name not in TAKE_BACK:
            options[f"fields.{column}.ignore-retract"] = "true"
    return columns, options


KEY: dict[str, object] = {"k": "INT NOT NULL"}
GROUP: dict[str, object] = {
    "g": "INT",
    "h": "STRING",
    "x": "INT",
    "p": "INT",
    "y": "STRING",
    "free": "INT",
}
GROUPS = {
    "merge-engine": "partial-update",
    "fields.g,h.sequence-group": "x",
    "fields.p.sequence-group": "y",
}


@st.composite
def tables(draw: st.DrawFn) -> tuple[dict[str, object], dict[str, str]]:
    """Columns and options of every engine."""
    engine = draw(
        st.sampled_from(
            ["deduplicate", "first-row", "partial", "groups", "functions", "aggregation"]
        )
    )
    plain: dict[str, object] = {**KEY, "a": "INT", "b": "STRING"}
    ignore = draw(st.sampled_from([{}, {"ignore-delete": "true"}]))
    if engine == "deduplicate":
        order = [{}, {"sequence.field": "a"}, {"sequence.field": "b,a"}]
        order += [{"sequence.field": "a,b", "sequence.field.sort-order": "descending"}]
        return plain, {**ignore, **draw(st.sampled_from(order))}
    if engine == "first-row":
        return plain, {"merge-engine": "first-row", **ignore}
    if engine == "partial":
        remove = {"partial-update.remove-record-on-delete": "true"}
        extra = draw(st.sampled_from([{}, remove, {"ignore-delete": "true"}]))
        return plain, {"merge-engine": "partial-update", **extra}
    if engine == "groups":
        removing = draw(st.sampled_from(["", "g", "p", "h,p"]))
        key = "partial-update.remove-record-on-sequence-group"
        return {**KEY, **GROUP}, {**GROUPS, **({key: removing} if removing else ignore)}
    return draw(function_tables(plain, ignore, in_groups=engine == "functions"))


@st.composite
def function_tables(
    draw: st.DrawFn, plain: dict[str, object], ignore: dict[str, str], *, in_groups: bool
) -> tuple[dict[str, object], dict[str, str]]:
    """Tables with functions, in a sequence group or of the engine `aggregation`."""
    columns, options = draw(function_columns())
    if not in_groups:
        extra = {"merge-engine": "aggregation", "sequence.field": "a"}
        return {**plain, **columns}, {**options, **extra}
    group = {"fields.g,h.sequence-group": ",".join(["x", *columns])}
    removing = {"partial-update.remove-record-on-sequence-group": "h"}
    extra = draw(st.sampled_from([ignore, removing]))
    return {**KEY, **GROUP, **columns}, {**GROUPS, **options, **group, **extra}


@st.composite
def histories(
    draw: st.DrawFn,
) -> tuple[dict[str, object], dict[str, str], list[Row]]:
    """A table and the records that it gets."""
    columns, options = draw(tables())
    values = [VALUES[str(kind)] for name, kind in columns.items() if name != "k"]
    record = st.tuples(st.sampled_from(KINDS), st.integers(0, 3), *values)
    return columns, options, draw(st.lists(record, min_size=1, max_size=14))


def expected_of(
    columns: Mapping[str, object], options: Mapping[str, str], rows: Sequence[Row]
) -> list[Record]:
    spec = merge_spec(schema_of(columns, options))
    by_key: dict[int, list[Record]] = {}
    for number, row in enumerate(rows):
        values = dict(zip(columns, row[1:], strict=True))
        by_key.setdefault(int(str(row[1])), []).append(Record(str(row[0]), number, values))
    found = [model_merge(by_key[key], spec) for key in sorted(by_key)]
    return [record for record in found if record is not None]


def text_of(value: object) -> str:
    """Fields by name, elements as a multiset: Java's order of distinct ones is not ours either."""
    if isinstance(value, list):
        return str(sorted(text_of(part) for part in value))
    if isinstance(value, dict):
        return str(sorted((name, text_of(part)) for name, part in value.items()))
    return repr(value)


def texts_of(row: Iterable[object]) -> list[str]:
    return [text_of(value) for value in row]


@given(histories())
def test_all_records_at_once_merge_as_one_by_one(
    history: tuple[dict[str, object], dict[str, str], list[Row]],
) -> None:
    columns, options, rows = history
    schema = schema_of(columns, options)
    batch = batch_of(schema, rows)
    try:
        expected = expected_of(columns, options, rows)
    except RefusedError:
        with pytest.raises(ValueError, match=r"deletes|retract"):
            merge_sorted(batch, merge_spec(schema))
        return
    found = merge_sorted(batch, merge_spec(schema))
    found.validate(full=True)
    assert [texts_of(row.values()) for row in found.to_pylist()] == [
        texts_of([*one.values.values(), one.number, KINDS.index(one.kind)]) for one in expected
    ]


@given(
    history=histories(),
    rows_at_once=st.integers(1, 4),
    key_order=st.booleans(),
    keep_retracts=st.booleans(),
)
def test_runs_of_one_record_per_key_merge_as_one_by_one(
    *,
    history: tuple[dict[str, object], dict[str, str], list[Row]],
    rows_at_once: int,
    key_order: bool,
    keep_retracts: bool,
) -> None:
    columns, options, rows = history
    schema = schema_of(columns, options)
    spec = merge_spec(schema)
    runs = [cut(batch, rows_at_once) for batch in runs_of(batch_of(schema, rows))]
    try:
        expected = expected_of(columns, options, rows)
    except RefusedError:
        with pytest.raises(FormatError):
            list(merge_runs(runs, spec, key_order=key_order, keep_retracts=keep_retracts))
        return
    found = rows_of(merge_runs(runs, spec, key_order=key_order, keep_retracts=keep_retracts))
    rows_left = [
        [*one.values.values(), *((one.number, KINDS.index(one.kind)) if keep_retracts else ())]
        for one in expected
        if keep_retracts or not one.is_retract
    ]
    assert sorted(texts_of(row) for row in found) == sorted(texts_of(row) for row in rows_left)


def runs_of(batch: pa.RecordBatch) -> list[pa.RecordBatch]:
    """Records spread over sorted runs: the n-th record of a key goes to the n-th run."""
    keys = as_python(batch.column("k"))
    seen: dict[object, int] = {}
    places: list[list[int]] = []
    for at, key in enumerate(keys):
        number = seen.get(key, 0)
        seen[key] = number + 1
        if number == len(places):
            places.append([])
        places[number].append(at)
    return [batch.take(sorted(run, key=lambda at: str(keys[at]))) for run in places]
