import pytest

from paimon_explore.errors import InvalidInputError, MissingFileError
from paimon_explore.inspection.history.timeline import read_timeline
from paimon_explore.inspection.views.manifest_tree import PAGE, ManifestTree, parse_key
from support.explored import History, golden_view
from support.golden import GoldenTables


def tree_of(history: History) -> ManifestTree:
    return ManifestTree(history.view, read_timeline(history.view))


@pytest.fixture
def history() -> History:
    made = History({"a": "INT", "p": "STRING"}, ["p"])
    made.commit(("+", "f1@x"), ("+", "f2@y"))
    made.commit(("-", "f1@x"), ("+", "f1@x", 5))
    return made


def test_a_snapshot_holds_its_lists_and_its_schema(history: History) -> None:
    nodes = tree_of(history).children(2).nodes
    assert [(n.key, n.added, n.deleted) for n in nodes] == [
        ("base", 2, 0),
        ("delta", 1, 1),
        ("schema", None, None),
    ]


def test_a_manifest_shows_its_partitions_and_its_entries_their_place(history: History) -> None:
    tree = tree_of(history)
    manifest = tree.children(2, "base").nodes[0]
    assert (manifest.range, manifest.added, manifest.expandable) == ("p=x…y", 2, True)
    entries = tree.children(2, "base/0").nodes
    assert [(n.key, n.kind, n.range) for n in entries] == [
        ("base/0/0", "ADD", "p=x bucket 0 level 0"),
        ("base/0/1", "ADD", "p=y bucket 0 level 0"),
    ]


def test_entries_that_cancel_are_marked(history: History) -> None:
    tree = tree_of(history)
    assert [n.cancelled for n in tree.children(2, "base/0").nodes] == [True, False]
    assert [(n.kind, n.cancelled) for n in tree.children(2, "delta/0").nodes] == [
        ("DELETE", True),
        ("ADD", False),
    ]


def test_manifests_of_neighbouring_snapshots_say_so(golden: GoldenTables) -> None:
    view = golden_view(golden.table("java200", "pk_part_multi").folder)
    tree = ManifestTree(view, read_timeline(view))
    base = tree.children(3, "base").nodes
    assert [n.shared for n in base] == ["also used by snapshot 2", "also used by snapshot 2"]
    assert tree.holders(3, base[0].label) == (1, 3)
    assert tree.holders(3, tree.children(3, "delta").nodes[0].label) == (3, 3)


def test_long_manifests_come_in_pages() -> None:
    history = History()
    history.commit(*(("+", f"f{i:03d}") for i in range(PAGE + 7)))
    tree = tree_of(history)
    first, second = tree.children(1, "delta/0"), tree.children(1, "delta/0", PAGE)
    assert (len(first.nodes), first.total) == (PAGE, PAGE + 7)
    assert second.nodes[0].key == f"delta/0/{PAGE}"
    assert len(second.nodes) == 7


def test_a_missing_list_is_a_problem_of_its_node_alone(history: History) -> None:
    history.store.file_io.delete(history.store.paths.manifest("manifest-list-2-1"))
    nodes = tree_of(history).children(2).nodes
    assert nodes[0].problem == ""
    assert "manifest-list-2-1" in nodes[1].problem


def test_a_missing_manifest_is_an_error_of_its_own_entries(history: History) -> None:
    history.store.file_io.delete(history.store.paths.manifest("manifest-2-1"))
    tree = tree_of(history)
    assert tree.children(2, "base/0").total == 2
    with pytest.raises(MissingFileError, match="manifest-2-1"):
        tree.children(2, "delta/0")


@pytest.mark.parametrize("key", ["..", "base/-1", "base/0/0/0", "base//0", "/etc", "index/x"])
def test_keys_that_no_node_has_are_refused(key: str) -> None:
    with pytest.raises(InvalidInputError, match="not the key of a tree node"):
        parse_key(key)


def test_index_files_and_statistics_are_nodes(golden: GoldenTables) -> None:
    view = golden_view(golden.table("java200", "pk_dynamic").folder)
    tree = ManifestTree(view, read_timeline(view))
    last = read_timeline(view).marks[-1].snapshot_id
    kinds = {node.type for node in tree.children(last).nodes}
    assert "index" in kinds
    files = tree.children(last, "index")
    assert files.total > 0
    assert files.nodes[0].range.startswith("HASH")
