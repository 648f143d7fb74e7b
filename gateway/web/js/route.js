// Addresses: everything after the # names a page, so that the server needs to know none of them.

const NAMES = new Set(["game", "review", "rules", "player", "login"]);

/**
 * @param {string} hash like "#/game/2a-x7" @returns {{name: string, params: string[]}} `lobby` for what it does not know
 */
export function parseHash(hash) {
  const [, name = "", ...rest] = hash.replace(/^#/, "").split("/");
  if (!NAMES.has(name) || !rest.length || !rest[0]) return { name: "lobby", params: [] };
  return { name, params: rest.map(decode) };
}

/** @param {string} part */
function decode(part) {
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
}
