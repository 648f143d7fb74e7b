// Shapes of the protocol and of the client's own values, for the type check only.

declare namespace NB {
  type Color = "blue" | "red";
  type Variant = "bridge" | "blitz" | "domains";
  type Lang = "en" | "de" | "nl" | "el";
  type PerColor<T> = { blue: T; red: T };

  interface Settings {
    variant: Variant;
    side: number;
    blocks: "regular" | "irregular";
    givens: number;
    claim_price: number;
    highlight: boolean;
    rated: boolean;
    move_ms: number;
    game_ms: number;
  }

  interface Player {
    id: string;
    name: string;
    rating?: number | null;
  }

  interface Clock {
    blue_ms: number;
    red_ms: number;
    deadline_at: number | null;
    running: boolean;
  }

  interface Mark {
    cell: string;
    digit: number;
    by: Color;
    at: number;
  }

  interface Offer {
    kind: "draw" | "adjourn" | "resume";
    by: Color;
  }

  interface Last {
    by: Color;
    kind: string;
    cell?: string;
    digit?: number;
    hit?: boolean;
  }

  interface View {
    room: string;
    settings: Settings;
    players: PerColor<Player>;
    blocks: string;
    field: string;
    givens: string;
    owners: string;
    marks: Mark[];
    to_move: Color | null;
    moves_left: number;
    hands: PerColor<number>;
    bag: number;
    mistakes: PerColor<number>;
    clock: Clock;
    pie: boolean;
    offer?: Offer | null;
    last?: Last | null;
    you?: Color;
    hand?: number[];
    status: "playing" | "adjourned" | "over";
    result?: string | null;
    reason?: string | null;
    chain?: string[] | null;
  }

  /** Any event of the server's; the reducers pick out what they know. */
  interface Event {
    ev: string;
    ref?: string;
    [field: string]: any;
  }

  interface Seek {
    seek: string;
    room: string;
    player: Player;
    blocks: string;
    givens: number | [number, number] | "any";
    highlight: boolean | "any";
    rated: boolean | "any";
    rating?: [number, number] | null;
    since: number;
  }

  interface Room {
    id: string;
    name: string;
    variant: Variant;
    side: number;
    givens: { min: number; max: number; default: number };
    claim_price: number;
    move_ms: number;
    game_ms: number;
    highlight: boolean;
    rated: boolean;
    waiting: number;
    playing: number;
  }

  interface RatingLine {
    rating: number;
    deviation: number;
    volatility?: number;
    games?: number;
  }

  interface Profile {
    id: string;
    name: string;
    ratings: Partial<Record<Variant, RatingLine>>;
    games: { won: number; lost: number; drawn: number };
  }

  interface PlayedGame {
    game: string;
    room: string;
    variant: Variant;
    opponent: Player;
    color: Color;
    result: string;
    reason: string;
    ended_at: number;
  }

  interface LiveGame {
    game: string;
    room: string;
    settings?: Settings;
    players: PerColor<Player>;
    started_at?: number;
  }

  interface Leader {
    rank: number;
    id: string;
    name: string;
    rating: number;
    deviation: number;
    games: number;
  }

  /** An entry of the move list, from a `move`, `offer` or `over` event, or from a record. */
  interface Entry {
    version: number;
    kind: string;
    by?: Color;
    cell?: string;
    digit?: number;
    hit?: boolean;
    state?: string;
  }

  interface Over {
    result: string;
    reason: string;
    chain: string[] | null;
  }

  interface RatingChange {
    before: { rating: number; deviation: number };
    after: { rating: number; deviation: number };
  }

  /** What a client knows of a table: the server's view, kept up to date event by event. */
  interface Table {
    game: string;
    version: number;
    view: View;
    history: Record<number, Entry>;
    presence: { blue: boolean; red: boolean; watchers: number } | null;
    over: Over | null;
    rated: Partial<PerColor<RatingChange>> | null;
  }

  interface Action {
    kind: string;
    cell?: string;
    tile?: number;
  }

  interface RecordMove {
    by: Color;
    kind: "place" | "claim" | "exchange" | "pie" | "burn" | "pass";
    cell?: string;
    tile?: number;
    hit?: boolean;
    paid?: number[];
    drew: number[];
    used_ms?: number;
    at?: number;
  }

  interface GameRecord {
    format: string;
    game?: string;
    room?: string;
    settings: Settings;
    players?: PerColor<Player>;
    deal: { blocks: string; solution: string; givens: string };
    hands: PerColor<number[]>;
    moves: RecordMove[];
    end?: { result: string; reason: string };
    started_at?: number;
    ended_at?: number;
  }

  /** One position of a record, for display. */
  interface Position {
    ply: number;
    field: string;
    owners: string;
    hands: PerColor<number[]>;
    bag: number;
    mistakes: PerColor<number>;
    miss: { cell: string; digit: number } | null;
    move: RecordMove | null;
    toMove: Color;
    movesLeft: number;
  }

  /** What the board draws. */
  interface BoardModel {
    field: string;
    givens: string;
    owners: string;
    marks: Mark[];
    now: number;
    candidates: Set<number>;
    claimable: Set<number>;
    lit: Set<number>;
    focus: number;
    armed: number;
    pending: { index: number; digit: number | null; by: Color } | null;
    ghost: number | null;
    last: number;
    chain: number[];
    won: Record<string, Color>;
    active: boolean;
  }
}
