"""The merge tree of a bucket from its live files."""

from paimon_explore.maintenance.compaction.universal_compaction import levels_of
from paimon_explore.metadata.options.table_options import TableOptions
from support.entries import entries, entry


def test_level_0_goes_from_the_newest_file_to_the_oldest() -> None:
    files = entries(
        entry("old", min_sequence_number=0, max_sequence_number=4),
        entry("newest", min_sequence_number=8, max_sequence_number=9),
        entry("wide", min_sequence_number=1, max_sequence_number=9, creation_time=5),
        entry("late", min_sequence_number=8, max_sequence_number=9, creation_time=7),
    )
    found = levels_of(files, TableOptions({}))
    names = [row["file_name"] for row in files.rows()]
    assert [names[i] for run in found.runs for i in run.files] == ["wide", "newest", "late", "old"]
    assert [run.level for run in found.runs] == [0, 0, 0, 0]


def test_a_level_above_0_is_one_run_with_the_size_of_its_files() -> None:
    files = entries(
        entry("a", level=5, file_size=10),
        entry("b", level=0, file_size=1),
        entry("c", level=5, file_size=20),
        entry("d", level=3, file_size=5),
    )
    found = levels_of(files, TableOptions({}))
    assert [(run.level, run.files, run.size) for run in found.runs] == [
        (0, (1,), 1),
        (3, (3,), 5),
        (5, (0, 2), 30),
    ]
    assert (found.top, found.highest) == (5, 5)


def test_options_and_files_tell_the_highest_level() -> None:
    low, high = entries(entry("a", level=0)), entries(entry("a", level=9))
    assert levels_of(low, TableOptions({"num-levels": "3"})).top == 2
    assert levels_of(low, TableOptions({"num-sorted-run.compaction-trigger": "7"})).top == 7
    assert levels_of(high, TableOptions({"num-levels": "3"})).top == 9
    assert levels_of(low, TableOptions({})).highest == 0
    assert levels_of(entries(), TableOptions({})).highest == -1
