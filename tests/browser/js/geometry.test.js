import assert from "node:assert/strict";
import { test } from "node:test";
import { areas, arrow, indexOf, nameOf, neighbours, tints } from "../../../gateway/web/js/geometry.js";

const names = (/** @type {number[]} */ cells, /** @type {number} */ n) => cells.map((i) => nameOf(i, n)).sort();

test("names and indices are each other's inverse, and what is off the field is no cell", () => {
  for (const n of [6, 9]) for (let i = 0; i < n * n; i++) assert.equal(indexOf(nameOf(i, n), n), i);
  assert.equal(nameOf(indexOf("e3", 9), 9), "e3");
  for (const bad of ["j1", "a10", "a0", "", "3e", undefined]) assert.equal(indexOf(bad, 9), -1);
});

test("neighbours as in the rules: b1 touches a2 but not c2, corners have two and three", () => {
  assert.deepEqual(names(neighbours(indexOf("a1", 9), 9), 9), ["a2", "b1"]);
  assert.equal(neighbours(indexOf("i1", 9), 9).length, 3);
  const b1 = neighbours(indexOf("b1", 4), 4);
  assert.ok(b1.includes(indexOf("a2", 4)));
  assert.ok(!b1.includes(indexOf("c2", 4)));
});

test("being neighbours is mutual", () => {
  for (let i = 0; i < 81; i++) for (const j of neighbours(i, 9)) assert.ok(neighbours(j, 9).includes(i));
});

test("every arrow key leads to a neighbour or nowhere, and opposite keys undo each other", () => {
  const pairs = [["ArrowLeft", "ArrowRight"], ["ArrowUp", "ArrowDown"]];
  for (const shift of [false, true]) {
    for (const [there, back] of pairs) {
      for (let i = 0; i < 36; i++) {
        const to = arrow(there, shift, i, 6);
        if (to < 0) continue;
        assert.ok(neighbours(i, 6).includes(to), `${there} from ${nameOf(i, 6)}`);
        assert.equal(arrow(back, shift, to, 6), i);
      }
    }
  }
});

test("a cell's areas are its row, column and block and nothing else", () => {
  const blocks = "aaabbbaaabbbcccdddcccdddeeefffeeefff";
  assert.deepEqual(
    names([...areas(0, blocks, 6)], 6),
    ["a1", "a2", "a3", "a4", "a5", "a6", "b1", "b2", "c1", "c2", "d1", "e1", "f1"].sort(),
  );
});

test("blocks that touch never share a tint, and few tints are enough", () => {
  const blocks = Array.from({ length: 81 }, (_, i) => "abcdefghi"[3 * Math.floor(i / 27) + Math.floor((i % 9) / 3)]).join("");
  const tint = tints(blocks, 9);
  for (let i = 0; i < 81; i++) {
    for (const j of neighbours(i, 9)) if (blocks[i] !== blocks[j]) assert.notEqual(tint[blocks[i]], tint[blocks[j]]);
  }
  assert.ok(Math.max(...Object.values(tint)) <= 3);
});
