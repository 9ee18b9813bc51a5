"""Operations on paths as strings: `/a/b` on a local disk, `scheme://bucket/key` elsewhere.

`pathlib` is not suitable: object keys may contain characters that file names cannot, and `//` after
a scheme must be preserved.
"""

import os

S3_SCHEMES = frozenset({"s3", "s3a", "s3n", "oss"})
GOOGLE_SCHEMES = frozenset({"gs", "gcs"})
AZURE_SCHEMES = frozenset({"az", "azure", "abfs", "abfss", "adl"})
HADOOP_SCHEMES = frozenset({"hdfs", "viewfs"})
OBJECT_STORE_SCHEMES = S3_SCHEMES | GOOGLE_SCHEMES | AZURE_SCHEMES


def with_slashes(location: str) -> str:
    """Return a location with `/` in place of the separator of Windows; URLs of stores stay.

    >>> with_slashes("s3://bucket/key"), with_slashes("/w/t")
    ('s3://bucket/key', '/w/t')
    """
    if os.sep == "/" or scheme(location) not in {"", "file"}:
        return location
    return location.replace(os.sep, "/")


def join(folder: str, *names: str) -> str:
    """Join a folder and names; empty names are ignored.

    >>> join("s3://bucket/t/", "", "snapshot", "snapshot-1")
    's3://bucket/t/snapshot/snapshot-1'
    """
    if len(names) == 1 and folder and names[0] and folder[-1] != "/" and "/" not in names[0]:
        return f"{folder}/{names[0]}"  # fast path
    head = folder.rstrip("/") or folder[:1]
    below = "/".join([part for name in names if (part := name.strip("/"))])
    if not below:
        return head
    return f"{head}{below}" if head in ("", "/") else f"{head}/{below}"


def name(path: str) -> str:
    """Return the last part of a path.

    >>> name("/a/b/")
    'b'
    """
    return path.rstrip("/").rpartition("/")[2]


def parent(path: str) -> str:
    """Return the parent folder of a path; a bucket and the root are their own parents.

    >>> parent("s3://bucket/key"), parent("/a")
    ('s3://bucket', '/')
    >>> parent("s3://bucket"), parent("/")
    ('s3://bucket', '/')
    """
    if "://" not in path:
        return path.rstrip("/").rpartition("/")[0] or "/"
    kind, _, rest = path.partition("://")
    inside = rest.rstrip("/")
    head, slash, _ = inside.rpartition("/")
    return f"{kind}://{head or (slash or inside)}"


def scheme(path: str) -> str:
    """Return the scheme of a location in lower case, or "" for a plain path.

    >>> scheme("S3A://bucket/key"), scheme("file:/tmp"), scheme("/tmp/a:b"), scheme("C:/data")
    ('s3a', 'file', '', '')
    """
    head, colon, _ = path.partition(":")
    plain = not colon or len(head) < 2 or not head[0].isascii() or not head[0].isalpha()  # noqa: PLR2004 - one letter is a drive
    if plain or not all(c.isascii() and (c.isalnum() or c in "+-.") for c in head):
        return ""
    return head.lower()


def hidden_sibling(path: str) -> str:
    """Return a new hidden name in the folder of a file, for the file before it is complete."""
    folder, _, name = path.rpartition("/")
    return f"{folder}/.{name}.{os.urandom(16).hex()}.tmp"
