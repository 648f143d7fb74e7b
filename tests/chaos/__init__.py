"""Faults against a real cluster under load, and an auditor that trusts nobody.

    python -m tests.chaos --seconds 300 --seed 7        (or `make chaos`)

    pilot, watcher ──public protocol──► cluster ◄──signals── faults
          │                                │
          └─► ledger: all that was ever said to a client
                    └───────► audit ◄── records, profiles (HTTP, at the end)
                                └─► report

line.py       a connection that may break at any moment
pilot.py      a player who seeks, plays, and sends again what got no answer
watcher.py    a spectator
ledger.py     every acknowledgement and every event that any of them got
faults.py     the kinds of fault, and the seeded order in which they come
processes.py  the cluster's processes: their ids, signals, readiness
audit.py      pure: what was promised, against what the records say
stalls.py     how long players waited, and what for
report.py     the tables
run.py        all of it together
"""
