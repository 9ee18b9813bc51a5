"""A query over time: its result at other snapshots, and what differs between them."""
