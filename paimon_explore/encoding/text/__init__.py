"""CSV and JSON data files.

`csv_json_reader` and `csv_json_writer` convert between text and columns.
"""
