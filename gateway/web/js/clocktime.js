// Clock arithmetic: what a clock event means at a given server time, and how a duration reads.

/**
 * Milliseconds left on both banks and on the running move.
 * Banks in a clock event stand as at the start of the running turn; the turn's length is the move limit or
 * the mover's bank, whichever is less, and ends at `deadline_at`.
 * @param {NB.View} view @param {number} now server time
 * @returns {{blue: number, red: number, move: number | null, share: number}} `share` of the move limit left, 0 to 1
 */
export function readClock(view, now) {
  const { clock, to_move: mover, settings } = view;
  const left = { blue: clock.blue_ms, red: clock.red_ms };
  if (!clock.running || clock.deadline_at === null || clock.deadline_at === undefined || !mover) {
    return { ...left, move: null, share: 1 };
  }
  const whole = Math.min(settings.move_ms, left[mover]);
  const move = Math.max(0, Math.min(whole, clock.deadline_at - now));
  left[mover] = Math.max(0, left[mover] - (whole - move));
  return { ...left, move, share: whole > 0 ? move / whole : 0 };
}

/** m:ss, with tenths in the last ten seconds. @param {number} ms @param {boolean} [tenths] */
export function readable(ms, tenths = true) {
  if (tenths && ms < 10_000) return `0:0${(Math.floor(ms / 100) / 10).toFixed(1)}`;
  const seconds = tenths ? Math.floor(ms / 1000) : Math.ceil(ms / 1000);
  return `${Math.floor(seconds / 60)}:${String(seconds % 60).padStart(2, "0")}`;
}
