"""COPY INTO: loads files into tables, and writes tables and queries to files."""
