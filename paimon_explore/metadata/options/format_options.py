"""Table options that tell how files of a format are laid out.

Formats pass all options with their own prefix through to their library; these are the ones that a
reader must know.

Spec: maintenance/configurations, format options.
"""

from paimon_explore.metadata.options.option_definition import also_called, flag, text

ORC_TIMESTAMP_LTZ_LEGACY = flag(
    "orc.timestamp-ltz.legacy.type",
    "Local-zoned timestamps are stored as clocks of the writer's zone.",
    default=True,
)
CSV_FIELD_DELIMITER = also_called(
    text("csv.field-delimiter", "Between fields.", default=","),
    "field-delimiter",
    "seq",
    "delimiter",
)
CSV_LINE_DELIMITER = also_called(
    text("csv.line-delimiter", "After each row.", default="\n"), "lineSep"
)
CSV_QUOTE_CHARACTER = also_called(
    text("csv.quote-character", "Around fields with special characters.", default='"'), "quote"
)
CSV_ESCAPE_CHARACTER = also_called(
    text("csv.escape-character", "Before a quote inside of quotes.", default="\\"), "escape"
)
CSV_INCLUDE_HEADER = also_called(
    flag("csv.include-header", "The first line names the columns.", default=False), "header"
)
CSV_NULL_LITERAL = also_called(text("csv.null-literal", "Text of null.", default=""), "nullvalue")
JSON_LINE_DELIMITER = text("json.line-delimiter", "After each row.", default="\n")
