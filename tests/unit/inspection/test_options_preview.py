"""Previews of changed options, of partition expiry, and the form of the view What if."""

import json
import re
from datetime import datetime, timedelta

import pyarrow as pa
import pytest

import paimon_explore as pe
from paimon_explore.errors import InvalidInputError
from paimon_explore.inspection.explorer.explorer_state import ExplorerState, ViewInput
from paimon_explore.inspection.rendering.form_view import ACTIONS, parse_input, parse_settings
from paimon_explore.inspection.what_if import what_if_view
from paimon_explore.inspection.what_if.option_effects import (
    default_text,
    definition_of,
    option_effect,
)
from paimon_explore.inspection.what_if.what_if_view import WhatIfView
from paimon_explore.metadata.options.option_reference import ALL_OPTIONS
from paimon_explore.scan.predicate.sql_tokenizer import quoted_text
from support.small_tables import append_table, columns, keyed_table, new_catalog

KEYS = columns(k=pa.int32(), v=pa.int32())
BY_DAY = columns(dt=pa.string(), k=pa.int32())


def keyed(count: int = 3) -> pe.Table:
    commits = [[{"k": k, "v": v} for k in range(3)] for v in range(count)]
    return keyed_table(KEYS, *commits, primary_key=["k"])


def by_day(*days: str | None) -> pe.Table:
    return append_table(BY_DAY, [{"dt": d, "k": 1} for d in days], partition_by=["dt"])


@pytest.mark.parametrize(
    ("key", "value", "verdict", "words"),
    [
        ("snapshot.num-retained.max", 3, "refused", "snapshot.num-retained.min"),
        ("snapshot.time-retained", "2 h", "accepted", "the next snapshot expiry"),
        ("snapshot.time-retained", "1 h", "unchanged", "stays the same"),
        ("num-levels", 4, "accepted", "the next compaction"),
        ("bucket", 8, "accepted", "INSERT OVERWRITE"),
        ("bucket", -1, "refused", "the buckets of a table stay dynamic (-1)"),
        ("bucket", None, "refused", "cannot be removed"),
        ("merge-engine", "first-row", "refused", "fixed once the table has a snapshot"),
        ("file.format", "orc", "accepted", "new data files"),
        ("num-level", 4, "refused", "did you mean 'num-levels'"),
        ("num-levels", "few", "refused", "must be an integer"),
        ("my.own", "x", "accepted", "Not an option of this version"),
        ("changelog-producer", "lookup", "accepted", "from the next write or compaction on"),
    ],
)
def test_an_option_is_judged(key: str, value: str | int | None, verdict: str, words: str) -> None:
    found = keyed().what_if.options({key: value})
    assert [one.verdict.value for one in found.changes] == [verdict]
    assert words in found.changes[0].effect
    assert found.accepted is (verdict != "refused")


def test_a_preview_is_refused_as_the_change_is() -> None:
    values = {
        "bucket": "-1",
        "merge-engine": "first-row",
        "type": "object-table",
        "bucket-key": "k",
    }
    for key, value in values.items():
        table = keyed()
        found = table.what_if.options({key: value})
        with pytest.raises(InvalidInputError) as refused:
            table.set_options({key: value})
        assert [one.effect for one in found.changes] == [refused.value.message]


def test_options_that_only_fit_together_are_accepted_together() -> None:
    both = {"snapshot.num-retained.min": 1, "snapshot.num-retained.max": 2}
    found = keyed(4).what_if.options(both)
    assert found.accepted
    assert [(c.key, c.before, c.after) for c in found.changes] == [
        ("snapshot.num-retained.min", "10", "1"),
        ("snapshot.num-retained.max", "2147483647", "2"),
    ]
    figures = {c.figure: (c.before, c.after, c.difference) for c in found.consequences}
    assert figures["snapshots that would expire"] == ("0", "2", "+2")


def test_the_effect_on_a_minor_compaction_is_shown() -> None:
    found = keyed(3).what_if.options({"num-sorted-run.compaction-trigger": 2})
    figures = {c.figure: (c.before, c.after) for c in found.consequences}
    assert figures["files that a minor compaction replaces"] == ("0", "3")


def test_a_new_number_of_buckets_is_shown_with_its_cost() -> None:
    table = keyed(2)
    found = table.what_if.options({"bucket": "4"})
    figures = {c.figure: (c.before, c.after) for c in found.consequences}
    assert figures["buckets"] == ("1", "4")
    assert figures["partitions with another number of buckets"] == ("0", "1")
    assert "mean size of a bucket" in figures


def test_secrets_are_masked() -> None:
    found = keyed().what_if.options({"fs.s3a.secret.key": "hunter2hunter2"})
    assert "hunter2" not in repr(found) + found._repr_html_() + str(found.state())
    assert "hunter2" not in str(found.to_arrow().to_pylist())


def test_every_option_has_an_effect_and_a_default_as_text() -> None:
    for key, option in ALL_OPTIONS.items():
        assert option_effect(key).endswith(".")
        shown = default_text(option)
        if shown is not None and not isinstance(option.default, str):
            assert option.parse(shown) == option.default


def test_the_fields_of_all_forms_are_options() -> None:
    lists = (
        *(what_if_view._KEYED, what_if_view._APPEND, what_if_view._COMMON),
        what_if_view._PARTITION_EXPIRY,
    )
    keys = [key for part in lists for key in part]
    assert len(keys) > 15
    assert [key for key in keys if definition_of(key) is None] == []


def test_partitions_expire_by_their_time() -> None:
    table = by_day("2020-01-01", "2020-01-02", "2999-01-01", "soon", None)
    found = table.what_if.expire_partitions(timedelta(days=1))
    rows = [(r["partition"], r["time"], r["expires"]) for r in found.to_arrow().to_pylist()]
    assert rows[:2] == [
        ("dt=2020-01-01", datetime(2020, 1, 1), True),  # noqa: DTZ001 - local
        ("dt=2020-01-02", datetime(2020, 1, 2), True),  # noqa: DTZ001 - local
    ]
    assert sorted(rows[2:], key=str) == [
        ("dt=2999-01-01", datetime(2999, 1, 1), False),  # noqa: DTZ001 - local
        ("dt=null", None, False),
        ("dt=soon", None, False),
    ]
    assert found.figures()["partitions"] == [5, 3]
    assert found.figures()["rows"] == [5, 3]
    gone = table.maintenance.expire_partitions(timedelta(days=1))
    assert [f"dt={one['dt']}" for one in gone] == sorted(found.expiring)


def test_options_of_a_partition_expiry_can_be_tried() -> None:
    table = by_day("20200101", "29990101")
    tried = {
        "partition.timestamp-formatter": "yyyyMMdd",
        "partition.expiration-time": "1 d",
    }
    assert table.what_if.expire_partitions(timedelta(days=1)).expiring == ()
    assert table.what_if.expire_partitions(options=tried).expiring == ("dt=20200101",)
    with pytest.raises(InvalidInputError, match="requires the age"):
        table.what_if.expire_partitions()
    with pytest.raises(InvalidInputError, match="requires a partitioned table"):
        keyed().what_if.expire_partitions(timedelta(days=1))


def test_an_input_is_parsed() -> None:
    assert parse_input("") == parse_input("compact")
    found = parse_input("options a.b = 'x, ''y''', c= 2")
    assert (found.action, dict(found.settings)) == ("options", {"a.b": "x, 'y'", "c": "2"})
    assert parse_settings(" a = , b = ''") == {"a": "", "b": ""}


@pytest.mark.parametrize("text", ["drop", "compact full", "compact =1", "compact a='b", "1"])
def test_a_malformed_input_is_refused(text: str) -> None:
    with pytest.raises(InvalidInputError):
        parse_input(text)


def test_an_input_has_no_more_than_a_hundred_settings() -> None:
    assert len(parse_settings(",".join(f"o{n}=1" for n in range(100)))) == 100
    with pytest.raises(InvalidInputError, match="is not a setting"):
        parse_settings(",".join(f"o{n}=1" for n in range(101)))


def view(table: pe.Table, text: str) -> WhatIfView:
    state = ExplorerState(table._inspector())
    found = state.result("what_if", state.newest, ViewInput(text=text))
    assert isinstance(found, WhatIfView)
    return found


def commands(found: WhatIfView) -> list[tuple[str, str]]:
    assert found.commands is not None
    return list(found.commands.rows)


def test_the_view_gives_the_code_of_each_action() -> None:
    table = keyed()
    assert commands(view(table, "")) == [
        ("Python", "t.compact()"),
        ("Spark SQL", "CALL sys.compact(table => 'db.t')"),
    ]
    tried = "compact full = 'false', num-levels = '4', target-file-size = '1 mb'"
    path = table.path
    assert commands(view(table, tried)) == [
        (
            "Python",
            (
                f"pe.open_table({path!r}, "
                "options={'num-levels': '4', 'target-file-size': '1 mb'}).compact(full=False)"
            ),
        ),
        (
            "Spark SQL",
            (
                "CALL sys.compact(table => 'db.t', compact_strategy => 'minor', "
                "options => 'num-levels=4,target-file-size=1 mb')"
            ),
        ),
    ]
    assert commands(view(table, "expire_snapshots retain_max = 2")) == [
        ("Python", "t.maintenance.expire_snapshots(retain_max=2)"),
        ("Spark SQL", "CALL sys.expire_snapshots(table => 'db.t', retain_max => 2)"),
    ]
    refused = view(table, "options snapshot.time-retained = 'it''s'")
    assert refused.commands is None


def test_the_view_gives_the_code_of_options_and_partitions() -> None:
    table = by_day("2020-01-01")
    assert commands(view(table, "expire_partitions older_than = 2 d")) == [
        ("Python", "t.maintenance.expire_partitions('2 d')"),
        ("Spark SQL", "CALL sys.expire_partitions(table => 'db.t', expiration_time => '2 d')"),
    ]
    assert commands(view(table, "compact partition = 'dt=2020-01-01'"))[1][1] == (
        "CALL sys.compact(table => 'db.t', partitions => 'dt=2020-01-01')"
    )
    assert commands(view(table, "options snapshot.time-retained = 2 h, comment = 'it''s'")) == [
        ("Python", "t.set_options({'snapshot.time-retained': '2 h', 'comment': \"it's\"})"),
        (
            "Spark SQL",
            (
                "ALTER TABLE db.t SET TBLPROPERTIES "
                "('snapshot.time-retained' = '2 h', 'comment' = 'it\\'s')"
            ),
        ),
    ]


def test_the_sql_is_accepted_by_the_procedures() -> None:
    procedures = pytest.importorskip(
        "paimon_explore.sql_statements.procedures.call_statement"
    ).PROCEDURES
    table = by_day("2020-01-01")
    texts = (
        "compact full=false, partition='dt=2020-01-01', num-levels=3",
        "expire_snapshots retain_min=1, retain_max=2, older_than=1 d, limit=3",
        "expire_partitions older_than=2 d",
    )
    given = {
        text.partition(" ")[0]: dict(commands(view(table, text)))["Spark SQL"] for text in texts
    }
    for name, sql in given.items():
        assert sql.startswith(f"CALL sys.{name}(table => 'db.t', ")
        arguments = re.findall(r"(\w+) =>", sql)
        assert len(arguments) == {"compact": 4, "expire_snapshots": 5}.get(name, 2)
        assert set(arguments) <= set(procedures[name].arguments)


@pytest.mark.parametrize("value", [None, "a", "a,b;c", "it's"])
def test_the_code_of_a_compaction_selects_the_partition(value: str | None) -> None:
    catalog = new_catalog()
    schema = {"dt": "STRING", "v": "INT"}
    options = {"write-only": "true"}
    table = catalog.create_table("db.t", schema, partition_by=["dt"], options=options)
    for _ in range(6):
        table.append([{"dt": value, "v": 1}, {"dt": "other", "v": 1}])
    (name,) = {row["partition"] for row in table.files().table.to_pylist()} - {"dt=other"}
    for code in dict(commands(view(table, f"compact partition = {quoted_text(name)}"))).values():
        table.append([{"dt": value, "v": 2}])
        if code.startswith("CALL"):
            catalog.sql(code)
        else:
            eval(code, {"t": table})  # noqa: S307 - ours
        counts = {row["partition"]: row["files"] for row in table.partitions().to_pylist()}
        assert counts == {name: 1, "dt=other": 6}


def test_the_code_of_a_partition_expiry_has_the_settings_of_its_preview() -> None:
    text = "expire_partitions older_than = 1 d, partition.timestamp-formatter = 'yyyyMMdd'"
    for language in ("Python", "Spark SQL"):
        catalog = new_catalog()
        table = catalog.create_table("db.t", {"dt": "STRING", "v": "INT"}, partition_by="dt")
        table.append([{"dt": "20200101", "v": 1}, {"dt": "2020-01-01", "v": 1}])
        code = dict(commands(view(table, text)))[language]
        if language == "Python":
            eval(code, {"t": table, "pe": pe})  # noqa: S307 - ours
        else:
            catalog.sql(code)
        assert [row["dt"] for row in table.to_arrow().to_pylist()] == ["2020-01-01"]


def test_the_name_of_a_branch_is_quoted_in_sql() -> None:
    table = keyed()
    table.create_tag("v1", 1)
    table.create_branch("dev", "v1")
    branch = pe.open_table(table.path, branch="dev")
    assert commands(view(branch, "")) == [
        ("Python", "t.compact()"),
        ("Spark SQL", "CALL sys.compact(table => 'db.`t$branch_dev`')"),
    ]


def test_the_code_of_a_view_gives_the_same_figures() -> None:
    table = by_day("2020-01-01", "2020-01-02")
    for text in (
        *("", "compact full=false, compaction.min.file-num=1", "compact partition='dt=2020-01-01'"),
        *("expire_snapshots retain_max=1", "expire_partitions older_than=1 d"),
        *("options target-file-size=1 mb", "options bucket=2"),
    ):
        found = view(table, text)
        again = eval(found.code.python, {"t": table, "timedelta": timedelta})  # noqa: S307 - ours
        first, second = dict(found.figures()), dict(again.figures())
        first.pop("keep_after_ms", None)
        second.pop("keep_after_ms", None)
        assert first == second, found.code.python


def test_a_form_stays_when_its_preview_fails() -> None:
    for text, words in (
        ("compact num-levels = few", "must be an integer"),
        ("compact full = maybe", "'true' or 'false'"),
        ("compact partition = nothing", "is not a partition column"),
        ("expire_snapshots retain_max = -1", "is not a retention setting"),
        ("expire_snapshots bucket = 1", "not a setting of snapshot expiry"),
        ("expire_partitions", "requires the age"),
    ):
        found = view(keyed(), text)
        assert found.problem is not None
        assert words in found.problem.message + found.problem.hint
        kinds = [part["type"] for part in found.state()["sections"]]  # type: ignore[attr-defined]
        assert kinds == ["form", "problem"]


def test_a_form_shows_current_values_and_keeps_what_was_typed() -> None:
    found = view(keyed(), "compact num-levels = 4, more = 'scan.manifest.parallelism = 2'")
    fields = {field.name: field for field in found.form.fields}
    assert fields["full"].allowed == ("true", "false")
    assert (fields["num-levels"].current, fields["num-levels"].value) == ("none", "4")
    assert fields["more"].value == "scan.manifest.parallelism = '2'"
    assert fields["num-sorted-run.compaction-trigger"].current == "5"
    assert [name for name, _ in found.form.actions] == list(ACTIONS)
    engines = view(keyed(), "options").form.fields
    merge = next(field for field in engines if field.name == "merge-engine")
    assert merge.allowed == ("deduplicate", "partial-update", "aggregation", "first-row")
    assert "Cannot be changed" in merge.tooltip


def test_the_view_of_an_older_snapshot_is_that_of_the_latest() -> None:
    state = ExplorerState(keyed()._inspector())
    found = state.result("what_if", 1, ViewInput())
    assert isinstance(found, WhatIfView)
    assert found.note == "Maintenance acts on the latest snapshot, so this is its preview."
    latest = state.result("what_if", 3, ViewInput())
    assert isinstance(latest, WhatIfView)
    links = [
        [
            link
            for link in ("lsm:bucket 0", "file:data-")
            if link in json.dumps(one.state(), default=str)
        ]
        for one in (found, latest)
    ]
    assert links == [[], ["lsm:bucket 0", "file:data-"]]  # what snapshot 1 does not have
