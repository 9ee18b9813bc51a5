import numpy as np
import pytest

from paimon_explore.errors import InvalidInputError
from paimon_explore.inspection.views.files_view import without_units
from paimon_explore.inspection.views.inspector import Inspector
from support.explored import History, partitioned_history


@pytest.fixture
def inspector() -> Inspector:
    history = partitioned_history()
    return Inspector(history.view)


@pytest.mark.parametrize(
    ("condition", "passing"),
    [
        ("", ["f1@x", "f2@y", "f3@x"]),
        ("level = 5", ["f3@x"]),
        ("p = 'x' and level = 0", ["f1@x"]),
        ("size < 1 kB and added = 2", ["f3@x"]),
        ("removed is null", ["f2@y", "f3@x"]),
        ("removed = 2", ["f1@x"]),
        ("file like 'f2%'", ["f2@y"]),
        ("created > timestamp '2020-01-01 00:00:00'", []),
    ],
)
def test_conditions_choose_files(inspector: Inspector, condition: str, passing: list[str]) -> None:
    lifetimes = inspector.lifetimes()
    names = np.array(lifetimes.files.column("file_name").to_pylist(), dtype=object)
    assert sorted(names[inspector.mask(lifetimes, condition)]) == passing


def test_an_unknown_name_lists_the_known_ones(inspector: Inspector) -> None:
    with pytest.raises(InvalidInputError, match="no column 'levle'") as raised:
        inspector.files("levle = 0")
    assert "'level'" in raised.value.hint


def test_text_that_is_no_condition_is_refused(inspector: Inspector) -> None:
    with pytest.raises(InvalidInputError):
        inspector.files("level = ")


def test_a_partition_column_keeps_its_name_and_the_property_gets_another() -> None:
    history = History({"a": "INT", "level": "STRING"}, ["level"])
    history.commit(("+", "f1@x"), ("+", "f2@y", 5))
    inspector = Inspector(history.view)
    assert inspector.files("level = 'x'").table.column("file_name").to_pylist() == ["f1@x"]
    assert inspector.files("file_level = 5").table.column("file_name").to_pylist() == ["f2@y"]


def test_units_in_texts_and_names_are_left_alone() -> None:
    assert without_units("a = '1 MB' and `2 kB` < 3 GB") == "a = '1 MB' and `2 kB` < 3000000000"
