"""Records found by a pattern are those that were written, or those found by walking."""

import random
from collections.abc import Callable

import numpy as np
import pyarrow as pa
import pytest

from paimon_explore.data_types.arrow_buffers import Ints, used_bytes, var_values
from paimon_explore.encoding.avro import record_offsets
from paimon_explore.encoding.avro.record_offsets import record_starts
from paimon_explore.encoding.avro.record_patterns import record_pattern
from paimon_explore.encoding.avro.schema import RecordNode, parse_avro_schema, top_record
from paimon_explore.encoding.avro.vectorized_varint import PaddedBuffer, Positions
from paimon_explore.encoding.avro.writer import avro_schema, encode_rows
from paimon_explore.errors import CorruptFileError
from support.small_tables import columns

BLOCKS, ROWS = 5, 300
Draw = Callable[[random.Random], object]
COLUMNS: dict[str, tuple[pa.DataType, Draw]] = {
    "long": (
        pa.int64(),
        lambda r: r.choice([0, -1, 63, 64, -(2**63), 2**63 - 1, r.getrandbits(40)]),
    ),
    "int": (pa.int32(), lambda r: r.randint(-(2**31), 2**31 - 1)),
    "text": (pa.string(), lambda r: "x" * r.choice([0, 1, 31, 63])),
    "bytes": (pa.binary(), lambda r: r.randbytes(r.randint(0, 63))),
    "double": (pa.float64(), lambda r: r.random()),
    "float": (pa.float32(), lambda r: r.random()),
    "flag": (pa.bool_(), lambda r: r.random() < 0.5),
    "row": (
        pa.struct([("a", pa.int64()), ("b", pa.string())]),
        lambda r: {"a": r.randint(0, 9**9), "b": r.choice([None, "y" * 40])},
    ),
}


class Blocks:
    """The blocks of a file, as bytes."""

    def __init__(self, schema: pa.Schema, rows: list[dict[str, object]]) -> None:
        self.node: RecordNode = top_record(parse_avro_schema(avro_schema(schema)))
        self.parts: list[bytearray] = []
        self.sizes: list[Ints] = []
        for block in range(BLOCKS):
            some = rows[block * ROWS : (block + 1) * ROWS]
            batch = pa.RecordBatch.from_pylist(some, schema=schema)
            records = encode_rows(batch.columns, self.node)
            self.parts.append(bytearray(used_bytes(records).tobytes()))
            self.sizes.append(np.diff(var_values(records)[0]))

    def buffer(self) -> tuple[PaddedBuffer, Positions, Positions, Positions]:
        buffer = PaddedBuffer([bytes(part) for part in self.parts])
        lengths = np.array([len(part) for part in self.parts])
        ends = buffer.end - lengths.sum() + np.cumsum(lengths)
        return buffer, ends - lengths, ends, np.full(BLOCKS, ROWS, np.int64)

    def starts(self) -> Positions:
        buffer, begins, ends, counts = self.buffer()
        return record_starts(buffer, self.node, begins, ends, counts)

    def walked(self) -> Positions:
        buffer, begins, ends, counts = self.buffer()
        return record_offsets._one_by_one(buffer, self.node, begins, ends, counts)


def drawn(seed: int) -> Blocks:
    rng = random.Random(seed)  # noqa: S311 - no secret
    names = [rng.choice(list(COLUMNS)) for _ in range(rng.randint(1, 8))]
    fields = [
        pa.field(f"f{i}", COLUMNS[name][0], nullable=rng.random() < 0.5)
        for i, name in enumerate(names)
    ]
    rows = [
        {
            field.name: None if field.nullable and rng.random() < 0.2 else COLUMNS[name][1](rng)
            for field, name in zip(fields, names, strict=True)
        }
        for _ in range(BLOCKS * ROWS)
    ]
    return Blocks(pa.schema(fields), rows)


@pytest.mark.parametrize("seed", range(15))
def test_every_record_is_found_where_it_was_written(seed: int) -> None:
    blocks = drawn(seed)
    assert record_pattern(blocks.node) is not None
    sizes = np.concatenate(blocks.sizes)
    found = blocks.starts()
    assert (found - found[0]).tolist() == (np.cumsum(sizes) - sizes).tolist()


@pytest.mark.parametrize("rows_of_long_text", [(700,), range(0, 1500, 7), range(300, 600)])
def test_records_with_long_strings_are_found_as_well(rows_of_long_text: tuple[int, ...]) -> None:
    long = set(rows_of_long_text)
    schema = columns(n=pa.int64(), t=pa.string())
    rows: list[dict[str, object]] = [
        {"n": n, "t": "z" * 300 if n in long else "short"} for n in range(BLOCKS * ROWS)
    ]
    blocks = Blocks(schema, rows)
    sizes = np.concatenate(blocks.sizes)
    found = blocks.starts()
    assert (found - found[0]).tolist() == (np.cumsum(sizes) - sizes).tolist()


@pytest.mark.parametrize("seed", range(40))
def test_damaged_records_give_what_walking_them_gives(seed: int) -> None:
    rng = random.Random(seed)  # noqa: S311 - no secret
    blocks = drawn(seed % 8)
    part = blocks.parts[rng.randrange(BLOCKS)]
    for _ in range(rng.randint(1, 3)):
        part[rng.randrange(len(part))] = rng.choice([0, 2, 4, 127, 128, 255])
    try:
        walked: list[int] | str = blocks.walked().tolist()
    except CorruptFileError as error:
        walked = str(error)
    try:
        found: list[int] | str = blocks.starts().tolist()
    except CorruptFileError as error:
        found = str(error)
    assert found == walked


def test_arrays_and_maps_have_no_pattern() -> None:
    for kind in (pa.list_(pa.int64()), pa.map_(pa.string(), pa.int64())):
        node = parse_avro_schema(avro_schema(pa.schema([("c", kind)])))
        assert record_pattern(node) is None


def test_a_block_with_a_wrong_count_is_refused() -> None:
    blocks = drawn(3)
    buffer, begins, ends, counts = blocks.buffer()
    for wrong in (ROWS - 1, ROWS + 1, 2**50):
        changed = counts.copy()
        changed[2] = wrong
        with pytest.raises(CorruptFileError, match="fill the block exactly"):
            record_starts(buffer, blocks.node, begins, ends, changed)
