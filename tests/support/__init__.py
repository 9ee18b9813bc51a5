"""Fixtures, builders, strategies and models that the tests share."""
