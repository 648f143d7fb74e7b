// The rooms as cards: settings in words, who waits and plays, one click to seek, a form for the particular.
import { attr, button, fill, h, keyed, setText } from "./dom.js";
import { t } from "./i18n.js";
import { roomArt } from "./roomart.js";
import { createSeekForm } from "./seekform.js";
import { roomWords, variantName } from "./settingswords.js";

/**
 * @typedef {{seek: (wish: Record<string, any>) => void, cancel: (seek: string) => void, bot: (room: string) => void}} RoomActs
 * @param {RoomActs} acts
 */
export function createRoomCards(acts) {
  const el = h("div", { class: "rooms" });
  return {
    el,
    /**
     * @param {NB.Room[]} rooms @param {(room: string) => NB.Seek | undefined} mine own open seek in a room
     * @param {(room: string) => number} waiting @param {boolean} ready connected
     */
    update(rooms, mine, waiting, ready) {
      keyed(
        el,
        rooms,
        (room) => room.id,
        (room) => card(room, acts),
        (node, room) => patch(node, room, mine(room.id), waiting(room.id), ready, acts),
      );
    },
  };
}

/** @param {NB.Room} room @param {RoomActs} acts */
function card(room, acts) {
  const words = roomWords(room);
  const choices = h("details", { class: "choices" }, h("summary", { text: t("room.choose") }));
  choices.addEventListener("toggle", () => {
    if (choices.open && choices.childElementCount === 1) {
      choices.append(
        createSeekForm(room, (wish) => {
          choices.open = false;
          acts.seek(wish);
        }),
      );
    }
  });
  return h(
    "article",
    { class: `card room ${room.variant}`, data: { room: room.id } },
    h("div", { class: "room-head" }, h("div", {}, h("h2", { text: room.name }), h("p", { class: "muted", text: variantName(room.variant) })), roomArt(room.variant)),
    h("ul", { class: "facts" }, words.map((text) => h("li", { text }))),
    h("p", { class: "activity" }, h("span", { class: "waiting" }), h("span", { class: "playing" })),
    h("div", { class: "room-acts" }),
    choices,
    h("a", { class: "small", href: `#/rules/${room.variant}`, text: t("room.rules", { variant: variantName(room.variant) }) }),
  );
}

/**
 * @param {Element} node @param {NB.Room} room @param {NB.Seek | undefined} seek @param {number} waiting
 * @param {boolean} ready @param {RoomActs} acts
 */
function patch(node, room, seek, waiting, ready, acts) {
  const find = (/** @type {string} */ selector) => /** @type {HTMLElement} */ (node.querySelector(selector));
  setText(find(".waiting"), t("room.waiting", { n: waiting }));
  setText(find(".playing"), t("room.playing", { n: room.playing }));
  find(".waiting").classList.toggle("some", waiting > 0);
  find(".choices").hidden = Boolean(seek);
  const row = find(".room-acts");
  const key = `${seek?.seek ?? ""}|${ready}`;
  if (row.getAttribute("data-shows") === key) return;
  attr(row, "data-shows", key);
  node.classList.toggle("seeking", Boolean(seek));
  if (seek) {
    fill(
      row,
      h("p", { class: "seeking-note", role: "status" }, h("span", { class: "pulse", "aria-hidden": "true" }), t("seek.open")),
      button(t("seek.cancel"), () => acts.cancel(seek.seek), { data: { act: "cancel-seek" } }),
      button(t("room.bot"), () => acts.bot(room.id), { class: "plain", data: { act: "bot" } }),
    );
  } else {
    fill(
      row,
      button(t("room.play"), () => acts.seek({ room: room.id }), { class: "primary", disabled: !ready, data: { act: "play" } }),
      button(t("room.bot"), () => acts.bot(room.id), { class: "plain", disabled: !ready, data: { act: "bot" } }),
    );
  }
}
