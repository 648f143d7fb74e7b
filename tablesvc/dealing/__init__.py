"""Deals: a block layout, a full field, and just as many givens as asked, with exactly one solution. Pure, no
I/O.

    layout.py   block layouts          ─┐
    field.py    full fields             ├─► dealer.py   deal(side, blocks, givens, seed)
    digging.py  taking cells away      ─┘
    cover.py    the field as an exact cover in one integer
    search.py   depth-first search over it
    solver.py   questions about fields written as text: solve, has_unique_solution
    dice.py     randomness that is the same on every machine
    errors.py   what can be refused
"""
