"""One client's conversation, as a value that is fed and says what to do. It never waits, listens or looks at a clock.

    stimulus (a message, an answer, frames, a tick)  ->  machine.Session  ->  effects (send, ask, close)

effects   what a session may ask for, and what it gets back
machine   the session itself
talk      what it says and asks while one stimulus is handled
replies   its own events
viewing   the tables that the client views
lanes     what must be handled one after the other, and what need not
resume    one viewed table: which frames a client still lacks
limits    token buckets
lag       round trips of pings
"""
