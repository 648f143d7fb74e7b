// The bar on top: where to go, who plays, language, theme, how moves are confirmed, and whether the line is up.
import { attr, button, fill, h, icon, setText } from "./dom.js";
import { LANGS, LANG_NAMES, lang, t } from "./i18n.js";
import * as prefs from "./prefs.js";

/**
 * @param {HTMLElement} el @param {import("./session.js").Session} session
 * @param {(code: NB.Lang) => void} onLang
 */
export function createHeader(el, session, onLang) {
  const nav = h("nav", {});
  const line = h("p", { class: "line", role: "status" });
  const who = h("a", { class: "who-chip" });
  const tools = h("div", { class: "tools" });
  el.append(nav, line, who, tools);

  const themes = ["auto", "light", "dark"];

  function draw() {
    attr(nav, "aria-label", t("nav.main"));
    fill(nav, h("a", { href: "#/", text: t("nav.lobby") }), h("a", { href: "#/rules/basics", text: t("nav.rules") }));
    const language = h(
      "select",
      { "aria-label": t("nav.language"), on: { change: () => onLang(/** @type {NB.Lang} */ (language.value)) } },
      LANGS.map((code) => h("option", { value: code, lang: code, selected: code === lang(), text: LANG_NAMES[code] })),
    );
    const theme = prefs.get("theme") ?? "auto";
    const themeButton = button("", nextTheme, { class: "tool", "aria-label": `${t("nav.theme")}: ${t(`theme.${theme}`)}`, title: t(`theme.${theme}`), data: { act: "theme" } });
    themeButton.append(icon(theme === "light" ? "sun" : theme === "dark" ? "moon" : "auto"));
    const tap = button("", toggleConfirm, { class: "tool", "aria-pressed": String(prefs.confirmsMoves()), "aria-label": t("nav.confirm"), title: t("nav.confirm"), data: { act: "confirm-moves" } });
    tap.append(icon("tap"));
    fill(tools, tap, themeButton, language);
    drawStatus();
  }

  function nextTheme() {
    const at = themes.indexOf(prefs.get("theme") ?? "auto");
    const next = themes[(at + 1) % themes.length];
    prefs.set("theme", next === "auto" ? null : next);
    prefs.applyTheme();
    draw();
    /** @type {HTMLElement | null} */ (tools.querySelector('[data-act="theme"]'))?.focus();
  }

  function toggleConfirm() {
    prefs.set("confirm", prefs.confirmsMoves() ? "off" : "on");
    draw();
    /** @type {HTMLElement | null} */ (tools.querySelector('[data-act="confirm-moves"]'))?.focus();
  }

  function drawStatus() {
    const { status } = session.socket;
    const was = session.me !== null;
    const away = status === "waiting" || (status === "connecting" && was);
    attr(line, "data-status", status);
    setText(line, away ? t("line.reconnecting") : status === "refused" ? t(session.expired ? "error.unauthorized" : "line.refused") : "");
    const { me } = session;
    who.hidden = !me;
    setText(who, me?.name ?? "");
    attr(who, "href", me ? `#/player/${encodeURIComponent(me.id)}` : null);
  }

  session.on("status", drawStatus);
  session.on("identity", drawStatus);
  return { draw };
}
