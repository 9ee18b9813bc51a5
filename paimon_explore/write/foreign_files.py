"""Files that a caller names to be added to a table: paths, folders, and how they get there."""

from collections.abc import Iterable, Mapping
from os import PathLike, fspath

from paimon_explore.arguments import invalid_argument, path
from paimon_explore.errors import InvalidInputError, NotFoundError, choices
from paimon_explore.fileio.file_io import FileIO
from paimon_explore.fileio.resolve import resolve
from paimon_explore.write.adopted_files import AdoptionMode, ForeignFile

_EXTENSIONS = (".parquet", ".orc")
_HIDDEN = ("_", ".")


def adoption_mode(name: object) -> AdoptionMode:
    """Return the mode of an argument.

    Raises:
        InvalidInputError: there is no such mode.

    >>> adoption_mode("copy").value
    'copy'
    """
    known = [mode.value for mode in AdoptionMode]
    if name not in known:
        raise InvalidInputError(f"Unknown mode {name!r}.", hint=f"Use {choices(known)}.")
    return AdoptionMode(name)


def foreign_files(
    files: str | PathLike[str] | Iterable[str | PathLike[str]],
    storage_options: Mapping[str, object] | None = None,
) -> list[ForeignFile]:
    """Return the files of paths; those of folders by their extension, sorted by path.

    Args:
        files: one path, or several.
        storage_options: settings of their storage.

    Raises:
        InvalidInputError: no file is given, or one twice.
        NotFoundError: a path does not exist, or a folder has no Parquet or ORC files.
    """
    given = [files] if isinstance(files, str | PathLike) else files
    if not isinstance(given, Iterable):
        raise invalid_argument("files", files, "a path or a list of paths")
    found: list[ForeignFile] = []
    for one in given:
        file_io, location = resolve(path("A file", one), storage_options)
        found += _files_at(file_io, location, fspath(one))
    if not found:
        raise InvalidInputError("add_files() needs at least one file.")
    paths = [file.path for file in found]
    twice = next((name for name in paths if paths.count(name) > 1), None)
    if twice is not None:
        raise InvalidInputError(f"File {twice} is given twice.")
    return found


def _files_at(file_io: FileIO, location: str, given: str) -> list[ForeignFile]:
    if not file_io.exists(location):
        raise NotFoundError("file", given)
    if not file_io.status(location).is_folder:
        return [ForeignFile(file_io=file_io, path=location)]
    below = [
        status.path
        for status in file_io.walk(location)
        if status.name.endswith(_EXTENSIONS)
        and not any(
            part.startswith(_HIDDEN) for part in status.path[len(location) :].split("/") if part
        )
    ]
    if not below:
        raise NotFoundError("Parquet or ORC file", given)
    return [ForeignFile(file_io=file_io, path=name) for name in sorted(below)]
