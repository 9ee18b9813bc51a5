"""Hints for a path that is not a table: what it is, and which tables are near it."""

from collections.abc import Sequence

from paimon_explore.errors import NotFoundError, StorageError, choices, suggestion
from paimon_explore.fileio.file_io import FileIO, FileStatus
from paimon_explore.fileio.paths import join, parent
from paimon_explore.fileio.paths import name as name_of
from paimon_explore.metadata.table_paths import TablePaths

_RULE = "The folder of a table contains schema/schema-0."
_DATABASE = ".db"
_BRANCH = "branch_"
_SHOWN = 8
_CLIMBS = 4
_LOOKED_INTO = 20
_OTHER_FORMATS = {"_delta_log": "a Delta", ".hoodie": "a Hudi", "metadata": "an Iceberg"}
"""The folder that tables of another format have -> the format."""
_DATA_SUFFIXES = (".parquet", ".orc", ".avro")


def path_hint(file_io: FileIO, folder: str) -> str:
    """Return the rule for a table's folder, what the path is, and the tables near it."""
    try:
        found = _above(file_io, folder) or _content(file_io, folder) or _beside(file_io, folder)
    except (StorageError, NotFoundError):
        found = ""
    return f"{_RULE} {found}".strip()


def databases_in(file_io: FileIO, folder: str) -> list[str]:
    """Return the names of the databases in a folder; none if it is no warehouse."""
    return _databases(_listed(file_io, folder))


def _listed(file_io: FileIO, folder: str) -> list[FileStatus]:
    """The content of a folder; none if it cannot be listed, as that of a file."""
    try:
        return file_io.list(folder)
    except StorageError:
        return []


def _databases(content: Sequence[FileStatus]) -> list[str]:
    found = (entry.name for entry in content if entry.is_folder)
    return [name.removesuffix(_DATABASE) for name in found if name.endswith(_DATABASE)]


def _above(file_io: FileIO, folder: str) -> str:
    """The hint for a path inside of a table."""
    outer = folder
    for _ in range(_CLIMBS):
        outer, inner = parent(outer), outer
        if outer == inner:
            return ""
        if _is_table(file_io, outer):
            return f"The path is inside the folder of table {outer}; open that table."
    return ""


def _content(file_io: FileIO, folder: str) -> str:
    """The hint for a folder with content: a warehouse, a database, or data of another format."""
    content = _listed(file_io, folder)
    databases = _databases(content)
    if databases:
        return (
            f"The path is a warehouse with the databases {choices(databases, limit=_SHOWN)}: "
            f'use Catalog({folder!r}).table("{databases[0]}.…").'
        )
    tables = _tables(file_io, content)
    if tables:
        return f"The path is a database with the tables {choices(tables, limit=_SHOWN)}."
    names = {entry.name for entry in content}
    other = next((kind for name, kind in _OTHER_FORMATS.items() if name in names), None)
    if other is not None:
        return f"The path is {other} table, which is not in the format of Paimon."
    partitions = [entry.path for entry in content if entry.is_folder and "=" in entry.name]
    inner = file_io.list(partitions[0]) if partitions else []
    data = next((one.name for one in (*content, *inner) if one.name.endswith(_DATA_SUFFIXES)), None)
    if data is None:
        return ""
    return (
        f"The path has data files without a table, such as {data!r}: read them with "
        "pyarrow.dataset, or create a table and call its add_files()."
    )


def _tables(file_io: FileIO, content: Sequence[FileStatus]) -> list[str]:
    """The names of the tables among the first folders."""
    folders = [entry for entry in content if entry.is_folder][:_LOOKED_INTO]
    return [entry.name for entry in folders if _is_table(file_io, entry.path)]


def _beside(file_io: FileIO, path: str) -> str:
    """The hint for a path that is a file, a folder without tables, or does not exist."""
    place, name = parent(path), name_of(path)
    siblings = {entry.name: entry for entry in file_io.list(place)}
    found = siblings.get(name)
    if found is not None:
        return f"The path is a {'folder without tables' if found.is_folder else 'file'}."
    table, _, suffix = name.partition("$")
    if suffix and _is_table(file_io, join(place, table)):
        return _suffix_hint(join(place, table), suffix)
    database, dot, table = name.partition(".")
    in_database = join(place, f"{database}{_DATABASE}", table)
    if dot and table and _is_table(file_io, in_database):
        return f"Did you mean {in_database!r}?"
    is_in_bucket = "/" in (place.partition("://")[2] or place)
    if is_in_bucket and _is_table(file_io, join(f"{place}{_DATABASE}", name)):
        return f"Did you mean {join(f'{place}{_DATABASE}', name)!r}?"
    near = _near(file_io, path)
    named = f"For the table {name!r} of a warehouse use Catalog(warehouse).table({name!r})."
    return near or (named if dot and database and table else "The path does not exist.")


def _near(file_io: FileIO, path: str) -> str:
    """The folder with a name like that of the first folder of a path that does not exist."""
    place, name = parent(path), name_of(path)
    folders = [entry.name for entry in file_io.list(place) if entry.is_folder]
    if not folders and place != path:
        return _near(file_io, place)
    return "" if name in folders else suggestion(name, folders).strip()


def _suffix_hint(folder: str, suffix: str) -> str:
    """The hint for the path of a table with `$branch_b`, the name of a system table, or both."""
    branch, _, system = suffix.rpartition("$") if "$" in suffix else (suffix, "", "")
    if not branch.startswith(_BRANCH):
        branch, system = "", suffix
    of_branch = f", branch={branch.removeprefix(_BRANCH)!r}" if branch else ""
    of_system = f".inspect.system_table({system!r})" if system else ""
    return f"Use open_table({folder!r}{of_branch}){of_system}."


def _is_table(file_io: FileIO, folder: str) -> bool:
    return bool(file_io.list(TablePaths(folder).schema_dir))
