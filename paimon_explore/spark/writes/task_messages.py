"""Commit messages that tasks of the data source send to the driver.

Spark may commit with another copy of the writer, in another process, than the tasks used. So the
messages contain everything that the commit needs.
"""

from collections.abc import Sequence
from dataclasses import replace

from pyspark.sql.datasource import WriterCommitMessage

from paimon_explore.frozen_dataclass import dataclass
from paimon_explore.metadata.commit_message import CommitMessage
from paimon_explore.write.write_target import WriteTarget


@dataclass
class WrittenFiles(WriterCommitMessage):
    """The files written by one task, and their job.

    Attributes:
        messages: for the commit.
        job: the job's id, part of the files' names.
        commit_user: the commit user of the job.
    """

    messages: list[CommitMessage]
    job: str
    commit_user: str


def collected(
    target: WriteTarget, messages: Sequence[WriterCommitMessage | None]
) -> tuple[WriteTarget, list[CommitMessage]]:
    """Return the target of the job and the messages of all tasks; failed tasks sent None."""
    sent = [message for message in messages if isinstance(message, WrittenFiles)]
    if sent:
        target = replace(target, job=sent[0].job, commit_user=sent[0].commit_user)
    return target, [message for one in sent for message in one.messages]
