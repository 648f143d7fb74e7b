"""What of the Prometheus operator's two kinds is used here, as strict as its own definitions: names, types, durations.

Field names and the duration's pattern are those of monitoring.coreos.com/v1; a field that is not here is not in use.
"""

from typing import Any

_DURATION = {
    "type": "string",
    "pattern": "^(0|(([0-9]+)y)?(([0-9]+)w)?(([0-9]+)d)?(([0-9]+)h)?(([0-9]+)m)?(([0-9]+)s)?(([0-9]+)ms)?)$",
    "minLength": 1,
}
_TEXTS = {"type": "object", "additionalProperties": {"type": "string"}}
_WORD = {"type": "string", "minLength": 1}


def _strict(needed: tuple[str, ...], **properties: Any) -> dict[str, Any]:
    return {"type": "object", "properties": properties, "required": list(needed), "additionalProperties": False}


_RULE = _strict(
    ("expr",), expr=_WORD, alert=_WORD, record=_WORD, labels=_TEXTS, annotations=_TEXTS, **{"for": _DURATION}
) | {"oneOf": [{"required": ["alert"]}, {"required": ["record"]}]}
_GROUP = _strict(("name", "rules"), name=_WORD, interval=_DURATION, rules={"type": "array", "items": _RULE})
_ENDPOINT = _strict(("port",), port=_WORD, interval=_DURATION, scrapeTimeout=_DURATION, path=_WORD)
_SPECS = {
    "PrometheusRule": _strict(("groups",), groups={"type": "array", "items": _GROUP}),
    "ServiceMonitor": _strict(
        ("selector", "endpoints"),
        selector=_strict(("matchLabels",), matchLabels=_TEXTS),
        endpoints={"type": "array", "items": _ENDPOINT, "minItems": 1},
    ),
}
_METADATA = _strict(("name",), name={"type": "string", "pattern": "^[a-z0-9]([-a-z0-9]*[a-z0-9])?$"}, namespace=_WORD,
                    labels=_TEXTS, annotations=_TEXTS)  # fmt: skip

KINDS = frozenset(_SPECS)


def schema(kind: str) -> dict[str, Any]:
    """A JSON schema of one of KINDS."""
    return _strict(
        ("apiVersion", "kind", "metadata", "spec"),
        apiVersion={"const": "monitoring.coreos.com/v1"},
        kind={"const": kind},
        metadata=_METADATA,
        spec=_SPECS[kind],
    )
