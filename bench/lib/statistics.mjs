// Medians and spreads of few samples; nothing here assumes a distribution.

/** @typedef {{ median: number, min: number, max: number, n: number }} Spread */

/** @param {number[]} values @returns {Spread | undefined} undefined without values */
export function spread(values) {
  if (values.length === 0) return undefined;
  const sorted = [...values].sort((one, other) => one - other);
  const middle = sorted.length >> 1;
  const median = sorted.length % 2 === 1 ? sorted[middle] : (sorted[middle - 1] + sorted[middle]) / 2;
  return { median, min: sorted[0], max: /** @type {number} */ (sorted.at(-1)), n: sorted.length };
}

/**
 * Ratios of two series round by round; rounds in which one of them failed are left out.
 * @param {(number | undefined)[]} values @param {(number | undefined)[]} baseline
 */
export function ratios(values, baseline) {
  const pairs = values.map((value, round) => [value, baseline[round]]);
  return spread(pairs.filter(([value, base]) => value !== undefined && base !== undefined).map(([a, b]) => a / b));
}
