// Steps through a game record (numbridge.record/1) for display. It trusts the record: the server has checked it.
import { indexOf } from "./geometry.js";
import { other } from "./tablestate.js";

/** @param {string} text @param {number} index @param {string} letter */
const put = (text, index, letter) => text.slice(0, index) + letter + text.slice(index + 1);

/** @param {number[]} hand @param {number[]} tiles */
function without(hand, tiles) {
  const rest = [...hand];
  for (const tile of tiles) {
    const at = rest.indexOf(tile);
    if (at >= 0) rest.splice(at, 1);
  }
  return rest;
}

/**
 * Every position of a record, the deal first.
 * @param {NB.GameRecord} record @returns {NB.Position[]}
 */
export function positions(record) {
  const { deal, settings, hands } = record;
  const empty = [...deal.givens].filter((letter) => letter === ".").length;
  /** @type {NB.Position} */
  let now = {
    ply: 0,
    field: deal.givens,
    owners: ".".repeat(settings.side ** 2),
    hands: { blue: [...hands.blue], red: [...hands.red] },
    bag: empty - hands.blue.length - hands.red.length,
    mistakes: { blue: 0, red: 0 },
    miss: null,
    move: null,
    toMove: "blue",
    movesLeft: 1,
  };
  const all = [now];
  for (const move of record.moves) {
    now = after(now, move, settings);
    all.push(now);
  }
  return all;
}

/**
 * @param {NB.Position} before @param {NB.RecordMove} move @param {NB.Settings} settings
 * @returns {NB.Position}
 */
function after(before, move, settings) {
  const index = indexOf(move.cell, settings.side);
  const letter = move.by === "blue" ? "b" : "r";
  let { field, owners, bag } = before;
  let hand = before.hands[move.by];
  const mistakes = { ...before.mistakes };
  let miss = null;
  const tile = move.tile ?? 0;
  if (move.kind === "place") {
    hand = without(hand, [tile]);
    if (move.hit) {
      field = put(field, index, String(tile));
      owners = put(owners, index, letter);
    } else {
      mistakes[move.by]++;
      bag++;
      miss = { cell: String(move.cell), digit: tile };
    }
  } else if (move.kind === "claim") {
    owners = put(owners, index, letter);
    hand = without(hand, move.paid ?? []);
    bag += move.paid?.length ?? 0;
  } else if (move.kind === "exchange") {
    bag += hand.length;
    hand = [];
  } else if (move.kind === "pie") {
    owners = put(owners, index, letter);
  }
  hand = [...hand, ...move.drew];
  const endsPair = settings.variant !== "domains" || before.movesLeft <= 1 || move.kind === "burn" || move.kind === "pass";
  return {
    ply: before.ply + 1,
    field,
    owners,
    hands: { ...before.hands, [move.by]: hand },
    bag: bag - move.drew.length,
    mistakes,
    miss,
    move,
    toMove: endsPair ? other(move.by) : move.by,
    movesLeft: settings.variant !== "domains" ? 1 : endsPair ? 2 : before.movesLeft - 1,
  };
}
