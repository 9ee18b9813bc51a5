// @ts-check
/** Files summed by partition. */

/** @import {FileLifetimes, Sum} from "./file_lifetimes.js" */

/**
 * Sums of the rows by partition, in partition order.
 * @param {FileLifetimes} lifetimes
 * @param {Uint32Array} rows
 */
export function byPartition({ columns, partitions }, rows) {
  const { partition, size, rows: counts, level, bucket, files } = columns;
  const slots = new Int32Array(partitions.length).fill(-1);
  /** @type {(Sum & {partition: number, level0: number, buckets: Set<number>})[]} */
  const sums = [];
  for (const row of rows) {
    const id = partition[row];
    if (slots[id] < 0) {
      slots[id] = sums.length;
      sums.push({ partition: id, files: 0, bytes: 0, rows: 0, level0: 0, buckets: new Set() });
    }
    const entry = sums[slots[id]];
    const count = files ? files[row] : 1;
    entry.files += count;
    entry.bytes += size[row];
    entry.rows += counts[row];
    if (level[row] === 0) entry.level0 += count;
    entry.buckets.add(bucket[row]);
  }
  return sums.sort((left, right) => left.partition - right.partition);
}
