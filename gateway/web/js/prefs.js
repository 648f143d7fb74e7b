// What this browser remembers: language, theme, who plays, how a move is confirmed.
// Storage may be refused (private windows); then things last as long as the page.

/** @type {Map<string, string>} */
const memory = new Map();

/** @param {string} key @returns {string | null} */
export function get(key) {
  try {
    return localStorage.getItem(`numbridge.${key}`) ?? memory.get(key) ?? null;
  } catch {
    return memory.get(key) ?? null;
  }
}

/** @param {string} key @param {string | null} value */
export function set(key, value) {
  if (value === null) memory.delete(key);
  else memory.set(key, value);
  try {
    if (value === null) localStorage.removeItem(`numbridge.${key}`);
    else localStorage.setItem(`numbridge.${key}`, value);
  } catch {
    // kept in memory above
  }
}

/** Applies the chosen theme; without a choice the system's goes. */
export function applyTheme() {
  const media = { light: "not all", dark: "all" }[get("theme") ?? ""] ?? "(prefers-color-scheme: dark)";
  document.getElementById("dark")?.setAttribute("media", media);
}

/** Whether a placement wants a second tap: as chosen, else on touch screens, where cells are small. */
export function confirmsMoves() {
  const chosen = get("confirm");
  if (chosen === "on" || chosen === "off") return chosen === "on";
  return matchMedia("(pointer: coarse)").matches;
}
