import json
import re
from pathlib import Path

import pyarrow as pa

import paimon_explore as pe
from paimon_explore.widgets.explorer import explore
from support.explored import HOSTILE, History, hostile_history
from support.small_tables import columns, keyed_table


def recording_of(page: str) -> dict[str, object]:
    found = re.search(r'id="pe-recording">(.*?)</script>', page, re.DOTALL)
    assert found is not None
    recording: dict[str, object] = json.loads(found.group(1))
    return recording


def saved(history: History, folder: Path) -> str:
    explore(history.view).save_html(folder / "t.html")
    return (folder / "t.html").read_text(encoding="utf-8")


def test_a_page_holds_what_every_view_of_the_selected_snapshot_says(tmp_path: Path) -> None:
    rows = [[{"k": 1, "v": 1}], [{"k": 1, "v": 2}, {"k": 2, "v": 3}]]
    table = keyed_table(columns(k=pa.int32(), v=pa.int32()), *rows, primary_key=["k"])
    table.explore().save_html(tmp_path / "t.html")
    recording = recording_of((tmp_path / "t.html").read_text(encoding="utf-8"))
    answers = recording["answers"]
    assert isinstance(answers, dict)
    assert '{"op":"open"}' in answers
    assert '{"op":"history"}' in answers
    key = '{"compare":0,"node":"","op":"report","pane":"lsm","snapshot":2,"text":""}'
    assert answers[key]["body"]["kind"] == "lsm"
    assert all(answer["ok"] for answer in answers.values())
    tree = recording["tree"]
    assert isinstance(tree, dict)
    assert {"1||0", "2||0", "2|delta/0|0"} <= set(tree)
    codes = recording["codes"]
    assert isinstance(codes, dict)
    assert codes["1|files"][0] == "t.at(snapshot=1).files()"


def test_times_that_python_does_not_have_are_shown_everywhere(tmp_path: Path) -> None:
    """In a page, and in the reports of a notebook."""
    times = pa.array([253_402_300_800, -62_135_596_801], pa.int64()).cast(pa.timestamp("s"))
    days = times.cast(pa.date32())
    rows = pa.table({"k": days, "v": times.cast(pa.timestamp("us"))})
    table = keyed_table(rows.schema, primary_key=["k"])
    table.upsert(rows.slice(0, 1))
    table.upsert(rows)
    table.explore().save_html(tmp_path / "t.html")
    answers = recording_of((tmp_path / "t.html").read_text(encoding="utf-8"))["answers"]
    assert isinstance(answers, dict)
    assert all(answer["ok"] for answer in answers.values())
    assert repr(pe.compare(table.at(1), table)) != repr(table.diff(1, 2))
    assert "0000-12-31" in repr(table.rows())
    assert "0000-12-31" in repr(table.history({"k": "0000-12-31"}))
    assert "0000-12-31" in repr(pe.sql("SELECT v FROM t", t=table))
    assert str(table.to_pandas()["k"].dtype).startswith("datetime64")


def test_a_page_asks_for_nothing_and_holds_no_code_of_the_table(tmp_path: Path) -> None:
    page = saved(hostile_history(), tmp_path)
    assert "default-src 'none'" in page
    assert "http://" not in page.replace("http://www.w3.org/", "")
    body = page.partition('<script type="module">')[0]
    assert HOSTILE not in body
    assert not re.findall(r"<(?:svg|img)[^>]* on\w+=", body)
    assert recording_of(page)["rows"]


def test_long_values_are_cut_and_tell_their_length(tmp_path: Path) -> None:
    rows = [[{"k": 1, "v": "x" * 1_000_000}], [{"k": 1, "v": "y" * 1_000_000}]]
    options = {"metadata.stats-mode": "full"}
    table = keyed_table(
        columns(k=pa.int32(), v=pa.string()), *rows, primary_key=["k"], options=options
    )
    table.explore().save_html(tmp_path / "t.html")
    page = (tmp_path / "t.html").read_text(encoding="utf-8")
    assert "(1,000,000 characters)" in page
    assert len(page) < 1_000_000


def test_a_table_without_snapshots_is_saved_too(tmp_path: Path) -> None:
    page = saved(History({"a": "INT"}), tmp_path)
    assert "The table has no snapshot yet" in page
    assert recording_of(page)["rows"] == []
