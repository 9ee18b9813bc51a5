"""Every decoder gives values or a `FormatError` for any bytes.

A deep run counts its mutations: `HYPOTHESIS_PROFILE=deep pytest -s -k hostile tests/properties`.
Bytes found by coverage: `python -m tests.fuzzing`.
"""

import random

import pytest
from hypothesis import settings

from support.decoders import DECODERS
from support.golden import GoldenTables
from support.hostile import spoilt


@pytest.mark.parametrize("name", DECODERS)
def test_damaged_bytes_are_values_or_a_format_error(name: str, golden: GoldenTables) -> None:
    decoder = DECODERS[name]
    samples = decoder.samples(golden)
    for sample in samples:
        decoder.read(sample)
    refused = 0
    count = settings().max_examples
    for number in range(count):
        chance = random.Random(f"{name}/{number}")  # noqa: S311 - no secret
        what, data = spoilt(samples[number % len(samples)], chance)
        try:
            decoder.read(data)
        except decoder.errors:
            refused += 1
        except Exception as error:
            error.add_note(f"mutation {number}: {what}")
            raise
    print(f"{name}: {count} mutations, {refused} refused")  # noqa: T201 - the record of a deep run
