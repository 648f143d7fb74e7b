"""The game itself, pure: no clock, no dice, no I/O; time and luck are arguments.

command ─► decide(state, command, now, dice) ─► events ─► evolve(state, event) ─► state
             │ may refuse: Refused                          │ never refuses
             └ dice.below(n) is the only luck               ├─► view(state, seat, now)      the picture for a viewer
                                                            ├─► frames(game, event, state)  an event for each viewer
                                                            └─► deadline(state)             when to ask the clock

seats       the two sides, as numbers and as colours
decided     every choice that the rules leave open, each in one line
settings    what a game is played under; its players; its deal
geometry    cells of a rhombus: names, neighbours, sides
blocks      block layouts: regular, connected, masks
field       a deal as sets of cells, with the rules that hold on it
dice, draw  luck, and the tiles it brings
commands    what may be asked of a game
events      what may happen to it
errors      why a command is refused
position    the board, bag and hands, and how a move changes them
legal       which moves a position allows
goals       chains and majorities
state       a position with its clocks, offers and status
opening     a deal becomes a game
decide      the answer to a command; decide_move, decide_offer, ending: its parts
evolve      the effect of an event
clock       deadlines and used time, derived from the state
views       the whole picture for one viewer
frames      one event for each viewer
record      `numbridge.record/1`, built from events; record_json, record_shape: parsed; record_check: checked
summary, picture   a record's position in figures and for eyes
"""
