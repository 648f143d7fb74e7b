"""What the gateway is told by NUMBRIDGE_* variables."""

from dataclasses import dataclass
from ipaddress import ip_network

from numbridge.settings import PREFIX, CommonSettings
from numbridge.tokens import KeyRing, TokenError


@dataclass(frozen=True, kw_only=True)
class Settings(CommonSettings):
    """Everything a gateway can be told."""

    port: int = 8080  # public; several gateways of a machine share it; 0: any free port
    own_port: int = -1  # one more that this gateway alone listens on; 0: any free port, -1: none
    lobby_addr: str = "127.0.0.1:7100"  # host:port, several separated by commas
    ratings_addr: str = "127.0.0.1:7200"  # host:port, several separated by commas

    token_key: str = ""  # shared keys for HS256, separated by commas; the first signs, all verify
    token_key_file: str = ""  # the same from a file, one a line
    token_audience: str = ""  # a token must name it, if set
    token_leeway_ms: int = 30_000  # clock skew that is forgiven
    guest_token_ms: int = 30 * 86_400_000  # how long a guest's token lasts
    jwks: str = ""  # file or http(s) URL with the identity provider's public keys
    jwks_issuer: str = ""  # tokens signed by those keys must name it as issuer, if set
    jwks_refresh_ms: int = 600_000  # how often a URL is fetched again; sooner for an unknown key id
    guests: bool = True  # off: POST /api/guests is forbidden

    origins: tuple[str, ...] = ()  # further origins whose pages may open a socket, like https://club.example
    trusted_proxies: tuple[str, ...] = ()  # addresses or networks whose X-Forwarded-For is believed
    web_dir: str = ""  # other folder with the web client's files

    call_timeout_ms: int = 4_000  # one call to the lobby or the ratings service
    table_deadline_ms: int = 12_000  # a command to a table, failovers included; then `unavailable`
    link_timeout_ms: int = 4_000  # one answer on a link; then the link is taken for dead and the command retried
    link_queue: int = 10_000  # commands on one link without an answer; beyond it `unavailable`
    requests_per_connection: int = 32  # under way or waiting; beyond it the socket is not read

    request_ms: int = 20_000  # an HTTP request that has not come whole by then is cut off, as is an idle connection
    hello_ms: int = 15_000  # a socket that has not said hello by then is closed
    ping_ms: int = 5_000  # between pings of one socket; more often measures lag better
    tcp_bounds_lag: bool = True  # lag is credited as far as TCP measures it too; off if untrusted proxies stand between
    dead_ms: int = 25_000  # a socket that has not been heard of for so long is closed
    outbox_soft_bytes: int = 131_072  # waiting for a slow watcher: from here frames are dropped for a fresh state
    outbox_hard_bytes: int = 524_288  # waiting for anybody: from here the socket is closed
    games_per_connection: int = 200  # joined at the same time
    connections: int = 20_000  # sockets in all; beyond it 503
    connections_per_address: int = 2_000  # sockets of one address at the same time; a school may share one

    limits_shared: bool = True  # rates by address, by player and in all are counted in Redis, for all gateways together
    limits_wait_ms: int = 150  # how long Redis may take for one; then this gateway's own count decides

    # Rates: `<what>_burst` at once, `<what>_per_minute` in the long run. Wide where an address may be a school's.
    message_burst: int = 200  # messages of one connection
    message_per_minute: int = 3_000
    byte_burst: int = 400_000  # bytes of one connection's messages
    byte_per_minute: int = 2_000_000
    player_burst: int = 400  # messages of one player, all connections
    player_per_minute: int = 6_000
    seek_burst: int = 30  # seeks, accepts, cancels and rematches of one player
    seek_per_minute: int = 120
    join_burst: int = 240  # joins of one player
    join_per_minute: int = 600
    connect_burst: int = 500  # sockets opened by one address
    connect_per_minute: int = 1_200
    connect_all_burst: int = 20_000  # sockets opened by everybody
    connect_all_per_minute: int = 60_000
    guest_burst: int = 300  # guests made by one address
    guest_per_minute: int = 300
    guest_all_burst: int = 5_000  # guests made by everybody
    guest_all_per_minute: int = 6_000
    http_burst: int = 600  # API calls of one address
    http_per_minute: int = 3_000
    hello_burst: int = 60  # hellos of one address that failed
    hello_per_minute: int = 60
    bad_burst: int = 20  # bad messages of one connection; beyond it the socket is closed
    bad_per_minute: int = 20

    def ring(self) -> KeyRing | None:
        """The shared keys; None where only an identity provider signs."""
        if not self.token_key and not self.token_key_file:
            return None
        return KeyRing.load(self.token_key, self.token_key_file)

    def check(self) -> list[str]:
        """Problems of single values and of their combinations; empty if all is well."""
        problems = CommonSettings.check(self)
        for field, least in (("port", 0), ("own_port", -1)):
            if not least <= getattr(self, field) <= 65_535:
                problems.append(f"{PREFIX}{field.upper()} is {getattr(self, field)}; it must be {least} to 65535")
        if self.port and self.port == self.own_port:
            problems.append(f"{PREFIX}OWN_PORT is the same as {PREFIX}PORT; the own port is for this gateway alone")
        problems += self._check_keys()
        for entry in self.trusted_proxies:
            try:
                ip_network(entry, strict=False)
            except ValueError:
                problems.append(f"{PREFIX}TRUSTED_PROXIES holds {entry!r}; it must be an address or a network")
        for field in _POSITIVE:
            if getattr(self, field) < 1:
                problems.append(f"{PREFIX}{field.upper()} is {getattr(self, field)}; it must be at least 1")
        if self.outbox_soft_bytes >= self.outbox_hard_bytes:
            problems.append(f"{PREFIX}OUTBOX_SOFT_BYTES must be below {PREFIX}OUTBOX_HARD_BYTES")
        if self.dead_ms < 2 * self.ping_ms:
            problems.append(f"{PREFIX}DEAD_MS must be at least twice {PREFIX}PING_MS, or healthy sockets are closed")
        if self.link_timeout_ms > self.table_deadline_ms:
            problems.append(f"{PREFIX}LINK_TIMEOUT_MS must not be above {PREFIX}TABLE_DEADLINE_MS")
        if self.bad_burst < 10:
            problems.append(f"{PREFIX}BAD_BURST is {self.bad_burst}; at least 10 bad messages a minute are answered")
        return problems

    def _check_keys(self) -> list[str]:
        problems = []
        if not (self.token_key or self.token_key_file or self.jwks):
            problems.append(f"set {PREFIX}TOKEN_KEY, {PREFIX}TOKEN_KEY_FILE or {PREFIX}JWKS: nobody could log in")
        try:
            ring = self.ring()
        except TokenError as error:
            return [*problems, f"{PREFIX}TOKEN_KEY: {error}"]
        except (OSError, UnicodeDecodeError) as error:
            return [*problems, f"{PREFIX}TOKEN_KEY_FILE can't be read: {error}"]
        if ring is None and self.guests and self.jwks:
            problems.append(f"guests need {PREFIX}TOKEN_KEY to sign their tokens; set it, or {PREFIX}GUESTS=off")
        return problems


_POSITIVE = (
    "call_timeout_ms", "table_deadline_ms", "link_timeout_ms", "link_queue", "requests_per_connection", "hello_ms",
    "request_ms", "ping_ms", "dead_ms", "outbox_soft_bytes", "games_per_connection", "connections",
    "connections_per_address",
    "guest_token_ms", "jwks_refresh_ms", "message_burst", "message_per_minute", "player_burst", "player_per_minute",
    "seek_burst", "seek_per_minute", "join_burst", "join_per_minute", "connect_burst", "connect_per_minute",
    "guest_burst", "guest_per_minute", "connect_all_burst", "connect_all_per_minute", "guest_all_burst",
    "guest_all_per_minute", "limits_wait_ms", "byte_burst", "byte_per_minute", "http_burst", "http_per_minute",
    "hello_burst", "hello_per_minute", "bad_burst", "bad_per_minute",
)  # fmt: skip
