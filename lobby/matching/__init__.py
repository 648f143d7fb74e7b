"""Matching: seeks in, pairs out. Pure: time and coins are arguments.

seek        what a player looks for; a wish checked against a room's limits
rules       the hard rules: which two seeks may meet at all
tolerance   the soft rule: how far apart ratings may lie after how long a wait
index       finds partners without looking at those who do not fit
pool        the open seeks of one room: add, remove, pairs
settle      the values that both accept
"""
