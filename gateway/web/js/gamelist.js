// Games being played, to watch.
import { h, keyed, setText } from "./dom.js";
import { ago, t } from "./i18n.js";
import { ratingText, sign } from "./strip.js";

export function createGameList() {
  const list = h("ul", { class: "list games" });
  const empty = h("p", { class: "muted empty-note" });
  const el = h("div", {}, list, empty);
  return {
    el,
    /** @param {NB.LiveGame[]} games @param {(room: string) => string} roomName @param {number} now */
    update(games, roomName, now) {
      setText(empty, t("lobby.no_games"));
      empty.hidden = games.length > 0;
      keyed(
        list,
        games,
        (game) => game.game,
        (game) => line(game, roomName(game.room)),
        (node, game) => setText(/** @type {Element} */ (node.querySelector(".since")), game.started_at ? ago(game.started_at, now) : ""),
      );
    },
  };
}

/** @param {NB.LiveGame} game @param {string} room */
function line(game, room) {
  const { blue, red } = game.players;
  const words = [room, game.settings ? t(`blocks.${game.settings.blocks}`) : ""].filter(Boolean);
  return h(
    "li",
    {},
    h(
      "div",
      { class: "main" },
      sign("blue"),
      h("span", { class: "name", text: blue.name }),
      h("span", { class: "rating", text: ratingText(blue) }),
      h("span", { class: "muted", text: "–" }),
      sign("red"),
      h("span", { class: "name", text: red.name }),
      h("span", { class: "rating", text: ratingText(red) }),
    ),
    h("div", { class: "sub" }, words.join(" · "), " · ", h("span", { class: "since" })),
    h("a", { class: "button", href: `#/game/${game.game}`, text: t("lobby.watch"), data: { act: "watch" }, "aria-label": t("lobby.watch_of", { blue: blue.name, red: red.name }) }),
  );
}
