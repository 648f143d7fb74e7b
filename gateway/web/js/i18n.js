// Languages: one catalogue of messages each, chosen from the browser and switchable.
// A message is text with {names}, or {"one": …, "other": …} chosen by the number {n}.

/** @type {NB.Lang[]} */
export const LANGS = ["en", "de", "nl", "el"];
/** Each language in its own words. */
export const LANG_NAMES = { en: "English", de: "Deutsch", nl: "Nederlands", el: "Ελληνικά" };

/** @typedef {string | Record<string, string>} Message */

/** @type {Record<string, Message>} */
let catalogue = {};
/** @type {NB.Lang} */
let current = "en";
let plural = new Intl.PluralRules("en");
let whole = new Intl.NumberFormat("en", { maximumFractionDigits: 0 });
let plain = whole;

export const lang = () => current;

/** The first language of the browser's that there is a catalogue for. @param {readonly string[]} wanted @returns {NB.Lang} */
export function pick(wanted) {
  for (const tag of wanted) {
    const base = /** @type {NB.Lang} */ (tag.toLowerCase().split("-")[0]);
    if (LANGS.includes(base)) return base;
  }
  return "en";
}

/** The locale for dates and numbers: the browser's own regional one where it is of this language. @param {NB.Lang} code */
function locale(code) {
  const own = globalThis.navigator?.languages ?? [];
  return own.find((tag) => tag.toLowerCase().split("-")[0] === code) ?? code;
}

/** @param {NB.Lang} code @param {Record<string, Message>} messages */
export function use(code, messages) {
  current = code;
  catalogue = messages;
  plural = new Intl.PluralRules(code);
  whole = new Intl.NumberFormat(locale(code), { maximumFractionDigits: 0 });
  plain = new Intl.NumberFormat(locale(code), { maximumFractionDigits: 0, useGrouping: false });
}

/** @param {NB.Lang} code */
export async function load(code) {
  const answer = await fetch(`i18n/${code}.json`);
  if (!answer.ok) throw new Error(`catalogue ${code}: ${answer.status}`);
  use(code, await answer.json());
}

/** @param {string} key */
export const has = (key) => key in catalogue;

/**
 * A message in the current language. Numbers are written by locale.
 * @param {string} key @param {Record<string, string | number>} [params]
 */
export function t(key, params = {}) {
  const message = catalogue[key];
  if (message === undefined) return key;
  const n = Number(params.n ?? 0);
  const text = typeof message === "string" ? message : message[plural.select(n)] ?? message.other;
  return text.replace(/\{(\w+)\}/g, (_, name) => {
    const value = params[name];
    return typeof value === "number" ? whole.format(value) : String(value ?? "");
  });
}

/** @param {number} value */
export const number = (value) => whole.format(value);

/** Ratings are read as one word: no grouping. @param {number} value */
export const rating = (value) => plain.format(value);

/** @param {number} at milliseconds since the epoch */
export const dateTime = (at) =>
  new Intl.DateTimeFormat(locale(current), { dateStyle: "medium", timeStyle: "short" }).format(at);

/** "3 minutes ago". @param {number} at @param {number} now */
export function ago(at, now) {
  const format = new Intl.RelativeTimeFormat(current, { numeric: "auto", style: "short" });
  const seconds = Math.round((at - now) / 1000);
  if (Math.abs(seconds) < 60) return format.format(Math.min(0, seconds), "second");
  const minutes = Math.round(seconds / 60);
  if (Math.abs(minutes) < 60) return format.format(minutes, "minute");
  const hours = Math.round(minutes / 60);
  if (Math.abs(hours) < 24) return format.format(hours, "hour");
  return format.format(Math.round(hours / 24), "day");
}

/** A duration in words: seconds up to two minutes, else minutes. @param {number} ms */
export function duration(ms) {
  const seconds = Math.round(ms / 1000);
  return seconds % 60 === 0 && seconds >= 120 ? t("unit.minutes", { n: seconds / 60 }) : t("unit.seconds", { n: seconds });
}
