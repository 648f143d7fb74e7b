// The small markup of the rules pages: "# page", "## heading", "- item", "@figure name", paragraphs, *strong*.
import { h } from "./dom.js";
import { figure } from "./figures.js";

/** The pages of a rules file by name. @param {string} text @returns {Record<string, string>} */
export function pages(text) {
  /** @type {Record<string, string>} */
  const found = {};
  for (const part of text.split(/^# /m).slice(1)) {
    const end = part.indexOf("\n");
    found[part.slice(0, end).trim()] = part.slice(end + 1);
  }
  return found;
}

/** @param {string} text @returns {(Node | string)[]} */
function inline(text) {
  return text.split(/\*([^*]+)\*/).map((part, at) => (at % 2 ? h("strong", { text: part }) : part));
}

/** @param {string} text one page @returns {Node[]} */
export function render(text) {
  /** @type {Node[]} */
  const nodes = [];
  for (const chunk of text.trim().split(/\n\s*\n/)) {
    if (chunk.startsWith("= ")) nodes.push(h("h1", { text: chunk.slice(2) }));
    else if (chunk.startsWith("## ")) nodes.push(h("h2", { text: chunk.slice(3) }));
    else if (chunk.startsWith("@figure ")) {
      const [name, ...caption] = chunk.slice(8).split(" | ");
      nodes.push(h("figure", {}, figure(name.trim()), h("figcaption", { text: caption.join(" ") })));
    } else if (chunk.startsWith("- ")) {
      const items = chunk.split(/\n- /).map((item, at) => (at ? item : item.slice(2)));
      nodes.push(h("ul", {}, items.map((item) => h("li", {}, inline(item.replace(/\n/g, " "))))));
    } else nodes.push(h("p", {}, inline(chunk.replace(/\n/g, " "))));
  }
  return nodes;
}
