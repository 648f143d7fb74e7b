// Errors and endings in words.
import { has, lang, t } from "./i18n.js";
import { said } from "./said.js";
import { LOST } from "./socket.js";

/** @param {any} error a ProtocolError or ApiError */
export function reasonOf(error) {
  const code = error?.code ?? "internal";
  if (code === LOST) return t("error.unavailable");
  if (code === "limit" && error.retryMs) return t("error.limit_for", { n: Math.ceil(error.retryMs / 1000) });
  if (["illegal", "bad_seek", "forbidden"].includes(code) && error.message) {
    const known = said(error.message);
    if (known) return t(known.key, known.params);
    if (lang() === "en") return `${error.message[0].toUpperCase()}${error.message.slice(1)}`;
  }
  return t(has(`error.${code}`) ? `error.${code}` : "error.internal");
}

/**
 * How a game ended, in one sentence.
 * @param {{result: string, reason: string}} over @param {NB.PerColor<NB.Player>} players
 */
export function endingOf({ result, reason }, players) {
  if (result === "draw") return t("end.draw");
  if (result === "none") return t(reason === "no_show" ? "end.no_show" : "end.operator");
  const winner = result === "blue" ? "blue" : "red";
  const loser = winner === "blue" ? "red" : "blue";
  const key = has(`end.${reason}`) ? `end.${reason}` : "end.connection";
  return t(key, { winner: players[winner].name, loser: players[loser].name });
}

/**
 * A move or offer in a few words, for the move list.
 * @param {NB.Entry} entry
 */
export function movePhrase(entry) {
  const { kind, cell = "", digit = "" } = entry;
  if (kind === "place") return t(entry.hit ? "move.hit" : "move.miss", { cell, digit });
  if (kind.startsWith("offer_")) return t(`move.${kind}_${entry.state}`);
  return t(`move.${kind}`, { cell });
}

/**
 * The same as a sentence to be spoken.
 * @param {NB.Entry} entry @param {string} name
 */
export function moveSentence(entry, name) {
  return `${name}: ${movePhrase(entry)}`;
}
