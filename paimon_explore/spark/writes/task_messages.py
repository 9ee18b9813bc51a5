"""What a task of the data source sends home.

Spark may commit with another copy of the writer than the tasks wrote with, in another process: so
everything the commit has to know comes with the messages.
"""

from collections.abc import Sequence
from dataclasses import replace

from pyspark.sql.datasource import WriterCommitMessage

from paimon_explore.frozen_dataclass import dataclass
from paimon_explore.metadata.commit_message import CommitMessage
from paimon_explore.write.write_target import WriteTarget


@dataclass
class WrittenFiles(WriterCommitMessage):
    """What one task wrote, and for which job.

    Attributes:
        messages: for the commit.
        job: the job's id, part of the files' names.
        commit_user: who commits.
    """

    messages: list[CommitMessage]
    job: str
    commit_user: str


def collected(
    target: WriteTarget, messages: Sequence[WriterCommitMessage | None]
) -> tuple[WriteTarget, list[CommitMessage]]:
    """The target of the job that wrote, and what all its tasks wrote; failed tasks sent None."""
    sent = [message for message in messages if isinstance(message, WrittenFiles)]
    if sent:
        target = replace(target, job=sent[0].job, commit_user=sent[0].commit_user)
    return target, [message for one in sent for message in one.messages]
