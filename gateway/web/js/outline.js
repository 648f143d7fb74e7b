// Paths on the rhombus: one hexagon, the borders of blocks, and the four sides.
import { SIZE, WIDTH, centre, corner, step } from "./geometry.js";

/** @param {number} value */
const fixed = (value) => value.toFixed(2);
/** @param {{x: number, y: number}[]} points */
const line = (points) => `M${points.map(({ x, y }) => `${fixed(x)} ${fixed(y)}`).join("L")}`;

/** A hexagon about the origin. @param {number} size */
export const hexagon = (size) => `${line([0, 1, 2, 3, 4, 5].map((k) => corner(k, size)))}Z`;

/** A diamond about the origin. @param {number} size */
export const diamond = (size) => `M0 ${-size}L${size} 0L0 ${size}L${-size} 0Z`;

/** A circle about the origin as a path. @param {number} r */
export const circle = (r) => `M${-r} 0a${r} ${r} 0 1 0 ${2 * r} 0a${r} ${r} 0 1 0 ${-2 * r} 0Z`;

/** @param {number} index @param {number} k @param {number} n */
function at(index, k, n) {
  const middle = centre(index, n);
  const offset = corner(k);
  return { x: middle.x + offset.x, y: middle.y + offset.y };
}

/** @param {{x: number, y: number}} a @param {{x: number, y: number}} b */
const midway = (a, b) => ({ x: (a.x + b.x) / 2, y: (a.y + b.y) / 2 });

/**
 * Edges for which `wanted` holds, as one path of segments; shared edges once.
 * @param {number} n @param {(cell: number, beyond: number) => boolean} wanted `beyond` is -1 off the field
 */
function edges(n, wanted) {
  const parts = [];
  for (let i = 0; i < n * n; i++) {
    for (let edge = 0; edge < 6; edge++) {
      const beyond = step(i, edge, n);
      if ((beyond < 0 || edge < 3) && wanted(i, beyond)) parts.push(line([at(i, edge, n), at(i, edge + 1, n)]));
    }
  }
  return parts.join("");
}

/** Borders between different blocks, and the rim. @param {string} blocks @param {number} n */
export const blockBorders = (blocks, n) => edges(n, (i, beyond) => beyond < 0 || blocks[i] !== blocks[beyond]);

/** The rim of the given blocks. @param {string} blocks @param {number} n @param {Set<string>} chosen */
export const rimOf = (blocks, n, chosen) =>
  edges(n, (i, beyond) => chosen.has(blocks[i]) !== (beyond >= 0 && chosen.has(blocks[beyond])));

/** A little past `b`, coming from `a`, so that two sides close the narrow corner. @param {{x: number, y: number}} a @param {{x: number, y: number}} b */
const beyond = (a, b) => ({ x: b.x + (b.x - a.x) * 0.215, y: b.y + (b.y - a.y) * 0.215 });

/**
 * The four sides as paths along the rim; two meet in the middle of an edge at the wide corners.
 * @param {number} n
 */
export function sides(n) {
  const top = [];
  const right = [];
  const bottom = [];
  const left = [];
  for (let k = 0; k < n; k++) {
    top.push(at(k, 5, n), at(k, 6, n), at(k, 1, n));
    right.push(at(k * n + n - 1, 0, n), at(k * n + n - 1, 1, n), at(k * n + n - 1, 2, n));
    bottom.push(at(n * n - 1 - k, 2, n), at(n * n - 1 - k, 3, n), at(n * n - 1 - k, 4, n));
    left.push(at((n - 1 - k) * n, 3, n), at((n - 1 - k) * n, 4, n), at((n - 1 - k) * n, 5, n));
  }
  top[top.length - 1] = midway(at(n - 1, 0, n), at(n - 1, 1, n));
  right[0] = top[top.length - 1];
  bottom[bottom.length - 1] = midway(at(n * n - n, 3, n), at(n * n - n, 4, n));
  left[0] = bottom[bottom.length - 1];
  for (const path of [top, bottom]) path[0] = beyond(path[1], path[0]);
  for (const path of [right, left]) path[path.length - 1] = beyond(path[path.length - 2], path[path.length - 1]);
  return { top: line(top), right: line(right), bottom: line(bottom), left: line(left) };
}

/** Points in the notches of a pair of sides, where its sign is drawn. @param {NB.Color} color @param {number} n */
export function notches(color, n) {
  const points = [];
  const out = SIZE * 0.3;
  for (let k = 0; k < n - 1; k++) {
    if (color === "blue") {
      const a = at(k, 1, n);
      const b = at(n * n - n + k, 2, n);
      points.push({ x: a.x, y: a.y - out }, { x: b.x, y: b.y + out });
    } else {
      const a = at(k * n, 3, n);
      const b = at(k * n + n - 1, 2, n);
      points.push({ x: a.x - out * 0.87, y: a.y + out / 2 }, { x: b.x + out * 0.87, y: b.y - out / 2 });
    }
  }
  return points;
}

/** The line through the centres of a chain. @param {number[]} chain @param {number} n */
export const chainLine = (chain, n) => (chain.length ? line(chain.map((i) => centre(i, n))) : "");

/** What the drawing shows, with a margin for sides and names. @param {number} n @param {number} margin */
export function viewBox(n, margin) {
  const width = (n + (n - 1) / 2) * WIDTH;
  const height = (n - 1) * 1.5 * SIZE + 2 * SIZE;
  return [-WIDTH / 2 - margin, -SIZE - margin, width + 2 * margin, height + 2 * margin].map(fixed).join(" ");
}
