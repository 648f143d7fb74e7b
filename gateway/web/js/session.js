// Who plays here, over which connection, and what the server last said about it.
// Emits: `ready` (after every hello), `status`, `event`, `mine` (own games changed), `identity`, `seated`.
import * as api from "./api.js";
import { Emitter } from "./emitter.js";
import { lang } from "./i18n.js";
import * as prefs from "./prefs.js";
import { Socket } from "./socket.js";

export class Session extends Emitter {
  constructor() {
    super();
    const url = new URL("ws", location.href);
    url.protocol = url.protocol === "https:" ? "wss:" : "ws:";
    url.hash = "";
    url.search = "";
    this.socket = new Socket(url.href, () => this.#token(), lang);
    /** @type {NB.Player | null} */
    this.me = null;
    /** @type {Set<string>} ids of own unfinished games */
    this.games = new Set();
    this.guestsOff = false;
    this.expired = false;
    this.socket.on("ready", (event) => this.#ready(event));
    this.socket.on("event", (event) => this.#event(event));
    this.socket.on("status", (status) => this.emit("status", status));
    this.socket.on("unauthorized", () => this.#forgetToken());
  }

  start() {
    addEventListener("online", () => this.socket.wake());
    document.addEventListener("visibilitychange", () => {
      if (document.visibilityState === "visible") this.socket.wake();
    });
    addEventListener("storage", (event) => {
      // another tab of this browser has taken another name
      if (event.key === "numbridge.token" && event.newValue) this.socket.restart();
    });
    void this.socket.connect();
  }

  get open() {
    return this.socket.status === "open";
  }

  now() {
    return this.socket.now();
  }

  /** @param {string} op @param {Record<string, any>} [fields] @param {string} [ref] */
  request(op, fields, ref) {
    return this.socket.request(op, fields, ref);
  }

  /** Plays on under another name, which is another guest. @param {string} name */
  async rename(name) {
    const guest = await api.createGuest(name);
    prefs.set("token", guest.token);
    prefs.set("guest", "yes");
    this.me = guest.player;
    this.socket.restart();
  }

  /** Takes a token that the club's own site handed over in the address. @param {string} token */
  adopt(token) {
    prefs.set("token", token);
    prefs.set("guest", null);
  }

  get isGuest() {
    return prefs.get("guest") === "yes";
  }

  async #token() {
    const kept = prefs.get("token");
    if (kept) return kept;
    if (this.expired) throw Object.assign(new Error("expired"), { code: "forbidden" });
    try {
      const guest = await api.createGuest(null);
      // two tabs opened together: the first one's guest wins
      const raced = prefs.get("token");
      if (raced) return raced;
      prefs.set("token", guest.token);
      prefs.set("guest", "yes");
      this.guestsOff = false;
      return guest.token;
    } catch (error) {
      this.guestsOff = /** @type {any} */ (error).status === 403;
      throw this.guestsOff ? Object.assign(new Error("guests are off"), { code: "forbidden" }) : error;
    }
  }

  /** A guest whose token has expired comes back as another; a member of the club must come in through its page again. */
  #forgetToken() {
    prefs.set("token", null);
    this.me = null;
    this.expired = !this.isGuest;
  }

  /** @param {NB.Event} event */
  #ready(event) {
    this.me = event.player;
    this.games = new Set(event.games);
    this.emit("identity");
    this.emit("mine");
    this.emit("ready");
  }

  /** @param {NB.Event} event */
  #event(event) {
    if (event.ev === "seated") {
      this.games.add(event.game);
      this.emit("mine");
      this.emit("seated", event);
    } else if (event.ev === "over" && this.games.delete(event.game)) {
      this.emit("mine");
    } else if (event.ev === "games") {
      // the rest of a hello that was partial
      this.games = new Set(event.games);
      this.emit("mine");
    }
    this.emit("event", event);
  }
}
