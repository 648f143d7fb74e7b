"""Free ports that stay this cluster's while its processes come and go.

They lie below the range that the system hands out for connections, so nothing
takes one by chance while a process is being restarted. Clusters side by side
keep out of each other's way by UDP sockets of the same numbers, which end with
the process that holds them.

Ports       those of a cluster's inner services
PublicPort  the one that the gateways share
"""

import errno
import random
import socket

_FIRST, _LAST = 20_000, 31_999
_TRIES = 2_000
HOST = "127.0.0.1"


class PortTaken(OSError):
    """Somebody listens there."""


class Ports:
    """Hands out free ports and keeps them until `close`."""

    def __init__(self) -> None:
        self._kept: list[socket.socket] = []

    def take(self) -> int:
        """A port that nobody listens on and no other cluster keeps. Raises OSError if none is found."""
        for _ in range(_TRIES):
            port = random.randint(_FIRST, _LAST)
            keeper = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
            try:
                keeper.bind((HOST, port))
                _check_free(HOST, port)
            except OSError:
                keeper.close()
                continue
            self._kept.append(keeper)
            return port
        raise OSError(errno.EADDRNOTAVAIL, f"no free port from {_FIRST} to {_LAST}")

    def close(self) -> None:
        """Lets them go."""
        for keeper in self._kept:
            keeper.close()
        self._kept.clear()


class PublicPort:
    """A port that the gateways may share, held against everyone else by a socket that never listens."""

    def __init__(self, host: str, port: int) -> None:
        """`port` 0 picks a free one. Raises PortTaken, or OSError for a host that is not this machine's."""
        if port:
            _check_free(host, port)
        self._holder = socket.socket(socket.AF_INET6 if ":" in host else socket.AF_INET, socket.SOCK_STREAM)
        self._holder.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEPORT, 1)
        try:
            self._holder.bind((host, port))
        except OSError:
            self._holder.close()
            raise
        self.port: int = self._holder.getsockname()[1]

    def close(self) -> None:
        """Lets it go."""
        self._holder.close()


def _check_free(host: str, port: int) -> None:
    """Raises PortTaken unless a server could listen there on its own."""
    with socket.socket(socket.AF_INET6 if ":" in host else socket.AF_INET, socket.SOCK_STREAM) as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)  # old connections that linger do not count
        try:
            probe.bind((host, port))
            probe.listen(1)
        except OSError as error:
            if error.errno == errno.EADDRINUSE:
                raise PortTaken(errno.EADDRINUSE, f"port {port} is in use") from None
            raise
