// The side panel of a table: what is played, whose turn it is, blocks won, the move list, buttons, the result.
import { blockOwners } from "./candidates.js";
import { readable } from "./clocktime.js";
import { attr, button, fill, h, setText } from "./dom.js";
import { t } from "./i18n.js";
import { createMoveList } from "./movelist.js";
import { endingOf } from "./reasons.js";
import { gameWords, variantName } from "./settingswords.js";
import { sign } from "./strip.js";
import { entries, historyIsPartial, mayOffer, other } from "./tablestate.js";

/**
 * @typedef {"resign" | "offer_draw" | "accept_draw" | "decline_draw" | "offer_adjourn" | "accept_adjourn"
 *   | "decline_adjourn" | "resume"} TableAct
 * @param {{act: (kind: TableAct) => void, rematch: () => void, block: () => void, flag: (name: string, on: boolean) => void}} acts
 */
export function createPanel(acts) {
  const title = h("h1", { class: "panel-title" });
  const chips = h("ul", { class: "chips" });
  const turn = h("div", { class: "turn-card" });
  const who = h("p", { class: "turn-who" });
  const clock = h("p", { class: "turn-clock", role: "timer", "aria-live": "off" });
  turn.append(who, clock);
  const tally = h("p", { class: "tally" });
  const offer = h("div", { class: "offer", role: "group" });
  const moves = createMoveList();
  const early = h("p", { class: "muted small" });
  const buttons = h("div", { class: "acts" });
  const result = h("div", { class: "result" });
  const watchers = h("p", { class: "muted small watchers" });
  const el = h("aside", { class: "panel" }, title, chips, turn, result, offer, tally, early, moves.el, buttons, watchers);
  let shape = "";

  return {
    el,
    /** @param {NB.Table} table @param {string} room name @param {{busy: boolean, rematch: string}} state */
    update(table, room, state) {
      const { view } = table;
      setText(title, room || variantName(view.settings.variant));
      if (!chips.childElementCount) fill(chips, gameWords(view.settings).map((text) => h("li", { text })));
      updateTurn(view);
      const tallyText = view.settings.variant === "domains" ? blockTally(view) : "";
      setText(tally, tallyText);
      tally.hidden = !tallyText;
      moves.update(entries(table));
      early.hidden = !(historyIsPartial(table) && table.over);
      setText(early, t("table.moves_in_review"));
      const here = table.presence?.watchers ?? 0;
      setText(watchers, here ? t("table.watchers", { n: here }) : "");
      const next = JSON.stringify([table.version, view.status, view.offer, view.you, view.to_move, state, table.over]);
      if (next === shape) return;
      shape = next;
      drawOffer(view, state.busy);
      drawButtons(table, state);
      drawResult(table, state);
    },
    /** @param {{move: number | null}} left */
    tick({ move }) {
      setText(clock, move === null ? "" : readable(move, false));
      turn.classList.toggle("low", move !== null && move < 10_000);
    },
  };

  /** @param {NB.View} view */
  function updateTurn(view) {
    turn.hidden = view.status === "over";
    attr(turn, "data-color", view.status === "playing" ? view.to_move : null);
    turn.classList.toggle("mine", view.status === "playing" && view.to_move === view.you);
    fill(who, view.status === "playing" && view.to_move ? sign(view.to_move) : null, h("span", {}, turnWho(view), turnPart(view) && h("small", { text: turnPart(view) })));
  }

  /** @param {NB.View} view @param {boolean} busy */
  function drawOffer(view, busy) {
    const open = view.offer;
    offer.hidden = !open;
    if (!open) return;
    const mine = view.you === open.by;
    const answers =
      view.you && !mine
        ? open.kind === "resume"
          ? [act("resume", "primary", busy)]
          : [act(open.kind === "draw" ? "accept_draw" : "accept_adjourn", "primary", busy), act(open.kind === "draw" ? "decline_draw" : "decline_adjourn", "", busy)]
        : [];
    fill(offer, h("p", { text: t(mine ? `offer.${open.kind}_sent` : `offer.${open.kind}_got`, { name: view.players[open.by].name }) }), h("div", { class: "row" }, answers));
  }

  /** @param {NB.Table} table @param {{busy: boolean}} state */
  function drawButtons(table, { busy }) {
    const { view } = table;
    if (!view.you || view.status === "over") {
      fill(buttons);
      return;
    }
    if (view.status === "adjourned") {
      fill(buttons, view.offer?.by === view.you ? null : act("resume", "primary", busy), act("resign", "", busy));
      return;
    }
    const may = mayOffer(table);
    const why = may ? "" : t("why.offer_turn");
    fill(buttons, act("offer_draw", "", busy || !may, why), act("offer_adjourn", "", busy || !may, why), act("resign", "", busy));
  }

  /** @param {TableAct} kind @param {string} cls @param {boolean} off @param {string} [why] */
  function act(kind, cls, off, why = "") {
    return button(t(`act.${kind}`), () => acts.act(kind), { class: cls, disabled: off, title: why || null, data: { act: kind } });
  }

  /** @param {NB.Table} table @param {{rematch: string}} state */
  function drawResult({ game, view, over }, { rematch }) {
    result.hidden = !over;
    if (!over) return;
    const verdict = !view.you || !["blue", "red"].includes(over.result) ? "" : over.result === view.you ? "won" : "lost";
    attr(result, "data-verdict", verdict || null);
    fill(
      result,
      h("h2", { text: verdict ? t(`result.${verdict}`) : t("result.over") }),
      h("p", { text: endingOf(over, view.players) }),
      h(
        "div",
        { class: "row" },
        view.you && over.result !== "none"
          ? button(t(rematch === "asked" ? "table.rematch_asked" : rematch === "wanted" ? "table.rematch_accept" : "table.rematch"), acts.rematch, { class: "primary", disabled: rematch === "asked", data: { act: "rematch" } })
          : null,
        h("a", { class: "button", href: `#/review/${game}`, text: t("table.review"), data: { act: "review" } }),
        h("a", { class: "button", href: "#/", text: t("table.to_lobby") }),
      ),
      view.you ? button(t("table.block", { name: view.players[other(view.you)].name }), acts.block, { class: "plain small", data: { act: "block" } }) : null,
    );
  }
}

/** @param {NB.View} view */
function turnWho(view) {
  if (view.status === "adjourned") return t("turn.adjourned");
  if (view.status === "over" || !view.to_move) return t("result.over");
  return view.to_move === view.you ? t("turn.yours") : t("turn.other", { name: view.players[view.to_move].name });
}

/** Which move of the pair, in Domains. @param {NB.View} view */
function turnPart(view) {
  if (view.settings.variant !== "domains" || view.status !== "playing") return "";
  if (!view.last && view.moves_left === 1) return t("turn.single");
  return t("turn.of_pair", { k: view.moves_left === 2 ? 1 : 2 });
}

/** Whose turn it is, in one line. @param {NB.View} view */
export const turnText = (view) => [turnWho(view), turnPart(view)].filter(Boolean).join(" · ");

/** @param {NB.View} view */
function blockTally(view) {
  const owners = Object.values(blockOwners(view, view.settings.side));
  return t("table.blocks", {
    blue: owners.filter((color) => color === "blue").length,
    red: owners.filter((color) => color === "red").length,
  });
}

