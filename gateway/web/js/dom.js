// Making and patching elements. No markup strings anywhere, so text from players stays text.

const SVG = "http://www.w3.org/2000/svg";

/**
 * @typedef {Record<string, any>} Props `class`, `text`, `on` {event: handler}, `data` {key: value}; true makes an
 *   empty attribute, false, null and undefined none; everything else an attribute.
 * @typedef {Node | string | null | undefined | false} Child
 */

/** @param {Element} el @param {Props} props */
function dress(el, props) {
  for (const [key, value] of Object.entries(props)) {
    if (key === "on") for (const [name, handler] of Object.entries(value)) el.addEventListener(name, /** @type {any} */ (handler));
    else if (key === "text") el.textContent = value;
    else if (key === "data") for (const [name, item] of Object.entries(value)) el.setAttribute(`data-${name}`, String(item));
    else attr(el, key, value);
  }
}

/** Sets or removes one attribute, only when it changes. @param {Element} el @param {string} name @param {any} value */
export function attr(el, name, value) {
  if (value === null || value === undefined || value === false) {
    if (el.hasAttribute(name)) el.removeAttribute(name);
    return;
  }
  const text = value === true ? "" : String(value);
  if (el.getAttribute(name) !== text) el.setAttribute(name, text);
}

/** Sets the text, only when it changes. @param {Element} el @param {string} text */
export function setText(el, text) {
  if (el.textContent !== text) el.textContent = text;
}

/**
 * @template {keyof HTMLElementTagNameMap} T
 * @param {T} tag @param {Props} [props] @param {...(Child | Child[])} children
 * @returns {HTMLElementTagNameMap[T]}
 */
export function h(tag, props = {}, ...children) {
  const el = document.createElement(tag);
  dress(el, props);
  el.append(...kept(children));
  return el;
}

/**
 * @template {keyof SVGElementTagNameMap} T
 * @param {T} tag @param {Props} [props] @param {...(Child | Child[])} children
 * @returns {SVGElementTagNameMap[T]}
 */
export function s(tag, props = {}, ...children) {
  const el = document.createElementNS(SVG, tag);
  dress(el, props);
  el.append(...kept(children));
  return el;
}

/** @param {(Child | Child[])[]} children @returns {(Node | string)[]} */
function kept(children) {
  return /** @type {(Node | string)[]} */ (
    children.flat().filter((child) => child !== null && child !== undefined && child !== false && child !== "")
  );
}

/** Replaces all children. @param {Element} el @param {...(Child | Child[])} children */
export function fill(el, ...children) {
  el.replaceChildren(...kept(children));
}

/**
 * Keeps a list of elements in step with a list of items without rebuilding those that stay, so that focus survives.
 * @template T
 * @param {Element} parent @param {T[]} items @param {(item: T) => string} keyOf
 * @param {(item: T) => Element} make @param {(el: Element, item: T) => void} [patch]
 */
export function keyed(parent, items, keyOf, make, patch) {
  /** @type {Map<string, Element>} */
  const old = new Map();
  for (const child of parent.children) old.set(child.getAttribute("data-key") ?? "", child);
  let at = parent.firstElementChild;
  for (const item of items) {
    const key = keyOf(item);
    let el = old.get(key);
    old.delete(key);
    if (!el) {
      el = make(item);
      el.setAttribute("data-key", key);
    }
    patch?.(el, item);
    if (el === at) at = at.nextElementSibling;
    else parent.insertBefore(el, at);
  }
  for (const gone of old.values()) gone.remove();
}

/**
 * A button. @param {string} text @param {(event: MouseEvent) => void} act @param {Props} [props]
 */
export const button = (text, act, props = {}) => h("button", { type: "button", text, ...props, on: { click: act } });

/** @param {string} id of a symbol in index.html @param {string} [extra] */
export const icon = (id, extra = "") =>
  s("svg", { class: `icon ${extra}`.trim(), "aria-hidden": "true", viewBox: "0 0 24 24" }, s("use", { href: `#i-${id}` }));
