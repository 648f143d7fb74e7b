// What the club's operators announce: stays until it is closed, and does not come again in this browser.
import { button, fill, h } from "./dom.js";
import { t } from "./i18n.js";
import * as prefs from "./prefs.js";

/** @param {NB.Event} event an `announcement` */
export function banner(event) {
  const region = document.getElementById("banner");
  if (!region || !event.text || prefs.get("announced") === event.id) return;
  const close = button("×", () => {
    prefs.set("announced", event.id ?? null);
    fill(region);
  }, { class: "ghost", "aria-label": t("common.close") });
  fill(region, h("p", { text: event.text }), close);
}
