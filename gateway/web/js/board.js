// The rhombus of hexagons. It draws a model and reports what the player points at; it decides nothing.
import { attr, s, setText } from "./dom.js";
import { SIZE, centre, nameOf, tints } from "./geometry.js";
import { t } from "./i18n.js";
import { blockBorders, chainLinks, circle, diamond, hexagon, notches, rimOf, sides, viewBox } from "./outline.js";
import { MARK_MS } from "./tablestate.js";

/**
 * @typedef {{g: SVGGElement, digit: SVGTextElement, badge: SVGPathElement, mark: SVGGElement | null, name: string,
 *   block: number, tint: string, shown: string}} Cell `shown` is all that the drawing depends on, to draw only what changed
 * @typedef {{
 *   cell?: (index: number, event: MouseEvent) => void,
 *   hover?: (index: number) => void,
 *   focus?: (index: number) => void,
 *   key?: (event: KeyboardEvent, index: number) => void,
 * }} Reports
 */

const MARGIN = 24;
const BADGE = { b: circle(13.2), r: diamond(16.2) };

/** @returns {NB.BoardModel} a model with nothing on it @param {number} n */
export function emptyModel(n) {
  const none = ".".repeat(n * n);
  return {
    field: none,
    givens: none,
    owners: none,
    marks: [],
    now: 0,
    candidates: new Set(),
    claimable: new Set(),
    lit: new Set(),
    focus: 0,
    armed: -1,
    pending: null,
    ghost: null,
    last: -1,
    chain: [],
    won: {},
    active: false,
  };
}

/**
 * @param {{side: number, blocks: string, variant: string, label: string, labels?: boolean}} shape
 * @param {Reports} [reports]
 */
export function createBoard(shape, reports = {}) {
  const { side: n, blocks, variant } = shape;
  const tint = tints(blocks, n);
  const order = [...new Set(blocks)];
  /** @type {Cell[]} */
  const cells = [];
  const rows = Array.from({ length: n }, (_, row) =>
    s(
      "g",
      { role: "row" },
      Array.from({ length: n }, (_, column) => {
        const block = blocks[row * n + column];
        const cell = createCell(row * n + column, n, tint[block], order.indexOf(block) + 1);
        cells.push(cell);
        return cell.g;
      }),
    ),
  );
  const chain = s("path", { class: "chain" });
  const won = { blue: s("path", { class: "won blue" }), red: s("path", { class: "won red" }) };
  const svg = s(
    "svg",
    {
      class: `board side-${n}`,
      viewBox: viewBox(n, shape.labels === false ? 12 : MARGIN),
      role: "grid",
      "aria-label": shape.label,
      "aria-rowcount": n,
      "aria-colcount": n,
    },
    hidden(variant === "domains" ? plainRim(n) : ownedSides(n)),
    shape.labels === false ? null : hidden(names(n)),
    rows,
    hidden([s("path", { class: "borders", d: blockBorders(blocks, n) }), won.blue, won.red, chain]),
  );
  listen(svg, reports);

  return {
    el: svg,
    cells,
    /** @param {NB.BoardModel} model */
    update(model) {
      for (let i = 0; i < cells.length; i++) drawCell(cells[i], i, model);
      svg.classList.toggle("active", model.active);
      attr(chain, "d", chainLinks(model.chain, n) || null);
      for (const color of /** @type {NB.Color[]} */ (["blue", "red"])) attr(won[color], "d", wonRim(model.won, color));
    },
    /** Moves keyboard focus to a cell. @param {number} index */
    focus(index) {
      cells[index]?.g.focus();
    },
  };

  /** @param {Record<string, NB.Color>} owners of blocks @param {NB.Color} color */
  function wonRim(owners, color) {
    const chosen = new Set(Object.keys(owners).filter((block) => owners[block] === color));
    return chosen.size ? rimOf(blocks, n, chosen) : null;
  }
}

/** @param {(Node | null)[] | Node} children */
const hidden = (children) => s("g", { "aria-hidden": "true", class: "deco" }, children);

/** @param {number} index @param {number} n @param {number} tint @param {number} block @returns {Cell} */
function createCell(index, n, tint, block) {
  const { x, y } = centre(index, n);
  const digit = s("text", { class: "digit", y: 6.2 });
  const badge = s("path", { class: "badge" });
  const g = s(
    "g",
    {
      role: "gridcell",
      transform: `translate(${x.toFixed(2)} ${y.toFixed(2)})`,
      tabindex: "-1",
      data: { i: index, cell: nameOf(index, n) },
      "aria-rowindex": Math.floor(index / n) + 1,
      "aria-colindex": (index % n) + 1,
    },
    s("path", { class: "hex", d: hexagon(SIZE) }),
    s("path", { class: "glow", d: hexagon(SIZE - 2.6) }),
    badge,
    digit,
  );
  return { g, digit, badge, mark: null, name: nameOf(index, n), block, tint: `cell tint-${tint}`, shown: "" };
}

/** @param {Cell} cell @param {number} i @param {NB.BoardModel} model */
function drawCell(cell, i, model) {
  const owner = model.owners[i];
  const shown = model.field[i];
  const given = model.givens[i] !== ".";
  const marks = model.marks.filter((mark) => mark.cell === cell.name && model.now - mark.at < MARK_MS);
  const pending = model.pending?.index === i ? model.pending : null;
  const armed = model.armed === i;
  let name = cell.tint;
  if (owner === "b") name += " blue";
  else if (owner === "r") name += " red";
  if (given) name += " given";
  if (shown === ".") name += " empty";
  if (model.lit.has(i)) name += " lit";
  if (model.candidates.has(i)) name += " cand";
  if (model.claimable.has(i)) name += " claimable";
  if (model.last === i) name += " last";
  if (model.chain.includes(i)) name += " linked";
  if (armed) name += " armed";
  if (pending) name += ` pending by-${pending.by}`;
  const ghost = shown === "." && model.ghost !== null && (armed || model.candidates.has(i)) ? String(model.ghost) : "";
  const text = pending?.digit ? String(pending.digit) : shown !== "." ? shown : marks.length ? "" : ghost;
  const all = `${name}|${text}|${model.focus === i}|${marks.map((mark) => mark.at)}`;
  if (all === cell.shown) return;
  cell.shown = all;
  attr(cell.g, "class", name);
  setText(cell.digit, text);
  attr(cell.badge, "d", owner === "b" ? BADGE.b : owner === "r" ? BADGE.r : given ? PLATE : null);
  attr(cell.g, "tabindex", model.focus === i ? "0" : "-1");
  attr(cell.g, "aria-label", labelOf(cell, i, model, marks));
  drawMarks(cell, marks, model.now);
}

const PLATE = hexagon(SIZE - 5);

/** @param {Cell} cell @param {NB.Mark[]} marks @param {number} now */
function drawMarks(cell, marks, now) {
  const key = marks.map((mark) => `${mark.digit}@${mark.at}`).join();
  if ((cell.mark?.getAttribute("data-key") ?? "") === key) return;
  cell.mark?.remove();
  cell.mark = null;
  if (!marks.length) return;
  const newest = Math.max(...marks.map((mark) => mark.at));
  cell.mark = s(
    "g",
    { class: "mark", data: { key } },
    s("path", { d: "M-9 -9L9 9M9 -9L-9 9" }),
    s("text", { class: "digit", y: 5.4, text: marks.map((mark) => mark.digit).join(" ") }),
  );
  cell.mark.style.setProperty("--age", `${Math.min(0, newest - now)}ms`);
  cell.g.append(cell.mark);
}

/**
 * A cell's name for screen readers: where it is, what stands there, whose it is.
 * @param {Cell} cell @param {number} i @param {NB.BoardModel} model @param {NB.Mark[]} marks
 */
function labelOf(cell, i, model, marks) {
  const parts = [cell.name];
  const digit = model.field[i];
  if (digit === ".") parts.push(t("cell.empty"));
  else parts.push(t(model.givens[i] !== "." ? "cell.given" : "cell.digit", { digit }));
  const owner = model.owners[i];
  if (owner !== ".") parts.push(t(owner === "b" ? "color.blue" : "color.red"));
  parts.push(t("cell.block", { block: cell.block }));
  for (const mark of marks) parts.push(t("cell.miss", { digit: mark.digit }));
  if (model.candidates.has(i)) parts.push(t("cell.candidate", { digit: String(model.ghost) }));
  else if (model.armed === i && model.ghost !== null) parts.push(String(model.ghost));
  if (model.pending?.index === i) parts.push(t("cell.pending", { digit: String(model.pending.digit ?? digit) }));
  return parts.join(", ");
}

/** @param {number} n */
function ownedSides(n) {
  const paths = sides(n);
  return s("g", {}, [
    ...["top", "bottom"].map((key) => s("path", { class: "rim blue", d: paths[/** @type {"top"} */ (key)] })),
    ...["left", "right"].map((key) => s("path", { class: "rim red", d: paths[/** @type {"left"} */ (key)] })),
    ...notches("blue", n).map(({ x, y }) => s("circle", { class: "sign", cx: x.toFixed(2), cy: y.toFixed(2), r: 2 })),
    ...notches("red", n).map(({ x, y }) =>
      s("path", { class: "sign", d: diamond(2.7), transform: `translate(${x.toFixed(2)} ${y.toFixed(2)})` }),
    ),
  ]);
}

/** @param {number} n */
function plainRim(n) {
  const paths = sides(n);
  return s("g", {}, Object.values(paths).map((d) => s("path", { class: "rim plain", d })));
}

/** @param {number} n */
function names(n) {
  const labels = [];
  for (let k = 0; k < n; k++) {
    const top = centre(k, n);
    const left = centre(k * n, n);
    labels.push(
      s("text", { class: "coord", x: top.x.toFixed(2), y: (-SIZE - 10).toFixed(2), text: String.fromCharCode(97 + k) }),
      s("text", { class: "coord", x: (left.x - SIZE - 12).toFixed(2), y: (left.y + 3).toFixed(2), text: String(k + 1) }),
    );
  }
  return s("g", {}, labels);
}

/** @param {SVGSVGElement} svg @param {Reports} reports */
function listen(svg, reports) {
  /** @param {Event} event */
  const indexOf = (event) => {
    const cell = /** @type {Element} */ (event.target).closest?.("[data-i]");
    return cell ? Number(cell.getAttribute("data-i")) : -1;
  };
  svg.addEventListener("click", (event) => {
    const index = indexOf(event);
    if (index >= 0) reports.cell?.(index, event);
  });
  svg.addEventListener("pointerover", (event) => {
    if (event.pointerType !== "touch") reports.hover?.(indexOf(event));
  });
  svg.addEventListener("pointerleave", () => reports.hover?.(-1));
  svg.addEventListener("focusin", (event) => reports.focus?.(indexOf(event)));
  svg.addEventListener("focusout", () => reports.focus?.(-1));
  svg.addEventListener("keydown", (event) => reports.key?.(event, indexOf(event)));
}
