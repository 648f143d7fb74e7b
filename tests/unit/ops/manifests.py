"""What kubectl makes of the overlays, and ways to look into it."""

import subprocess
import sysconfig
from functools import cache
from pathlib import Path
from typing import Any

import yaml

from tests.unit.ops.env_files import SERVICES
from tests.unit.ops.inventory import ROOT

OVERLAYS = ("local", "production")
Object = dict[str, Any]


@cache
def rendered(overlay: str) -> list[Object]:
    """Every object of an overlay."""
    kubectl = Path(sysconfig.get_path("scripts")) / "kubectl"
    done = subprocess.run(
        [kubectl, "kustomize", ROOT / "k8s" / "overlays" / overlay], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    return list(yaml.safe_load_all(done.stdout))


def kinds(overlay: str, *kind: str) -> dict[str, Object]:
    """Name -> object, of these kinds."""
    return {found["metadata"]["name"]: found for found in rendered(overlay) if found["kind"] in kind}


def workloads(overlay: str) -> dict[str, Object]:
    """Name -> whatever makes pods."""
    return kinds(overlay, "Deployment", "StatefulSet", "Job")


def pod(workload: Object) -> Object:
    """The pods that it makes."""
    made: Object = workload["spec"]["template"]["spec"]
    return made


def labels(workload: Object) -> dict[str, str]:
    """Labels of its pods."""
    found: dict[str, str] = workload["spec"]["template"]["metadata"]["labels"]
    return found


def container(workload: Object) -> Object:
    """The one container of its pods."""
    (only,) = pod(workload)["containers"]
    found: Object = only
    return found


def ports(workload: Object) -> dict[str, int]:
    """Name -> number, of what its container listens on."""
    return {port["name"]: port["containerPort"] for port in container(workload).get("ports", [])}


def services(overlay: str) -> dict[str, Object]:
    """Service of ours -> its workload."""
    found = workloads(overlay)
    return {name: found[f"numbridge-{name}"] for name in SERVICES}


def env(overlay: str, workload: Object) -> dict[str, str]:
    """The variables of its container; what comes from a secret or the pod as the name of where it comes from."""
    maps = kinds(overlay, "ConfigMap")
    given: dict[str, str] = {}
    for source in container(workload).get("envFrom", []):
        given |= maps[source["configMapRef"]["name"]]["data"]
    for one in container(workload).get("env", []):
        given[one["name"]] = one.get("value") or next(iter(one["valueFrom"]))
    return given
