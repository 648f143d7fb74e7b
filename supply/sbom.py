"""A bill of materials, CycloneDX 1.6 as JSON. The same lock gives the same bytes."""

import json
import uuid
from typing import Any

from numbridge import RELEASE
from supply.licences import UNKNOWN, licence
from supply.lock import Release

_SPACE = uuid.UUID("8d9d7f4e-58e7-5c0a-9d0b-6c1f7a3f2b11")


def bill(releases: list[Release]) -> str:
    """The document."""
    components = [_component(release) for release in sorted(releases, key=lambda release: release.name)]
    serial = uuid.uuid5(_SPACE, RELEASE + json.dumps(components, sort_keys=True))
    document: dict[str, Any] = {
        "$schema": "http://cyclonedx.org/schema/bom-1.6.schema.json",
        "bomFormat": "CycloneDX",
        "specVersion": "1.6",
        "serialNumber": f"urn:uuid:{serial}",
        "version": 1,
        "metadata": {
            "component": {"type": "application", "bom-ref": "numbridge", "name": "numbridge", "version": RELEASE},
        },
        "components": components,
        "dependencies": [{"ref": "numbridge", "dependsOn": [release["bom-ref"] for release in components]}],
    }
    return json.dumps(document, indent=1) + "\n"


def _component(release: Release) -> dict[str, Any]:
    component: dict[str, Any] = {
        "type": "library",
        "bom-ref": release.purl,
        "name": release.name,
        "version": release.version,
        "purl": release.purl,
        # A release has a file for each system: any one of these is what gets installed.
        "externalReferences": [
            {
                "type": "distribution",
                "url": f"https://pypi.org/project/{release.name}/{release.version}/#files",
                "hashes": [{"alg": "SHA-256", "content": digest} for digest in release.hashes],
            }
        ],
    }
    terms = licence(release.name)
    if terms != UNKNOWN:
        component["licenses"] = [{"license": {"name": terms}}]
    return component
