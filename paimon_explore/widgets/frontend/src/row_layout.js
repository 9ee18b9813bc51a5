// @ts-check
/** Where the rows of a long list are: files and splits, some of whose row counts are only bounds; pure. */

/** @typedef {{unit: number, offset: number}} Place */

/** Rows of consecutive units. A unit has a number of rows, which is an upper bound until it is known. */
export class RowLayout {
  /**
   * @param {ArrayLike<number>} most  rows of each unit, or an upper bound
   * @param {ArrayLike<number>} exact  1 where it is the number of rows
   */
  constructor(most, exact) {
    this.sizes = Float64Array.from(most);
    this.known = Uint8Array.from(exact);
    this.starts = new Float64Array(this.sizes.length + 1);
    this.#sum(0);
  }

  /** @param {number} from */
  #sum(from) {
    for (let unit = from; unit < this.sizes.length; unit++) {
      this.starts[unit + 1] = this.starts[unit] + this.sizes[unit];
    }
  }

  get units() {
    return this.sizes.length;
  }

  /** Number of rows of the list, or an upper bound. */
  get count() {
    return this.starts[this.units];
  }

  /** The first unit whose number of rows is not known. */
  get firstUnknown() {
    const found = this.known.indexOf(0);
    return found < 0 ? this.units : found;
  }

  get isExact() {
    return this.firstUnknown === this.units;
  }

  /**
   * The number of rows of a unit has become known.
   * @param {number} unit
   * @param {number} count
   */
  learn(unit, count) {
    this.known[unit] = 1;
    if (this.sizes[unit] === count) return;
    this.sizes[unit] = count;
    this.#sum(unit);
  }

  /**
   * A unit whose number of rows was estimated has at least so many.
   * @param {number} unit
   * @param {number} count
   */
  grow(unit, count) {
    if (this.known[unit] || this.sizes[unit] >= count) return;
    this.sizes[unit] = count;
    this.#sum(unit);
  }

  /**
   * The unit of a row of the list.
   * @param {number} row
   * @returns {Place}
   */
  place(row) {
    let low = 0;
    let high = this.units;
    while (low < high) {
      const middle = (low + high) >> 1;
      if (this.starts[middle + 1] <= row) low = middle + 1;
      else high = middle;
    }
    return { unit: low, offset: row - this.starts[low] };
  }

  /** @param {Place} place */
  row({ unit, offset }) {
    return this.starts[unit] + offset;
  }

  /**
   * Whether the number of a row within the whole list is known.
   * @param {Place} place
   */
  hasNumber({ unit }) {
    return unit <= this.firstUnknown;
  }
}

/** @param {number} count */
const grouped = (count) => String(count).replace(/\B(?=(\d{3})+$)/g, ",");

/**
 * Where a row is: its number, or its number within a part if those before it were not counted.
 * @param {RowLayout} layout
 * @param {Place} place
 */
export function placeText(layout, place) {
  if (layout.hasNumber(place)) {
    const total = grouped(layout.count);
    return `row ${grouped(layout.row(place) + 1)} of ${layout.isExact ? total : `at most ${total}`}`;
  }
  return `row ${grouped(place.offset + 1)} of split ${grouped(place.unit + 1)} of ${grouped(layout.units)}`;
}

/**
 * A condition that selects the rows with a value that is shown as a bound of a column.
 * @param {string} column
 * @param {string} type
 * @param {string} value
 */
export function valueCondition(column, type, value) {
  const name = /^[A-Za-z_]\w*$/.test(column) ? column : `\`${column.replaceAll("`", "``")}\``;
  const number = /^(TINYINT|SMALLINT|INT|BIGINT|DECIMAL|FLOAT|DOUBLE|BOOLEAN)/.test(type);
  return `${name} = ${number ? value : `'${value.replaceAll("'", "''")}'`}`;
}

/**
 * Widths of columns in pixels, from the texts of some rows.
 * @param {readonly {name: string}[]} columns
 * @param {readonly (readonly string[])[]} rows  texts by row and column
 */
export function columnWidths(columns, rows) {
  return columns.map(({ name }, at) => {
    let longest = name.length + 2;
    for (const row of rows.slice(0, 100)) longest = Math.max(longest, row[at]?.length ?? 0);
    return Math.round(Math.min(Math.max(longest * 7.2 + 18, 60), 320));
  });
}
