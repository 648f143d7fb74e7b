// The best of a variant, with a switch between the variants.
import * as api from "./api.js";
import { attr, fill, h, setText } from "./dom.js";
import { number, rating, t } from "./i18n.js";
import { VARIANTS } from "./ratings.js";
import { variantName } from "./settingswords.js";

/** @param {() => string | undefined} me id of the own player */
export function createLeaderboard(me) {
  /** @type {NB.Variant} */
  let variant = "bridge";
  const tabs = h(
    "div",
    { class: "segments", role: "group", "aria-label": t("leaders.title") },
    VARIANTS.map((name) =>
      h("button", { type: "button", text: variantName(name), data: { variant: name }, on: { click: () => show(name) } }),
    ),
  );
  const body = h("tbody", {});
  const table = h(
    "table",
    { class: "leaders" },
    h("thead", {}, h("tr", {}, h("th", { scope: "col", text: "#" }), h("th", { scope: "col", text: t("leaders.player") }), h("th", { scope: "col", class: "num", text: t("leaders.rating") }), h("th", { scope: "col", class: "num", text: t("leaders.games") }))),
    body,
  );
  const empty = h("p", { class: "muted empty-note" });
  const el = h("section", { class: "card" }, h("h2", { text: t("leaders.title") }), tabs, table, empty);

  /** @param {NB.Variant} name */
  function show(name) {
    variant = name;
    void refresh();
  }

  async function refresh() {
    for (const tab of tabs.children) attr(tab, "aria-pressed", String(tab.getAttribute("data-variant") === variant));
    const asked = variant;
    let players;
    try {
      players = await api.leaderboard(asked);
    } catch {
      return; // what is shown stays; the next refresh tries again
    }
    if (asked !== variant) return;
    table.hidden = !players.length;
    empty.hidden = players.length > 0;
    setText(empty, t("leaders.empty"));
    fill(
      body,
      players.slice(0, 10).map((player) =>
        h(
          "tr",
          { class: player.id === me() ? "own" : "" },
          h("td", { text: String(player.rank) }),
          h("td", {}, h("a", { href: `#/player/${encodeURIComponent(player.id)}`, text: player.name })),
          h("td", { class: "num", text: rating(player.rating) }),
          h("td", { class: "num", text: number(player.games) }),
        ),
      ),
    );
  }

  return { el, refresh };
}
