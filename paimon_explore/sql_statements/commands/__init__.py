"""Statements other than queries, procedures and COPY INTO."""
