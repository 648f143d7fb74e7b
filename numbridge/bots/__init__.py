"""Computer players: clients of the public protocol like anybody else's, that see nothing but their view.

    event ─► picture ─► board ─► deduction ─► chains | majority ─► brain ─► action
                                                                     │
    numbridge bot ─► crew ─► house or seeking ─► player ─► table ─────┘
                               └─► lobby           └─► line ◄─ WebSocket ─► gateway

brain      which action to take: `choose(view, rng)`; pure
board      a view as cells, areas and owners
deduction  candidates, and what is certain
chains     what a cell is worth in Bridge and Blitz
majority   what a cell is worth in Domains
picture    a view kept up to date by a table's events
line       one connection: requests with their answers, events
club       the HTTP side: guests, rooms
table      one game being played
player     one player: comes back after a lost connection, has a table for every game
seeking    a player who looks for opponents like anybody else
lobby      open seeks as the lobby's events tell of them
house      players of the club's: whom they accept, and their exhibition games
crew       several players in one process, until a signal
"""
