// The rooms, fetched once and refreshed while the lobby is open. Emits `change`.
import * as api from "./api.js";
import { Emitter } from "./emitter.js";

export class RoomList extends Emitter {
  constructor() {
    super();
    /** @type {NB.Room[]} */
    this.rooms = [];
    this.failed = false;
    /** @type {Promise<void> | null} */
    this.asking = null;
  }

  /** Asks anew; a question already under way serves everyone who asks meanwhile. */
  refresh() {
    this.asking ??= this.#ask().finally(() => (this.asking = null));
    return this.asking;
  }

  async #ask() {
    try {
      this.rooms = await api.rooms();
      this.failed = false;
    } catch {
      this.failed = true;
    }
    this.emit("change");
  }

  /** @param {string} id */
  get(id) {
    return this.rooms.find((room) => room.id === id);
  }

  /** @param {string} id */
  nameOf(id) {
    return this.get(id)?.name ?? id;
  }
}
