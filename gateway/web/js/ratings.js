// A player's ratings in the three variants, as a small table.
import { h } from "./dom.js";
import { rating, t } from "./i18n.js";

/** @type {NB.Variant[]} */
export const VARIANTS = ["bridge", "blitz", "domains"];

/** @param {NB.Profile["ratings"]} lines */
export const ratingList = (lines) =>
  h(
    "dl",
    { class: "ratings" },
    VARIANTS.map((variant) => {
      const line = lines[variant];
      const spread = line && h("span", { class: "muted small", text: ` ±${rating(line.deviation * 2)}` });
      return h("div", {}, h("dt", { text: t(`variant.${variant}`) }), h("dd", {}, line ? rating(line.rating) : "–", spread));
    }),
  );
