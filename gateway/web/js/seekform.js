// The choices of a seek: only those the room leaves open.
import { attr, h } from "./dom.js";
import { t } from "./i18n.js";

/** @param {string} legend @param {string} name @param {[string, string][]} options the first is chosen */
function choice(legend, name, options) {
  return h(
    "fieldset",
    { class: "choice" },
    h("legend", { text: legend }),
    h(
      "div",
      { class: "segments" },
      options.map(([value, label], at) =>
        h("label", {}, h("input", { type: "radio", name, value, checked: at === 0 }), h("span", { text: label })),
      ),
    ),
  );
}

/** @param {string} label @param {string} name @param {Record<string, any>} props */
const numberField = (label, name, props) =>
  h("label", { class: "number" }, h("span", { text: label }), h("input", { type: "number", name, inputmode: "numeric", ...props }));

/** The least number of givens with which such a deal exists. @param {NB.Room} room @param {string} blocks */
const leastGivens = (room, blocks) => (room.side === 6 && blocks === "regular" ? Math.max(8, room.givens.min) : room.givens.min);

/**
 * @param {NB.Room} room @param {(wish: Record<string, any>) => void} onSeek
 */
export function createSeekForm(room, onSeek) {
  const { min, max } = room.givens;
  const low = numberField(t("seek.from"), "low", { min, max, value: min, required: true });
  const high = numberField(t("seek.to"), "high", { min, max, value: max, required: true });
  const form = h(
    "form",
    { class: "seek-form", "aria-label": t("seek.form", { room: room.name }) },
    choice(t("seek.blocks"), "blocks", [
      ["any", t("seek.any")],
      ["regular", t("blocks.regular")],
      ["irregular", t("blocks.irregular")],
    ]),
    h("fieldset", { class: "choice" }, h("legend", { text: t("seek.givens", { min, max }) }), h("div", { class: "row" }, low, high)),
    room.highlight
      ? choice(t("seek.highlight"), "highlight", [
          ["any", t("seek.any")],
          ["true", t("common.on")],
          ["false", t("common.off")],
        ])
      : null,
    room.rated
      ? choice(t("seek.rated"), "rated", [
          ["any", t("seek.any")],
          ["true", t("common.yes")],
          ["false", t("common.no")],
        ])
      : null,
    h(
      "fieldset",
      { class: "choice" },
      h("legend", { text: t("seek.rating") }),
      h(
        "div",
        { class: "row" },
        numberField(t("seek.from"), "rating_low", { min: 0, max: 4000, step: 10, placeholder: "—" }),
        numberField(t("seek.to"), "rating_high", { min: 0, max: 4000, step: 10, placeholder: "—" }),
      ),
    ),
    h("button", { type: "submit", class: "primary", text: t("seek.post"), data: { act: "seek" } }),
  );
  const lowInput = /** @type {HTMLInputElement} */ (low.querySelector("input"));
  form.addEventListener("change", () => {
    const least = leastGivens(room, String(new FormData(form).get("blocks")));
    attr(lowInput, "min", least);
    if (Number(lowInput.value) < least) lowInput.value = String(least);
  });
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    onSeek(wishOf(room, new FormData(form)));
  });
  return form;
}

/**
 * The seek message's fields; what means any is left out.
 * @param {NB.Room} room @param {FormData} data
 */
export function wishOf(room, data) {
  /** @type {Record<string, any>} */
  const wish = { room: room.id };
  const blocks = String(data.get("blocks") ?? "any");
  if (blocks !== "any") wish.blocks = blocks;
  const a = Number(data.get("low"));
  const b = Number(data.get("high"));
  const [low, high] = a <= b ? [a, b] : [b, a];
  if (low !== room.givens.min || high !== room.givens.max) wish.givens = low === high ? low : [low, high];
  for (const name of ["highlight", "rated"]) {
    const value = data.get(name);
    if (value === "true" || value === "false") wish[name] = value === "true";
  }
  const from = data.get("rating_low");
  const to = data.get("rating_high");
  if (from || to) {
    const bounds = [from ? Number(from) : 0, to ? Number(to) : 4000];
    wish.rating = [Math.min(...bounds), Math.max(...bounds)];
  }
  return wish;
}
