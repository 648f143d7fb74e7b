// Rooms, seeks and game settings in words.
import { duration, t } from "./i18n.js";

/** @param {string} variant */
export const variantName = (variant) => t(`variant.${variant}`);

/** @param {number} price */
export const priceWords = (price) => t("room.claim_price", { n: price });

/** @param {{move_ms: number, game_ms: number}} limits */
export const timeWords = ({ move_ms, game_ms }) =>
  t("room.time", { move: duration(move_ms), game: duration(game_ms) });

/** What a room is like, line by line. @param {NB.Room} room */
export function roomWords(room) {
  const { min, max, default: usual } = room.givens;
  return [
    t("room.field", { side: room.side }),
    t("room.givens", { min, max, usual }),
    priceWords(room.claim_price),
    timeWords(room),
    t(room.highlight ? "room.highlight" : "room.no_highlight"),
    t(room.rated ? "room.rated" : "room.unrated"),
  ];
}

/** What a game is played under, as short labels. @param {NB.Settings} settings */
export function gameWords(settings) {
  return [
    variantName(settings.variant),
    t(`blocks.${settings.blocks}`),
    t("game.givens", { n: settings.givens }),
    priceWords(settings.claim_price),
    timeWords(settings),
    settings.highlight ? t("game.highlight") : "",
    t(settings.rated ? "game.rated" : "game.unrated"),
  ].filter(Boolean);
}

/** @param {NB.Seek["givens"]} givens */
export function givensWords(givens) {
  if (typeof givens === "number") return t("game.givens", { n: givens });
  if (!Array.isArray(givens)) return t("seek.givens_any");
  const [low, high] = givens;
  return low === high ? t("game.givens", { n: low }) : t("seek.givens_range", { low, high });
}

/** What a seek asks for, as short labels; what is open is left out. @param {NB.Seek} seek */
export function seekWords(seek) {
  const words = [];
  if (seek.blocks === "regular" || seek.blocks === "irregular") words.push(t(`blocks.${seek.blocks}`));
  words.push(givensWords(seek.givens));
  if (typeof seek.highlight === "boolean") words.push(t(seek.highlight ? "game.highlight" : "game.no_highlight"));
  if (typeof seek.rated === "boolean") words.push(t(seek.rated ? "game.rated" : "game.unrated"));
  if (seek.rating) words.push(t("seek.rating_range", { low: seek.rating[0], high: seek.rating[1] }));
  return words;
}
