from paimon_explore.inspection.rendering.chart import LaneChart, Tone
from paimon_explore.inspection.views.inspector import Inspector
from paimon_explore.inspection.views.partition_heatmap import partition_heat
from support.explored import History


def test_each_change_of_a_partition_is_counted() -> None:
    history = History({"a": "INT", "p": "STRING"}, ["p"])
    history.commit(("+", "f1@x"), ("+", "f2@x"), ("+", "g@y"))
    history.commit(("-", "f1@x"), ("-", "f2@x"), ("+", "f3@x"))
    history.commit()
    heat = partition_heat(Inspector(history.view))
    counts = [
        (row["partition"], row["snapshot_id"], row["files_added"], row["files_removed"])
        for row in heat.to_arrow().to_pylist()
    ]
    assert counts == [("p=x", 1, 2, 0), ("p=x", 2, 1, 2), ("p=y", 1, 1, 0)]
    chart = heat.to_report().charts[0]
    assert isinstance(chart, LaneChart)
    assert chart.lanes == ("p=x", "p=y")
    tones = [(box.lane, box.start, box.tone) for box in chart.boxes]
    assert tones == [(0, 0, Tone.ADD), (0, 1, Tone.REMOVE), (1, 0, Tone.ADD)]
    assert heat.code.python == "t.inspect.heat()"


def test_a_table_without_snapshots_has_no_heat() -> None:
    heat = partition_heat(Inspector(History({"a": "INT"}).view))
    assert "No snapshot has changed a data file" in repr(heat)
    assert len(heat) == 0
