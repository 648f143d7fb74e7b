"""Load: players at the least cost, and the search for how many games a deployment holds.

    search     which level to try next, and when it is found: pure
    strategy   what a load player plays: pure
    tally      what was measured at one level: pure
    player     one socket that seeks, plays and seeks again
    crowd      as many players as a level asks for
    usage      what the deployment's processes used meanwhile
    run        one level after the other
    report     JSON and a page with plots

It speaks the public protocol alone. Needs the extra `load`.
"""
