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
  top[top.length - 1] = along(at(n - 1, 0, n), at(n - 1, 1, n), 0.5);
  right[0] = top[top.length - 1];
  bottom[bottom.length - 1] = along(at(n * n - n, 3, n), at(n * n - n, 4, n), 0.5);
  left[0] = bottom[bottom.length - 1];
  // a little past the end, so that two sides close the narrow corners
  for (const path of [top, bottom]) path[0] = along(path[1], path[0], 1.215);
  for (const path of [right, left]) path.push(along(path[path.length - 2], path[path.length - 1], 1.215));
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

/** Short links across the edges that a chain crosses; the digits stay free. @param {number[]} chain @param {number} n */
export function chainLinks(chain, n) {
  const points = chain.map((i) => centre(i, n));
  return points.slice(1).map((to, k) => line([along(points[k], to, 0.385), along(points[k], to, 0.615)])).join("");
}

/** @param {{x: number, y: number}} a @param {{x: number, y: number}} b @param {number} share of the way */
const along = (a, b, share) => ({ x: a.x + (b.x - a.x) * share, y: a.y + (b.y - a.y) * share });

/** What the drawing shows, with a margin for sides and names. @param {number} n @param {number} margin */
export function viewBox(n, margin) {
  const width = (n + (n - 1) / 2) * WIDTH;
  const height = (n - 1) * 1.5 * SIZE + 2 * SIZE;
  return [-WIDTH / 2 - margin, -SIZE - margin, width + 2 * margin, height + 2 * margin].map(fixed).join(" ");
}
