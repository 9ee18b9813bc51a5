// @ts-check
/**
 * The manifest tree as rows. Keys are paths below the snapshot ("delta/0/12", "" is the snapshot), so
 * what is open stays open while the cursor moves.
 */

/**
 * @typedef {object} TreeNode
 * @property {string} key
 * @property {string} type  snapshot, list, manifest, entry, index, statistics, ...
 * @property {string} label
 * @property {string} [name]  the whole file name where the label is shortened
 * @property {string} [range]  partition range, bucket and level: what is inside
 * @property {number} [count]
 * @property {number} [size]  bytes
 * @property {number} [added]
 * @property {number} [deleted]
 * @property {string} [kind]  of an entry: ADD or DELETE
 * @property {boolean} [cancelled]  of an entry: another entry takes it back
 * @property {string} [shared]  which other snapshots hold the same file
 * @property {boolean} [expandable]
 * @property {string} [problem]
 */

/** @typedef {{nodes: TreeNode[], total: number}} Children */
/** @typedef {TreeNode & {depth: number, open: boolean, position: number, siblings: number, rest: number}} TreeRow */

export class Tree {
  /** @type {Set<string>} */
  open = new Set(["", "delta"]);
  /** @type {Map<string, Children>} */
  children = new Map();

  /**
   * Replace all that is known by the answer for another snapshot.
   * @param {Record<string, Children>} children
   */
  load(children) {
    this.children = new Map(Object.entries(children));
  }

  /**
   * One more page of a node's children.
   * @param {string} key
   * @param {Children} page
   */
  extend(key, page) {
    const known = this.children.get(key);
    const nodes = known ? [...known.nodes, ...page.nodes] : page.nodes;
    this.children.set(key, { nodes, total: page.total });
  }

  /**
   * Rows from top to bottom below the root; a node with more children than known ends in a row of type "more".
   * @returns {TreeRow[]}
   */
  rows() {
    /** @type {TreeRow[]} */
    const rows = [];
    this.#collect("", 1, rows);
    return rows;
  }

  /**
   * @param {string} key
   * @param {number} depth
   * @param {TreeRow[]} rows
   */
  #collect(key, depth, rows) {
    const known = this.children.get(key);
    if (!known) {
      rows.push({ ...bare(`${key}/…`, "loading", "reading…"), depth });
      return;
    }
    known.nodes.forEach((node, position) => {
      const open = this.open.has(node.key) && node.expandable === true;
      rows.push({ ...node, depth, open, position: position + 1, siblings: known.total, rest: 0 });
      if (open) this.#collect(node.key, depth + 1, rows);
    });
    const rest = known.total - known.nodes.length;
    if (rest > 0) rows.push({ ...bare(`${key}/more`, "more", ""), depth, rest });
    if (!known.total && key) rows.push({ ...bare(`${key}/none`, "none", "empty"), depth });
  }
}

/**
 * @param {string} key
 * @param {string} type
 * @param {string} label
 * @returns {TreeRow}
 */
function bare(key, type, label) {
  return { key, type, label, depth: 0, open: false, position: 1, siblings: 1, rest: 0 };
}

/**
 * The key of the node above.
 * @param {string} key
 */
export function parentKey(key) {
  const cut = key.lastIndexOf("/");
  return cut < 0 ? "" : key.slice(0, cut);
}
