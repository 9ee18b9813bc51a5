"""File sets in memory that tests throw away."""

from paimon_explore.fileio import memory


def forget_files(name: str) -> None:
    """Free a file set."""
    memory._FILE_SETS.pop(name, None)
