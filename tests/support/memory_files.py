"""File sets in memory that tests copy and throw away."""

from uuid import uuid4

from paimon_explore.fileio import memory
from paimon_explore.fileio.memory import MemoryFileIO
from paimon_explore.store import manifests


def copied_files(source: MemoryFileIO) -> MemoryFileIO:
    """A file set of its own with the same files."""
    copy = MemoryFileIO(str(uuid4()))
    files = source._files
    memory._FILE_SETS[copy.name] = memory._Files(
        content=dict(files.content), folders=set(files.folders)
    )
    return copy


def forget_files(name: str) -> None:
    """Free a file set."""
    memory._FILE_SETS.pop(name, None)


def forget_manifests() -> None:
    """Empty the cache of manifests of this process, which would hide that files are gone."""
    manifests._SHARED.clear()
