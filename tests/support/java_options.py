"""The table options of Java Paimon 2.0.0, as its constants declare them.

They are recorded in `java_options.jsonl`, made by the interop test that compares them with Java.
"""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

RECORD = Path(__file__).with_name("java_options.jsonl")


@dataclass(frozen=True, slots=True, kw_only=True)
class JavaOption:
    """A table option of Java.

    Attributes:
        key: its name.
        type: the simple name of its Java class, or Enum.
        default: as text: durations in milliseconds, sizes in bytes; None without a default.
        values: texts of an enum.
        fallback_keys: older names.
        immutable: whether it is fixed once the table has a snapshot.
        documented: whether Java's documentation lists it.
    """

    key: str
    type: str
    default: str | None
    values: Sequence[str]
    fallback_keys: Sequence[str]
    immutable: bool
    documented: bool


def java_options() -> list[JavaOption]:
    """The recorded options, sorted by key."""
    lines = RECORD.read_text(encoding="utf-8").splitlines()
    return [JavaOption(**json.loads(line)) for line in lines]
