// What the page says in passing: short notices, and announcements for screen readers.
import { h, setText } from "./dom.js";

const SHOWN_MS = 6000;

/** @param {string} text @param {"info" | "bad" | "good"} [kind] */
export function notice(text, kind = "info") {
  const region = document.getElementById("notices");
  if (!region || !text) return;
  for (const old of region.children) if (old.textContent === text) old.remove();
  const el = h("p", { class: `notice ${kind}`, text });
  region.append(el);
  while (region.children.length > 3) region.firstElementChild?.remove();
  setTimeout(() => el.remove(), SHOWN_MS);
}

/** Spoken, not shown. @param {string} text */
export function announce(text) {
  const region = document.getElementById("announcer");
  if (!region || !text) return;
  // the same sentence twice must be spoken twice
  if (region.textContent === text) setText(region, `${text}\u00a0`);
  else setText(region, text);
}
