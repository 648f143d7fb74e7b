// One player's strip beside the board: sign, name, rating, presence, tiles, mistakes, bank and the move's clock.
import { readable } from "./clocktime.js";
import { attr, fill, h, icon, setText } from "./dom.js";
import { rating as inFigures, t } from "./i18n.js";

/** @param {NB.Color} color */
export const sign = (color) => icon(color, `sign-${color}`);

/** @param {NB.Player} player */
export const ratingText = (player) => (player.rating ? inFigures(player.rating) : "");

/** @param {NB.Color} color @param {boolean} own */
export function createStrip(color, own) {
  const name = h("span", { class: "name" });
  const you = h("span", { class: "tag" });
  const rating = h("span", { class: "rating" });
  const change = h("span", { class: "change" });
  const here = h("span", { class: "here", role: "img" });
  const tiles = h("span", { class: "tiles", role: "img" });
  const mistakes = h("span", { class: "mistakes" });
  const short = h("span", { class: "short", "aria-hidden": "true" });
  const left = h("span", { class: "move-left", role: "timer", "aria-live": "off" });
  const bank = h("span", { class: "bank", role: "timer", "aria-live": "off" });
  const bar = h("span", { class: "bar-fill" });
  const el = h(
    "div",
    { class: `strip ${color}${own ? " own" : ""}`, data: { color } },
    h("span", { class: "who" }, sign(color), name, you, here, rating, change),
    h("span", { class: "counts" }, tiles, mistakes, short),
    left,
    bank,
    h("span", { class: "bar", "aria-hidden": "true" }, bar),
  );
  let tilesShown = -1;
  let barShown = "";

  return {
    el,
    /** @param {NB.Table} table */
    update(table) {
      const { view, presence, rated } = table;
      const player = view.players[color];
      setText(name, player.name);
      setText(you, t("table.you"));
      you.hidden = view.you !== color;
      attr(name, "title", player.name);
      setText(rating, ratingText(player));
      const delta = rated?.[color];
      setText(change, delta ? signed(Math.round(delta.after.rating) - Math.round(delta.before.rating)) : "");
      attr(change, "data-dir", delta ? (delta.after.rating >= delta.before.rating ? "up" : "down") : null);
      const away = presence !== null && !presence[color] && view.status !== "over";
      el.classList.toggle("away", away);
      attr(here, "aria-label", t(away ? "table.away" : "table.here"));
      const count = view.hands[color];
      if (count !== tilesShown) {
        fill(tiles, Array.from({ length: count }, () => h("span", { class: "back" })));
        tilesShown = count;
      }
      attr(tiles, "aria-label", t("table.tiles", { n: count }));
      setText(mistakes, t("table.mistakes", { n: view.mistakes[color] }));
      setText(short, `✗${view.mistakes[color]}`);
      el.classList.toggle("turn", view.status === "playing" && view.to_move === color);
    },
    /** @param {{blue: number, red: number, move: number | null, share: number}} clock @param {boolean} running */
    tick(clock, running) {
      setText(bank, readable(clock[color]));
      setText(left, running && clock.move !== null ? readable(clock.move, false) : "");
      attr(left, "aria-label", t("table.move_time"));
      attr(bank, "aria-label", t("table.game_time"));
      el.classList.toggle("low", running && (clock[color] < 30_000 || (clock.move ?? Infinity) < 10_000));
      const scale = `scaleX(${running ? (Math.ceil(clock.share * 100) / 100).toFixed(2) : 0})`;
      if (scale !== barShown) bar.style.setProperty("transform", scale);
      barShown = scale;
    },
  };
}

/** @param {number} delta */
const signed = (delta) => (delta > 0 ? `+${delta}` : delta < 0 ? `−${-delta}` : "±0");
