// The rhombus: cell names, neighbours, and where a hexagon lies on the drawing.
// Cell (row r, column c) has index r*n + c; every row lies half a cell further right.

/** Circumradius of a hexagon on the drawing; everything else follows from it. */
export const SIZE = 20;
/** Width of a hexagon with its point up. */
export const WIDTH = Math.sqrt(3) * SIZE;
/** Distance between two rows. */
export const ROW = 1.5 * SIZE;

/** Neighbour steps in the order of the hexagon's edges, from the upper right one clockwise. */
export const EDGES = [
  [-1, 1], // upper right
  [0, 1], // right
  [1, 0], // lower right
  [1, -1], // lower left
  [0, -1], // left
  [-1, 0], // upper left
];

/** @param {number} index @param {number} n */
export const nameOf = (index, n) =>
  String.fromCharCode(97 + (index % n)) + (Math.floor(index / n) + 1);

/**
 * Index of a named cell, -1 when it is none of this field.
 * @param {string | undefined} name @param {number} n
 */
export function indexOf(name, n) {
  const found = /^([a-z])([0-9]{1,2})$/.exec(name ?? "");
  if (!found) return -1;
  const column = found[1].charCodeAt(0) - 97;
  const row = Number(found[2]) - 1;
  return column < n && row >= 0 && row < n ? row * n + column : -1;
}

/**
 * The cell one step along an edge, -1 off the field.
 * @param {number} index @param {number} edge @param {number} n
 */
export function step(index, edge, n) {
  const [dr, dc] = EDGES[edge];
  const row = Math.floor(index / n) + dr;
  const column = (index % n) + dc;
  return row >= 0 && row < n && column >= 0 && column < n ? row * n + column : -1;
}

/** @param {number} index @param {number} n @returns {number[]} */
export const neighbours = (index, n) =>
  EDGES.map((_, edge) => step(index, edge, n)).filter((cell) => cell >= 0);

/** Centre of a cell on the drawing. @param {number} index @param {number} n */
export function centre(index, n) {
  const row = Math.floor(index / n);
  return { x: ((index % n) + row / 2) * WIDTH, y: row * ROW };
}

/**
 * Corner k of a hexagon about the origin, from the top one clockwise; edge k runs from corner k to k+1.
 * @param {number} k @param {number} [size]
 */
export function corner(k, size = SIZE) {
  const angle = (Math.PI / 180) * (60 * (k % 6) - 90);
  return { x: size * Math.cos(angle), y: size * Math.sin(angle) };
}

/** Row, column and block of a cell, itself included. @param {number} index @param {string} blocks @param {number} n */
export function areas(index, blocks, n) {
  const found = new Set();
  const row = Math.floor(index / n);
  for (let i = 0; i < n * n; i++) {
    if (Math.floor(i / n) === row || i % n === index % n || blocks[i] === blocks[index]) found.add(i);
  }
  return found;
}

/**
 * A tint for every block so that blocks that touch differ, with as few tints as a greedy choice needs.
 * @param {string} blocks @param {number} n @returns {Record<string, number>}
 */
export function tints(blocks, n) {
  /** @type {Record<string, Set<string>>} */
  const touching = {};
  for (let i = 0; i < n * n; i++) {
    const own = (touching[blocks[i]] ??= new Set());
    for (const j of neighbours(i, n)) if (blocks[j] !== blocks[i]) own.add(blocks[j]);
  }
  /** @type {Record<string, number>} */
  const tint = {};
  const order = Object.keys(touching).sort((a, b) => touching[b].size - touching[a].size || (a < b ? -1 : 1));
  for (const block of order) {
    const taken = new Set([...touching[block]].map((other) => tint[other]));
    let free = 0;
    while (taken.has(free)) free++;
    tint[block] = free;
  }
  return tint;
}

/**
 * Where an arrow key leads: left and right along the row, up and down along the slanting column,
 * with shift along the other diagonal; all four are hex neighbours. -1 at the rim.
 * @param {string} key @param {boolean} shift @param {number} index @param {number} n
 */
export function arrow(key, shift, index, n) {
  switch (key) {
    case "ArrowLeft":
      return step(index, 4, n);
    case "ArrowRight":
      return step(index, 1, n);
    case "ArrowUp":
      return step(index, shift ? 0 : 5, n);
    case "ArrowDown":
      return step(index, shift ? 3 : 2, n);
    case "Home":
      return index - (index % n);
    case "End":
      return index - (index % n) + n - 1;
    case "PageUp":
      return index % n;
    case "PageDown":
      return n * (n - 1) + (index % n);
    default:
      return -1;
  }
}
