// @ts-check
/** Names of files in narrow places. */

/**
 * File names with their UUID cut to its first group, for narrow places.
 * @param {string} name
 */
export function shortName(name) {
  return name.replace(
    /([0-9a-f]{8})-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}/g,
    (_whole, first) => `${first}…`,
  );
}
