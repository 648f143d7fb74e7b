"""Makes what a cluster's insides know each other by: an authority, a certificate a role, passwords.

What is there already is kept, so that a second call renews only what was taken away: delete a role's two files to
give it a new certificate, `ca.key` and `ca.pem` to begin anew with all of them.

    DIR/ca.pem, ca.key              signs the others; the key is needed for nothing else
    DIR/ROLE.pem, ROLE.key          what ROLE shows; the common name is the role
    DIR/passwords.env               NUMBRIDGE_NATS_PASSWORD_ROLE and NUMBRIDGE_REDIS_PASSWORD_ROLE
    DIR/redis-users.acl             Redis' users with those passwords
"""

import os
import secrets
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from ipaddress import ip_address
from pathlib import Path

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import ExtendedKeyUsageOID, NameOID

from numbridge.trust import ROLES, SERVERS, host_of, redis_users

VALID_DAYS = 825  # of a certificate; of the authority twice as long
_SLACK = timedelta(minutes=5)  # clocks differ

Key = ec.EllipticCurvePrivateKey


@dataclass(frozen=True, slots=True)
class Trust:
    """Paths and passwords of one cluster."""

    folder: Path
    nats: dict[str, str]
    """Passwords by role."""
    redis: dict[str, str]

    @property
    def ca(self) -> Path:
        """Whom everybody trusts."""
        return self.folder / "ca.pem"

    def certificate(self, role: str) -> Path:
        """What the role shows."""
        return self.folder / f"{role}.pem"

    def key(self, role: str) -> Path:
        """The certificate's key."""
        return self.folder / f"{role}.key"


def issue(folder: Path, hosts: Iterable[str] = ()) -> Trust:
    """Makes what is missing in `folder`, readable by its owner alone. Raises OSError, ValueError.

    `hosts`: names and addresses at which services are reached; localhost and the names of the shipped manifests
    are always among them. A star stands for the first label.
    """
    folder.mkdir(parents=True, exist_ok=True, mode=0o700)
    named = [*dict.fromkeys(("localhost", "127.0.0.1", "::1", *hosts))]
    authority = _authority(folder)
    for role in (*ROLES, *SERVERS):
        if not (folder / f"{role}.pem").exists() or not (folder / f"{role}.key").exists():
            own = [host_of(role), f"*.{host_of(role)}"]
            _certify(folder, role, [*named, *own], authority)
    nats, redis = _passwords(folder / "passwords.env")
    _write(folder / "redis-users.acl", "\n".join(redis_users.rules(redis)) + "\n")
    return Trust(folder, nats, redis)


def _authority(folder: Path) -> tuple[x509.Certificate, Key]:
    key_path, path = folder / "ca.key", folder / "ca.pem"
    if key_path.exists() and path.exists():
        loaded = serialization.load_pem_private_key(key_path.read_bytes(), None)
        if not isinstance(loaded, ec.EllipticCurvePrivateKey):
            raise ValueError(f"{key_path} is not a key that this made")
        return x509.load_pem_x509_certificate(path.read_bytes()), loaded
    key = ec.generate_private_key(ec.SECP256R1())
    name = _name("numbridge-ca")
    certificate = (
        _builder(name, name, key, 2 * VALID_DAYS)
        .add_extension(x509.BasicConstraints(ca=True, path_length=0), critical=True)
        .add_extension(_usage(signs_others=True), critical=True)
        .add_extension(x509.SubjectKeyIdentifier.from_public_key(key.public_key()), critical=False)
        .sign(key, hashes.SHA256())
    )
    _save(folder, "ca", certificate, key)
    return certificate, key


def _certify(folder: Path, role: str, hosts: list[str], authority: tuple[x509.Certificate, Key]) -> None:
    issuer, issuer_key = authority
    key = ec.generate_private_key(ec.SECP256R1())
    certificate = (
        _builder(_name(role), issuer.subject, key, VALID_DAYS)
        .add_extension(x509.BasicConstraints(ca=False, path_length=None), critical=True)
        .add_extension(_usage(signs_others=False), critical=True)
        .add_extension(
            x509.ExtendedKeyUsage([ExtendedKeyUsageOID.SERVER_AUTH, ExtendedKeyUsageOID.CLIENT_AUTH]), critical=False
        )
        .add_extension(x509.SubjectAlternativeName([_host(host) for host in hosts]), critical=False)
        .add_extension(x509.AuthorityKeyIdentifier.from_issuer_public_key(issuer_key.public_key()), critical=False)
        .sign(issuer_key, hashes.SHA256())
    )
    _save(folder, role, certificate, key)


def _builder(subject: x509.Name, issuer: x509.Name, key: Key, days: int) -> x509.CertificateBuilder:
    now = datetime.now(UTC)
    return (
        x509.CertificateBuilder()
        .subject_name(subject)
        .issuer_name(issuer)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - _SLACK)
        .not_valid_after(now + timedelta(days=days))
    )


def _usage(*, signs_others: bool) -> x509.KeyUsage:
    return x509.KeyUsage(
        digital_signature=not signs_others, key_cert_sign=signs_others, crl_sign=signs_others, content_commitment=False,
        key_encipherment=False, data_encipherment=False, key_agreement=False, encipher_only=False, decipher_only=False,
    )  # fmt: skip


def _name(common: str) -> x509.Name:
    return x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, common)])


def _host(host: str) -> x509.GeneralName:
    try:
        return x509.IPAddress(ip_address(host))
    except ValueError:
        return x509.DNSName(host)


def _save(folder: Path, name: str, certificate: x509.Certificate, key: Key) -> None:
    plain = serialization.NoEncryption()
    _write(
        folder / f"{name}.key",
        key.private_bytes(serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, plain).decode(),
    )
    _write(folder / f"{name}.pem", certificate.public_bytes(serialization.Encoding.PEM).decode())


def _passwords(path: Path) -> tuple[dict[str, str], dict[str, str]]:
    kept: dict[str, str] = {}
    if path.exists():
        kept = dict(line.split("=", 1) for line in path.read_text(encoding="utf-8").splitlines() if "=" in line)

    # A letter first: NATS reads a value of digits as a number.
    def password(server: str, role: str) -> str:
        return kept.setdefault(f"NUMBRIDGE_{server}_PASSWORD_{role.upper()}", f"p{secrets.token_hex(24)}")

    nats = {role: password("NATS", role) for role in ROLES}
    redis = {role: password("REDIS", role) for role in redis_users.USERS}
    _write(path, "".join(f"{name}={value}\n" for name, value in kept.items()))
    return nats, redis


def _write(path: Path, text: str) -> None:
    """Replaces a file as a whole; only its owner can read it."""
    fresh = path.with_name(path.name + ".new")
    fresh.unlink(missing_ok=True)
    descriptor = os.open(fresh, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    with os.fdopen(descriptor, "w", encoding="utf-8") as out:
        out.write(text)
    fresh.replace(path)
