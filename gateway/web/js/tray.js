// What lies below the board: the hand, the bag, exchange and pie, and the line that says what a click would do.
import { claimCost } from "./candidates.js";
import { attr, button, fill, h, icon, setText } from "./dom.js";
import { nameOf } from "./geometry.js";
import { createHand } from "./hand.js";
import { t } from "./i18n.js";

/**
 * @typedef {{picked: number, armed: number}} Choice place of the picked tile in the hand; the cell that waits for a second tap
 * @param {{pick: (at: number) => void, exchange: () => void, pie: () => void, go: () => void, cancel: () => void}} acts
 */
export function createTray(acts) {
  const hand = createHand(acts.pick);
  const bag = h("span", { class: "bag" });
  const bagCount = h("b", {});
  bag.append(icon("bag"), bagCount, h("span", { class: "sr" }));
  const exchange = button("", acts.exchange, { class: "exchange", data: { act: "exchange" } });
  const pie = button("", acts.pie, { class: "primary pie", data: { act: "pie" } });
  const hint = h("p", { class: "hint" });
  const go = button("", acts.go, { class: "primary", data: { act: "go" } });
  const cancel = button("", acts.cancel, { data: { act: "cancel" } });
  const armed = h("div", { class: "row armed-acts" }, go, cancel);
  const el = h(
    "div",
    { class: "tray" },
    h("div", { class: "row tray-main" }, hand.el, h("div", { class: "tray-side" }, bag, exchange, pie)),
    h("div", { class: "hint-line" }, hint, armed),
  );

  return {
    el,
    /** @param {NB.Table} table @param {Choice} choice @param {boolean} canMove @param {boolean} busy */
    update({ view }, choice, canMove, busy) {
      setText(bagCount, String(view.bag));
      attr(bag, "title", t("table.bag", { n: view.bag }));
      setText(/** @type {Element} */ (bag.lastElementChild), t("table.bag", { n: view.bag }));
      const playing = Boolean(view.you) && view.status !== "over";
      hand.el.hidden = exchange.hidden = !playing;
      el.classList.toggle("closed", !playing);
      if (view.you && view.hand) hand.update(view.hand, choice.picked, canMove, view.you);
      setText(exchange, t("table.exchange"));
      exchange.disabled = !canMove || busy || view.bag === 0;
      attr(exchange, "title", view.bag === 0 ? t("why.exchange_empty") : t("table.exchange_hint"));
      const mayPie = canMove && view.pie;
      pie.hidden = !mayPie;
      pie.disabled = busy;
      setText(pie, t("table.pie"));
      armed.hidden = choice.armed < 0 || !canMove;
      setText(cancel, t("common.cancel"));
      const tile = view.hand?.[choice.picked];
      setText(go, choice.armed >= 0 ? goText(view, choice.armed, tile) : "");
      setText(hint, hintText(view, choice, canMove, tile));
      fill(el.querySelector(".hint-line") ?? el, hint, armed);
    },
  };
}

/** @param {NB.View} view @param {number} cell @param {number | undefined} tile */
function goText(view, cell, tile) {
  const name = nameOf(cell, view.settings.side);
  if (view.givens[cell] !== ".") return t("table.claim_cell", { cell: name });
  return t("table.place_cell", { cell: name, digit: tile ?? "" });
}

/** @param {NB.View} view @param {Choice} choice @param {boolean} canMove @param {number | undefined} tile */
function hintText(view, choice, canMove, tile) {
  const { status, you, settings } = view;
  if (status === "over" || !you) return "";
  if (status === "adjourned") return t("hint.adjourned");
  if (!canMove) return t("hint.wait");
  const count = view.hand?.length ?? 0;
  const cost = claimCost(settings.claim_price, count);
  if (choice.armed >= 0) {
    if (view.givens[choice.armed] === ".") return t("hint.place_again");
    if (cost === 0) return t("hint.claim_free");
    return t(settings.claim_price === 2 ? "hint.claim_two" : "hint.claim_one", { digit: tile ?? "" });
  }
  if (!count) return t(cost === 0 ? "hint.no_tiles" : "hint.wait");
  if (tile === undefined) return t("hint.pick");
  if (cost === null) return t("hint.picked_no_claim", { digit: tile });
  return t(settings.claim_price === 2 ? "hint.picked_two" : "hint.picked_one", { digit: tile });
}
