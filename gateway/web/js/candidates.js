// What a player may work out at a glance from the open field; nothing here knows a solution.
import { areas } from "./geometry.js";

/**
 * Empty cells whose row, column and block do not show the digit yet.
 * @param {{field: string, blocks: string}} view @param {number} digit @param {number} n
 */
export function candidates(view, digit, n) {
  const wanted = String(digit);
  const open = new Set();
  for (let i = 0; i < n * n; i++) {
    if (view.field[i] !== ".") continue;
    let free = true;
    for (const j of areas(i, view.blocks, n)) if (view.field[j] === wanted) free = false;
    if (free) open.add(i);
  }
  return open;
}

/** Unowned givens. @param {{givens: string, owners: string}} view */
export function claimable(view) {
  const cells = new Set();
  for (let i = 0; i < view.givens.length; i++) {
    if (view.givens[i] !== "." && view.owners[i] === ".") cells.add(i);
  }
  return cells;
}

/**
 * What a claim costs now, in tiles; null when it cannot be paid.
 * @param {number} price @param {number} hand
 */
export function claimCost(price, hand) {
  if (hand === 0) return 0;
  return hand < price ? null : price;
}

/**
 * Blocks that belong to somebody: more than half of the cells.
 * @param {{blocks: string, owners: string}} view @param {number} n @returns {Record<string, NB.Color>}
 */
export function blockOwners(view, n) {
  /** @type {Record<string, {b: number, r: number}>} */
  const count = {};
  for (let i = 0; i < n * n; i++) {
    const tally = (count[view.blocks[i]] ??= { b: 0, r: 0 });
    if (view.owners[i] === "b") tally.b++;
    if (view.owners[i] === "r") tally.r++;
  }
  /** @type {Record<string, NB.Color>} */
  const owners = {};
  for (const [block, { b, r }] of Object.entries(count)) {
    if (2 * b > n) owners[block] = "blue";
    if (2 * r > n) owners[block] = "red";
  }
  return owners;
}
