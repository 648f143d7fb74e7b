// The rules, readable in the app in every language.
import { fill, h } from "./dom.js";
import { lang, t } from "./i18n.js";
import { pages, render } from "./markup.js";

const ORDER = ["basics", "bridge", "blitz", "domains"];

/** @param {import("./app.js").Context} context */
export function rulesPage({ params, title }) {
  const wanted = ORDER.includes(params[0]) ? params[0] : "basics";
  const article = h("article", { class: "rules-text" });
  const tabs = h(
    "nav",
    { class: "segments", "aria-label": t("nav.rules") },
    ORDER.map((name) =>
      h("a", { href: `#/rules/${name}`, "aria-current": name === wanted ? "page" : null, text: name === "basics" ? t("rules.basics") : t(`variant.${name}`) }),
    ),
  );
  const el = h("div", { class: "page rules" }, tabs, article);
  title(t("nav.rules"));
  void load();
  return { el, busy: () => false, destroy() {} };

  async function load() {
    try {
      const answer = await fetch(`rules/${lang()}.md`);
      if (!answer.ok) throw new Error(String(answer.status));
      fill(article, render(pages(await answer.text())[wanted] ?? ""));
    } catch {
      fill(article, h("p", { text: t("error.unavailable") }));
    }
  }
}
