// The table page: one game, played or watched. It ties the table's state to the board, the hand and the buttons.
import { createBoard } from "./board.js";
import { boardModel } from "./boardmodel.js";
import { claimCost } from "./candidates.js";
import { readClock } from "./clocktime.js";
import { confirm } from "./confirm.js";
import { button, fill, h } from "./dom.js";
import { arrow, nameOf } from "./geometry.js";
import { t } from "./i18n.js";
import { announce, notice } from "./notice.js";
import { confirmsMoves } from "./prefs.js";
import { endingOf, moveSentence, reasonOf } from "./reasons.js";
import { createStrip } from "./strip.js";
import { createPanel, turnText } from "./tablepanel.js";
import { TableLink } from "./tablelink.js";
import { MARK_MS, other } from "./tablestate.js";
import { createTray } from "./tray.js";

/** @param {import("./app.js").Context} context */
export function tablePage({ session, params, rooms, title }) {
  const game = params[0];
  const link = new TableLink(session, game);
  const ui = { picked: -1, armed: -1, hover: -1, focus: 0, focused: false };
  const el = h("div", { class: "table-page" }, h("p", { class: "muted pad", text: t("table.opening") }));
  /** @type {ReturnType<typeof build> | null} */
  let parts = null;
  let rematch = "";
  let warned = -1;

  const tray = createTray({ pick, exchange, pie: () => link.play({ kind: "pie" }), go: () => press(ui.armed, "sure"), cancel });
  const panel = createPanel({ act, rematch: askRematch, block, flag: () => {} });

  /** @param {NB.Table} table */
  function build({ view }) {
    const bottom = view.you ?? "blue";
    const strips = { [bottom]: createStrip(bottom, true), [other(bottom)]: createStrip(other(bottom), false) };
    const board = createBoard(
      { side: view.settings.side, blocks: view.blocks, variant: view.settings.variant, label: t("table.board") },
      {
        cell: (index, event) => press(index, /** @type {PointerEvent} */ (event).pointerType === "touch" ? "touch" : "mouse"),
        hover: (index) => repaint({ hover: index }),
        focus: (index) => repaint(index < 0 ? { focused: false } : { focus: index, focused: Boolean(board.el.querySelector(":focus-visible")) }),
        key: onKey,
      },
    );
    const deck = h("div", { class: `deck side-${view.settings.side}${view.you ? "" : " watching"}` }, strips[other(bottom)].el, h("div", { class: "board-wrap" }, board.el), strips[bottom].el, tray.el);
    deck.addEventListener("keydown", (event) => {
      if (!(/** @type {Element} */ (event.target).closest(".board"))) digitKey(event);
    });
    fill(el, deck, panel.el);
    el.dataset.variant = view.settings.variant;
    return { board, strips, shape: view.blocks + game };
  }

  function canMove() {
    const view = link.table?.view;
    return Boolean(view?.you && view.status === "playing" && view.to_move === view.you && !link.pending);
  }

  /** @param {Partial<typeof ui>} [change] */
  function repaint(change = {}) {
    Object.assign(ui, change);
    if (link.table && parts) parts.board.update(boardModel(link.table, ui, link.pending, session.now(), canMove()));
  }

  function draw() {
    const { table } = link;
    if (!table) return;
    if (!parts || parts.shape !== table.view.blocks + game) parts = build(table);
    const { view } = table;
    if (ui.picked >= (view.hand?.length ?? 0)) ui.picked = -1;
    if (!canMove()) ui.armed = -1;
    repaint();
    for (const color of /** @type {NB.Color[]} */ (["blue", "red"])) parts.strips[color].update(table);
    tray.update(table, ui, canMove(), Boolean(link.pending));
    panel.update(table, rooms.nameOf(view.room), { busy: Boolean(link.pending), rematch });
    const mine = view.status === "playing" && view.to_move === view.you;
    title(mine ? `● ${t("turn.yours")}` : `${view.players.blue.name} – ${view.players.red.name}`);
    el.dataset.version = String(table.version);
    tick();
  }

  function tick() {
    const { table } = link;
    if (!table || !parts) return;
    const { view } = table;
    const now = session.now();
    const left = readClock(view, now);
    for (const color of /** @type {NB.Color[]} */ (["blue", "red"])) {
      parts.strips[color].tick({ ...left }, view.clock.running && view.to_move === color && left.move !== null);
    }
    panel.tick(left);
    if (left.move !== null && left.move < 10_000 && view.to_move === view.you && warned !== table.version) {
      warned = table.version;
      announce(t("turn.ten_seconds"));
    }
    if (view.marks.some((mark) => now - mark.at >= MARK_MS)) {
      view.marks = view.marks.filter((mark) => now - mark.at < MARK_MS);
      repaint();
    }
  }

  /** Picks or drops a tile. @param {number} at place in the hand */
  function pick(at) {
    ui.picked = ui.picked === at ? -1 : at;
    ui.armed = -1;
    draw();
  }

  function cancel() {
    ui.armed = -1;
    draw();
  }

  /**
   * A cell was pointed at to act on it. Claims, and placements by touch, want a second press on the same cell.
   * @param {number} index @param {"mouse" | "touch" | "key" | "sure"} by
   */
  function press(index, by) {
    const view = link.table?.view;
    if (!view?.you || view.status !== "playing" || index < 0) return;
    ui.focus = index;
    if (!canMove()) {
      if (!link.pending) notice(t("hint.wait"));
      return;
    }
    const hand = view.hand ?? [];
    const tile = hand[ui.picked];
    const cell = nameOf(index, view.settings.side);
    if (view.field[index] === ".") {
      if (tile === undefined) notice(t(hand.length ? "hint.pick" : "hint.no_tiles"));
      else if (by === "mouse" || by === "sure" || by === "key" || ui.armed === index || !confirmsMoves()) {
        send({ kind: "place", tile, cell });
      } else arm(index);
      return;
    }
    if (view.givens[index] === "." || view.owners[index] !== ".") return;
    if (hand.length && tile === undefined) notice(t("hint.pick"));
    else if (claimCost(view.settings.claim_price, hand.length) === null) notice(t("why.claim_one_tile"), "bad");
    else if (ui.armed === index) send(hand.length ? { kind: "claim", cell, tile } : { kind: "claim", cell });
    else arm(index);
  }

  /** @param {number} index */
  function arm(index) {
    ui.armed = index;
    draw();
    announce(el.querySelector(".hint")?.textContent ?? "");
  }

  /** @param {NB.Action} action */
  function send(action) {
    ui.armed = -1;
    ui.picked = -1;
    link.play(action);
  }

  /** @param {KeyboardEvent} event @param {number} index */
  function onKey(event, index) {
    if (event.ctrlKey || event.metaKey || event.altKey || !parts || !link.table) return;
    const to = arrow(event.key, event.shiftKey, index, link.table.view.settings.side);
    if (to >= 0) parts.board.focus(to);
    else if (event.key === "Enter" || event.key === " ") press(index, "key");
    else if (event.key === "Escape") repaintCancel();
    else if (!digitKey(event)) {
      if (event.key.startsWith("Arrow")) event.preventDefault();
      return;
    }
    event.preventDefault();
  }

  function repaintCancel() {
    if (ui.armed < 0) ui.picked = -1;
    cancel();
  }

  /** @param {KeyboardEvent} event */
  function digitKey(event) {
    const hand = link.table?.view.hand ?? [];
    if (event.ctrlKey || event.metaKey || event.altKey || !/^[1-9]$/.test(event.key)) return false;
    const at = hand.indexOf(Number(event.key));
    if (at < 0) announce(t("table.no_such_tile", { digit: event.key }));
    else if (hand[ui.picked] !== hand[at]) {
      pick(at);
      announce(t("table.picked", { digit: event.key }));
    }
    return true;
  }

  async function exchange() {
    const sure = await confirm({ title: t("table.exchange"), text: t("table.exchange_ask"), yes: t("table.exchange") });
    if (sure && canMove()) send({ kind: "exchange" });
  }

  /** @param {import("./tablepanel.js").TableAct} kind */
  async function act(kind) {
    const asks = ["resign", "accept_draw", "accept_adjourn"];
    if (asks.includes(kind)) {
      const sure = await confirm({ title: t(`act.${kind}`), text: t(`ask.${kind}`), yes: t(`act.${kind}`), danger: kind === "resign" });
      if (!sure) return;
    }
    link.play({ kind });
  }

  async function askRematch() {
    try {
      await session.request("rematch", { game });
      rematch = "asked";
      draw();
    } catch (error) {
      notice(reasonOf(error), "bad");
    }
  }

  async function block() {
    const view = link.table?.view;
    if (!view?.you) return;
    const player = view.players[other(view.you)];
    const name = player.name;
    if (!(await confirm({ title: t("table.block", { name }), text: t("ask.block", { name }), yes: t("act.block"), danger: true }))) return;
    try {
      await session.request("block", { player: player.id });
      notice(t("table.blocked", { name }), "good");
    } catch (error) {
      notice(reasonOf(error), "bad");
    }
  }

  /** Says an event to those who do not see the board. @param {NB.Event} event */
  function tell(event) {
    const { table } = link;
    if (!table) return;
    const { view } = table;
    const entry = table.history[event.version];
    if (event.ev === "move" && entry?.by) {
      const said = moveSentence(entry, view.players[entry.by].name);
      announce(view.to_move ? `${said}. ${turnText(view)}` : said);
    } else if (event.ev === "offer") announce(moveSentence(entry, view.players[event.by === "red" ? "red" : "blue"].name));
    else if (event.ev === "over" && table.over) announce(endingOf(table.over, view.players));
    else if (event.ev === "adjourned" || event.ev === "resumed") announce(t(`move.${event.ev}`));
  }

  const offs = [
    link.on("change", (event) => {
      draw();
      if (event) tell(event);
    }),
    link.on("refused", (error) => {
      notice(reasonOf(error), "bad");
      draw();
    }),
    link.on("missing", () =>
      fill(el, h("div", { class: "pad" }, h("h1", { text: t("table.missing") }), button(t("table.to_lobby"), () => (location.hash = "#/"), { class: "primary" }))),
    ),
    session.on("event", (event) => {
      if (event.ev === "rematch_asked" && event.game === game) {
        rematch = rematch || "wanted";
        notice(t("table.rematch_wanted"));
        draw();
      }
    }),
    rooms.on("change", draw),
  ];
  const timer = setInterval(tick, 100);
  link.start();

  return {
    el,
    /** A running game of one's own is not left for another by itself. */
    busy: () => Boolean(link.table?.view.you && link.table.view.status === "playing"),
    destroy() {
      clearInterval(timer);
      for (const off of offs) off();
      link.stop();
    },
  };
}
