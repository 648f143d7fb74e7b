// What the server says of a refusal, in English, told apart so that it can be said in any language.

/** @type {[key: string, pattern: RegExp][]} */
const SAID = [
  ["cell_closed", /^a tile can only be placed on an empty cell$/],
  ["no_tile", /^there is no (?<tile>\d) in the mover's hand$/],
  ["claim_given", /^only a given can be claimed$/],
  ["claim_owned", /^a given that has an owner/],
  ["claim_price", /^a claim costs (?<n>\d) tiles/],
  ["claim_choose", /^choose the tile that the claim costs$/],
  ["bag_empty", /the bag is empty$/],
  ["pie_late", /^the first cell can only be taken right after/],
  ["adjourned", /^the game is adjourned/],
  ["not_adjourned", /^the game is not adjourned$/],
  ["offer_open", /^there is an open offer already$/],
  ["offer_once", /^only one offer can be made in a turn$/],
  ["offer_none", /^there is no open offer/],
  ["offer_own", /^one's own offer cannot be answered$/],
  ["resume_asked", /^you have asked to resume already/],
  ["givens", /^`givens` .*(?:limits, |allows )(?<limits>\d+(?: to \d+)?)/],
  ["blocks", /^`blocks` \w+ cannot be had/],
  ["account", /^this room is for players with an account$/],
  ["own_seek", /^that seek is your own/],
  ["rating", /^that seek is for ratings (?<range>[^;]+); yours is (?<rating>\d+)$/],
  ["just_met", /^you two have just met/],
  ["elsewhere", /^your opponent is playing another game$/],
  ["blocked", /one has blocked the other$/],
  ["playing", /^you have a game under way/],
  ["too_early", /^that game is not over yet/],
  ["muted", /^an operator has muted you: you may not seek until (?<until>[\d: -]+) UTC$/],
  ["closed", /^this room is closed for new seeks/],
];

/**
 * Which sentence it is, and what it names; null for one that players do not meet on this page.
 * @param {string} sentence @returns {{key: string, params: Record<string, string>} | null}
 */
export function said(sentence) {
  for (const [key, pattern] of SAID) {
    const found = pattern.exec(sentence);
    if (found) return { key: `said.${key}`, params: { ...found.groups } };
  }
  return null;
}
