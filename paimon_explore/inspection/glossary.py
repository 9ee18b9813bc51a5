"""The glossary: one sentence per term of Paimon that the explorer shows, used as tooltips.

`.github/ARCHITECTURE.md` lists the same terms; a test compares them.
"""

from collections.abc import Mapping

from paimon_explore.frozen_dataclass import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Term:
    """A term with its explanation.

    Attributes:
        text: one sentence.
        names: other names of the term on the screen: headings, labels, abbreviations.
        notebook: the notebook that teaches it, as the name of its file without `.ipynb`; empty for
            none.
    """

    text: str
    names: tuple[str, ...] = ()
    notebook: str = ""

    @property
    def tooltip(self) -> str:
        """The explanation, and where to learn more."""
        return f"{self.text} (notebook {self.notebook})" if self.notebook else self.text


_FIRST = "01-first-table"
_ON_DISK = "03-on-disk"
_COMMITS = "04-commits"
_KEYS = "05-primary-keys"
_COMPACTION = "06-compaction"
_TRAVEL = "07-time-travel"
_DEBUGGING = "08-debugging"

TERMS: Mapping[str, Term] = {
    "snapshot": Term(
        text="One version of the table, created by one commit.",
        names=("snapshots",),
        notebook=_FIRST,
    ),
    "APPEND": Term(
        text="A commit that adds rows as new files and rewrites nothing.",
        names=("a append",),
        notebook=_COMMITS,
    ),
    "COMPACT": Term(
        text="A commit of a compaction, which rewrites files and changes no rows.",
        names=("c compact", "compaction"),
        notebook=_COMPACTION,
    ),
    "OVERWRITE": Term(
        text="A commit that replaces partitions or the whole table, or that deletes rows.",
        names=("o overwrite",),
        notebook=_COMMITS,
    ),
    "ANALYZE": Term(
        text="A commit that adds statistics of the table and does not change its rows.",
        names=("z analyze",),
        notebook=_ON_DISK,
    ),
    "commit user": Term(
        text="The name under which a job commits, unique for each writing job.",
        names=("writers", "user"),
        notebook=_COMMITS,
    ),
    "schema": Term(
        text="The columns, keys and options of the table; each change creates a new version.",
        names=("schema version", "schemas"),
        notebook=_ON_DISK,
    ),
    "primary key": Term(
        text="The columns that identify a row: rows with the same key are merged into one.",
        notebook=_FIRST,
    ),
    "append table": Term(
        text="A table without primary key: rows are added and never merged.", notebook=_FIRST
    ),
    "partition": Term(
        text="The rows with the same values in the partition columns, in a folder of their own.",
        names=("partitions", "partitioned by"),
        notebook=_ON_DISK,
    ),
    "bucket": Term(
        text="A part of a partition; the hash of the bucket key selects the bucket of a row.",
        names=("buckets",),
        notebook=_ON_DISK,
    ),
    "level": Term(
        text="The level of a file in the LSM tree: 0 for new files, higher after compactions.",
        names=("levels", "level-0 files", "level 0", "level_0"),
        notebook=_KEYS,
    ),
    "sorted run": Term(
        text="Files with disjoint key ranges: each file of level 0, or all files of another level.",
        names=("sorted runs", "run", "runs"),
        notebook=_KEYS,
    ),
    "LSM tree": Term(
        text="The sorted runs of one bucket; a read merges the runs whose key ranges overlap.",
        names=("lsm",),
        notebook=_KEYS,
    ),
    "read amplification": Term(
        text="The number of sorted runs that a read merges for one key.",
        names=("mean overlapping runs", "depth"),
        notebook=_KEYS,
    ),
    "manifest": Term(
        text="A file with manifest entries, each of which adds or deletes one data file.",
        names=("manifests",),
        notebook=_ON_DISK,
    ),
    "manifest entry": Term(
        text="A record of a manifest: ADD or DELETE of one data file, with its statistics.",
        names=("entries", "entry", "manifest entries"),
        notebook=_ON_DISK,
    ),
    "base list": Term(
        text="The manifest list with all changes up to the previous snapshot.",
        names=("base manifest list", "base"),
        notebook=_ON_DISK,
    ),
    "delta list": Term(
        text="The manifest list with the changes of the commit of the snapshot.",
        names=("delta manifest list", "delta"),
        notebook=_ON_DISK,
    ),
    "changelog": Term(
        text="Files with the changes of rows (+I, -U, +U, -D) for streaming readers.",
        names=("changelog manifest list", "changelog producer", "changelog list"),
        notebook=_ON_DISK,
    ),
    "index manifest": Term(
        text="The list of index files of a snapshot: deletion vectors, hash and global indexes.",
        names=("index", "index files"),
        notebook=_COMPACTION,
    ),
    "statistics": Term(
        text="Counts and ranges of columns, of a file or of the whole table.", notebook=_ON_DISK
    ),
    "min/max": Term(
        text="The smallest and largest value of a column in a file, by which files are pruned.",
        names=(
            "min",
            "max",
            "min key",
            "max key",
            "min_key",
            "max_key",
            "key bounds",
            "value bounds",
        ),
        notebook=_ON_DISK,
    ),
    "null count": Term(
        text="The number of null values of a column in a file.", names=("nulls",), notebook=_ON_DISK
    ),
    "deletion vector": Term(
        text="A bitmap of the deleted row positions of a data file; reads leave these rows out.",
        names=("deletion vectors", "deleted rows"),
        notebook=_COMPACTION,
    ),
    "merge engine": Term(
        text="The rule by which rows with the same primary key become one row.",
        names=("merge result",),
        notebook=_KEYS,
    ),
    "sequence field": Term(
        text="The column that decides which of several rows with the same key is the newest.",
        notebook=_KEYS,
    ),
    "sequence number": Term(
        text="The number that a writer gives to each record; the larger one of a key is newer.",
        names=("sequence", "max_sequence_number", "min_sequence_number"),
        notebook=_KEYS,
    ),
    "row kind": Term(
        text="What a record does: +I insert, -U row before an update, +U row after it, -D delete.",
        names=("rowkind", "kind"),
        notebook=_ON_DISK,
    ),
    "tag": Term(
        text="A name for a snapshot; a tagged snapshot stays readable after it has expired.",
        names=("tags",),
        notebook=_TRAVEL,
    ),
    "branch": Term(
        text="A second line of snapshots of the same table.", names=("branches",), notebook=_TRAVEL
    ),
    "consumer": Term(
        text="The stored progress of a streaming reader; what it has not read does not expire.",
        names=("consumers",),
        notebook=_DEBUGGING,
    ),
    "watermark": Term(
        text="The event time up to which a streaming writer has written all rows.",
        notebook=_ON_DISK,
    ),
    "hint": Term(
        text="The files EARLIEST and LATEST, which may be stale and are always verified.",
        notebook=_ON_DISK,
    ),
    "expiry": Term(
        text="The removal of old snapshots, and of the files that only they need.",
        names=("expired", "snapshot expiry"),
        notebook=_DEBUGGING,
    ),
    "orphan file": Term(
        text="A file in the folder of the table that no snapshot references.", notebook=_COMMITS
    ),
    "rows before merging": Term(
        text="The stored rows of all live files; rows with the same key are counted once per file.",
        notebook=_KEYS,
    ),
    "live file": Term(
        text="A data file that a read of the snapshot needs: added and not deleted.",
        names=("live", "data file", "data files", "files"),
        notebook=_DEBUGGING,
    ),
    "pruning stage": Term(
        text="A step of a scan that drops manifests, files or row groups that cannot match.",
        names=("pruning stages", "stage", "stages"),
        notebook=_DEBUGGING,
    ),
    "file index": Term(text="A bloom filter, bitmap or range index of the columns of a data file."),
    "split": Term(text="The files that one reader task reads together.", names=("splits",)),
    "dynamic buckets": Term(
        text="Buckets that an index assigns to keys, so that their number grows with the table.",
    ),
}
"""Terms in the order in which they are learnt."""


def all_names() -> Mapping[str, Term]:
    """The terms by each of their names in lower case.

    >>> all_names()["base manifest list"] is TERMS["base list"]
    True
    """
    return {name.lower(): term for title, term in TERMS.items() for name in (title, *term.names)}
