// The open seeks: one click to accept.
import { attr, button, h, keyed, setText } from "./dom.js";
import { ago, t } from "./i18n.js";
import { isBot } from "./lobbystate.js";
import { ratingText } from "./strip.js";
import { seekWords } from "./settingswords.js";

/** @param {{accept: (seek: NB.Seek) => void, cancel: (seek: string) => void}} acts */
export function createSeekList(acts) {
  const list = h("ul", { class: "list seeks" });
  const empty = h("p", { class: "muted empty-note" });
  const el = h("div", {}, list, empty);
  return {
    el,
    /** @param {NB.Seek[]} seeks @param {string | undefined} me @param {(room: string) => string} roomName @param {number} now @param {boolean} ready */
    update(seeks, me, roomName, now, ready) {
      setText(empty, t("lobby.no_seeks"));
      empty.hidden = seeks.length > 0;
      keyed(
        list,
        seeks,
        (seek) => seek.seek,
        (seek) => line(seek, seek.player.id === me, roomName(seek.room), acts),
        (node, seek) => {
          setText(/** @type {Element} */ (node.querySelector(".since")), ago(seek.since, now));
          attr(/** @type {Element} */ (node.querySelector("button")), "disabled", !ready);
        },
      );
    },
  };
}

/** @param {NB.Seek} seek @param {boolean} own @param {string} room @param {{accept: (seek: NB.Seek) => void, cancel: (seek: string) => void}} acts */
function line(seek, own, room, acts) {
  return h(
    "li",
    { class: own ? "own" : "" },
    h(
      "div",
      { class: "main" },
      h("a", { class: "name", href: `#/player/${encodeURIComponent(seek.player.id)}`, text: seek.player.name }),
      h("span", { class: "rating", text: ratingText(seek.player) }),
      isBot(seek.player) ? h("span", { class: "tag", text: t("lobby.bot") }) : null,
      h("span", { class: "since muted small" }),
    ),
    h("div", { class: "sub" }, h("b", { text: room }), ` · ${seekWords(seek).join(" · ")}`),
    own
      ? button(t("seek.cancel"), () => acts.cancel(seek.seek), { data: { act: "cancel-seek" } })
      : button(t("seek.accept"), () => acts.accept(seek), { class: "primary", data: { act: "accept" }, "aria-label": t("seek.accept_of", { name: seek.player.name, room }) }),
  );
}
