"""The tables of a catalog with their figures and health; the state behind the catalog explorer."""
