"""The gateway: sockets, sessions, the JSON API and the web client. It holds no rule of the game.

    client --WebSocket--> connection -> session (pure) --requests--> backend -> tables / lobby / ratings
    client <---frames---- outbox    <-- session        <--frames---- hub <- NATS view.<game>.<seat>

main        the process
wiring      everything, in dependency order
settings    NUMBRIDGE_* variables
ports       what the gateway needs of the rest of the cluster
metrics     every number it shows
session/    one client's conversation, without any input or output
connection  one socket: reads, feeds the session, does what it says
backend     carries out a session's requests
hub         viewers of a game and seat; one subscription for all of them
seekboard   seek lists of rooms and those who watch them
players     who is connected here; notices; what the lobby is told
presence    how many viewers each table has here
tables      finds the worker that owns a game and talks to it, through failovers
outbox      what waits to be written to one socket, and what happens when it is too much
fanout      many watchers of a list, told a slice at a time
announcements  what an operator says to everybody
auth        who a token stands for
keeper      pings, lag, deadlines of sockets
http/       the JSON API, the web client's files, the way into a socket
adapters/   gRPC and NATS behind the ports
"""
