// The gateway's HTTP calls.

export class ApiError extends Error {
  /** @param {number} status @param {string} code @param {string} message */
  constructor(status, code, message) {
    super(message);
    this.status = status;
    this.code = code;
  }
}

/** @param {string} path @param {RequestInit} [init] @returns {Promise<any>} */
async function call(path, init = {}) {
  let answer;
  try {
    answer = await fetch(path, { ...init, signal: AbortSignal.timeout(10_000) });
  } catch {
    throw new ApiError(0, "unavailable", "no answer");
  }
  let body = null;
  try {
    body = await answer.json();
  } catch {
    // an answer without JSON is judged by its status alone
  }
  if (answer.ok && body !== null) return body;
  throw new ApiError(answer.status, body?.error?.code ?? "unavailable", body?.error?.message ?? "");
}

const id = encodeURIComponent;

/** @param {string | null} name @returns {Promise<{token: string, player: NB.Player}>} */
export const createGuest = (name) =>
  call("api/guests", {
    method: "POST",
    headers: { "Content-Type": "application/json" },
    body: JSON.stringify(name ? { name } : {}),
  });

/** @returns {Promise<NB.Room[]>} */
export const rooms = async () => (await call("api/rooms")).rooms;

/** @returns {Promise<NB.Seek[]>} */
export const seeks = async () => (await call("api/seeks")).seeks;

/** @returns {Promise<NB.LiveGame[]>} */
export const games = async () => (await call("api/games?limit=50")).games;

/** @param {string} player @returns {Promise<NB.Profile>} */
export const player = (player) => call(`api/players/${id(player)}`);

/** @param {string} player @param {string} [before] @returns {Promise<{games: NB.PlayedGame[], next?: string}>} */
export const playerGames = (player, before) =>
  call(`api/players/${id(player)}/games?limit=20${before ? `&before=${id(before)}` : ""}`);

/** @param {string} variant @returns {Promise<NB.Leader[]>} */
export const leaderboard = async (variant) => (await call(`api/leaderboard/${id(variant)}?limit=20`)).players;

/** @param {string} game @returns {Promise<NB.GameRecord>} */
export const record = (game) => call(`api/games/${id(game)}/record`);

/** Public view of a game. @param {string} game @returns {Promise<{game: string, version: number, view: NB.View}>} */
export const game = (game) => call(`api/games/${id(game)}`);
