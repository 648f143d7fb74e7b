"""The manifests: well formed, at one with the settings and among themselves, and closed to all that need not get in."""

import os
import shutil
import subprocess
from pathlib import Path
from typing import Any

import jsonschema
import kubernetes_validate
import pytest
import yaml

from numbridge.cli import secured
from numbridge.cli.up import _GRACE_S as STOPS_S
from numbridge.local_servers import nats_binary
from numbridge.trust import ROLES, inbox, redis_users
from numbridge.trust.issue import issue
from tests.unit.ops import env_files, operator_files, operator_schema
from tests.unit.ops.inventory import ROOT
from tests.unit.ops.manifests import (
    OVERLAYS,
    Object,
    container,
    env,
    kinds,
    labels,
    pod,
    ports,
    rendered,
    services,
    workloads,
)

ARROWS = {
    ("*", "gateway", 8080),
    ("gateway", "lobby", 7100), ("gateway", "ratings", 7200), ("gateway", "table", 7300), ("gateway", "nats", 4222),
    ("gateway", "redis", 6379),
    ("lobby", "ratings", 7200), ("lobby", "table", 7300), ("lobby", "nats", 4222), ("lobby", "redis", 6379),
    ("table", "nats", 4222),
    ("ratings", "nats", 4222), ("ratings", "redis", 6379), ("ratings", "*", 5432),
    ("nats", "nats", 6222),
}  # fmt: skip
"""Who may speak to whom at which port."""

PASSWORDS = {"NATS_PASSWORD", "REDIS_PASSWORD"}
"""Variables of the production overlay that URLs are put together from."""


@pytest.mark.parametrize("overlay", OVERLAYS)
def test_every_object_fits_its_schema(overlay: str) -> None:
    for found in rendered(overlay):
        if found["kind"] in operator_schema.KINDS:  # of the operator: no schema comes with Kubernetes
            jsonschema.validate(found, operator_schema.schema(found["kind"]))
        else:
            kubernetes_validate.validate(found, "1.37", strict=True)
        assert found["kind"] == "Namespace" or found["metadata"]["namespace"] == "numbridge"


@pytest.mark.parametrize(
    ("kind", "spec"),
    [
        (
            "PrometheusRule",
            {"groups": [{"name": "a", "rules": [{"alert": "A", "expr": "up == 0", "for": "1 minute"}]}]},
        ),
        ("PrometheusRule", {"groups": [{"name": "a", "rules": [{"expr": "up == 0"}]}]}),
        ("PrometheusRule", {"groups": [{"name": "a", "rules": [{"alert": "A", "expr": "up", "label": {}}]}]}),
        ("ServiceMonitor", {"selector": {"matchLabels": {"a": "b"}}, "endpoints": [{"port": 9100}]}),
        ("ServiceMonitor", {"selector": {"matchLabels": {"a": "b"}}, "endpoints": []}),
    ],
)
def test_the_operators_schema_sees_mistakes(kind: str, spec: Object) -> None:
    made = {"apiVersion": "monitoring.coreos.com/v1", "kind": kind, "metadata": {"name": "a"}, "spec": spec}
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate(made, operator_schema.schema(kind))


@pytest.mark.parametrize("name", ["common", *env_files.SERVICES])
def test_every_setting_is_listed_and_every_key_is_a_setting(name: str) -> None:
    assert env_files.path(name).read_text(encoding="utf-8") == env_files.text(name), "run `make env-files`"


@pytest.mark.parametrize("overlay", OVERLAYS)
@pytest.mark.parametrize("name", env_files.SERVICES)
def test_a_service_starts_with_what_it_is_given(overlay: str, name: str, tmp_path: Path) -> None:
    given = env(overlay, services(overlay)[name])
    known = env_files.defaults("common").keys() | env_files.defaults(name).keys()
    assert given.keys() - PASSWORDS <= known
    given = {key: value for key, value in given.items() if key not in PASSWORDS}
    key = tmp_path / "keys"
    key.write_text("k" * 64, encoding="utf-8")
    for setting, value in (("TOKEN_KEY_FILE", str(key)), ("DATABASE_URL", "postgresql://db/numbridge")):
        if f"NUMBRIDGE_{setting}" in given:
            given[f"NUMBRIDGE_{setting}"] = value
    settings = env_files.SERVICES[name].load(given)
    assert settings.listen_host == settings.metrics_host == "0.0.0.0"
    assert settings.stream_replicas == len(settings.nats_url.split(",")) == (3 if overlay == "production" else 1)
    listening = ports(services(overlay)[name])
    assert listening.pop("metrics") == settings.metrics_port
    assert set(listening.values()) == {getattr(settings, "port", None) or getattr(settings, "grpc_port", None)}


@pytest.mark.parametrize("overlay", OVERLAYS)
def test_addresses_lead_to_services_that_listen_there(overlay: str) -> None:
    offered = {
        f"{name}:{port['port']}" for name, found in kinds(overlay, "Service").items() for port in found["spec"]["ports"]
    }
    for workload in services(overlay).values():
        for key, value in env(overlay, workload).items():
            if key.endswith(("_ADDR", "NATS_URL", "REDIS_URL")):
                for address in value.split(","):
                    host = address.split("//")[1].removeprefix("/").split("/")[0].rpartition("@")[2]
                    assert host.rpartition(".")[2] in offered, (key, host)


@pytest.mark.parametrize("overlay", OVERLAYS)
def test_selectors_ports_and_probes_agree(overlay: str) -> None:
    made = workloads(overlay)
    for name, found in kinds(overlay, "Service").items():
        assert found["spec"]["selector"].items() <= labels(made[name]).items()
        for port in found["spec"]["ports"]:
            assert ports(made[name])[port["targetPort"]] == port["port"]
    for found in kinds(overlay, "PodDisruptionBudget").values():
        assert any(found["spec"]["selector"]["matchLabels"].items() <= labels(each).items() for each in made.values())
        assert found["spec"]["maxUnavailable"] == 1
    for name, workload in kinds(overlay, "Deployment", "StatefulSet").items():
        assert workload["spec"]["selector"]["matchLabels"].items() <= labels(workload).items()
        for spread in pod(workload)["topologySpreadConstraints"]:
            assert spread["labelSelector"]["matchLabels"].items() <= labels(workload).items()
        for probe in ("livenessProbe", "readinessProbe"):
            asked = container(workload)[probe]
            port = asked.get("httpGet", asked.get("tcpSocket", {})).get("port")
            assert port in ports(workload) or "exec" in asked, name
    for workload in services(overlay).values():
        assert container(workload)["livenessProbe"]["httpGet"]["path"] == "/healthz"
        assert container(workload)["readinessProbe"]["httpGet"]["path"] == "/readyz"


@pytest.mark.parametrize("overlay", OVERLAYS)
@pytest.mark.parametrize("name", env_files.SERVICES)
def test_a_pod_has_the_time_to_drain(overlay: str, name: str) -> None:
    workload = services(overlay)[name]
    drain_s = int(env(overlay, workload).get("NUMBRIDGE_DRAIN_MS", env_files.defaults("common")["NUMBRIDGE_DRAIN_MS"]))
    pause_s = container(workload).get("lifecycle", {}).get("preStop", {}).get("sleep", {}).get("seconds", 0)
    assert pod(workload)["terminationGracePeriodSeconds"] >= drain_s / 1000 + pause_s + STOPS_S


@pytest.mark.parametrize("overlay", OVERLAYS)
def test_nothing_has_rights_that_it_does_not_need(overlay: str) -> None:
    for workload in workloads(overlay).values():
        assert pod(workload)["automountServiceAccountToken"] is False
        assert pod(workload)["enableServiceLinks"] is False
        assert pod(workload)["securityContext"]["runAsNonRoot"] is True
        assert pod(workload)["securityContext"]["runAsUser"] >= 1000
        own = container(workload)["securityContext"]
        assert own == {
            "allowPrivilegeEscalation": False,
            "readOnlyRootFilesystem": True,
            "capabilities": {"drop": ["ALL"]},
        }
        limits = container(workload)["resources"]
        assert {"cpu", "memory"} <= limits["requests"].keys() & limits["limits"].keys()
        assert ":" in container(workload)["image"]
        assert not container(workload)["image"].endswith(":latest")
    assert kinds(overlay, "Secret") == {}


def _who(rule: list[Any] | None) -> list[str]:
    if rule is None:
        return ["*"]
    return [peer["podSelector"]["matchLabels"]["app.kubernetes.io/name"].removeprefix("numbridge-") for peer in rule]


def _arrows(policies: dict[str, Object], way: str, side: str) -> set[tuple[str, str, int]]:
    """(from, to, port), of what policies let in or out."""
    found = set()
    for name, policy in policies.items():
        me = name.removeprefix("numbridge-")
        for rule in policy["spec"].get(way, []):
            for other in _who(rule.get(side)):
                for port in rule["ports"]:
                    found.add((other, me, port["port"]) if way == "ingress" else (me, other, port["port"]))
    return found


@pytest.mark.parametrize("overlay", OVERLAYS)
def test_just_the_arrows_of_the_architecture_are_allowed(overlay: str) -> None:
    policies = kinds(overlay, "NetworkPolicy")
    everybody = policies.pop("numbridge-nobody")["spec"]
    assert everybody["policyTypes"] == ["Ingress", "Egress"]
    assert not everybody.keys() & {"ingress", "egress"}
    selected = everybody["podSelector"]["matchLabels"].items()
    assert all(selected <= labels(workload).items() for workload in workloads(overlay).values())
    (names,) = policies.pop("numbridge-dns")["spec"]["egress"]
    assert {port["port"] for port in names["ports"]} == {53}
    (scrapes,) = policies.pop("numbridge-metrics")["spec"]["ingress"]
    assert [port["port"] for port in scrapes["ports"]] == [9100]
    migration = policies.pop("numbridge-migrate", None)
    assert (migration is not None) == (overlay == "production")
    for name, policy in policies.items():
        assert policy["spec"]["podSelector"]["matchLabels"] == {"app.kubernetes.io/name": name}
        assert policy["spec"]["policyTypes"] == ["Ingress", "Egress"]
    assert _arrows(policies, "ingress", "from") == {arrow for arrow in ARROWS if arrow[1] != "*"}
    assert _arrows(policies, "egress", "to") == {arrow for arrow in ARROWS if arrow[0] != "*"}


def test_workers_leave_one_by_one_and_autoscalers_ask_for_metrics_that_are_made() -> None:
    folder = ROOT / "k8s" / "overlays" / "production"
    adapter = yaml.safe_load((folder / "adapter.yaml").read_text(encoding="utf-8"))
    made = {rule["name"]["as"] for rule in adapter["rules"]["custom"]}
    shown = {rule["seriesQuery"].split("{")[0] for rule in adapter["rules"]["custom"]}
    page = (ROOT / "k8s" / "monitoring" / "METRICS.md").read_text(encoding="utf-8")
    assert {name for name in shown if f"`{name}`" not in page} == set()
    scalers = kinds("production", "HorizontalPodAutoscaler")
    assert scalers.keys() == {"numbridge-gateway", "numbridge-table"}
    asked = {metric["pods"]["metric"]["name"] for one in scalers.values() for metric in one["spec"]["metrics"]}
    assert asked == made
    for name, one in scalers.items():
        target = workloads("production")[name]
        assert one["spec"]["scaleTargetRef"]["kind"] == target["kind"]
        assert "replicas" not in target["spec"]
    table = workloads("production")["numbridge-table"]["spec"]
    assert table["podManagementPolicy"] == "Parallel"
    assert table["updateStrategy"]["type"] == "RollingUpdate"


def test_the_schema_is_brought_up_by_a_job_or_by_the_service() -> None:
    assert env("local", services("local")["ratings"])["NUMBRIDGE_MIGRATE"] == "on"
    assert env("production", services("production")["ratings"])["NUMBRIDGE_MIGRATE"] == "off"
    job = kinds("production", "Job")["numbridge-migrate"]
    assert container(job)["args"] == ["ratings", "migrate"]
    assert set(env("production", job)) == {"NUMBRIDGE_DATABASE_URL"}


def test_the_operators_objects_are_made_from_the_rules() -> None:
    assert operator_files.PAGE.read_text(encoding="utf-8") == operator_files.text(), "run `make operator-files`"
    for name, monitor in kinds("production", "ServiceMonitor").items():
        service = kinds("production", "Service")[name]
        wanted = monitor["spec"]["selector"]["matchLabels"]
        assert wanted.items() <= service["metadata"]["labels"].items()
        assert {one["port"] for one in monitor["spec"]["endpoints"]} <= {p["name"] for p in service["spec"]["ports"]}
    rules = kinds("production", "PrometheusRule").values()
    assert sum(len(group["rules"]) for rule in rules for group in rule["spec"]["groups"]) > 0


@pytest.mark.parametrize("path", sorted((ROOT / "k8s").glob("**/nats.conf")), ids=lambda path: path.parent.name)
def test_nats_reads_its_configuration(path: Path, tmp_path: Path) -> None:
    trust = issue(tmp_path / "made")
    pieces = {"cert.pem": trust.certificate("nats"), "key.pem": trust.key("nats"), "ca.pem": trust.ca}
    for name, made in pieces.items():
        shutil.copy(made, tmp_path / name)
    for near in path.parent.glob("*.conf"):
        text = near.read_text(encoding="utf-8").replace("/etc/nats-trust/", f"{tmp_path}/")
        (tmp_path / near.name).write_text(text, encoding="utf-8")
    done = subprocess.run(
        [nats_binary(), "-t", "-n", "n", "-c", str(tmp_path / path.name)],
        capture_output=True, text=True, check=False, env=os.environ | secured.nats_environment(trust),
    )  # fmt: skip
    assert done.returncode == 0, done.stderr


def _secrets(workload: Object) -> set[tuple[str, str]]:
    """(secret, key) of its variables, and (secret, "") of its volumes."""
    used = {
        (one["valueFrom"]["secretKeyRef"]["name"], one["valueFrom"]["secretKeyRef"]["key"])
        for one in container(workload).get("env", [])
        if "secretKeyRef" in one.get("valueFrom", {})
    }
    return used | {(one["secret"]["secretName"], "") for one in pod(workload)["volumes"] if "secret" in one}


@pytest.mark.parametrize("name", env_files.SERVICES)
def test_in_production_each_service_has_a_name_of_its_own_and_no_others_secret(name: str) -> None:
    workload = services("production")[name]
    wanted = {(f"numbridge-trust-{name}", ""), ("numbridge-passwords", f"NUMBRIDGE_NATS_PASSWORD_{name.upper()}")}
    if name in redis_users.USERS:
        wanted.add(("numbridge-passwords", f"NUMBRIDGE_REDIS_PASSWORD_{name.upper()}"))
    own = {"gateway": {("numbridge-token-key", "")}, "ratings": {("numbridge-database", "url")}}
    assert _secrets(workload) == wanted | own.get(name, set())
    given = env("production", workload)
    assert given["NUMBRIDGE_NATS_INBOX"] == inbox(name)
    assert all(f"tls://{name}:$(NATS_PASSWORD)@" in url for url in given["NUMBRIDGE_NATS_URL"].split(","))
    order = [one["name"] for one in container(workload)["env"]]
    assert order.index("NATS_PASSWORD") < order.index("NUMBRIDGE_NATS_URL")  # else it is not filled in
    mounts = {one["name"]: one["mountPath"] for one in container(workload)["volumeMounts"]}
    for key in ("NATS_TLS_CA", "GRPC_TLS_CERT", "GRPC_TLS_KEY", "GRPC_TLS_CA"):
        assert given[f"NUMBRIDGE_{key}"].startswith(f"{mounts['trust']}/")


def test_in_production_the_servers_ask_for_names() -> None:
    nats = workloads("production")["numbridge-nats"]
    passwords = {("numbridge-passwords", f"NUMBRIDGE_NATS_PASSWORD_{role.upper()}") for role in ROLES}
    assert _secrets(nats) == passwords | {("numbridge-trust-nats", "")}
    shipped = (ROOT / "k8s" / "overlays" / "production" / "nats-users.conf").read_text(encoding="utf-8")
    assert shipped == (ROOT / "numbridge" / "trust" / "nats-users.conf").read_text(encoding="utf-8")
    data = kinds("production", "ConfigMap")
    (config,) = (found["data"] for name, found in data.items() if name.startswith("numbridge-nats-"))
    assert config["nats-users.conf"] == shipped
    assert "include nats-users.conf" in config["nats.conf"]
    redis = workloads("production")["numbridge-redis"]
    assert container(redis)["args"][-2:] == ["--aclfile", "/etc/valkey-users/users.acl"]
    assert ("numbridge-redis-users", "") in _secrets(redis)


def test_only_the_migration_uses_the_databases_owner() -> None:
    assert _secrets(kinds("production", "Job")["numbridge-migrate"]) == {("numbridge-database", "owner-url")}
