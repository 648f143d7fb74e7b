"""Fuzzing: whatever bytes come, nothing but the refusals that are meant to come.

    engine    mutates inputs, keeps those that reach new lines (coverage-guided), notices crashes, hangs and growth
    targets   what is fed: client frames, tokens, records, the rooms file, the log, messages of the bus
    seeds     well-formed inputs to begin with
    corpus/   inputs that once reached something new, and every one that ever broke something

`make fuzz SECONDS=600` (or `python -m tests.fuzz --seconds 600 [--target log]`) fuzzes each target for its share.
"""
