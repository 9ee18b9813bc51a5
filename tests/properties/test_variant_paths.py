"""Changes of JSON documents at paths are those of a plain model, also of shredded variants."""

import copy
import json
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import paimon_explore as pe
from paimon_explore.encoding.variant.paths import parse_path, path_text
from paimon_explore.errors import InvalidInputError

KEYS = st.text("ab.[ é", min_size=1, max_size=3)
SCALARS = st.none() | st.booleans() | st.integers(-(2**63), 2**63 - 1) | st.text(max_size=70)
DOCUMENTS = st.recursive(
    SCALARS,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(KEYS, inner, max_size=4),
    max_leaves=10,
)
PATHS = st.lists(KEYS | st.integers(0, 5), min_size=1, max_size=4).map(tuple)


def model_get(document: object, path: tuple[str | int, ...]) -> tuple[bool, object]:
    """Return whether there is a value at a path, and the value."""
    for part in path:
        match document, part:
            case dict(), str() if part in document:
                document = document[part]
            case list(), int() if part < len(document):
                document = document[part]
            case _:
                return False, None
    return True, document


def model_set(document: object, path: tuple[str | int, ...], new: object) -> object:
    """Return a document that is changed at a path; raise TypeError for another kind of value."""
    if not path:
        return new
    part, *rest = path
    if isinstance(part, str):
        if not isinstance(document, dict):
            raise TypeError
        there, inner = part in document, document.get(part)
        document[part] = model_set(inner if there else _empty(rest), tuple(rest), new)
        return document
    if not isinstance(document, list):
        raise TypeError
    there = part < len(document)
    inner = document[part] if there else _empty(rest)
    document += [None] * (part + 1 - len(document))
    document[part] = model_set(inner, tuple(rest), new)
    return document


def _empty(rest: list[str | int]) -> object:
    return [] if rest and isinstance(rest[0], int) else {}


@given(path=PATHS)
def test_a_path_is_parsed_as_it_is_formatted(path: tuple[str | int, ...]) -> None:
    assert parse_path(path_text(path)) == path


@given(document=DOCUMENTS, path=PATHS, new=DOCUMENTS)
def test_values_are_set_as_in_the_model(
    document: object, path: tuple[str | int, ...], new: object
) -> None:
    variant, text = pe.Variant.of(document), path_text(path)
    try:
        expected = model_set(copy.deepcopy(document), path, new)
    except TypeError:
        with pytest.raises(InvalidInputError, match="cannot be set"):
            variant.set(text, new)
        return
    changed = variant.set(text, new)

    assert changed.to_python() == expected
    assert variant.to_python() == document


@given(document=DOCUMENTS, path=PATHS)
def test_values_are_read_and_deleted_as_in_the_model(
    document: object, path: tuple[str | int, ...]
) -> None:
    variant, text = pe.Variant.of(document), path_text(path)
    there, expected = model_get(document, path)
    found = variant.get(text)
    assert (found is not None) is there
    assert found is None or found.to_python() == expected
    without = copy.deepcopy(document)
    if there:
        owner = model_get(without, path[:-1])[1]
        if isinstance(owner, dict):
            del owner[path[-1]]
        elif isinstance(owner, list):
            del owner[int(path[-1])]
    assert variant.delete(text).to_python() == without


@given(document=DOCUMENTS)
def test_a_document_is_parsed_as_its_values(document: object) -> None:
    parsed = pe.Variant.parse_json(json.dumps(document))

    assert parsed.to_python() == document
    assert json.loads(parsed.to_json()) == document


@settings(
    max_examples=15, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(documents=st.lists(DOCUMENTS, min_size=1, max_size=4), path=PATHS, new=SCALARS)
@pytest.mark.parametrize("options", [{}, {"variant.inferShreddingSchema": "true"}])
def test_updates_of_plain_and_shredded_variants_are_those_of_the_model(
    tmp_path: Path,
    options: dict[str, str],
    documents: list[object],
    path: tuple[str | int, ...],
    new: object,
) -> None:
    catalog = pe.Catalog(tmp_path)
    catalog.create_database("d", if_not_exists=True)
    catalog.drop_table("d.t", if_exists=True)
    table = catalog.create_table(
        "d.t", {"id": "INT", "v": "VARIANT", "n": "VARIANT"}, options=options
    )
    table.append(
        [
            {"id": row, "v": pe.Variant.of(document), "n": pe.Variant.of(new)}
            for row, document in enumerate(documents)
        ]
    )
    expected: list[object] = []
    for document in documents:
        try:
            expected.append(model_set(copy.deepcopy(document), path, new))
        except TypeError:
            expected.append(None)
    text = path_text(path).replace("'", "''")
    table.update({"v": f"try_variant_set(v, '{text}', n)"})

    rows = sorted(table.to_arrow().to_pylist(), key=lambda row: int(row["id"]))
    found = [None if row["v"] is None else pe.Variant(**row["v"]).to_python() for row in rows]
    assert found == expected
