// The player's own tiles. Picking is a toggle; the digit keys do the same.
import { attr, h, keyed, setText } from "./dom.js";
import { t } from "./i18n.js";

/** @param {(at: number) => void} onPick gets the place of the tile in the hand */
export function createHand(onPick) {
  const el = h("div", { class: "hand", role: "group" });
  return {
    el,
    /** @param {number[]} hand @param {number} picked place in the hand, -1 for none @param {boolean} usable @param {NB.Color} color */
    update(hand, picked, usable, color) {
      attr(el, "aria-label", t("table.hand"));
      attr(el, "data-color", color);
      const tiles = hand.map((digit, at) => ({ digit, at }));
      keyed(
        el,
        tiles,
        ({ digit, at }) => `${at}:${digit}`,
        ({ digit, at }) =>
          h(
            "button",
            { type: "button", class: "tile", data: { digit }, on: { click: () => onPick(at) } },
            h("span", { text: String(digit) }),
          ),
        (tile, { digit, at }) => {
          attr(tile, "aria-pressed", at === picked ? "true" : "false");
          attr(tile, "aria-label", t("table.tile", { digit }));
          tile.classList.toggle("idle", !usable);
        },
      );
      if (!hand.length) {
        const empty = h("p", { class: "muted" });
        setText(empty, t("table.hand_empty"));
        el.append(empty);
      }
    },
  };
}
