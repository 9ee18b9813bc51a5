"""Compares the Avro decoder with fastavro on a file, for the byte inspector."""

from paimon_explore.encoding.avro.container import SYNC_SIZE, read_header, read_long
from paimon_explore.encoding.avro.reader import is_generic
from paimon_explore.errors import CorruptFileError, PaimonError
from paimon_explore.frozen_dataclass import dataclass
from paimon_explore.inspection.byte_inspector.spans import MAX_SECONDS

RECORDS_TO_COMPARE = 1000
"""Minimum number of compared records; the last block is always compared completely."""
_MAX_BLOCK_RECORDS = 100_000
_MAX_BLOCK_BYTES = 1 << 20


@dataclass(frozen=True, slots=True, kw_only=True)
class Agreement:
    """Result of decoding a file with two decoders.

    Attributes:
        text: the result in one line; empty if the file is not an Avro file.
        problems: the differences.
    """

    text: str = ""
    problems: tuple[str, ...] = ()


NOT_AVRO = Agreement()


def agreement(data: bytes, path: str) -> Agreement:
    """Decode the first records of an Avro file twice, and compare them."""
    from paimon_explore.encoding.avro.cross_check import (  # noqa: PLC0415 - loads fastavro
        cross_check_beginning,
    )
    from paimon_explore.encoding.avro.fastavro_reader import fastavro_records  # noqa: PLC0415 - as above

    try:
        end = _end_of_blocks(data)
        if end is None:
            return Agreement(text="not compared with fastavro: the first block is too large")
        if is_generic(data, path):  # our decoder has no columns for it
            records = sum(1 for _ in fastavro_records(data[:end], path))
            what = "all" if end == len(data) else "the first"
            return Agreement(text=f"generic Avro file: fastavro decodes {what} {records:,} records")
        found = cross_check_beginning(data, path, end, most_seconds=MAX_SECONDS)
    except PaimonError as error:
        text = f"the first records cannot be decoded: {error.message}"
        return Agreement(text=text, problems=(text,))
    return Agreement(text=str(found), problems=tuple(map(str, found.disagreements)))


def _end_of_blocks(data: bytes) -> int | None:
    """The end of the block with record `RECORDS_TO_COMPARE`; None if a block is too large."""
    position = start = read_header(data).size
    records = 0
    while position < len(data) and records < RECORDS_TO_COMPARE:
        block = position
        count, position = read_long(data, position)
        size, position = read_long(data, position)
        if count < 0 or size < 0:
            raise CorruptFileError("", f"block at byte {block}", "must be within the file")
        if count > _MAX_BLOCK_RECORDS or size > _MAX_BLOCK_BYTES:
            return None if block == start else block
        position += size + SYNC_SIZE
        records += count
    return min(position, len(data))
