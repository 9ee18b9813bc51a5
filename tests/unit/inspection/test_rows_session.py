"""Requests of the front end for rows."""

import json

import pyarrow as pa
import pytest

import paimon_explore as pe
from paimon_explore.errors import InvalidInputError, NotFoundError, PaimonError
from paimon_explore.inspection.explorer.explorer_state import ExplorerState
from paimon_explore.inspection.explorer.rows_session import parse_input
from paimon_explore.inspection.views.inspector import Inspector
from paimon_explore.widgets.widget_requests import answer
from support.explored import HOSTILE
from support.small_tables import append_table, columns, data_files, keyed_table

COLUMNS = columns(k=pa.int32(), v=pa.string())


def state_of(table: pe.Table) -> ExplorerState:
    return ExplorerState(Inspector(table._view()))


def opened(state: ExplorerState, text: str = "", node: str = "") -> dict[str, object]:
    message = {"op": "rows_open", "snapshot": state.newest, "text": text, "node": node}
    return dict(answer(state, message).body)


def page(state: ExplorerState, handle: object, **given: object) -> list[dict[str, object]]:
    message = {"op": "rows_page", "handle": handle, "unit": 0, "offset": 0, "count": 50}
    found = answer(state, {**message, "columns": [0, 1], **given}).body
    parts = found["parts"]
    assert isinstance(parts, list)
    return parts


def test_rows_come_a_page_at_a_time_across_files() -> None:
    table = append_table(COLUMNS, *[[{"k": k, "v": f"v{k}"}] for k in range(3)])
    state = state_of(table)
    message = {"op": "rows_open", "snapshot": 3, "text": "", "node": ""}
    found = answer(state, message)
    assert {name: values.tolist() for name, values in found.columns.items()} == {
        "most": [1, 1, 1],
        "exact": [1, 1, 1],
    }
    body = opened(state)
    assert (body["rows"], body["exact"], body["merged"], body["keyed"]) == (3, True, True, False)
    parts = page(state, body["handle"], count=2)
    assert [(one["unit"], one["rows"], one["end"]) for one in parts] == [
        (0, [["0", "v0"]], 1),
        (1, [["1", "v1"]], 1),
    ]
    assert page(state, body["handle"], unit=2, columns=[1])[0]["rows"] == [["v2"]]


def test_records_come_with_their_fate() -> None:
    table = keyed_table(COLUMNS, [{"k": 1, "v": "a"}], [{"k": 1, "v": "b"}], primary_key=["k"])
    state = state_of(table)
    body = opened(state, '{"merged": false}')
    records = [one["records"] for one in page(state, body["handle"])]
    files = table.files().to_arrow()["file_name"].to_pylist()
    assert records == [
        [["replaced", f"replaced by sequence 1 in {files[1]}", 0, "+I", 0, files[0], 0]],
        [["returned", "", 1, "+I", 0, files[1], 0]],
    ]
    frame = state.files(2).body["frame"]
    of_file = opened(state, '{"scope": "file"}', f"file/{frame}/1")
    assert of_file["scope"] == {"partition": None, "bucket": None, "file": files[1]}
    tree = opened(state, '{"scope": "file"}', "2/delta/0/0")
    assert tree["title"] == f"file {files[1]}"


def test_long_values_are_cut_and_come_in_full_when_asked_for() -> None:
    state = state_of(append_table(COLUMNS, [{"k": 1, "v": "x" * 1000}]))
    body = opened(state)
    assert page(state, body["handle"])[0]["rows"] == [
        ["1", {"text": "x" * 256 + "…", "length": 1000}]
    ]
    message = {"op": "rows_cell", "handle": body["handle"], "unit": 0, "offset": 0, "column": 1}
    assert answer(state, message).body == {"text": "x" * 1000}
    with pytest.raises(InvalidInputError, match="no such row"):
        answer(state, {**message, "offset": 9})


def test_a_sort_goes_in_steps_and_ends() -> None:
    state = state_of(append_table(COLUMNS, *[[{"k": k, "v": "a"}] for k in (2, 3, 1)]))
    body = opened(state, '{"sort": "k", "descending": true}')
    assert body["order"] == "k DESC NULLS LAST"
    steps = answer(state, {"op": "rows_sort", "handle": body["handle"]}).body
    assert steps == {"done": True, "rows": 3, "read": 3, "skipped": 0}
    assert page(state, body["handle"])[0]["rows"] == [["3", "a"], ["2", "a"], ["1", "a"]]


def test_a_broken_file_is_a_part_of_the_answer() -> None:
    table = append_table(COLUMNS, [{"k": 1, "v": "a"}], [{"k": 2, "v": "b"}], [{"k": 3, "v": "c"}])
    lost = data_files(table)[1]
    table._store.file_io.replace(lost, b"not parquet")
    state = state_of(table)
    parts = page(state, opened(state)["handle"])
    assert [one["rows"] for one in parts] == [[["1", "a"]], [], [["3", "c"]]]
    failure = parts[1]["failure"]
    assert isinstance(failure, dict)
    assert lost in failure["message"] + failure["path"]


def test_hostile_values_are_sent_as_text_and_secrets_are_masked() -> None:
    schema = pa.schema([pa.field(HOSTILE.replace("\0", ""), pa.string())])
    name = schema.names[0]
    secret = "s3://user:hunter2@host/x"  # noqa: S105 - to be masked
    state = state_of(append_table(schema, [{name: HOSTILE}, {name: secret}]))
    body = opened(state)
    rows = page(state, body["handle"], columns=[0])[0]["rows"]
    assert rows == [[HOSTILE], ["s3://user:******@host/x"]]
    assert json.dumps(body)


REFUSED = [
    "[]", "{", '{"scope": "everything"}', '{"bucket": true}', '{"bucket": "1"}', '{"where": 3}',
    '{"columns": "k"}', '{"columns": ["x"]}', '{"where": "k >"}', '{"scope": "file"}',
    '{"sort": "x"}', '{"scope": "file", "file": "../../etc/passwd"}', '{"merged": 1}',
    '{"scope": "bucket", "bucket": 9}',
]  # fmt: skip


@pytest.mark.parametrize("text", REFUSED)
def test_inputs_that_cannot_be_are_refused(text: str) -> None:
    state = state_of(append_table(COLUMNS, [{"k": 1, "v": "a"}]))
    with pytest.raises((InvalidInputError, NotFoundError)):
        opened(state, text)


@pytest.mark.parametrize(
    "given",
    [
        {"handle": 99}, {"unit": -1}, {"count": 0}, {"count": 501}, {"columns": []},
        {"columns": [9]}, {"columns": [0] * 65}, {"offset": 2**60}, {"columns": "k"},
    ],
)  # fmt: skip
def test_requests_out_of_range_are_refused(given: dict[str, object]) -> None:
    state = state_of(append_table(COLUMNS, [{"k": 1, "v": "a"}]))
    handle = opened(state)["handle"]
    with pytest.raises(PaimonError):
        page(state, given.pop("handle", handle), **given)


def test_only_the_latest_views_are_kept() -> None:
    state = state_of(append_table(COLUMNS, [{"k": 1, "v": "a"}]))
    first, *_, last = [opened(state)["handle"] for _ in range(5)]
    assert page(state, last)
    with pytest.raises(InvalidInputError, match="no longer open"):
        page(state, first)


def test_the_code_in_each_language_is_sent_where_it_can_give_the_rows() -> None:
    state = state_of(keyed_table(COLUMNS, [{"k": 1, "v": "a"}], primary_key=["k"]))
    codes = opened(state, '{"where": "k > 0", "sort": "v"}')["codes"]
    assert isinstance(codes, dict)
    assert codes["python"] == "t.rows(where='k > 0').sort('v')"
    assert codes["duckdb"] == (
        "t.scan(where='k > 0').to_duckdb('t')"
        """.sql('SELECT * FROM t ORDER BY "v" ASC NULLS LAST LIMIT 10000')"""
    )
    assert codes["spark_sql"].endswith(
        ".createOrReplaceTempView('t')\n"
        "spark.sql('SELECT * FROM t WHERE k > 0 ORDER BY `v` ASC NULLS LAST LIMIT 10000')"
    )
    assert codes["pyspark"].endswith(
        ".where('k > 0').orderBy(F.col('`v`').asc_nulls_last()).limit(10000)"
    )
    records = opened(state, '{"merged": false}')["codes"]
    assert records == {"python": "t.rows(merged=False)"}


def test_the_input_is_parsed_with_defaults() -> None:
    found = parse_input("")
    assert (found.where, found.scope, found.merged) == ("", "all", True)
    assert parse_input('{"merged": false, "unknown": 1}').merged is False
