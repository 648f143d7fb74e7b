// The open seeks as the server tells them: a snapshot, then what came and went. Pure.

/** @typedef {Record<string, NB.Seek>} Seeks by id */

/** @param {Seeks} seeks @param {NB.Event} event @returns {Seeks} the same object when nothing changed */
export function applySeeks(seeks, event) {
  switch (event.ev) {
    case "seeks": {
      /** @type {Seeks} */
      const next = {};
      if (event.room) for (const seek of Object.values(seeks)) if (seek.room !== event.room) next[seek.seek] = seek;
      for (const seek of event.seeks) next[seek.seek] = seek;
      return next;
    }
    case "seek_added":
      return { ...seeks, [event.seek.seek]: event.seek };
    case "seek_removed": {
      if (!(event.seek in seeks)) return seeks;
      const { [event.seek]: _, ...rest } = seeks;
      return rest;
    }
    default:
      return seeks;
  }
}

/** Own seeks first, then the longest waiting. @param {Seeks} seeks @param {string | undefined} me */
export function inOrder(seeks, me) {
  const mine = (/** @type {NB.Seek} */ seek) => (seek.player.id === me ? 0 : 1);
  return Object.values(seeks).sort((a, b) => mine(a) - mine(b) || a.since - b.since || (a.seek < b.seek ? -1 : 1));
}

/** The club's own bots say so in their id, or in their name where they are guests. @param {NB.Player} player */
export const isBot = (player) => player.id.startsWith("house-") || player.name.startsWith("House bot ");
