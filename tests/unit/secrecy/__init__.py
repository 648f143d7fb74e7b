"""Secrecy as a property: nothing that a viewer gets depends on what is kept from him.

    course    a random game at a table, as a script that can be run again
    hall      one world: a table with everything that hears of it, every way out tapped
    flips     the same public history with another secret: a hidden tile, two digits of the solution
    compare   runs the script in both worlds; what others were given must agree byte for byte

`python -m tests.unit.secrecy --games 5000` does it for as many games as wanted.
"""
