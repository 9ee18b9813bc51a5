"""References to BLOBs of other tables, as stored in place of them (`blob-view-field`).

    byte version | int64 magic | int32 size of the name | name | int32 field id | int64 row id

All integers are little-endian. The name is `database.table` in the same catalog, in UTF-8.

Spec: append-table/blob, blob view. Seen in: Java 2.0.0, which reads what is written here.
"""

import struct

from paimon_explore.frozen_dataclass import dataclass

_HEAD = struct.Struct("<bqi")
_TAIL = struct.Struct("<iq")
_VERSION, _MAGIC = 1, 0x424C4F4256494557


@dataclass(frozen=True, slots=True, kw_only=True)
class BlobView:
    """A BLOB of another table.

    Attributes:
        table: `database.table`.
        field_id: id of the BLOB column.
        row_id: id of the row.
    """

    table: str
    field_id: int
    row_id: int


def is_view(data: bytes) -> bool:
    """Return whether bytes begin as a reference does.

    >>> is_view(encode_view(BlobView(table="d.t", field_id=1, row_id=2))), is_view(b"contents")
    (True, False)
    """
    return len(data) >= _HEAD.size and _HEAD.unpack_from(data)[:2] == (_VERSION, _MAGIC)


def encode_view(view: BlobView) -> bytes:
    """Encode a reference.

    >>> encode_view(BlobView(table="d.t", field_id=1, row_id=2)).hex(" ", -4)
    '01574549 56424f4c 42030000 00642e74 01000000 02000000 00000000'
    """
    name = view.table.encode()
    return _HEAD.pack(_VERSION, _MAGIC, len(name)) + name + _TAIL.pack(view.field_id, view.row_id)


def decode_view(data: bytes) -> BlobView:
    """Decode a reference.

    Raises:
        ValueError: the bytes are no reference.

    >>> decode_view(encode_view(BlobView(table="d.t", field_id=1, row_id=2)))
    BlobView(table='d.t', field_id=1, row_id=2)
    """
    if not is_view(data):
        raise ValueError("must be a BLOB reference (a view) of version 1, not other bytes")
    size = _HEAD.unpack_from(data)[2]
    if size < 0 or len(data) != _HEAD.size + size + _TAIL.size:
        raise ValueError("must be as long as the name of the table requires")
    field_id, row_id = _TAIL.unpack_from(data, _HEAD.size + size)
    name = data[_HEAD.size : _HEAD.size + size].decode()
    return BlobView(table=name, field_id=field_id, row_id=row_id)
