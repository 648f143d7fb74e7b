"""Computer players that speak the client protocol like anybody else.

- ``brain``: ``choose(view, rng) -> action``, a pure player by deduction.
- ``player``: the connection of one bot: token, seeks, games, reconnects.
"""
