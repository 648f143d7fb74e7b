// The drawings of the rules pages, made of the same hexagons as the board.
import { candidates } from "./candidates.js";
import { s } from "./dom.js";
import { SIZE, areas, centre, indexOf, neighbours } from "./geometry.js";
import { blockBorders, chainLinks, circle, diamond, hexagon, sides, viewBox } from "./outline.js";

const REGULAR_4 = "aabbaabbccddccdd";

/**
 * @typedef {{n: number, rim?: boolean, blocks?: string, lit?: Iterable<number>, blue?: number[], red?: number[],
 *   digits?: Record<number, string>, chain?: number[], cand?: number[]}} Figure
 */

/** @type {Record<string, () => Figure>} */
const FIGURES = {
  areas: () => ({ n: 6, blocks: blocksOf(6, 2, 3), lit: areas(indexOf("d3", 6), blocksOf(6, 2, 3), 6), digits: { [indexOf("d3", 6)]: "X" } }),
  neighbours: () => {
    const middle = indexOf("c3", 5);
    return { n: 5, lit: neighbours(middle, 5), digits: { [middle]: "X" } };
  },
  chain: () => {
    const cells = ["b1", "b2", "a3", "a4"].map((cell) => indexOf(cell, 4));
    return { n: 4, rim: true, blue: cells, chain: cells };
  },
  broken: () => ({ n: 4, rim: true, blue: ["b1", "b2", "a4"].map((cell) => indexOf(cell, 4)) }),
  blitz: () => ({ n: 6, rim: true, blocks: blocksOf(6, 2, 3) }),
  domains: () => ({ n: 4, blocks: REGULAR_4, blue: [0, 1, 4, 7, 10], red: [2, 9, 12, 13, 15] }),
  candidates: () => {
    /** @type {Record<number, string>} */
    const digits = { 3: "5", 13: "5", 28: "5", 20: "2", 9: "4", 6: "1" };
    const blocks = blocksOf(6, 2, 3);
    const field = Array.from({ length: 36 }, (_, i) => digits[i] ?? ".").join("");
    return { n: 6, blocks, digits, cand: [...candidates({ field, blocks }, 5, 6)] };
  },
};

/** @param {number} n @param {number} rows @param {number} columns */
function blocksOf(n, rows, columns) {
  return Array.from({ length: n * n }, (_, i) => String.fromCharCode(97 + Math.floor(Math.floor(i / n) / rows) * (n / columns) + Math.floor((i % n) / columns))).join("");
}

/** @param {string} name */
export function figure(name) {
  const { n, rim, blocks, lit, blue = [], red = [], digits = {}, chain = [], cand = [] } = FIGURES[name]();
  const marked = new Set(lit ?? []);
  const around = sides(n);
  const cells = Array.from({ length: n * n }, (_, i) => {
    const { x, y } = centre(i, n);
    const owner = blue.includes(i) ? " blue" : red.includes(i) ? " red" : "";
    const badge = owner && s("path", { class: "badge", d: owner === " blue" ? circle(13.2) : diamond(16.2) });
    return s(
      "g",
      { class: `cell tint-0${owner}${marked.has(i) ? " lit" : ""}${cand.includes(i) ? " cand" : ""}`, transform: `translate(${x.toFixed(1)} ${y.toFixed(1)})` },
      s("path", { class: "hex", d: hexagon(SIZE) }),
      s("path", { class: "glow", d: hexagon(SIZE - 2.6) }),
      badge || null,
      digits[i] ? s("text", { class: "digit", y: 6.2, text: digits[i] }) : null,
    );
  });
  return s(
    "svg",
    { class: "board figure", viewBox: viewBox(n, 10), "aria-hidden": "true" },
    rim ? [s("path", { class: "rim blue", d: around.top + around.bottom }), s("path", { class: "rim red", d: around.left + around.right })] : null,
    cells,
    blocks ? s("path", { class: "borders", d: blockBorders(blocks, n) }) : null,
    chain.length ? s("path", { class: "chain", d: chainLinks(chain, n) }) : null,
  );
}
