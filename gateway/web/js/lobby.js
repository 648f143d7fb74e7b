// The lobby page: rooms, open seeks, games to watch, leaderboards, one's own ratings. What it shows is the server's.
import * as api from "./api.js";
import { fill, h, setText } from "./dom.js";
import { t } from "./i18n.js";
import { createGameList } from "./gamelist.js";
import { createLeaderboard } from "./leaderboard.js";
import { applySeeks, inOrder, isBot } from "./lobbystate.js";
import { notice } from "./notice.js";
import { reasonOf } from "./reasons.js";
import { createRoomCards } from "./roomcards.js";
import { createSeekList } from "./seeklist.js";
import { createYourCard } from "./yourcard.js";

const REFRESH_MS = 6000;

/** @param {import("./app.js").Context} context */
export function lobbyPage({ session, rooms, title }) {
  /** @type {import("./lobbystate.js").Seeks} */
  let seeks = {};
  /** @type {NB.LiveGame[]} */
  let games = [];
  let refreshed = 0;
  const cards = createRoomCards({ seek, cancel, bot });
  const seekList = createSeekList({ accept, cancel });
  const gameList = createGameList();
  const you = createYourCard(session);
  const leaders = createLeaderboard(() => session.me?.id);
  const back = h("div", { class: "own-games" });
  const seekCount = h("span", { class: "count" });
  const gameCount = h("span", { class: "count" });
  const failed = h("p", { class: "muted", role: "status" });
  const el = h(
    "div",
    { class: "lobby" },
    h(
      "div",
      { class: "lobby-main" },
      h("header", { class: "lobby-head" }, h("h1", { text: t("lobby.title") }), h("p", { class: "muted", text: t("lobby.tagline") })),
      back,
      h("section", { "aria-label": t("lobby.rooms") }, cards.el, failed),
      leaders.el,
    ),
    h(
      "div",
      { class: "lobby-side" },
      you.el,
      h("section", { class: "card" }, h("h2", {}, t("lobby.seeks"), " ", seekCount), seekList.el),
      h("section", { class: "card" }, h("h2", {}, t("lobby.games"), " ", gameCount), gameList.el),
    ),
  );
  title(t("lobby.title"));

  function draw() {
    const me = session.me?.id;
    const open = inOrder(seeks, me);
    const mine = (/** @type {string} */ room) => open.find((item) => item.room === room && item.player.id === me);
    const waiting = (/** @type {string} */ room) => open.filter((item) => item.room === room).length;
    cards.update(rooms.rooms, mine, waiting, session.open);
    seekList.update(open, me, (id) => rooms.nameOf(id), session.now(), session.open);
    const others = games.filter((game) => !session.games.has(game.game));
    gameList.update(others, (id) => rooms.nameOf(id), session.now());
    setText(seekCount, String(open.length));
    setText(gameCount, String(others.length));
    setText(failed, rooms.failed && !rooms.rooms.length ? t("lobby.unreachable") : "");
    fill(
      back,
      [...session.games].map((game) =>
        h("a", { class: "card back-to-game", href: `#/game/${game}`, data: { act: "back" } }, h("b", { text: t("lobby.your_game") }), h("span", { text: t("lobby.back_to_game") })),
      ),
    );
  }

  /** @param {Record<string, any>} wish */
  async function seek(wish) {
    try {
      await session.request("seek", wish);
    } catch (error) {
      notice(reasonOf(error), "bad");
    }
  }

  /** @param {string} id */
  async function cancel(id) {
    try {
      await session.request("cancel_seek", { seek: id });
    } catch (error) {
      if (/** @type {any} */ (error).code !== "gone") notice(reasonOf(error), "bad");
    }
  }

  /** @param {NB.Seek} item */
  async function accept(item) {
    try {
      await session.request("accept_seek", { seek: item.seek });
    } catch (error) {
      notice(reasonOf(error), "bad");
    }
  }

  /** House bots keep seeks open or answer open ones: take one that is there, else ask with everything left open. @param {string} room */
  async function bot(room) {
    const open = Object.values(seeks).find((item) => item.room === room && isBot(item.player));
    if (open) await accept(open);
    else {
      await seek({ room });
      notice(t("room.bot_wait"));
    }
  }

  async function watch() {
    try {
      await session.request("watch_lobby");
    } catch (error) {
      if (/** @type {any} */ (error).code !== "lost") notice(reasonOf(error), "bad");
    }
  }

  async function refresh() {
    if (document.visibilityState === "hidden") return;
    refreshed = session.now();
    try {
      [games] = await Promise.all([api.games(), rooms.refresh()]);
      if (session.guestsOff) seeks = Object.fromEntries((await api.seeks()).map((item) => [item.seek, item]));
    } catch {
      // the next round tries again; the header says when the connection is away
    }
    draw();
  }

  const offs = [
    session.on("ready", () => {
      void watch();
      void you.refresh();
      if (session.now() - refreshed > REFRESH_MS / 2) void refresh();
    }),
    session.on("event", (event) => {
      const next = applySeeks(seeks, event);
      if (next !== seeks) {
        seeks = next;
        draw();
      }
    }),
    session.on("mine", () => {
      void you.refresh();
      draw();
    }),
    session.on("status", () => {
      if (session.guestsOff) void you.refresh();
      draw();
    }),
  ];
  const timer = setInterval(() => void refresh(), REFRESH_MS);
  if (session.open) void watch();
  void you.refresh();
  void refresh();
  void leaders.refresh();
  draw();

  return {
    el,
    busy: () => false,
    destroy() {
      clearInterval(timer);
      for (const off of offs) off();
      if (session.open) session.request("unwatch_lobby").catch(() => {});
    },
  };
}
