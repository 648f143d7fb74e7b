// The winning chain, for games whose `over` event is long gone: the shortest one that links the owner's sides.
import { neighbours } from "./geometry.js";

/**
 * @param {string} owners @param {NB.Color} color @param {number} n
 * @returns {number[]} cell indices from side to side, empty when the sides are not linked
 */
export function shortestChain(owners, color, n) {
  const letter = color === "blue" ? "b" : "r";
  const starts = Array.from({ length: n }, (_, k) => (color === "blue" ? k : k * n));
  /** @param {number} i */
  const atEnd = (i) => (color === "blue" ? i >= n * (n - 1) : i % n === n - 1);
  /** @type {Map<number, number>} */
  const from = new Map();
  const queue = starts.filter((i) => owners[i] === letter);
  for (const i of queue) from.set(i, -1);
  for (let head = 0; head < queue.length; head++) {
    const cell = queue[head];
    if (atEnd(cell)) {
      const path = [];
      for (let i = cell; i >= 0; i = from.get(i) ?? -1) path.push(i);
      return path.reverse();
    }
    for (const next of neighbours(cell, n)) {
      if (owners[next] === letter && !from.has(next)) {
        from.set(next, cell);
        queue.push(next);
      }
    }
  }
  return [];
}
