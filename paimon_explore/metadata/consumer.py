"""The consumer file: the progress of a named streaming reader.

Spec: concepts/spec/snapshot; flink/consumer-id. Seen in: golden java200 `commit_users`.
"""

from dataclasses import field

from paimon_explore.frozen_dataclass import dataclass
from paimon_explore.metadata.json_object import parse_object, render_object


@dataclass(frozen=True, slots=True, kw_only=True)
class Consumer:
    """The progress of a streaming reader.

    Attributes:
        next_snapshot: the next snapshot to read; it and later snapshots must not expire.
        name: its name, which is that of its file; not part of comparisons.
    """

    next_snapshot: int
    name: str = field(default="", compare=False)


def parse_consumer(data: bytes, path: str) -> Consumer:
    """Parse a consumer file."""
    return Consumer(next_snapshot=parse_object(data, path).integer("nextSnapshot"))


def encode_consumer(consumer: Consumer) -> bytes:
    """Encode a consumer file."""
    return render_object({"nextSnapshot": consumer.next_snapshot})
