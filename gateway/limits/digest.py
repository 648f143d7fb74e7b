"""Addresses and players as Redis may hold them: keyed digests, so that neither can be read back."""

import hashlib
from ipaddress import IPv6Address, ip_address, ip_network


def bucket_key(address: str) -> str:
    """Whose bucket an address is: an IPv6 customer has a whole /64; IPv4 in IPv6's clothes is IPv4."""
    try:
        ip = ip_address(address.partition("%")[0])
    except ValueError:
        return address
    if isinstance(ip, IPv6Address):
        return str(ip.ipv4_mapped) if ip.ipv4_mapped is not None else str(ip_network((ip, 64), strict=False))
    return str(ip)


class Digest:
    """Makes digests under a key of the cluster's: all gateways make the same."""

    def __init__(self, key: bytes) -> None:
        """`key`: any secret that all gateways have; empty leaves the digest unkeyed."""
        self._key = hashlib.blake2b(key, digest_size=32, person=b"nb limits").digest()

    def __call__(self, text: str) -> str:
        """16 bytes of digest in hexadecimal."""
        return hashlib.blake2b(text.encode("utf-8", "surrogatepass"), key=self._key, digest_size=16).hexdigest()
