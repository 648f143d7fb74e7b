// How long to wait before the next attempt: doubling, capped, with jitter so that a crowd does not come back at once.

/**
 * @param {number} attempt from 0 @param {() => number} [random]
 * @returns {number} milliseconds, between half and all of the step
 */
export function backoff(attempt, random = Math.random) {
  const step = Math.min(8000, 250 * 2 ** Math.min(attempt, 10));
  return step / 2 + (random() * step) / 2;
}
