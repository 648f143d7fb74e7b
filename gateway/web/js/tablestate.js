// What a viewer knows of a table: built from a `state`, moved on by events. Pure: time is an argument.
import { indexOf } from "./geometry.js";

/** @param {string} text @param {number} index @param {string} letter */
const put = (text, index, letter) => text.slice(0, index) + letter + text.slice(index + 1);

/** @param {NB.Color} color @returns {NB.Color} */
export const other = (color) => (color === "blue" ? "red" : "blue");

const VERSIONED = new Set(["move", "offer", "adjourned", "resumed", "over"]);

/** Marks last this long; the server says the same. */
export const MARK_MS = 10_000;

/**
 * A table from a `state` event, keeping what an earlier one of the same game had learnt beside the view.
 * @param {NB.Event} event @param {NB.Table | null} [before] @returns {NB.Table}
 */
export function fromState(event, before = null) {
  const kept = before && before.game === event.game ? before : null;
  /** @type {NB.View} */
  const view = event.view;
  return {
    game: event.game,
    version: event.version,
    view: { ...view, marks: view.marks ?? [] },
    history: kept?.history ?? {},
    presence: event.presence ?? kept?.presence ?? null,
    over:
      view.status === "over"
        ? { result: view.result ?? "none", reason: view.reason ?? "", chain: view.chain ?? kept?.over?.chain ?? null }
        : null,
    rated: kept?.rated ?? null,
  };
}

/** @param {NB.Event} event @returns {NB.Entry} */
function entryOf(event) {
  const { version, by, cell, digit, hit, state } = event;
  if (event.ev === "move") return { version, kind: event.kind, by, cell, digit, hit };
  if (event.ev === "offer") return { version, kind: `offer_${event.kind}`, by, state };
  return { version, kind: event.ev };
}

/**
 * The table after an event. `gap` says that a version is missing: nothing was applied, ask for what came between.
 * @param {NB.Table} table @param {NB.Event} event @param {number} now server time, for the age of marks
 * @returns {{table: NB.Table, gap: boolean, applied: boolean}}
 */
export function apply(table, event, now) {
  if (!VERSIONED.has(event.ev)) {
    const next = unversioned(table, event);
    return { table: next, gap: false, applied: next !== table };
  }
  if (event.version > table.version + 1) return { table, gap: true, applied: false };
  const history = table.history[event.version]
    ? table.history
    : { ...table.history, [event.version]: entryOf(event) };
  if (event.version <= table.version) {
    const chain = event.ev === "over" && table.over && !table.over.chain ? event.chain ?? null : null;
    const over = chain ? { ...table.over, chain } : table.over;
    return { table: { ...table, history, over: /** @type {NB.Over | null} */ (over) }, gap: false, applied: false };
  }
  const moved = { ...table, version: event.version, history, view: afterEvent(table.view, event, now) };
  if (event.ev === "over") moved.over = { result: event.result, reason: event.reason, chain: event.chain ?? null };
  return { table: moved, gap: false, applied: true };
}

/** @param {NB.View} view @param {NB.Event} event @param {number} now @returns {NB.View} */
function afterEvent(view, event, now) {
  switch (event.ev) {
    case "move":
      return afterMove(view, event, now);
    case "offer":
      return { ...view, offer: event.state === "open" ? { kind: event.kind, by: event.by } : null };
    case "adjourned":
      return { ...view, status: "adjourned", offer: null, clock: stopped(view, event) };
    case "resumed":
      return { ...view, status: "playing", offer: null, clock: event.clock ?? view.clock };
    default:
      return {
        ...view,
        status: "over",
        result: event.result,
        reason: event.reason,
        to_move: null,
        moves_left: 0,
        pie: false,
        offer: null,
        clock: stopped(view, event),
      };
  }
}

/** @param {NB.Table} table @param {NB.Event} event @returns {NB.Table} */
function unversioned(table, event) {
  if (event.ev === "presence") {
    const { blue, red, watchers } = event;
    const view = event.clock ? { ...table.view, clock: event.clock } : table.view;
    return { ...table, view, presence: { blue, red, watchers: watchers ?? 0 } };
  }
  if (event.ev === "rated") {
    const own = table.view.you;
    if (own && event.before && event.after) {
      return { ...table, rated: { ...table.rated, [own]: { before: event.before, after: event.after } } };
    }
    return { ...table, rated: { blue: event.blue, red: event.red } };
  }
  return table;
}

/** @param {NB.View} view @param {NB.Event} event @returns {NB.Clock} */
function stopped(view, event) {
  return event.clock ?? { ...view.clock, deadline_at: null, running: false };
}

/** @param {NB.View} view @param {NB.Event} event @param {number} now @returns {NB.View} */
function afterMove(view, event, now) {
  const n = view.settings.side;
  const index = indexOf(event.cell, n);
  const letter = event.by === "blue" ? "b" : "r";
  let { field, owners } = view;
  let marks = view.marks.filter((mark) => now - mark.at < MARK_MS);
  if (index >= 0) {
    if (event.kind === "place" && event.hit) {
      field = put(field, index, String(event.digit));
      owners = put(owners, index, letter);
      marks = marks.filter((mark) => mark.cell !== event.cell);
    } else if (event.kind === "place") {
      marks = marks.filter((mark) => mark.cell !== event.cell || mark.digit !== event.digit);
      marks.push({ cell: event.cell, digit: event.digit, by: event.by, at: event.at ?? now });
    } else if (event.kind === "claim" || event.kind === "pie") {
      owners = put(owners, index, letter);
    }
  }
  const paired = view.settings.variant === "domains" && event.to_move !== event.by;
  return {
    ...view,
    field,
    owners,
    marks,
    to_move: event.to_move ?? null,
    moves_left: event.moves_left ?? (event.to_move ? (paired ? 2 : 1) : 0),
    hands: event.hands ?? view.hands,
    bag: event.bag ?? view.bag,
    mistakes: event.mistakes ?? view.mistakes,
    clock: event.clock ?? view.clock,
    pie: event.pie ?? false,
    last: { by: event.by, kind: event.kind, cell: event.cell, digit: event.digit, hit: event.hit },
    hand: view.you ? event.hand ?? view.hand : undefined,
  };
}

/** The move list in order. @param {NB.Table} table @returns {NB.Entry[]} */
export function entries(table) {
  return Object.values(table.history).sort((a, b) => a.version - b.version);
}

/** Whether the viewer may offer something now: on the own turn, once a turn. @param {NB.Table} table */
export function mayOffer({ view, history }) {
  if (view.status !== "playing" || !view.you || view.to_move !== view.you || view.offer) return false;
  const all = Object.values(history);
  const turn = Math.max(0, ...all.filter(({ kind }) => MOVES.has(kind)).map(({ version }) => version));
  return !all.some((entry) => entry.version > turn && OFFERS.has(entry.kind) && entry.by === view.you);
}

const MOVES = new Set(["place", "claim", "exchange", "pie", "burn", "pass"]);
const OFFERS = new Set(["offer_draw", "offer_adjourn"]);

/** Whether the move list lacks entries from before this viewer came. @param {NB.Table} table */
export const historyIsPartial = (table) => Object.keys(table.history).length < table.version;
