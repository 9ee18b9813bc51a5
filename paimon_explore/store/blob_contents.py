"""Contents of BLOBs that descriptors refer to.

Primary-key tables store descriptors of all BLOBs, whose contents are in files of their own, the
managed ones: merging and compaction keep the descriptors and never move the contents. Several data
files may refer to a managed file; each lists those that it refers to in a file `.blobref`.

Only the storage of the table is read: the local disk for a table on the local disk, else the same
bucket. A table could otherwise make its readers open any address.

Spec: append-table/blob, `blob-descriptor-field`; primary-key-table/blob-storage. Seen in: golden
java21 `blob_key`.
"""

from urllib.parse import urlsplit

from paimon_explore.encoding.blob.blob_descriptor import TO_THE_END, BlobDescriptor
from paimon_explore.errors import CorruptFileError, UnsupportedFeatureError
from paimon_explore.fileio.local import local_path
from paimon_explore.fileio.paths import scheme
from paimon_explore.store.table_store import TableStore

_LOCAL = frozenset({"", "file"})
_S3 = frozenset({"s3", "s3a", "s3n"})


def read_contents(store: TableStore, descriptor: BlobDescriptor) -> bytes:
    """Read the contents that a descriptor refers to.

    Raises:
        UnsupportedFeatureError: they are in another storage than the table.
        CorruptFileError: the file ends before the contents do.
        MissingFileError: the file does not exist.
        StorageError: the file cannot be read.
    """
    path = contents_path(store.paths.root, descriptor.uri)
    if descriptor.length == TO_THE_END:
        return store.file_io.read(path)[descriptor.offset :]
    found = store.file_io.read_range(path, descriptor.offset, descriptor.length)
    if len(found) != descriptor.length:
        place = f"{descriptor.length} bytes from byte {descriptor.offset} on"
        rule = "a BLOB refers to these bytes, but the file ends before them"
        hint = "Restore the file, or update the rows whose BLOB refers to it."
        raise CorruptFileError(path, place, rule, hint=hint)
    return found


def contents_path(root: str, uri: str) -> str:
    """Return the path of a URI in the storage of a table.

    Args:
        root: the table's folder.
        uri: the URI of a descriptor.

    Raises:
        UnsupportedFeatureError: it is in another storage.

    >>> contents_path("/wh/db.db/t", "file:///photos/1.jpg")
    '/photos/1.jpg'
    >>> contents_path("s3://bucket/t", "s3a://bucket/1.jpg")
    's3://bucket/1.jpg'
    """
    ours, theirs = scheme(root), scheme(uri)
    if ours in _LOCAL and theirs in _LOCAL:
        return local_path(uri)
    is_same = ours == theirs or {ours, theirs} <= _S3
    if is_same and urlsplit(root).netloc == urlsplit(uri).netloc:
        return f"{ours}:{uri.partition(':')[2]}"
    raise UnsupportedFeatureError(
        "reading the contents of a BLOB outside of the table's storage",
        uri,
        hint="Open the table with options={'blob-as-descriptor': 'true'} to read where the BLOB is "
        "stored (URI, offset and length) instead of its contents.",
    )
