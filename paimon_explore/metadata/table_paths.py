"""The directory layout of a table: paths of all its files.

Spec: concepts/spec/overview. Schemas, snapshots, tags, changelogs and consumers belong to a branch;
manifests, indexes, statistics and data files are shared by all branches of the table.

File names come from metadata, which may be malicious: names that escape their folder are refused.
"""

from collections.abc import Iterable
from dataclasses import replace

from paimon_explore.errors import CorruptFileError
from paimon_explore.fileio.local import without_file_scheme
from paimon_explore.fileio.paths import join, parent, scheme
from paimon_explore.frozen_dataclass import dataclass
from paimon_explore.metadata.path_safety import FILE_NAME_RULE, checked_name, escapes_folder

MAIN_BRANCH = "main"
BRANCH_PREFIX = "branch-"
SCHEMA_PREFIX = "schema-"
SNAPSHOT_PREFIX = "snapshot-"
CHANGELOG_PREFIX = "changelog-"
TAG_PREFIX = "tag-"
CONSUMER_PREFIX = "consumer-"
STAGING_PREFIX = "staging-"
"""Prefix of folders for temporary files that will be moved to their final path."""
TAG_SUCCESS_FOLDER = "tag-success-file"
INDEX_SUFFIX = ".index"
"""End of the name of the file index of a data file, one of its extra files."""
LATEST = "LATEST"
EARLIEST = "EARLIEST"

_METADATA_FOLDERS = frozenset(
    (
        *("schema", "snapshot", "changelog", "tag", "branch", "consumer"),
        *("manifest", "index", "statistics"),
    )
)

POSTPONE_BUCKET = -2
"""The bucket number of postpone mode, where compaction assigns the real buckets."""


@dataclass(frozen=True, slots=True)
class TablePaths:
    """The paths of one table and branch.

    Attributes:
        root: the table's folder.
        branch: the branch of the schemas, snapshots and tags.
        data_directory: folder of the partitions, relative to the root (option
            `data-file.path-directory`); empty for the root itself.
        index_in_data_directory: whether index files are stored in the folder of their bucket.
    """

    root: str
    branch: str = MAIN_BRANCH
    data_directory: str = ""
    index_in_data_directory: bool = False

    def __post_init__(self) -> None:
        checked_name("branch", self.branch)
        if not is_data_folder(self.data_directory):
            rule = f"must be a folder inside the table, not {self.data_directory[:80]!r}"
            raise CorruptFileError(self.root, "option data-file.path-directory", rule)

    def for_branch(self, branch: str) -> "TablePaths":
        """Return the paths of another branch of the table."""
        return replace(self, branch=branch)

    @property
    def branch_root(self) -> str:
        """The folder of this branch's metadata."""
        return self.root if self.branch == MAIN_BRANCH else self.branch_dir(self.branch)

    @property
    def branches_dir(self) -> str:
        """The folder of all branches except main."""
        return join(self.root, "branch")

    def branch_dir(self, name: str) -> str:
        """Return the metadata folder of a branch other than main."""
        return join(self.branches_dir, f"{BRANCH_PREFIX}{checked_name('branch', name)}")

    @property
    def schema_dir(self) -> str:
        """The folder of schema files."""
        return join(self.branch_root, "schema")

    def schema(self, schema_id: int) -> str:
        """Return the path of a schema file."""
        return join(self.schema_dir, f"{SCHEMA_PREFIX}{schema_id}")

    @property
    def snapshot_dir(self) -> str:
        """The folder of snapshot files."""
        return join(self.branch_root, "snapshot")

    def snapshot(self, snapshot_id: int) -> str:
        """Return the path of a snapshot file."""
        return join(self.snapshot_dir, f"{SNAPSHOT_PREFIX}{snapshot_id}")

    @property
    def latest_hint(self) -> str:
        """The hint file of the latest snapshot."""
        return join(self.snapshot_dir, LATEST)

    @property
    def earliest_hint(self) -> str:
        """The hint file of the earliest snapshot."""
        return join(self.snapshot_dir, EARLIEST)

    @property
    def changelog_dir(self) -> str:
        """The folder of long-lived changelogs, which outlive their snapshots."""
        return join(self.branch_root, "changelog")

    def changelog(self, snapshot_id: int) -> str:
        """Return the path of a long-lived changelog file."""
        return join(self.changelog_dir, f"{CHANGELOG_PREFIX}{snapshot_id}")

    @property
    def changelog_latest_hint(self) -> str:
        """The hint file of the latest long-lived changelog."""
        return join(self.changelog_dir, LATEST)

    @property
    def changelog_earliest_hint(self) -> str:
        """The hint file of the earliest long-lived changelog."""
        return join(self.changelog_dir, EARLIEST)

    @property
    def tag_dir(self) -> str:
        """The folder of tag files."""
        return join(self.branch_root, "tag")

    def tag(self, name: str) -> str:
        """Return the path of a tag file."""
        return join(self.tag_dir, f"{TAG_PREFIX}{checked_name('tag', name)}")

    def tag_success(self, name: str) -> str:
        """Return the path of the success file of an automatic tag."""
        return join(self.tag_dir, TAG_SUCCESS_FOLDER, f"{checked_name('tag', name)}_SUCCESS")

    @property
    def consumer_dir(self) -> str:
        """The folder of consumer files."""
        return join(self.branch_root, "consumer")

    def consumer(self, consumer_id: str) -> str:
        """Return the path of a consumer file."""
        return join(self.consumer_dir, f"{CONSUMER_PREFIX}{checked_name('consumer', consumer_id)}")

    @property
    def manifest_dir(self) -> str:
        """The folder of manifests, manifest lists and index manifests."""
        return join(self.root, "manifest")

    def manifest(self, name: str) -> str:
        """Return the path of a manifest, manifest list or index manifest."""
        return file_in(self.manifest_dir, name)

    @property
    def index_dir(self) -> str:
        """The folder of index files."""
        return join(self.root, "index")

    def index(self, name: str) -> str:
        """Return the path of an index file in the table's index folder."""
        return file_in(self.index_dir, name)

    def index_file(
        self, partition_path: str, bucket: int, name: str, external_path: str | None = None
    ) -> str:
        """Return the path of an index file according to table options and its manifest entry."""
        if external_path is not None:
            return self.checked_external(external_path, is_index=True) or ""
        if self.index_in_data_directory:
            return file_in(self.bucket_dir(partition_path, bucket), name)
        return self.index(name)

    @property
    def statistics_dir(self) -> str:
        """The folder of statistics files."""
        return join(self.root, "statistics")

    def statistics(self, name: str) -> str:
        """Return the path of a statistics file."""
        return file_in(self.statistics_dir, name)

    @property
    def data_root(self) -> str:
        """The folder of the partitions, or of the buckets of an unpartitioned table."""
        return join(self.root, self.data_directory)

    def bucket_dir(self, partition_path: str, bucket: int) -> str:
        """Return the folder of a bucket's data files.

        Args:
            partition_path: `dt=2024-01-01/hr=10` (see `partition_path`), or "".
            bucket: the bucket; -2 is the bucket of postpone mode.
        """
        return join(self.data_root, partition_path, bucket_folder(bucket))

    def data_file(
        self, partition_path: str, bucket: int, name: str, external_path: str | None = None
    ) -> str:
        """Return the path of a data or changelog file."""
        outside = self.checked_external(external_path)
        return outside or file_in(self.bucket_dir(partition_path, bucket), name)

    def checked_external(self, path: str | None, *, is_index: bool = False) -> str | None:
        """Check the external path of a data or index file and return it.

        Args:
            path: the path in the manifest entry.
            is_index: whether the file is an index file, which may be in the table's index folder.

        Raises:
            CorruptFileError: the path points into a metadata folder of the table, from which expiry
                would delete the file as a data file; or it has '.', '..' or NUL.
        """
        if path is None:
            return None
        place = _without_scheme(path)
        below = _without_scheme(self.root).rstrip("/")
        parts = place.split("/")
        if ".." in parts or "." in parts or "\0" in path:
            rule = f"must have no segment '.' or '..' and no NUL, not {path[:120]!r}"
            raise CorruptFileError(self.root, "_EXTERNAL_PATH of a data file", rule)
        if place.startswith(f"{below}/"):
            first = place[len(below) :].strip("/").partition("/")[0]
            if is_metadata_folder(first) and not (is_index and first == "index"):
                rule = f"must not be in the metadata folder {first!r}, but is {path[:120]!r}"
                raise CorruptFileError(self.root, "_EXTERNAL_PATH of a data file", rule)
        return path

    def extra_file(
        self, partition_path: str, bucket: int, name: str, external_path: str | None = None
    ) -> str:
        """Return the path of an extra file (index, sidecar) of a data file.

        Args:
            partition_path: the data file's partition.
            bucket: the data file's bucket.
            name: name of the extra file.
            external_path: the data file's external path, if it has one.
        """
        if external_path is not None:
            return file_in(parent(self.checked_external(external_path) or ""), name)
        return file_in(self.bucket_dir(partition_path, bucket), name)


def _without_scheme(path: str) -> str:
    """Return a path with single separators and without the `file:` scheme.

    >>> _without_scheme("file:///w//t"), _without_scheme("file:/w/t"), _without_scheme("s3://b//t")
    ('/w/t', '/w/t', 's3://b/t')
    """
    path = without_file_scheme(path)
    head, mark, rest = path.partition("://") if scheme(path) else ("", "", path)
    while "//" in rest:
        rest = rest.replace("//", "/")
    return f"{head}{mark}{rest}"


def is_data_folder(folder: str) -> bool:
    """Return whether a `data-file.path-directory` is a relative path inside the table's folder.

    >>> is_data_folder(""), is_data_folder("data/x"), is_data_folder("../x"), is_data_folder("/x")
    (True, True, False, False)
    """
    parts = folder.rstrip("/").split("/") if folder else []
    return not any(escapes_folder(part) for part in parts)


def is_metadata_folder(name: str) -> bool:
    """Return whether a folder in the table's root is for metadata, indexes or statistics.

    >>> is_metadata_folder("snapshot"), is_metadata_folder("bucket-0"), is_metadata_folder("dt=1")
    (True, False, False)
    """
    return name in _METADATA_FOLDERS or name.startswith((BRANCH_PREFIX, STAGING_PREFIX))


def file_index_path(data_file: str, extra_files: Iterable[str]) -> str | None:
    """Return the path of the file index of a data file, which is beside it, if it has one.

    Raises:
        CorruptFileError: the name is invalid or escapes the folder.

    >>> file_index_path("/w/t/bucket-0/data-1.orc", ["data-1.orc.index"])
    '/w/t/bucket-0/data-1.orc.index'
    """
    name = next((name for name in extra_files if name.endswith(INDEX_SUFFIX)), None)
    return None if name is None else file_in(parent(data_file), name)


def file_in(folder: str, name: str) -> str:
    """Return the path of a file in a folder; the name comes from metadata.

    Raises:
        CorruptFileError: the name is invalid or escapes the folder.

    >>> file_in("/w/d.db/t/manifest", "manifest-1")
    '/w/d.db/t/manifest/manifest-1'
    """
    if escapes_folder(name):
        raise CorruptFileError(
            folder,
            f"the name {name[:80]!r}, which metadata of the table has for a file,",
            FILE_NAME_RULE,
        )
    return f"{folder}{name}" if folder.endswith("/") else f"{folder}/{name}"


def bucket_folder(bucket: int) -> str:
    """Return the folder name of a bucket.

    >>> bucket_folder(0), bucket_folder(-2)
    ('bucket-0', 'bucket-postpone')
    """
    return "bucket-postpone" if bucket == POSTPONE_BUCKET else f"bucket-{bucket}"
