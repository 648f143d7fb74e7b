"""Limits by address and player that all gateways share, and what they notice on the way.

gate      one limit: this gateway's own buckets, and behind them the shared ones
gates     every such limit
digest    addresses and players as Redis may hold them
houses    games whose two seats are held from one address

Two steps, so that a flood never reaches Redis: this gateway's own bucket refuses first; what it lets through is asked
of the bucket in Redis. While Redis does not answer in time, the own buckets alone decide (and it is not asked again
for a moment): with N gateways a limit is then N times as wide, and nobody is turned away for want of Redis.
Messages, bytes and actions at tables are limited in the session, without any question to anybody: see session/limits.
"""
