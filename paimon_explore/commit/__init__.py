"""From commit messages to a visible snapshot, and the other acts that publish: tags, branches.

The one place where atomicity is decided. May import `scan` and below; knows neither `read` nor
`write`.
"""
