"""The consumer file: how far a named streaming reader got.

Spec: concepts/spec/snapshot; flink/consumer-id. Seen in: golden java200 `commit_users`.
"""

from paimon_explore.frozen_dataclass import dataclass
from paimon_explore.metadata.json_object import parse_object, render_object


@dataclass(frozen=True, slots=True, kw_only=True)
class Consumer:
    """A reader's progress.

    Attributes:
        next_snapshot: the snapshot it reads next; it and later ones must not expire.
    """

    next_snapshot: int


def parse_consumer(data: bytes, path: str) -> Consumer:
    """A consumer from the content of its file."""
    return Consumer(next_snapshot=parse_object(data, path).integer("nextSnapshot"))


def encode_consumer(consumer: Consumer) -> bytes:
    """The content of a consumer file."""
    return render_object({"nextSnapshot": consumer.next_snapshot})
