import assert from "node:assert/strict";
import { test } from "node:test";
import { apply, entries, fromState, historyIsPartial, mayOffer } from "../../../gateway/web/js/tablestate.js";

/** @param {Partial<NB.View>} [changes] @returns {NB.View} */
function view(changes = {}) {
  return {
    room: "blitz",
    settings: { variant: "blitz", side: 6, blocks: "regular", givens: 2, claim_price: 2, highlight: true, rated: true, move_ms: 30000, game_ms: 300000 },
    players: { blue: { id: "b", name: "B" }, red: { id: "r", name: "R" } },
    blocks: "aaabbbaaabbbcccdddcccdddeeefffeeefff",
    field: `12${".".repeat(34)}`,
    givens: `12${".".repeat(34)}`,
    owners: ".".repeat(36),
    marks: [],
    to_move: "blue",
    moves_left: 1,
    hands: { blue: 3, red: 3 },
    bag: 28,
    mistakes: { blue: 0, red: 0 },
    clock: { blue_ms: 300000, red_ms: 300000, deadline_at: 1000, running: true },
    pie: false,
    you: "blue",
    hand: [3, 4, 5],
    status: "playing",
    ...changes,
  };
}

/** @param {Partial<NB.View>} [changes] */
const table = (changes) => fromState({ ev: "state", game: "g", version: 0, view: view(changes) });

/** @param {number} version @param {Record<string, any>} fields @returns {NB.Event} */
const move = (version, fields) => ({
  ev: "move", game: "g", version, by: "blue", to_move: "red", hands: { blue: 3, red: 3 }, bag: 27, mistakes: { blue: 0, red: 0 },
  clock: { blue_ms: 299000, red_ms: 300000, deadline_at: 2000, running: true }, pie: false, hand: [4, 5, 6], ...fields,
});

test("a hit opens the cell, gives it an owner, and the hand is what the event says", () => {
  const { table: after, gap, applied } = apply(table(), move(1, { kind: "place", cell: "c1", digit: 3, hit: true }), 0);
  assert.equal(gap, false);
  assert.equal(applied, true);
  assert.equal(after.view.field[2], "3");
  assert.equal(after.view.owners[2], "b");
  assert.deepEqual(after.view.hand, [4, 5, 6]);
  assert.equal(after.view.to_move, "red");
  assert.equal(after.version, 1);
});

test("a miss leaves the cell empty and marks it until the mark is old", () => {
  const { table: missed } = apply(table(), move(1, { kind: "place", cell: "c1", digit: 3, hit: false, mistakes: { blue: 1, red: 0 } }), 5000);
  assert.equal(missed.view.field[2], ".");
  assert.deepEqual(missed.view.marks, [{ cell: "c1", digit: 3, by: "blue", at: 5000 }]);
  assert.equal(missed.view.mistakes.blue, 1);
  const { table: later } = apply(missed, move(2, { by: "red", kind: "exchange", to_move: "blue" }), 15001);
  assert.deepEqual(later.view.marks, []);
});

test("claim and pie change the owner only", () => {
  const { table: claimed } = apply(table(), move(1, { kind: "claim", cell: "a1", pie: true }), 0);
  assert.equal(claimed.view.owners[0], "b");
  assert.equal(claimed.view.field, view().field);
  assert.equal(claimed.view.pie, true);
  const { table: taken } = apply(claimed, move(2, { by: "red", kind: "pie", cell: "a1", to_move: "blue" }), 0);
  assert.equal(taken.view.owners[0], "r");
  assert.equal(taken.view.pie, false);
});

test("a missing version applies nothing and says so", () => {
  const before = table();
  const { table: after, gap } = apply(before, move(2, { kind: "exchange" }), 0);
  assert.equal(gap, true);
  assert.equal(after, before);
});

test("a version seen already changes nothing but fills the move list", () => {
  const late = fromState({ ev: "state", game: "g", version: 2, view: view() });
  assert.ok(historyIsPartial(late));
  const { table: one, applied } = apply(late, move(1, { kind: "claim", cell: "a1" }), 0);
  const { table: two } = apply(one, move(2, { by: "red", kind: "exchange" }), 0);
  assert.equal(applied, false);
  assert.deepEqual(two.view, late.view);
  assert.deepEqual(entries(two).map((entry) => entry.kind), ["claim", "exchange"]);
  assert.ok(!historyIsPartial(two));
});

test("a spectator's table never gets a hand", () => {
  const watched = table({ you: undefined, hand: undefined });
  const { table: after } = apply(watched, move(1, { kind: "exchange" }), 0);
  assert.equal(after.view.hand, undefined);
});

test("in domains the move of the pair follows from who moves next", () => {
  const settings = { ...view().settings, variant: /** @type {NB.Variant} */ ("domains"), side: 6 };
  const first = apply(table({ settings }), move(1, { kind: "exchange", to_move: "red" }), 0).table;
  assert.equal(first.view.moves_left, 2);
  const second = apply(first, move(2, { by: "red", kind: "exchange", to_move: "red" }), 0).table;
  assert.equal(second.view.moves_left, 1);
});

test("offers open and close, adjourning stops the clock, resuming brings its own", () => {
  let now = apply(table(), { ev: "offer", game: "g", version: 1, kind: "adjourn", by: "blue", state: "open" }, 0).table;
  assert.deepEqual(now.view.offer, { kind: "adjourn", by: "blue" });
  now = apply(now, { ev: "offer", game: "g", version: 2, kind: "adjourn", by: "blue", state: "accepted" }, 0).table;
  assert.equal(now.view.offer, null);
  now = apply(now, { ev: "adjourned", game: "g", version: 3 }, 0).table;
  assert.equal(now.view.status, "adjourned");
  assert.equal(now.view.clock.running, false);
  const clock = { blue_ms: 1, red_ms: 2, deadline_at: 3, running: true };
  now = apply(now, { ev: "resumed", game: "g", version: 4, clock }, 0).table;
  assert.equal(now.view.status, "playing");
  assert.deepEqual(now.view.clock, clock);
});

test("over ends everything; presence and rated carry no version", () => {
  let now = apply(table(), { ev: "over", game: "g", version: 1, result: "red", reason: "resign" }, 0).table;
  assert.equal(now.view.status, "over");
  assert.equal(now.view.to_move, null);
  assert.deepEqual(now.over, { result: "red", reason: "resign", chain: null });
  now = apply(now, { ev: "presence", game: "g", blue: true, red: false, watchers: 2 }, 0).table;
  assert.deepEqual(now.presence, { blue: true, red: false, watchers: 2 });
  const change = { before: { rating: 1500, deviation: 350 }, after: { rating: 1400, deviation: 290 } };
  now = apply(now, { ev: "rated", game: "g", variant: "blitz", ...change }, 0).table;
  assert.deepEqual(now.rated, { blue: change });
  assert.equal(now.version, 1);
});

test("one offer a turn, on the own turn, and none while one is open", () => {
  let now = table();
  assert.equal(mayOffer(now), true);
  now = apply(now, { ev: "offer", game: "g", version: 1, kind: "draw", by: "blue", state: "open" }, 0).table;
  assert.equal(mayOffer(now), false);
  now = apply(now, { ev: "offer", game: "g", version: 2, kind: "draw", by: "blue", state: "declined" }, 0).table;
  assert.equal(mayOffer(now), false);
  now = apply(now, move(3, { kind: "exchange" }), 0).table;
  assert.equal(mayOffer(now), false);
  now = apply(now, move(4, { by: "red", kind: "exchange", to_move: "blue" }), 0).table;
  assert.equal(mayOffer(now), true);
});
