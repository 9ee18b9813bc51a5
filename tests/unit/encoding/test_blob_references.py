"""Files of references to the managed files of BLOBs."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from paimon_explore.encoding.blob.blob_descriptor import BlobDescriptor, encode_descriptor
from paimon_explore.encoding.blob.blob_references import (
    decode_references,
    encode_references,
    managed_uris,
)
from paimon_explore.errors import CorruptFileError, UnsupportedVersionError
from support.damage import damaged

JAVA_FOLDER = "/tmp/paimon-golden/next/java21/gold.db/blob_key/bucket-0"  # noqa: S108 - of a golden table
JAVA_NAMES = (
    "data-99651e32-158e-43f5-b53c-e8697b08a547-0.managed.blob",
    "data-d1fad084-6838-43f4-a543-8a2bbabbff86-0.managed.blob",
)
JAVA_TWO = b"".join(
    [
        bytes.fromhex("50424c52 01 00000002"),
        *(b"\x008%s\x008%s" % (JAVA_FOLDER.encode(), name.encode()) for name in JAVA_NAMES),
        bytes.fromhex("56f0fbec"),
    ]
)
"""Of the compacted file of golden java21 `blob_key`."""
JAVA_NONE = bytes.fromhex("50424c52 01 00000000 fb42dead")
URIS = st.text(st.characters(exclude_characters="/", codec="utf-8"), min_size=1, max_size=9)


def test_references_are_those_of_java() -> None:
    uris = [f"{JAVA_FOLDER}/{name}" for name in JAVA_NAMES]
    assert encode_references(reversed(uris)) == JAVA_TWO
    assert decode_references(JAVA_TWO, "a file") == uris
    assert encode_references([]) == JAVA_NONE
    assert decode_references(JAVA_NONE, "a file") == []


def test_only_managed_files_are_referred_to() -> None:
    managed, other = (
        encode_descriptor(BlobDescriptor(uri=uri, offset=4, length=1))
        for uri in ("s3://b/\u00e9/x.managed.blob", "/photos/1.jpg")
    )
    assert managed_uris([None, b"contents", other, b"x.managed.blob" + bytes(16)]) == set()
    found = {"s3://b/\u00e9/x.managed.blob"}
    assert managed_uris([managed, managed, other]) == found
    assert managed_uris([[None, managed], [], [other]]) == found
    assert managed_uris([[("k", None), ("l", managed)]]) == found


@given(names=st.sets(URIS))
def test_references_come_back(names: set[str]) -> None:
    uris = {f"/w/{name}/{name}.managed.blob" for name in names}
    found = decode_references(encode_references(uris), "a file")
    assert set(found) == uris
    assert len(found) == len(uris)


@given(data=st.data())
def test_damage_is_noticed(data: st.DataObject) -> None:
    broken = data.draw(damaged(JAVA_TWO))
    if broken != JAVA_TWO:
        with pytest.raises((CorruptFileError, UnsupportedVersionError)):
            decode_references(broken, "a file")
