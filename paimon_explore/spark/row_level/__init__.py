"""DELETE, UPDATE and MERGE on DataFrames.

`delete_update` and `merge_dataframe` are the entry points.
"""
