import assert from "node:assert/strict";
import { test } from "node:test";
import { backoff } from "../../../gateway/web/js/backoff.js";
import { blockOwners, candidates, claimCost, claimable } from "../../../gateway/web/js/candidates.js";
import { shortestChain } from "../../../gateway/web/js/chain.js";
import { ClockSync } from "../../../gateway/web/js/clocksync.js";
import { readClock, readable } from "../../../gateway/web/js/clocktime.js";
import { indexOf } from "../../../gateway/web/js/geometry.js";
import { pick } from "../../../gateway/web/js/i18n.js";
import { applySeeks, inOrder, isBot } from "../../../gateway/web/js/lobbystate.js";
import { parseHash } from "../../../gateway/web/js/route.js";

/** @param {string[]} cells @param {string} letter @param {number} n */
const owned = (cells, letter, n) =>
  Array.from({ length: n * n }, (_, i) => (cells.map((cell) => indexOf(cell, n)).includes(i) ? letter : ".")).join("");

test("the chain of the rules connects, and without a3 it does not", () => {
  const cells = ["b1", "b2", "a3", "a4"];
  assert.deepEqual(shortestChain(owned(cells, "b", 4), "blue", 4), cells.map((cell) => indexOf(cell, 4)));
  assert.deepEqual(shortestChain(owned(["b1", "b2", "a4"], "b", 4), "blue", 4), []);
  assert.deepEqual(shortestChain(owned(cells, "b", 4), "red", 4), []);
  assert.equal(shortestChain(owned(["a2", "b2", "c2", "d1"], "r", 4), "red", 4).length, 4);
});

test("candidates are the empty cells whose row, column and block lack the digit", () => {
  const blocks = "aabbaabbccddccdd";
  const field = `1${".".repeat(15)}`;
  const found = candidates({ field, blocks }, 1, 4);
  assert.deepEqual([...found].sort((a, b) => a - b), [6, 7, 9, 10, 11, 13, 14, 15]);
  assert.equal(candidates({ field, blocks }, 2, 4).size, 15);
});

test("unowned givens can be claimed, at the price the hand can pay", () => {
  assert.deepEqual([...claimable({ givens: "1.2.", owners: "b..." })], [2]);
  assert.deepEqual([claimCost(1, 3), claimCost(2, 3), claimCost(2, 1), claimCost(2, 0)], [1, 2, null, 0]);
});

test("a block belongs to whoever has more than half of it", () => {
  const blocks = "aaaabbbbccccdddd";
  assert.deepEqual(blockOwners({ blocks, owners: "bbb.bb..rrrrr..." }, 4), { a: "blue", c: "red" });
});

test("the running clock takes time off the move and the mover's bank alike", () => {
  const view = /** @type {any} */ ({
    settings: { move_ms: 30000 }, to_move: "blue",
    clock: { blue_ms: 100000, red_ms: 90000, deadline_at: 50000, running: true },
  });
  assert.deepEqual(readClock(view, 30000), { blue: 90000, red: 90000, move: 20000, share: 20 / 30 });
  assert.equal(readClock(view, 60000).move, 0);
  assert.equal(readClock(view, 60000).blue, 70000);
  assert.equal(readClock(view, 0).move, 30000);
});

test("a bank shorter than the move limit is the limit", () => {
  const view = /** @type {any} */ ({
    settings: { move_ms: 30000 }, to_move: "red",
    clock: { blue_ms: 100000, red_ms: 5000, deadline_at: 50000, running: true },
  });
  assert.deepEqual(readClock(view, 47000), { blue: 100000, red: 3000, move: 3000, share: 0.6 });
});

test("a stopped clock stands", () => {
  const view = /** @type {any} */ ({
    settings: { move_ms: 30000 }, to_move: "red", clock: { blue_ms: 1000, red_ms: 5000, deadline_at: null, running: false },
  });
  assert.deepEqual(readClock(view, 47000), { blue: 1000, red: 5000, move: null, share: 1 });
});

test("durations read as clocks do", () => {
  assert.deepEqual([readable(754_000), readable(60_000), readable(9_940), readable(0)], ["12:34", "1:00", "0:09.9", "0:00.0"]);
  assert.deepEqual([readable(9_100, false), readable(0, false)], ["0:10", "0:00"]);
});

test("the offset comes from the pong with the shortest way", () => {
  const sync = new ClockSync();
  sync.guess(5000, 1000);
  assert.equal(sync.offset, 4000);
  sync.pong(1000, 5300, 1400);
  assert.equal(sync.offset, 4100);
  sync.pong(2000, 6060, 2040);
  assert.equal(sync.offset, 4040);
  sync.pong(3000, 7900, 3900);
  assert.equal(sync.offset, 4040);
});

test("waits double up to eight seconds and are never all alike", () => {
  assert.equal(backoff(0, () => 1), 250);
  assert.equal(backoff(3, () => 1), 2000);
  assert.equal(backoff(50, () => 1), 8000);
  assert.equal(backoff(50, () => 0), 4000);
});

test("the browser's languages are followed as far as there is a catalogue", () => {
  assert.equal(pick(["fr-FR", "nl-BE", "en"]), "nl");
  assert.equal(pick(["el"]), "el");
  assert.equal(pick(["fr"]), "en");
});

test("a snapshot of seeks replaces what was there: no ghosts", () => {
  const seek = (/** @type {string} */ id, since = 0, player = "p") => /** @type {NB.Seek} */ (/** @type {unknown} */ ({ seek: id, room: "bridge", player: { id: player, name: player }, since }));
  let seeks = applySeeks({}, { ev: "seeks", seeks: [seek("a", 2), seek("b", 1)] });
  seeks = applySeeks(seeks, { ev: "seek_added", seek: seek("c", 3, "me") });
  assert.deepEqual(inOrder(seeks, "me").map((item) => item.seek), ["c", "b", "a"]);
  seeks = applySeeks(seeks, { ev: "seek_removed", seek: "a" });
  assert.equal(applySeeks(seeks, { ev: "seek_removed", seek: "gone" }), seeks);
  seeks = applySeeks(seeks, { ev: "seeks", seeks: [seek("d")] });
  assert.deepEqual(Object.keys(seeks), ["d"]);
  assert.ok(isBot({ id: "house-3", name: "Ada" }) && isBot({ id: "x", name: "House bot 2" }) && !isBot({ id: "x", name: "Housebotham" }));
});

test("addresses name pages; what is unknown is the lobby", () => {
  assert.deepEqual(parseHash("#/game/2a-x7"), { name: "game", params: ["2a-x7"] });
  assert.deepEqual(parseHash("#/player/a%2Fb"), { name: "player", params: ["a/b"] });
  assert.deepEqual(parseHash("#/player/%"), { name: "player", params: ["%"] });
  for (const hash of ["", "#/", "#/game", "#/game/", "#/nowhere/1"]) assert.equal(parseHash(hash).name, "lobby");
});
