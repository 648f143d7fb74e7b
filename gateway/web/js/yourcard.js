// Who plays here: name, ratings per variant, games to go back to.
import * as api from "./api.js";
import { button, fill, h } from "./dom.js";
import { t } from "./i18n.js";
import { notice } from "./notice.js";
import { ratingList } from "./ratings.js";
import { reasonOf } from "./reasons.js";

/** @param {import("./session.js").Session} session */
export function createYourCard(session) {
  const who = h("div", { class: "who-card" });
  const ratings = h("div", {});
  const el = h("section", { class: "card you" }, h("h2", { text: t("you.title") }), who, ratings);

  function drawName() {
    const { me } = session;
    if (session.guestsOff) fill(who, h("p", { text: t("you.no_guests") }));
    else if (!me) fill(who, h("p", { class: "muted", text: t("you.connecting") }));
    else {
      fill(
        who,
        h("a", { class: "name", href: `#/player/${encodeURIComponent(me.id)}`, text: me.name }),
        session.isGuest && !session.games.size ? button(t("you.rename"), edit, { class: "plain small", data: { act: "rename" } }) : null,
      );
    }
  }

  function edit() {
    const input = h("input", { type: "text", maxlength: 32, required: true, autocomplete: "nickname", "aria-label": t("you.name"), placeholder: t("you.name") });
    const form = h(
      "form",
      { class: "rename" },
      h("div", { class: "row" }, input, h("button", { type: "submit", class: "primary", text: t("you.use_name") }), button(t("common.cancel"), drawName)),
      h("p", { class: "muted small", text: t("you.rename_note") }),
    );
    form.addEventListener("submit", async (event) => {
      event.preventDefault();
      const name = input.value.trim();
      if (!name) return;
      try {
        await session.rename(name);
      } catch (error) {
        notice(reasonOf(error), "bad");
      }
      drawName();
    });
    fill(who, form);
    input.focus();
  }

  async function refresh() {
    drawName();
    const { me } = session;
    if (!me) return;
    /** @type {NB.Profile["ratings"]} */
    let lines = {};
    try {
      lines = (await api.player(me.id)).ratings;
    } catch {
      // unknown until the first game
    }
    fill(ratings, ratingList(lines));
  }

  return { el, refresh };
}
