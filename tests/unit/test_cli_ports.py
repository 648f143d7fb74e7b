"""Ports of a cluster: kept for it, and refused where somebody listens."""

import socket

import pytest

from numbridge.cli.ports import HOST, Ports, PortTaken, PublicPort


def test_ports_differ_within_a_cluster_and_between_two() -> None:
    one, two = Ports(), Ports()
    taken = [ports.take() for ports in (one, two) for _ in range(100)]
    one.close()
    two.close()
    assert len(set(taken)) == 200


def test_a_kept_port_can_be_listened_on() -> None:
    ports = Ports()
    with socket.socket() as server:
        server.bind((HOST, ports.take()))
        server.listen()
    ports.close()


def test_a_public_port_that_somebody_listens_on_is_refused() -> None:
    with socket.socket() as server:
        server.bind((HOST, 0))
        server.listen()
        with pytest.raises(PortTaken):
            PublicPort(HOST, server.getsockname()[1])


def test_two_clusters_do_not_share_a_public_port_though_gateways_may() -> None:
    first = PublicPort(HOST, 0)
    with pytest.raises(PortTaken):
        PublicPort(HOST, first.port)
    gateways = [socket.socket() for _ in range(2)]
    for gateway in gateways:
        gateway.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        gateway.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEPORT, 1)
        gateway.bind((HOST, first.port))
        gateway.listen()
    with pytest.raises(PortTaken):
        PublicPort(HOST, first.port)
    with socket.create_connection((HOST, first.port)):  # reaches one of the two, never the holder
        pass
    for gateway in gateways:
        gateway.close()
    first.close()


def test_a_port_is_free_again_at_once_after_connections_of_an_earlier_cluster() -> None:
    first = PublicPort(HOST, 0)
    port = first.port
    with socket.socket() as gateway:
        gateway.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        gateway.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEPORT, 1)
        gateway.bind((HOST, port))
        gateway.listen()
        with socket.create_connection((HOST, port)) as client:
            served, _ = gateway.accept()
            served.close()  # the side that closes first keeps the port in TIME_WAIT
            assert client.recv(1) == b""
    first.close()
    PublicPort(HOST, port).close()
