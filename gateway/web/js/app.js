// The whole client: language, session, header, and which page the address names.
import { banner } from "./banner.js";
import { fill, h } from "./dom.js";
import { createHeader } from "./header.js";
import * as i18n from "./i18n.js";
import { lobbyPage } from "./lobby.js";
import { notice } from "./notice.js";
import * as prefs from "./prefs.js";
import { profilePage } from "./profile.js";
import { reviewPage } from "./review.js";
import { RoomList } from "./roomlist.js";
import { parseHash } from "./route.js";
import { rulesPage } from "./rules.js";
import { Session } from "./session.js";
import { tablePage } from "./table.js";

/**
 * @typedef {{el: HTMLElement, busy: () => boolean, destroy: () => void}} Page
 * @typedef {{session: Session, rooms: RoomList, params: string[], title: (text: string) => void}} Context
 */

/** @type {Record<string, (context: Context) => Page>} */
const PAGES = { lobby: lobbyPage, game: tablePage, review: reviewPage, rules: rulesPage, player: profilePage };

const main = /** @type {HTMLElement} */ (document.getElementById("main"));
const session = new Session();
const rooms = new RoomList();
/** @type {Page | null} */
let page = null;
const header = createHeader(/** @type {HTMLElement} */ (document.getElementById("header")), session, (code) => void chooseLanguage(code));

/** @param {string} text */
function title(text) {
  document.title = text ? `${text} · Numbridge` : "Numbridge";
}

function open() {
  const route = parseHash(location.hash);
  if (route.name === "login") {
    session.adopt(route.params[0] ?? "");
    history.replaceState(null, "", "#/");
    session.socket.restart();
    open();
    return;
  }
  page?.destroy();
  title("");
  page = PAGES[route.name]({ session, rooms, params: route.params, title });
  fill(main, page.el);
  scrollTo(0, 0);
}

/** @param {NB.Lang} code */
async function chooseLanguage(code) {
  try {
    await i18n.load(code);
  } catch {
    notice(i18n.t("error.unavailable"), "bad");
    return;
  }
  prefs.set("lang", code);
  document.documentElement.lang = code;
  header.draw();
  open();
}

/** @param {NB.Event} event */
function seated(event) {
  const there = `#/game/${event.game}`;
  if (location.hash === there) return;
  if (page?.busy()) notice(i18n.t("lobby.seated_elsewhere", { name: event.opponent?.name ?? "" }));
  else location.hash = there;
}

async function start() {
  prefs.applyTheme();
  const kept = /** @type {NB.Lang | null} */ (prefs.get("lang"));
  const code = kept && i18n.LANGS.includes(kept) ? kept : i18n.pick(navigator.languages);
  try {
    await i18n.load(code);
  } catch {
    fill(main, h("p", { class: "pad", text: "Numbridge cannot be reached. Reload to try again." }));
    return;
  }
  document.documentElement.lang = code;
  header.draw();
  session.on("seated", seated);
  session.on("event", (event) => {
    if (event.ev === "seating_failed") notice(i18n.t("error.unavailable"), "bad");
    // Seeks that the player has ended himself, or that led to a game, need no words.
    else if (event.ev === "seek_ended" && i18n.has(`ended.${event.reason}`)) notice(i18n.t(`ended.${event.reason}`), "bad");
    else if (event.ev === "announcement") banner(event);
  });
  addEventListener("hashchange", open);
  open();
  void rooms.refresh();
  session.start();
}

void start();
