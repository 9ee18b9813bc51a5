// @ts-check
/** SQL text for the editor: its tokens, what completes a word, and what an error is about; pure. */

/** @typedef {{kind: "keyword" | "name" | "function" | "text" | "number" | "comment" | "sign" | "space", text: string, start: number}} Token */
/** @typedef {{tables: string[], columns: [name: string, type: string][]}} Names */
/** @typedef {{label: string, detail: string, insert: string}} Completion */

const KEYWORDS = new Set(
  (
    "SELECT DISTINCT FROM WHERE GROUP BY HAVING ORDER LIMIT OFFSET AS ON USING JOIN LEFT RIGHT FULL INNER OUTER CROSS " +
    "SEMI ANTI LATERAL UNION ALL EXCEPT INTERSECT WITH VALUES AND OR NOT IN IS NULL LIKE RLIKE BETWEEN EXISTS CASE WHEN " +
    "THEN ELSE END CAST INTERVAL DATE TIMESTAMP TRUE FALSE ASC DESC NULLS FIRST LAST OVER PARTITION ROWS RANGE " +
    "UNBOUNDED PRECEDING FOLLOWING CURRENT ROW QUALIFY EXPLAIN DESCRIBE ROLLUP CUBE FILTER " +
    "INSERT INTO OVERWRITE UPDATE SET DELETE MERGE MATCHED TRUNCATE TABLE ALTER ADD COLUMN CALL"
  ).split(" "),
);
const FUNCTIONS =
  "abs any_value array array_contains array_distinct array_size avg bool_and bool_or cardinality ceil coalesce collect_list " +
  "collect_set concat concat_ws corr count count_if current_date current_timestamp date_add date_diff date_format " +
  "date_sub date_trunc day dense_rank element_at explode first_value floor greatest hour if ifnull initcap " +
  "instr lag last_value lead least length lower lpad ltrim map map_keys map_values max max_by md5 median min min_by " +
  "minute mod month months_between nullif nvl percent_rank percentile pow quarter rank regexp_extract " +
  "regexp_replace repeat replace reverse round row_number rpad rtrim second sign split sqrt " +
  "stddev substring sum to_date to_timestamp trim trunc try_cast unix_timestamp upper variance weekofyear year";
const FUNCTION_NAMES = FUNCTIONS.split(" ");
const KNOWN_FUNCTIONS = new Set(FUNCTION_NAMES);
const TOKEN =
  /(?<comment>--[^\n]*|\/\*[\s\S]*?(?:\*\/|$))|(?<text>'(?:[^'\\]|\\.|'')*'?|"(?:[^"\\]|\\.)*"?)|(?<quoted>`[^`]*`?)|(?<number>\d+(?:\.\d*)?(?:[eE][+-]?\d+)?\w*)|(?<word>[\p{L}_][\p{L}\p{N}_]*)|(?<space>\s+)|(?<sign>.)/gsu;
const WORD = /(?:`[^`\n]*|[\p{L}_][\p{L}\p{N}_$]*)$/u;
const MOST = 200;

/**
 * The tokens of a text; together they are the text.
 * @param {string} text
 * @returns {Token[]}
 */
export function tokensOf(text) {
  return [...text.matchAll(TOKEN)].map((match) => {
    const groups = /** @type {Record<string, string | undefined>} */ (match.groups);
    return { kind: kindOf(groups), text: match[0], start: match.index };
  });
}

/**
 * @param {Record<string, string | undefined>} groups
 * @returns {Token["kind"]}
 */
function kindOf({ comment, text, quoted, number, word, space }) {
  if (comment !== undefined) return "comment";
  if (text !== undefined) return "text";
  if (quoted !== undefined) return "name";
  if (number !== undefined) return "number";
  if (space !== undefined) return "space";
  if (word === undefined) return "sign";
  if (KEYWORDS.has(word.toUpperCase())) return "keyword";
  return KNOWN_FUNCTIONS.has(word.toLowerCase()) ? "function" : "name";
}

/**
 * What completes the word before the caret, and where that word starts.
 * @param {string} text
 * @param {number} caret
 * @param {Names} names
 * @returns {{start: number, items: Completion[]}}
 */
export function completionsOf(text, caret, names) {
  const before = text.slice(0, caret);
  const inside = tokensOf(text).find(
    ({ start, text: part }) => start < caret && caret <= start + part.length,
  );
  const typed = WORD.exec(before)?.[0] ?? "";
  const start = caret - typed.length;
  if (inside && ["text", "comment", "number"].includes(inside.kind)) return { start, items: [] };
  const prefix = typed.replace(/^`/, "").toLowerCase();
  const words =
    before
      .slice(0, start)
      .toUpperCase()
      .match(/[A-Z]+|\.|,/g) ?? [];
  const last = words.at(-1);
  const columns = names.columns.map(([name, type]) => ({
    label: name,
    detail: type,
    insert: quoted(name),
  }));
  const tables = names.tables.map((name) => ({
    label: name.replaceAll("`", ""),
    detail: "table",
    insert: name.startsWith("`") ? name : quoted(name),
  }));
  const isTable = last === "FROM" || last === "JOIN";
  /** @type {Completion[]} */
  let known = isTable ? tables : columns;
  if (last !== "." && !isTable) {
    const upper = typed !== typed.toLowerCase();
    known = [
      ...columns,
      ...tables,
      ...FUNCTION_NAMES.map((name) => ({ label: name, detail: "function", insert: `${name}(` })),
      ...[...KEYWORDS].map((word) => {
        const label = upper || !typed ? word : word.toLowerCase();
        return { label, detail: "", insert: label };
      }),
    ];
  }
  const items = known.filter(({ label }) => label.toLowerCase().startsWith(prefix));
  const isWhole = items.length === 1 && items[0].insert === typed;
  return { start, items: isWhole ? [] : items.slice(0, MOST) };
}

/** @param {string} name */
const quoted = (name) =>
  /^[A-Za-z_]\w*$/.test(name) && !KEYWORDS.has(name.toUpperCase())
    ? name
    : `\`${name.replaceAll("`", "``")}\``;

/**
 * The offset of the token that an error message names by its place, or by a name in quotes; -1 for none.
 * @param {string} message
 * @param {string} text
 */
export function placeOf(message, text) {
  const tokens = tokensOf(text);
  const place = /line (\d+), column (\d+)/.exec(message);
  if (place) {
    const lines = text.split("\n").slice(0, Number(place[1]) - 1);
    const at = lines.reduce((sum, line) => sum + line.length + 1, 0) + Number(place[2]) - 1;
    const found = tokens.find(({ start, text: part }) => start <= at && at < start + part.length);
    return found ? found.start : -1;
  }
  const name = (/"([^"]+)"/.exec(message) ?? /name (\S+) does not exist/.exec(message))?.[1];
  const same = (/** @type {Token} */ { text: part }) =>
    part.replaceAll("`", "").toLowerCase() === name?.toLowerCase();
  return tokens.find(same)?.start ?? -1;
}
