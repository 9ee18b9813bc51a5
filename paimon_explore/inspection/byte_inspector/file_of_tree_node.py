"""Finds the file of a node of the manifest tree, or of other arguments of `Table.inspect.bytes`."""

from os import PathLike, fspath

from paimon_explore.errors import InvalidInputError, NotFoundError
from paimon_explore.inspection.byte_inspector.byte_layout import ByteLayout
from paimon_explore.inspection.byte_inspector.file_lookup import byte_layout, find_file, schemas_of
from paimon_explore.inspection.history.file_history import FileLifetimes
from paimon_explore.inspection.rendering.code_snippet import Code, point_code
from paimon_explore.inspection.table_view import TableView
from paimon_explore.inspection.views.inspector import Inspector
from paimon_explore.inspection.views.manifest_tree import ListKind, ManifestTree, NodeKey, parse_key
from paimon_explore.metadata.manifest.index_manifest import IndexEntries
from paimon_explore.metadata.manifest.manifest_entry import ManifestEntries
from paimon_explore.metadata.snapshot import Snapshot
from paimon_explore.scan.splits.file_locations import data_file_paths, index_file_paths

_ROOTS = ("base", "delta", "changelog", "index", "schema", "statistics")


def table_bytes(inspector: Inspector, what: "str | PathLike[str]" = "") -> ByteLayout:
    """Inspect the bytes of a file of a table.

    Args:
        inspector: the table, at a snapshot.
        what: name or path of a file, or a node of the snapshot's manifest tree such as `base`,
            `delta/0` (a manifest), `delta/0/3` (the data file of an entry), `index`, `index/0`,
            `schema`, `statistics`; the snapshot's own file by default.

    Raises:
        NotFoundError: the file or snapshot does not exist.
        MissingFileError: metadata references a file that does not exist.
        UnsupportedFeatureError: the file is too large.
    """
    text = fspath(what)
    view = inspector.view
    at = point_code(view.expression, 0)
    if text.partition("/")[0] in _ROOTS or not text:
        path = node_path(inspector, text)
        tag = inspector.timeline().only_tag(inspector.snapshot_id)
        at = point_code(view.expression, inspector.snapshot_id, tag)
    else:
        path = find_file(view.store, text)
    return _mapped(view, path, f"{at}.inspect.bytes({text!r})" if text else f"{at}.inspect.bytes()")


def file_of_lives(inspector: Inspector, lifetimes: FileLifetimes, row: int) -> ByteLayout:
    """Inspect the bytes of a data file of the file grid."""
    manifest = str(lifetimes.files.column("manifest")[row].as_py())
    entry = int(str(lifetimes.files.column("entry")[row].as_py()))
    view = inspector.view
    entries = view.store.manifests.read(manifest).slice(entry, 1)
    path = _data_path(view, entries)
    name = str(entries.table.column("file_name")[0].as_py())
    return _mapped(view, path, f"{view.expression}.inspect.bytes({name!r})")


def _mapped(view: TableView, path: str, code: str) -> ByteLayout:
    store = view.store
    return byte_layout(store.file_io, path, schemas_of(store), Code(python=code))


def node_path(inspector: Inspector, key: str) -> str:
    """The path of the file of a node of the manifest tree.

    Raises:
        InvalidInputError: the node does not exist.
        NotFoundError: the snapshot does not exist, or has no file of that kind.
        PaimonError: metadata that references the file cannot be read.
    """
    view = inspector.view
    paths = view.store.paths
    timeline = inspector.timeline()
    if not key:
        return paths.snapshot(inspector.snapshot_id)
    snapshot = timeline.snapshot(inspector.snapshot_id)
    node = parse_key(key)
    if node.list is not None or node.file is not None:
        return _below(view, ManifestTree(view, timeline), snapshot, node)
    if key == "schema":
        return paths.schema(snapshot.schema_id)
    name = snapshot.index_manifest if key == "index" else snapshot.statistics
    if name is None:
        raise _absent(f"{key} file", snapshot)
    return paths.manifest(name) if key == "index" else paths.statistics(name)


def _below(view: TableView, tree: ManifestTree, snapshot: Snapshot, node: NodeKey) -> str:
    paths = view.store.paths
    if node.file is not None:
        files: IndexEntries = view.store.manifests.index_of(snapshot)
        tree.index_row(snapshot, node)
        return _index_path(view, files.slice(node.file, 1))
    if node.manifest is None:
        name = (node.list or ListKind.BASE).file_of(snapshot)
        if name is None:
            raise _absent(f"{node.text} manifest list", snapshot)
        return paths.manifest(name)
    if node.entry is None:
        return paths.manifest(str(tree.manifest_row(snapshot, node)["file_name"]))
    entries = tree.entries(snapshot, node)
    if node.entry >= len(entries):
        raise InvalidInputError(
            f"Entry {node.text!r} does not exist; the manifest has {len(entries)} entries."
        )
    return _data_path(view, entries.slice(node.entry, 1))


def _absent(what: str, snapshot: Snapshot) -> NotFoundError:
    return NotFoundError(what, "", message=f"Snapshot {snapshot.id} has no {what}.")


def _data_path(view: TableView, entries: ManifestEntries) -> str:
    schema = view.target(None, travelled=False).schema
    found = data_file_paths(entries, schema, view.options, view.store.paths)
    return str(found[0].as_py())


def _index_path(view: TableView, files: IndexEntries) -> str:
    schema = view.target(None, travelled=False).schema
    found = index_file_paths(files, schema, view.options, view.store.paths)
    return str(found[0].as_py())
