"""Ratings as pure arithmetic: no clock, no database, no dice.

glicko2.py   the published formulas: one player, one period of games
rules.py     what this game makes of them: a game is a period, days idle widen the deviation
"""
