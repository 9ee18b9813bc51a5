"""Consumers of a table, as its users see them."""

import pytest

import paimon_explore as pe
from paimon_explore.errors import NotFoundError


def test_a_deleted_consumer_no_longer_keeps_snapshots() -> None:
    t = pe.demo().table("demo.orders")
    changes = t.changes(consumer_id="job")
    assert [next(changes).snapshot.id for _ in range(2)] == [1, 2]
    assert [consumer.next_snapshot for consumer in t.maintenance.consumers] == [2]
    t.maintenance.expire_snapshots(retain_max=2)
    assert [s.id for s in t.snapshots] == [2, 3, 4, 5]
    t.maintenance.consumers.delete("job")
    assert list(t.maintenance.consumers) == []
    t.maintenance.expire_snapshots(retain_max=2)
    assert [s.id for s in t.snapshots] == [4, 5]


@pytest.mark.parametrize("name", ["nix", "", "../EARLIEST"])
def test_an_unknown_consumer_is_named_with_those_that_exist(name: str) -> None:
    t = pe.demo().table("demo.parcels")
    with pytest.raises(NotFoundError, match=r"Consumers: 'labels'\.") as raised:
        t.maintenance.consumers.delete(name)
    assert repr(name) in str(raised.value)
    assert list(t.maintenance.consumers) != []


def test_consumers_are_listed_with_their_names() -> None:
    t = pe.demo().table("demo.orders")
    t.maintenance.consumers.reset("late", 2)
    t.maintenance.consumers.reset("early", 4)
    assert [(one.name, one.next_snapshot) for one in t.maintenance.consumers] == [
        ("early", 4),
        ("late", 2),
    ]
    assert "early" in repr(list(t.maintenance.consumers))
    assert t.maintenance.consumers["late"] in t.maintenance.consumers
