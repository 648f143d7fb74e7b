// Asking before something that cannot be undone.
import { button, h } from "./dom.js";
import { t } from "./i18n.js";

/**
 * @param {{title: string, text: string, yes: string, danger?: boolean}} question
 * @returns {Promise<boolean>}
 */
export function confirm({ title, text, yes, danger = false }) {
  return new Promise((resolve) => {
    const dialog = h(
      "dialog",
      { class: "dialog", "aria-labelledby": "dialog-title" },
      h("h2", { id: "dialog-title", text: title }),
      h("p", { text }),
      h(
        "div",
        { class: "row end" },
        button(t("common.cancel"), () => dialog.close("no")),
        button(yes, () => dialog.close("yes"), { class: danger ? "danger" : "primary", data: { act: "yes" } }),
      ),
    );
    dialog.addEventListener("close", () => {
      dialog.remove();
      resolve(dialog.returnValue === "yes");
    });
    document.body.append(dialog);
    dialog.showModal();
  });
}
