"""Commits: create a snapshot from commit messages, with conflict checks and retries.

`committer` describes the protocol. May import `scan` and below, but neither `read` nor `write`.
"""
