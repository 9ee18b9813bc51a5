"""Catalog servers on loopback; see `servers`."""
