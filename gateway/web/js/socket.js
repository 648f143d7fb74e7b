// One connection to the gateway that comes back by itself: hello, refs, pings, reconnecting.
// Emits `event` (every server event but answers), `ready` (the hello event) and `status`.
import { backoff } from "./backoff.js";
import { ClockSync } from "./clocksync.js";
import { Emitter } from "./emitter.js";

export class ProtocolError extends Error {
  /** @param {NB.Event} event an `error` event */
  constructor(event) {
    super(event.message ?? event.code);
    this.code = event.code;
    this.retryMs = event.retry_ms ?? 0;
    this.version = event.version;
  }
}

/** A request whose connection went away before the answer: it may or may not have taken effect. */
export const LOST = "lost";

const PING_EVERY = 15_000;
const PONG_WITHIN = 6_000;
const ANSWER_WITHIN = 12_000;

/**
 * @typedef {{resolve: (event: NB.Event) => void, reject: (error: ProtocolError) => void, timer: number}} Waiting
 * @typedef {"connecting" | "open" | "waiting" | "refused" | "stopped"} Status
 */

export class Socket extends Emitter {
  /** @param {string} url @param {() => Promise<string>} token @param {() => string} lang */
  constructor(url, token, lang) {
    super();
    this.url = url;
    this.token = token;
    this.lang = lang;
    this.clock = new ClockSync();
    /** @type {Status} */
    this.status = "stopped";
    /** @type {WebSocket | null} */
    this.ws = null;
    this.attempt = 0;
    this.retryTimer = 0;
    this.pingTimer = 0;
    this.deadTimer = 0;
    this.nextRef = 1;
    this.prefix = Math.random().toString(36).slice(2, 8);
    /** @type {Map<string, Waiting>} */
    this.waiting = new Map();
  }

  /** Server time now, milliseconds since the epoch. */
  now() {
    return Date.now() + this.clock.offset;
  }

  newRef() {
    return `${this.prefix}-${this.nextRef++}`;
  }

  /** @param {Status} status */
  #become(status) {
    if (this.status === status) return;
    this.status = status;
    this.emit("status", status);
  }

  async connect() {
    clearTimeout(this.retryTimer);
    if (this.ws) return;
    this.#become("connecting");
    let token;
    try {
      token = await this.token();
    } catch (error) {
      if (/** @type {any} */ (error)?.code === "forbidden") this.#become("refused");
      else this.#retry();
      return;
    }
    if (this.ws || this.status !== "connecting") return;
    let ws;
    try {
      ws = new WebSocket(this.url, "numbridge.v1");
    } catch {
      this.#retry(); // a browser may refuse at once what it is told to block
      return;
    }
    this.ws = ws;
    ws.onopen = () => {
      this.#watchSilence();
      this.#write({ op: "hello", token, lang: this.lang() });
    };
    ws.onmessage = (message) => {
      if (this.ws === ws) this.#receive(String(message.data));
    };
    ws.onclose = () => {
      if (this.ws === ws) this.#lost();
    };
  }

  /** Drops the connection and makes a new one, for another identity or language. */
  restart() {
    this.#close();
    this.attempt = 0;
    void this.connect();
  }

  /** Something suggests that the network or the page has woken: look at once instead of waiting. */
  wake() {
    if (this.status === "waiting") void this.connect();
    else if (this.status === "open") {
      this.clock.forget();
      this.#ping(PONG_WITHIN / 2);
    }
  }

  /**
   * Sends an operation; resolves with its answer, rejects with a ProtocolError (code LOST when the connection went).
   * @param {string} op @param {Record<string, any>} [fields] @param {string} [ref]
   * @returns {Promise<NB.Event>}
   */
  request(op, fields = {}, ref = this.newRef()) {
    return new Promise((resolve, reject) => {
      if (this.status !== "open") {
        reject(new ProtocolError({ ev: "error", code: LOST }));
        return;
      }
      const timer = window.setTimeout(() => this.#lost(), ANSWER_WITHIN);
      this.waiting.set(ref, { resolve, reject, timer });
      this.#write({ op, ...fields, ref });
    });
  }

  /** @param {Record<string, any>} message */
  #write(message) {
    if (this.ws?.readyState === WebSocket.OPEN) this.ws.send(JSON.stringify(message));
  }

  /** @param {string} text */
  #receive(text) {
    clearTimeout(this.deadTimer);
    /** @type {NB.Event} */
    let event;
    try {
      event = JSON.parse(text);
    } catch {
      return;
    }
    if (event.ev === "pong") {
      if (typeof event.sent_at === "number") this.clock.pong(event.sent_at, event.server_at, Date.now());
      return;
    }
    if (event.ev === "hello") {
      this.attempt = 0;
      this.clock.guess(event.server_at, Date.now());
      this.#become("open");
      this.#ping();
      this.emit("ready", event);
      return;
    }
    const answered = event.ref ? this.waiting.get(event.ref) : undefined;
    if (answered && (event.ev === "ok" || event.ev === "error")) {
      this.waiting.delete(String(event.ref));
      clearTimeout(answered.timer);
      if (event.ev === "ok") answered.resolve(event);
      else answered.reject(new ProtocolError(event));
      return;
    }
    if (event.ev === "error" && this.status !== "open") {
      if (event.code === "unauthorized") {
        this.emit("unauthorized");
        this.#lost();
      }
      return;
    }
    this.emit("event", event);
  }

  /** @param {number} [within] */
  #ping(within = PONG_WITHIN) {
    clearTimeout(this.pingTimer);
    this.#write({ op: "ping", sent_at: Date.now() });
    this.#watchSilence(within);
    const soon = this.clock.samples.length < 3 ? 700 : PING_EVERY;
    this.pingTimer = window.setTimeout(() => this.#ping(), soon);
  }

  /** @param {number} [within] */
  #watchSilence(within = PONG_WITHIN) {
    clearTimeout(this.deadTimer);
    this.deadTimer = window.setTimeout(() => this.#lost(), within);
  }

  #close() {
    clearTimeout(this.pingTimer);
    clearTimeout(this.deadTimer);
    clearTimeout(this.retryTimer);
    const ws = this.ws;
    this.ws = null;
    ws?.close();
    const waiting = [...this.waiting.values()];
    this.waiting.clear();
    for (const { reject, timer } of waiting) {
      clearTimeout(timer);
      reject(new ProtocolError({ ev: "error", code: LOST }));
    }
  }

  #lost() {
    this.status = "connecting";
    this.#close();
    this.#retry();
  }

  #retry() {
    this.#become("waiting");
    this.retryTimer = window.setTimeout(() => void this.connect(), backoff(this.attempt++));
  }
}
