"""The tables that are measured on, written by this library from fixed seeds."""
