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

ORC_TIMESTAMP_LTZ_LEGACY = flag(
    "orc.timestamp-ltz.legacy.type",
    "Local-zoned timestamps are stored as local times of the writer.",
    default=True,
)
CSV_FIELD_DELIMITER = with_fallback_keys(
    text("csv.field-delimiter", "Field delimiter.", default=","),
    "field-delimiter",
    "seq",
    "delimiter",
)
CSV_LINE_DELIMITER = with_fallback_keys(
    text("csv.line-delimiter", "Line delimiter.", default="\n"), "lineSep"
)
CSV_QUOTE_CHARACTER = with_fallback_keys(
    text("csv.quote-character", "Quote character.", default='"'), "quote"
)
CSV_ESCAPE_CHARACTER = with_fallback_keys(
    text("csv.escape-character", "Escape character in quoted fields.", default="\\"), "escape"
)
CSV_INCLUDE_HEADER = with_fallback_keys(
    flag("csv.include-header", "The first line has the column names."), "header"
)
CSV_NULL_LITERAL = with_fallback_keys(
    text("csv.null-literal", "Text of null.", default=""), "nullvalue"
)
JSON_LINE_DELIMITER = text("json.line-delimiter", "Line delimiter.", default="\n")
TEXT_LINE_DELIMITER = with_fallback_keys(
    text("text.line-delimiter", "Line delimiter.", default="\n"), "lineSep"
)
MOSAIC_NUM_BUCKETS = integer(
    "mosaic.num-buckets", "Number of column buckets of Mosaic files; 0: automatic.", default=0
)
MOSAIC_STATS_COLUMNS = names(
    "mosaic.stats-columns", "Columns with statistics per row group of Mosaic files."
)
