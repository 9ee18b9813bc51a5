"""How many rows a split has, where its manifest entries tell."""

from paimon_explore.scan.splits.data_split import DataSplit, Split


def told_rows(split: Split) -> int | None:
    """The rows of a split by its manifest entries; None if they do not tell."""
    if not isinstance(split, DataSplit) or not split.raw_convertible or split.same_rows:
        return None
    deleted = [found.cardinality for found in split.deletion_files.values()]
    known = [number for number in deleted if number is not None]
    return split.row_count - sum(known) if len(known) == len(deleted) else None
