// What the board should show, from the table and what the player has picked. Pure.
import { blockOwners, candidates, claimable } from "./candidates.js";
import { shortestChain } from "./chain.js";
import { areas, indexOf } from "./geometry.js";
import { emptyModel } from "./board.js";

/**
 * @typedef {{picked: number, armed: number, hover: number, focus: number, focused: boolean}} Ui
 * @param {NB.Table} table @param {Ui} ui @param {import("./tablelink.js").Pending | null} pending
 * @param {number} now @param {boolean} canMove @returns {NB.BoardModel}
 */
export function boardModel(table, ui, pending, now, canMove) {
  const { view, over } = table;
  const n = view.settings.side;
  const model = emptyModel(n);
  const digit = view.hand?.[ui.picked];
  const picking = view.status === "playing" && Boolean(view.you);
  Object.assign(model, {
    field: view.field,
    givens: view.givens,
    owners: view.owners,
    marks: view.marks,
    now,
    focus: ui.focus,
    armed: ui.armed,
    last: indexOf(view.last?.cell, n),
    active: canMove,
    ghost: digit ?? null,
  });
  const pointed = ui.hover >= 0 ? ui.hover : ui.focused ? ui.focus : -1;
  if (pointed >= 0) model.lit = areas(pointed, view.blocks, n);
  if (picking && digit !== undefined && view.settings.highlight) model.candidates = candidates(view, digit, n);
  if (canMove && (digit !== undefined || !view.hand?.length)) model.claimable = claimable(view);
  if (pending && pending.version === table.version) {
    const index = indexOf(pending.action.cell, n);
    if (index >= 0) {
      const places = pending.action.kind === "place";
      model.pending = { index, digit: places ? pending.action.tile ?? null : null, by: pending.by };
    }
  }
  if (over && over.reason === "connection" && (over.result === "blue" || over.result === "red")) {
    const named = (over.chain ?? []).map((cell) => indexOf(cell, n)).filter((i) => i >= 0);
    model.chain = named.length ? named : shortestChain(view.owners, over.result, n);
  }
  if (view.settings.variant === "domains") {
    const owners = Object.entries(blockOwners(view, n));
    model.won = Object.fromEntries(owners.filter(([, owner]) => !over || owner === over.result));
  }
  return model;
}
