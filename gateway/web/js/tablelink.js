// One table as the server sees it: joins, heals gaps, comes back after a drop, and carries actions through.
// Emits `change` (the event that caused it, or null), `refused` (a ProtocolError) and `missing`.
import * as api from "./api.js";
import { Emitter } from "./emitter.js";
import { LOST, ProtocolError } from "./socket.js";
import { apply, fromState, historyIsPartial } from "./tablestate.js";

/**
 * @typedef {{ref: string, action: NB.Action, version: number, tries: number, by: NB.Color, done: number}} Pending
 *   `version` is the one it was played at, `done` the one that the server said it led to
 */

const TRIES = 8;
const PEEK_MS = 3000;
const SOON = new Set(["unavailable", "limit", "internal"]);

export class TableLink extends Emitter {
  /** @param {import("./session.js").Session} session @param {string} game */
  constructor(session, game) {
    super();
    this.session = session;
    this.game = game;
    /** @type {NB.Table | null} */
    this.table = null;
    /** @type {Pending | null} the action under way */
    this.pending = null;
    this.joining = false;
    this.askedHistory = false;
    this.stopped = false;
    this.retryTimer = 0;
    this.offs = [
      session.on("ready", () => void this.#join()),
      session.on("event", (event) => this.#event(event)),
      session.on("status", () => void this.#peek()),
    ];
  }

  start() {
    if (this.session.open) void this.#join();
    else void this.#peek();
  }

  /** Where guests cannot play there is no connection; a game can be watched all the same. */
  async #peek() {
    if (!this.session.guestsOff || this.stopped) return;
    try {
      const { version, view } = await api.game(this.game);
      this.table = fromState({ ev: "state", game: this.game, version, view }, this.table);
      this.emit("change", null);
    } catch (error) {
      if (/** @type {any} */ (error).code === "not_found") this.emit("missing");
    }
    if (this.table?.view.status !== "over") this.#later(() => void this.#peek(), PEEK_MS);
  }

  stop() {
    this.stopped = true;
    clearTimeout(this.retryTimer);
    for (const off of this.offs) off();
    if (this.session.open) this.session.request("leave", { game: this.game }).catch(() => {});
  }

  /** Acts at the table. One action at a time; a second is ignored until the first is answered. @param {NB.Action} action */
  play(action) {
    const you = this.table?.view.you;
    if (!this.table || !you || this.pending) return;
    this.pending = { ref: this.session.socket.newRef(), action, version: this.table.version, tries: 0, by: you, done: Infinity };
    this.emit("change", null);
    void this.#send();
  }

  async #send() {
    const pending = this.pending;
    if (!pending || !this.session.open) return;
    try {
      const { ref, action, version } = pending;
      const answer = await this.session.request("play", { game: this.game, version, action }, ref);
      if (this.pending !== pending) return;
      // the events say what happened; should they be missing, ask for them
      pending.done = answer.version ?? 0;
      if (this.table && this.table.version >= pending.done) this.#settle();
      else this.#later(() => this.pending === pending && void this.#join(), 1500);
    } catch (error) {
      if (this.pending !== pending || !(error instanceof ProtocolError)) return;
      if (error.code === LOST) return; // sent again under the same ref once the connection is back
      if (SOON.has(error.code) && pending.tries++ < TRIES) {
        this.#later(() => this.pending === pending && void this.#send(), Math.max(error.retryMs, 300));
        return;
      }
      this.#settle();
      this.emit("refused", error);
      if (error.code === "stale") void this.#join();
    }
  }

  #settle() {
    this.pending = null;
    this.emit("change", null);
  }

  /** @param {() => void} act @param {number} ms */
  #later(act, ms) {
    clearTimeout(this.retryTimer);
    this.retryTimer = window.setTimeout(() => !this.stopped && act(), ms);
  }

  /** @param {number} [since] */
  async #join(since = this.table?.version) {
    if (this.joining || this.stopped) return;
    this.joining = true;
    try {
      await this.session.request("join", since === undefined ? { game: this.game } : { game: this.game, since });
      this.joining = false;
      if (this.pending) void this.#send();
    } catch (error) {
      this.joining = false;
      if (!(error instanceof ProtocolError) || error.code === LOST) return;
      if (SOON.has(error.code)) this.#later(() => void this.#join(), Math.max(error.retryMs, 500));
      else if (error.code === "not_found") this.emit("missing");
      else this.emit("refused", error);
    }
  }

  /** @param {NB.Event} event */
  #event(event) {
    if (event.game !== this.game || this.stopped) return;
    if (event.ev === "state") {
      this.table = fromState(event, this.table);
      this.#changed(event);
      this.#fillHistory();
      return;
    }
    if (!this.table) return;
    const { table, gap, applied } = apply(this.table, event, this.session.now());
    if (gap) {
      void this.#join();
      return;
    }
    const same = table.history === this.table.history && table.over === this.table.over;
    this.table = table;
    if (applied) this.#changed(event);
    else if (!same) this.emit("change", null);
  }

  /** @param {NB.Event} event */
  #changed(event) {
    // only the answer tells whether the action took effect: an event of the same player's may be another tab's
    if (this.pending && this.table && this.table.version >= this.pending.done) this.pending = null;
    this.emit("change", event);
  }

  /** Whoever comes late asks once for the events from the start, for the move list. */
  #fillHistory() {
    const { table } = this;
    if (this.askedHistory || !table || table.version === 0 || table.over || !historyIsPartial(table)) return;
    this.askedHistory = true;
    this.#later(() => void this.#join(0), 0);
  }
}
