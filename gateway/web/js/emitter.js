// Named events with handlers that can be taken off again.

export class Emitter {
  constructor() {
    /** @type {Map<string, Set<(value: any) => void>>} */
    this.handlers = new Map();
  }

  /** @param {string} name @param {(value: any) => void} handler @returns {() => void} takes it off */
  on(name, handler) {
    const set = this.handlers.get(name) ?? new Set();
    this.handlers.set(name, set);
    set.add(handler);
    return () => set.delete(handler);
  }

  /** @param {string} name @param {any} [value] */
  emit(name, value) {
    for (const handler of [...(this.handlers.get(name) ?? [])]) handler(value);
  }
}
