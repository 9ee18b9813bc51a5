import numpy as np

from paimon_explore.inspection.history.file_history import Segment, lifetimes_of

A, B, C = 0, 1, 2


def segment(first: int, last: int, events: list[tuple[int, int, bool]], live: list[int]) -> Segment:
    """Events are identity, position, whether it is a DELETE."""
    return Segment(
        first=first,
        last=last,
        codes=np.array([e[0] for e in events], np.int64),
        positions=np.array([e[1] for e in events], np.int64),
        deletes=np.array([e[2] for e in events], np.bool_),
        live=np.array(live, np.int64),
    )


def lifetimes(segments: list[Segment], count: int) -> list[tuple[int, int, int]]:
    codes, added, removed = lifetimes_of(segments, count)
    return list(zip(codes.tolist(), added.tolist(), removed.tolist(), strict=True))


def test_a_file_lives_from_its_add_to_its_delete() -> None:
    events = [(A, 0, False), (B, 1, False), (A, 2, True)]
    assert lifetimes([segment(0, 2, events, [B])], 3) == [(A, 1, 3), (B, 2, 4)]


def test_a_file_without_an_add_was_there_before_the_history() -> None:
    assert lifetimes([segment(0, 1, [(A, 1, True)], [B])], 2) == [(A, 0, 2), (B, 0, 3)]


def test_what_one_snapshot_adds_and_removes_never_lived() -> None:
    events = [(A, 0, False), (A, 0, True), (B, 0, False)]
    assert lifetimes([segment(0, 0, events, [B])], 1) == [(B, 1, 2)]


def test_a_file_that_comes_back_has_two_lives() -> None:
    events = [(A, 0, False), (A, 1, True), (A, 2, False)]
    assert lifetimes([segment(0, 2, events, [A])], 3) == [(A, 1, 2), (A, 3, 4)]


def test_what_appears_behind_a_gap_was_added_in_it_and_what_stays_lives_on() -> None:
    before = segment(0, 0, [(A, 0, False), (B, 0, False)], [A, B])
    after = segment(2, 2, [], [B, C])
    assert lifetimes([before, after], 3) == [(A, 1, 2), (B, 1, 4), (C, 2, 4)]


def test_neighbours_that_do_not_follow_each_other_differ_at_the_later_one() -> None:
    tagged = segment(0, 0, [], [A])
    kept = segment(1, 2, [(B, 1, False), (A, 2, True)], [B])
    assert lifetimes([tagged, kept], 3) == [(A, 0, 3), (B, 2, 4)]


def test_an_add_of_what_is_there_changes_nothing() -> None:
    events = [(A, 0, False), (A, 1, False), (A, 2, True), (A, 3, True)]
    assert lifetimes([segment(0, 3, events, [])], 4) == [(A, 1, 3)]


def test_nothing_known_is_nothing_alive() -> None:
    assert lifetimes([], 3) == []
