import json

import pyarrow as pa
import pytest

import paimon_explore as pe
from paimon_explore.errors import InvalidInputError, UnsupportedFeatureError
from paimon_explore.inspection.explain.key_history import KeyHistory
from paimon_explore.inspection.rows.record_status import Fate
from support.golden import GoldenTables
from support.small_tables import append_table, columns, keyed_table, new_catalog
from support.tied_tables import tied_table

COLUMNS = columns(k=pa.int32(), v=pa.string())


def results(found: KeyHistory, snapshot: int) -> list[tuple[int, int | None, str]]:
    state = found.at(snapshot)
    assert state is not None
    return [(one.level, one.version.sequence, one.result) for one in state.versions]


def test_every_version_in_every_run_is_judged(golden: GoldenTables) -> None:
    found = pe.open_table(golden.table("java200", "dv_pk").folder).history("dt='p0', k=287")
    assert results(found, 1) == [(0, 152, "not visible before compaction")]
    assert results(found, 2) == [(5, 152, "returned by reads")]
    assert results(found, 9) == [
        (0, 469, "not visible before compaction"),
        (5, 152, "returned by reads"),
    ]
    assert results(found, 12) == [
        (4, 469, "returned by reads"),
        (5, 152, "hidden by deletion vector"),
    ]
    assert [state.row is None for state in found.states] == [True, *[False] * 11]


@pytest.mark.parametrize("name", ["pk_levels", "seq_field", "seq_field2", "me_first_row", "dv_pk"])
def test_the_version_that_gives_the_row_is_the_row_that_is_read(
    golden: GoldenTables, name: str
) -> None:
    _check_given(pe.open_table(golden.table("java200", name).folder))


@pytest.mark.parametrize("engine", ["deduplicate", "lookup", "full"])
def test_of_versions_with_one_sequence_number_the_row_that_is_read_is_given(engine: str) -> None:
    _check_given(tied_table(new_catalog(), engine))


def test_a_key_without_its_partition_has_a_row_in_each() -> None:
    schema = columns(dt=pa.string(), k=pa.int32())
    rows = [{"dt": "a", "k": 1}, {"dt": "b", "k": 1}]
    table = keyed_table(schema, rows, primary_key=["dt", "k"], partition_by=["dt"])
    versions = table.history(1).states[-1].versions
    assert [one.status.fate for one in versions] == [Fate.RETURNED] * 2


def _check_given(table: pe.Table) -> None:
    for key in _some_keys(table):
        for state in table.history(key).states:
            given = [one for one in state.versions if one.status.fate is Fate.RETURNED]
            assert len(given) == (state.row is not None), (key, state)
            if given:
                assert given[0].version.values == state.row


def _some_keys(table: pe.Table) -> list[dict[str, object]]:
    names = list(table.schema.primary_keys)
    everything: list[dict[str, object]] = []
    for number in (1, max(one.id for one in table._store.snapshots.list())):
        rows = table.at(snapshot=number).scan(columns=names).to_arrow().to_pylist()
        everything += rows[:: max(len(rows) // 4, 1)][:4]
    return everything


def test_deleted_keys_give_no_row() -> None:
    table = keyed_table(COLUMNS, [{"k": 1, "v": "a"}, {"k": 2, "v": "b"}], primary_key=["k"])
    table.delete("k = 1")
    found = table.history(1)
    assert results(found, 2) == [
        (0, 2, "deletes the key"),
        (0, 0, "deleted by sequence 2"),
    ]
    state = found.at(2)
    assert state is not None
    assert state.row is None


@pytest.mark.parametrize("name", ["me_partial", "me_agg"])
def test_engines_that_compute_take_all_versions(golden: GoldenTables, name: str) -> None:
    found = pe.open_table(golden.table("java200", name).folder).history(1)
    last = found.states[-1]
    assert {one.status.fate for one in last.versions} == {Fate.COMBINED}
    assert last.row is not None


def test_a_key_is_given_in_many_ways() -> None:
    schema = columns(dt=pa.string(), k=pa.int32(), v=pa.string())
    table = keyed_table(
        schema, [{"dt": "a", "k": 1, "v": "x"}, {"dt": "b", "k": 1, "v": "y"}],
        primary_key=["dt", "k"], partition_by=["dt"],
    )  # fmt: skip
    same: list[object] = [{"dt": "a", "k": 1}, ("a", 1), "k = 1 AND dt = 'a'", "k=1, dt='a'"]
    same.append((pe.col("dt") == "a") & (pe.col("k") == 1))
    for key in same:
        assert len(table.history(key).states[-1].versions) == 1
    assert len(table.history(1).states[-1].versions) == 2
    assert table.history(1).code.python == "t.history('k = 1')"
    refused: list[tuple[object, str]] = [
        ("v = 'x'", "the primary key has no column 'v'"),
        ("dt = 'a'", "the key has no value for 'k'"),
        ("k > 1, dt='a'", "not an equality"),
        ((1, 2, 3), "the key has 3 values, but must have 2"),
        ("k = 'x'", "INT"),
    ]
    for key, says in refused:
        with pytest.raises(InvalidInputError, match=says):
            table.history(key)
    with pytest.raises(UnsupportedFeatureError, match="without primary key"):
        append_table(COLUMNS).history(1)


@pytest.mark.parametrize(
    ("kind", "given", "key"),
    [
        (pa.int32(), " -5 ", "k = -5"),
        (pa.decimal128(5, 2), "1.5", "k = 1.50"),
        (pa.float64(), "1.5", "k = 1.5e0"),
        (pa.bool_(), "true", "k = TRUE"),
        (pa.string(), "7", "k = '7'"),
        (pa.string(), "a, b", "k = 'a, b'"),
        (pa.date32(), "2024-01-01", "k = DATE '2024-01-01'"),
    ],
)
def test_a_typed_key_is_a_value_of_the_type_of_its_column(
    kind: pa.DataType, given: str, key: str
) -> None:
    table = keyed_table(columns(k=kind, v=pa.string()), primary_key=["k"])
    assert table.history(given).key.text == key


@pytest.mark.parametrize(
    ("given", "told"),
    [("abc", "'abc' cannot be compared"), ("1.5", "no such value")],
)
def test_a_typed_key_that_is_no_value_is_refused(given: str, told: str) -> None:
    table = keyed_table(COLUMNS, primary_key=["k"])
    with pytest.raises(InvalidInputError, match=told):
        table.history(given)


def test_old_snapshots_are_left_out_and_counted() -> None:
    table = keyed_table(COLUMNS, *[[{"k": 1, "v": str(i)}] for i in range(6)], primary_key=["k"])
    found = table.history(1, snapshots=2)
    assert [state.snapshot_id for state in found.states] == [5, 6]
    assert found.skipped == 4
    assert table.at(snapshot=3).history(1).states[-1].snapshot_id == 3
    assert [table.at(snapshot=3).history(1, snapshots=n).skipped for n in (1, 3, 9)] == [2, 0, 0]


def test_all_faces_are_there() -> None:
    table = keyed_table(COLUMNS, [{"k": 1, "v": "a"}], [{"k": 1, "v": "b"}], primary_key=["k"])
    found = table.history(1)
    newest = found.states[-1].versions[0].version.file
    assert found.to_arrow().select(["_SNAPSHOT", "_REASON", "v"]).to_pylist() == [
        {"_SNAPSHOT": 1, "_REASON": "", "v": "a"},
        {"_SNAPSHOT": 2, "_REASON": "", "v": "b"},
        {"_SNAPSHOT": 2, "_REASON": f"replaced by sequence 1 in {newest}", "v": "a"},
    ]
    assert "returned by reads" in repr(found)
    assert json.dumps(found.state())
    assert "<table>" in found._repr_html_()
    assert len(found.plot().to_json()) < 60_000
    missing = table.history(99)
    assert "No file of these snapshots contains the key" in repr(missing)
