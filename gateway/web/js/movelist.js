// The list of moves, newest kept in sight.
import { attr, h, keyed, setText } from "./dom.js";
import { t } from "./i18n.js";
import { movePhrase } from "./reasons.js";
import { sign } from "./strip.js";

/** @param {(version: number) => void} [onPick] makes the entries buttons, for the review */
export function createMoveList(onPick) {
  const list = h("ol", { class: "moves", tabindex: "0" });
  let shown = 0;
  return {
    el: list,
    /** @param {NB.Entry[]} entries @param {number} [current] */
    update(entries, current = -1) {
      attr(list, "aria-label", t("table.moves"));
      keyed(
        list,
        entries,
        ({ version }) => String(version),
        (entry) => line(entry, onPick),
        (el, entry) => attr(el, "aria-current", entry.version === current ? "step" : null),
      );
      if (onPick) list.querySelector("[aria-current]")?.scrollIntoView({ block: "nearest" });
      else if (entries.length !== shown) list.scrollTop = list.scrollHeight;
      shown = entries.length;
    },
  };
}

/** @param {NB.Entry} entry @param {((version: number) => void) | undefined} onPick */
function line(entry, onPick) {
  const phrase = h("span", { class: entry.hit === false ? "phrase miss" : "phrase" });
  setText(phrase, movePhrase(entry));
  const body = [entry.by ? sign(entry.by) : null, entry.by ? h("span", { class: "sr", text: t(`color.${entry.by}`) }) : null, phrase];
  return h(
    "li",
    { class: entry.by ?? "" },
    h("span", { class: "ply", text: String(entry.version) }),
    onPick ? h("button", { type: "button", class: "plain", on: { click: () => onPick(entry.version) } }, body) : body,
  );
}
