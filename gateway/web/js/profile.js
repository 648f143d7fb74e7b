// A player's page: ratings, results, finished games to look through.
import * as api from "./api.js";
import { button, fill, h } from "./dom.js";
import { dateTime, t } from "./i18n.js";
import { notice } from "./notice.js";
import { ratingList } from "./ratings.js";
import { reasonOf } from "./reasons.js";
import { ratingText, sign } from "./strip.js";

/** @param {import("./app.js").Context} context */
export function profilePage({ params, rooms, title }) {
  const id = params[0];
  const head = h("header", {}, h("h1", { text: "…" }));
  const list = h("ul", { class: "list played" });
  const more = button(t("profile.more"), () => void next(), { hidden: true });
  const el = h("div", { class: "page" }, head, h("section", { class: "card" }, h("h2", { text: t("profile.games") }), list, more));
  /** @type {string | undefined} */
  let cursor;

  async function start() {
    try {
      const profile = await api.player(id);
      title(profile.name);
      const { won, lost, drawn } = profile.games;
      fill(
        head,
        h("h1", { text: profile.name }),
        h("p", { class: "muted", text: t("profile.score", { won, lost, drawn }) }),
        ratingList(profile.ratings),
      );
      await next();
    } catch (error) {
      fill(head, h("h1", { text: /** @type {any} */ (error).code === "not_found" ? t("profile.unknown") : reasonOf(error) }));
    }
  }

  async function next() {
    try {
      const page = await api.playerGames(id, cursor);
      cursor = page.next;
      more.hidden = !cursor;
      list.append(...page.games.map(line));
      if (!list.childElementCount) list.append(h("li", { class: "muted", text: t("profile.none") }));
    } catch (error) {
      notice(reasonOf(error), "bad");
    }
  }

  /** @param {NB.PlayedGame} game */
  function line(game) {
    const verdict = game.result === "draw" ? "draw" : game.result === "none" ? "none" : game.result === game.color ? "won" : "lost";
    return h(
      "li",
      {},
      h("div", { class: "main" }, h("span", { class: `verdict ${verdict}`, text: t(`verdict.${verdict}`) }), sign(game.color === "blue" ? "red" : "blue"), h("span", { class: "name", text: game.opponent.name }), h("span", { class: "rating", text: ratingText(game.opponent) })),
      h("div", { class: "sub", text: [rooms.nameOf(game.room), dateTime(game.ended_at)].join(" · ") }),
      h("a", { class: "button", href: `#/review/${game.game}`, text: t("table.review") }),
    );
  }

  void start();
  return { el, busy: () => false, destroy() {} };
}
