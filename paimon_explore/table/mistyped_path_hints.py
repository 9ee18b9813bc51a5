"""Hints for a path that is not a table: which tables are near it."""

from paimon_explore.errors import StorageError
from paimon_explore.fileio.file_io import FileIO
from paimon_explore.fileio.paths import parent
from paimon_explore.metadata.table_paths import TablePaths

_RULE = "The folder of a table contains schema/schema-0."
_DATABASE = ".db"
_SHOWN = 8
_CLIMBS = 4
_LOOKED_INTO = 20


def path_hint(file_io: FileIO, folder: str) -> str:
    """Return the rule for a table's folder, and the tables near a path."""
    try:
        found = _above(file_io, folder) or _below(file_io, folder)
    except StorageError:
        found = ""
    return f"{_RULE} {found}".strip()


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


def _below(file_io: FileIO, folder: str) -> str:
    """The hint for a warehouse or a database."""
    folders = [entry for entry in file_io.list(folder) if entry.is_folder]
    databases = [entry.name for entry in folders if entry.name.endswith(_DATABASE)]
    if databases:
        names = [database.removesuffix(_DATABASE) for database in databases]
        return (
            f"The path is a warehouse with the databases {_shown(names)}: "
            f'use Catalog({folder!r}).table("{names[0]}.…").'
        )
    tables = [entry.name for entry in folders[:_LOOKED_INTO] if _is_table(file_io, entry.path)]
    return f"The path is a database with the tables {_shown(tables)}." if tables else ""


def _is_table(file_io: FileIO, folder: str) -> bool:
    return bool(file_io.list(TablePaths(folder).schema_dir))


def _shown(names: list[str]) -> str:
    shown = ", ".join(map(repr, names[:_SHOWN]))
    return f"{shown} …" if len(names) > _SHOWN else shown
