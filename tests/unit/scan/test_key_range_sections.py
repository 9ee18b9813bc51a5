import itertools

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from paimon_explore.scan.splits.key_range_sections import by_age, sections, sorted_runs

ranges = st.lists(
    st.tuples(st.integers(0, 30), st.integers(0, 8)).map(lambda pair: (pair[0], sum(pair)))
)


def test_files_that_only_touch_by_a_shared_key_are_one_section() -> None:
    lows, highs = np.array([0, 5, 6]), np.array([5, 5, 9])
    assert [s.tolist() for s in sections(lows, highs)] == [[0, 1], [2]]


def test_a_long_file_holds_together_those_below_it() -> None:
    lows, highs = np.array([0, 1, 3]), np.array([9, 2, 4])
    assert [s.tolist() for s in sections(lows, highs)] == [[0, 1, 2]]
    assert sorted_runs(np.array([0, 1, 2]), lows, highs) == [[1, 2], [0]]


def test_runs_are_ordered_by_their_newest_record() -> None:
    assert by_age([[0], [1, 2]], np.array([5, 1, 3])) == [[1, 2], [0]]


@given(ranges)
def test_sections_share_no_key_and_runs_in_them_do_not_overlap(
    files: list[tuple[int, int]],
) -> None:
    lows = np.array([low for low, _ in files], dtype=np.int64)
    highs = np.array([high for _, high in files], dtype=np.int64)
    found = sections(lows, highs)
    assert sorted(i for s in found for i in s.tolist()) == list(range(len(files)))
    for before, after in itertools.pairwise(found):
        assert highs[before].max() < lows[after].min()
    for section in found:
        runs = sorted_runs(section, lows, highs)
        assert sorted(i for run in runs for i in run) == sorted(section.tolist())
        for run in runs:
            assert all(highs[a] < lows[b] for a, b in itertools.pairwise(run))
        points = [k for i in section for k in (lows[i], highs[i])]
        depth = max(int(((lows[section] <= k) & (highs[section] >= k)).sum()) for k in points)
        assert len(runs) == depth
