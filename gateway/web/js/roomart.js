// A small picture for each variant: a bridge, a quick bridge, and held blocks. Decoration only.
import { s } from "./dom.js";
import { SIZE, centre } from "./geometry.js";
import { hexagon, sides, viewBox } from "./outline.js";

const PICTURES = {
  bridge: { n: 5, blue: [3, 8, 12, 11, 16, 20], red: [5, 6, 7, 13, 18], plain: false },
  blitz: { n: 4, blue: [2, 5, 9, 12], red: [7, 6, 10], plain: false },
  domains: { n: 5, blue: [0, 1, 5, 6, 10, 12, 7], red: [14, 18, 19, 23, 24, 9, 3], plain: true },
};

/** @param {NB.Variant} variant */
export function roomArt(variant) {
  const { n, blue, red, plain } = PICTURES[variant] ?? PICTURES.bridge;
  const rim = sides(n);
  return s(
    "svg",
    { class: "art", viewBox: viewBox(n, 8), "aria-hidden": "true" },
    [rim.top, rim.bottom].map((d) => s("path", { class: plain ? "rim plain" : "rim blue", d })),
    [rim.left, rim.right].map((d) => s("path", { class: plain ? "rim plain" : "rim red", d })),
    Array.from({ length: n * n }, (_, i) => {
      const { x, y } = centre(i, n);
      const owner = blue.includes(i) ? " blue" : red.includes(i) ? " red" : "";
      return s("path", { class: `hex${owner}`, d: hexagon(SIZE - 1), transform: `translate(${x.toFixed(1)} ${y.toFixed(1)})` });
    }),
  );
}
