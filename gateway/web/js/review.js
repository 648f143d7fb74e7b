// Looking through a finished game: every position with both hands, misses and draws.
import * as api from "./api.js";
import { createBoard, emptyModel } from "./board.js";
import { blockOwners } from "./candidates.js";
import { shortestChain } from "./chain.js";
import { readable } from "./clocktime.js";
import { attr, button, fill, h, setText } from "./dom.js";
import { areas, indexOf } from "./geometry.js";
import { dateTime, t } from "./i18n.js";
import { createMoveList } from "./movelist.js";
import { positions } from "./record.js";
import { endingOf, movePhrase, reasonOf } from "./reasons.js";
import { gameWords } from "./settingswords.js";
import { ratingText, sign } from "./strip.js";

/** @param {import("./app.js").Context} context */
export function reviewPage({ params, rooms, title }) {
  const game = params[0];
  const el = h("div", { class: "table-page review" }, h("p", { class: "muted pad", text: t("review.loading") }));
  title(t("review.title"));
  void load();
  return { el, busy: () => false, destroy() {} };

  async function load() {
    try {
      show(await api.record(game));
    } catch (error) {
      const code = /** @type {any} */ (error).code;
      const text = code === "in_progress" ? t("review.in_progress") : code === "not_found" ? t("table.missing") : reasonOf(error);
      fill(
        el,
        h(
          "div",
          { class: "pad" },
          h("h1", { text: t("review.title") }),
          h("p", { text }),
          h("div", { class: "row" }, code === "in_progress" ? h("a", { class: "button primary", href: `#/game/${game}`, text: t("lobby.watch") }) : button(t("review.again"), () => void load(), { class: "primary" }), h("a", { class: "button", href: "#/", text: t("table.to_lobby") })),
        ),
      );
    }
  }

  /** @param {NB.GameRecord} record */
  function show(record) {
    const all = positions(record);
    const { settings, deal } = record;
    const n = settings.side;
    const players = record.players ?? { blue: { id: "", name: t("color.blue") }, red: { id: "", name: t("color.red") } };
    let ply = all.length - 1;
    let hover = -1;
    let solved = false;
    const board = createBoard({ side: n, blocks: deal.blocks, variant: settings.variant, label: t("table.board") }, { hover: (i) => paint(i), key: onKey });
    board.el.classList.add("still");
    const hands = { red: handLine("red"), blue: handLine("blue") };
    const slider = h("input", { type: "range", min: 0, max: all.length - 1, "aria-label": t("review.position"), on: { input: () => go(Number(slider.value)) } });
    const what = h("p", { class: "hint", "aria-live": "polite" });
    const moves = createMoveList((version) => go(version));
    const steps = h(
      "div",
      { class: "row steps" },
      step("«", "first", () => 0),
      step("‹", "previous", () => ply - 1),
      slider,
      step("›", "next", () => ply + 1),
      step("»", "last", () => all.length - 1),
    );
    const reveal = h("label", { class: "check" }, h("input", { type: "checkbox", on: { change: (/** @type {Event} */ event) => paintSolved(/** @type {HTMLInputElement} */ (event.target).checked) } }), h("span", { text: t("review.solution") }));
    const deck = h("div", { class: `deck side-${n}` }, hands.red.el, h("div", { class: "board-wrap" }, board.el), hands.blue.el, h("div", { class: "tray" }, steps, what, reveal));
    const panel = h(
      "aside",
      { class: "panel" },
      h("h1", { class: "panel-title", text: record.room ? rooms.nameOf(record.room) : t("review.title") }),
      h("ul", { class: "chips" }, gameWords(settings).map((text) => h("li", { text }))),
      record.end ? h("div", { class: "result" }, h("p", { text: endingOf(record.end, players) }), record.ended_at ? h("p", { class: "muted small", text: dateTime(record.ended_at) }) : null) : null,
      moves.el,
      h("div", { class: "acts" }, h("a", { class: "button", href: `api/games/${encodeURIComponent(game)}/record`, download: `numbridge-${game}.json`, text: t("review.download"), data: { act: "download" } }), h("a", { class: "button", href: "#/", text: t("table.to_lobby") })),
    );
    title(`${players.blue.name} – ${players.red.name}`);
    fill(el, deck, panel);
    rooms.on("change", () => setText(/** @type {Element} */ (panel.firstElementChild), record.room ? rooms.nameOf(record.room) : t("review.title")));
    const entries = record.moves.map((move, at) => ({ version: at + 1, kind: move.kind, by: move.by, cell: move.cell, digit: move.tile, hit: move.hit }));
    go(ply);

    /** @param {string} sign @param {string} key @param {() => number} to */
    function step(sign, key, to) {
      return button(sign, () => go(to()), { "aria-label": t(`review.${key}`), data: { act: key } });
    }

    /** @param {KeyboardEvent} event */
    function onKey(event) {
      const to = { ArrowLeft: ply - 1, ArrowRight: ply + 1, Home: 0, End: all.length - 1 }[event.key];
      if (to === undefined) return;
      event.preventDefault();
      go(to);
    }

    /** @param {number} to */
    function go(to) {
      ply = Math.max(0, Math.min(all.length - 1, to));
      const now = all[ply];
      slider.value = String(ply);
      attr(slider, "aria-valuetext", t("review.of", { k: ply, total: all.length - 1 }));
      setText(what, ply ? sentence(now) : t("review.start"));
      moves.update(entries, ply);
      hands.blue.update(now);
      hands.red.update(now);
      paint(hover);
    }

    /** @param {boolean} on */
    function paintSolved(on) {
      solved = on;
      paint(hover);
    }

    /** @param {number} pointed */
    function paint(pointed) {
      hover = pointed;
      const now = all[ply];
      const end = ply === all.length - 1 ? record.end : undefined;
      const model = {
        ...emptyModel(n),
        field: solved ? deal.solution : now.field,
        givens: deal.givens,
        owners: now.owners,
        marks: now.miss ? [{ ...now.miss, by: now.move?.by ?? "blue", at: 0 }] : [],
        last: indexOf(now.move?.cell, n),
        lit: pointed >= 0 ? areas(pointed, deal.blocks, n) : new Set(),
        won: settings.variant === "domains" ? blockOwners({ blocks: deal.blocks, owners: now.owners }, n) : {},
        chain: end?.reason === "connection" ? shortestChain(now.owners, end.result === "red" ? "red" : "blue", n) : [],
      };
      board.update(model);
    }

    /** @param {NB.Position} now */
    function sentence(now) {
      const { move } = now;
      if (!move) return "";
      const parts = [`${players[move.by].name}: ${movePhrase({ version: 0, kind: move.kind, by: move.by, cell: move.cell, digit: move.tile, hit: move.hit })}`];
      if (move.paid?.length) parts.push(t("review.paid", { tiles: move.paid.join(", ") }));
      if (move.drew.length) parts.push(t("review.drew", { tiles: move.drew.join(", ") }));
      if (move.used_ms !== undefined) parts.push(readable(move.used_ms));
      return parts.join(" · ");
    }

    /** @param {NB.Color} color */
    function handLine(color) {
      const tiles = h("span", { class: "hand small", "data-color": color });
      const counts = h("span", { class: "mistakes" });
      const line = h("div", { class: `strip ${color}` }, h("span", { class: "who" }, sign(color), h("span", { class: "name", text: players[color].name }), h("span", { class: "rating", text: ratingText(players[color]) })), h("span", { class: "counts" }, counts), tiles);
      return {
        el: line,
        /** @param {NB.Position} now */
        update(now) {
          fill(tiles, now.hands[color].map((digit) => h("span", { class: "tile", text: String(digit) })));
          setText(counts, `${t("table.mistakes", { n: now.mistakes[color] })}${color === "blue" ? ` · ${t("table.bag", { n: now.bag })}` : ""}`);
          line.classList.toggle("turn", ply < all.length - 1 && now.toMove === color);
        },
      };
    }
  }
}
