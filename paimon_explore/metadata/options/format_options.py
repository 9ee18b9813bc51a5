"""Table options of file formats that readers need.

Other options with the prefix of a format are passed to the library of the format.

Spec: maintenance/configurations, format options.
"""

from paimon_explore.metadata.options.option_definition import (
    flag,
    integer,
    names,
    text,
    with_fallback_keys,
)

ORC_TIMESTAMP_LTZ_LEGACY = flag("orc.timestamp-ltz.legacy.type", default=True)
"""Local-zoned timestamps are stored as local times of the writer."""
CSV_FIELD_DELIMITER = with_fallback_keys(
    text("csv.field-delimiter", default=","), "field-delimiter", "seq", "delimiter"
)
"""Field delimiter."""
CSV_LINE_DELIMITER = with_fallback_keys(text("csv.line-delimiter", default="\n"), "lineSep")
"""Line delimiter."""
CSV_QUOTE_CHARACTER = with_fallback_keys(text("csv.quote-character", default='"'), "quote")
"""Quote character."""
CSV_ESCAPE_CHARACTER = with_fallback_keys(text("csv.escape-character", default="\\"), "escape")
"""Escape character in quoted fields."""
CSV_INCLUDE_HEADER = with_fallback_keys(flag("csv.include-header"), "header")
"""The first line has the column names."""
CSV_NULL_LITERAL = with_fallback_keys(text("csv.null-literal", default=""), "nullvalue")
"""Text of null."""
JSON_LINE_DELIMITER = text("json.line-delimiter", default="\n")
"""Line delimiter."""
TEXT_LINE_DELIMITER = with_fallback_keys(text("text.line-delimiter", default="\n"), "lineSep")
"""Line delimiter."""
MOSAIC_NUM_BUCKETS = integer("mosaic.num-buckets", default=0)
"""Number of column buckets of Mosaic files; 0: automatic."""
MOSAIC_STATS_COLUMNS = names("mosaic.stats-columns")
"""Columns with statistics per row group of Mosaic files."""
