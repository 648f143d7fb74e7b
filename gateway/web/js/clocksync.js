// The server's time from pongs: the sample with the shortest round trip of the last few is the one to trust.

const KEPT = 8;

export class ClockSync {
  constructor() {
    /** @type {{rtt: number, offset: number}[]} */
    this.samples = [];
    this.offset = 0;
  }

  /** A first guess without a round trip, from `hello`. @param {number} serverAt @param {number} now */
  guess(serverAt, now) {
    if (!this.samples.length) this.offset = serverAt - now;
  }

  /** @param {number} sentAt @param {number} serverAt @param {number} now all in milliseconds, the outer two by this machine */
  pong(sentAt, serverAt, now) {
    const rtt = Math.max(0, now - sentAt);
    this.samples.push({ rtt, offset: serverAt - (sentAt + now) / 2 });
    if (this.samples.length > KEPT) this.samples.shift();
    this.offset = this.samples.reduce((best, sample) => (sample.rtt < best.rtt ? sample : best)).offset;
  }

  /** After a sleep or a change of this machine's clock old samples mislead. */
  forget() {
    this.samples = [];
  }
}
