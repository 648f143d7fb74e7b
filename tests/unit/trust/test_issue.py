"""Certificates and passwords: made once, kept, renewed piece by piece, readable by their owner alone."""

from pathlib import Path

import pytest
from cryptography import x509
from cryptography.x509.oid import NameOID

from numbridge.names import board_key, house_key, limit_key, lobby_key
from numbridge.trust import ROLES, SERVERS, inbox, redis_users
from numbridge.trust.issue import issue


def loaded(path: Path) -> x509.Certificate:
    return x509.load_pem_x509_certificate(path.read_bytes())


def test_a_certificate_a_role_signed_by_one_authority(tmp_path: Path) -> None:
    trust = issue(tmp_path / "trust", ["club.example", "10.0.0.7"])
    authority = loaded(trust.ca)
    for role in (*ROLES, *SERVERS):
        certificate = loaded(trust.certificate(role))
        certificate.verify_directly_issued_by(authority)
        assert certificate.subject.get_attributes_for_oid(NameOID.COMMON_NAME)[0].value == role
        names = certificate.extensions.get_extension_for_class(x509.SubjectAlternativeName).value
        dns, addresses = names.get_values_for_type(x509.DNSName), names.get_values_for_type(x509.IPAddress)
        assert {"localhost", "club.example", f"numbridge-{role}", f"*.numbridge-{role}"} <= set(dns)
        assert {"127.0.0.1", "10.0.0.7"} <= {str(address) for address in addresses}
        assert not certificate.extensions.get_extension_for_class(x509.BasicConstraints).value.ca


def test_only_the_owner_can_read_anything(tmp_path: Path) -> None:
    folder = issue(tmp_path / "trust").folder
    assert folder.stat().st_mode & 0o777 == 0o700
    files = list(folder.iterdir())
    assert len(files) == 2 * (1 + len(ROLES) + len(SERVERS)) + 2
    assert {path.stat().st_mode & 0o777 for path in files} == {0o600}


def test_a_second_call_keeps_what_is_there_and_renews_what_was_taken_away(tmp_path: Path) -> None:
    trust = issue(tmp_path)
    before = {path.name: path.read_bytes() for path in tmp_path.iterdir()}
    trust.certificate("gateway").unlink()
    again = issue(tmp_path)
    after = {path.name: path.read_bytes() for path in tmp_path.iterdir()}
    assert {name for name in before if before[name] != after[name]} == {"gateway.pem", "gateway.key"}
    assert (again.nats, again.redis) == (trust.nats, trust.redis)
    assert len({*again.nats.values(), *again.redis.values()}) == len(again.nats) + len(again.redis)


def test_a_foreign_key_in_the_authoritys_place_is_refused(tmp_path: Path) -> None:
    trust = issue(tmp_path)
    (tmp_path / "ca.key").write_text("-----BEGIN PRIVATE KEY-----\nAAAA\n-----END PRIVATE KEY-----\n")
    trust.certificate("table").unlink()
    with pytest.raises(ValueError, match=r"(?i)key|PEM|deserialize"):
        issue(tmp_path)


def test_redis_users_are_kept_to_their_keys() -> None:
    lines = redis_users.rules(dict.fromkeys(redis_users.USERS, "secret"))
    assert lines[0] == "user default off"
    by_role = {line.split()[1]: line for line in lines[1:]}
    assert set(by_role) == set(redis_users.USERS)
    assert f"~{lobby_key('*')}" in by_role["lobby"]
    assert f"~{board_key('*')}" in by_role["ratings"]
    assert {f"~{limit_key('*', '*')}", f"~{house_key('*')}"} <= set(by_role["gateway"].split())
    assert all("-@dangerous" in by_role[role] for role in ("lobby", "ratings", "gateway"))


def test_inboxes_do_not_hold_one_another() -> None:
    inboxes = {inbox(role) for role in ROLES}
    assert len(inboxes) == len(ROLES)
    assert all("." not in one and "*" not in one for one in inboxes)
