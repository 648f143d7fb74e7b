"""The HTTP API's description in OpenAPI 3.1, served at /api/openapi.json. A test holds every call against it."""

from typing import Any

from numbridge import RELEASE, wire
from numbridge.tokens import MAX_NAME_CHARS

PATH = "/api/openapi.json"
Schema = dict[str, Any]

TEXT: Schema = {"type": "string"}
FLAG: Schema = {"type": "boolean"}
COUNT: Schema = {"type": "integer", "minimum": 0}
NUMBER: Schema = {"type": "number"}
VARIANT: Schema = {"type": "string", "enum": ["bridge", "blitz", "domains"]}
COLOR: Schema = {"type": "string", "enum": ["blue", "red"]}


def _object(required: dict[str, Schema], optional: dict[str, Schema] | None = None) -> Schema:
    """Fields that are always there, and those that may be; clients ignore what they don't know."""
    return {"type": "object", "properties": {**required, **(optional or {})}, "required": list(required)}


def _list(of: Schema) -> Schema:
    return {"type": "array", "items": of}


def _ref(name: str) -> Schema:
    return {"$ref": f"#/components/schemas/{name}"}


SCHEMAS: dict[str, Schema] = {
    "Error": _object({"error": _object({"code": TEXT, "message": TEXT})}),
    "Player": _object({"id": TEXT, "name": TEXT}, {"rating": {"type": ["number", "null"]}}),
    "Settings": _object(
        {
            "variant": VARIANT, "side": COUNT, "blocks": TEXT, "givens": COUNT, "claim_price": COUNT,
            "highlight": FLAG, "rated": FLAG, "move_ms": COUNT, "game_ms": COUNT,
        }
    ),
    "Guest": _object({"token": TEXT, "player": _ref("Player")}),
    "Room": _object(
        {
            "id": TEXT, "name": TEXT, "variant": VARIANT, "side": COUNT,
            "givens": _object({"min": COUNT, "max": COUNT, "default": COUNT}), "claim_price": COUNT, "move_ms": COUNT,
            "game_ms": COUNT, "highlight": FLAG, "rated": FLAG, "waiting": COUNT, "playing": COUNT,
        }
    ),
    "Seek": _object(
        {
            "seek": TEXT, "room": TEXT, "player": _ref("Player"), "blocks": TEXT,
            "givens": {"oneOf": [COUNT, _list(COUNT), {"const": "any"}]},
            "highlight": {"oneOf": [FLAG, {"const": "any"}]},
            "rated": {"oneOf": [FLAG, {"const": "any"}]}, "since": COUNT,
        },
        {"rating": _list({"type": "integer"})},
    ),
    "Rating": _object({"rating": NUMBER, "deviation": NUMBER, "volatility": NUMBER, "games": COUNT}),
    "Profile": _object(
        {
            "id": TEXT, "name": TEXT, "ratings": {"type": "object", "additionalProperties": _ref("Rating")},
            "games": _object({"won": COUNT, "lost": COUNT, "drawn": COUNT}),
        }
    ),
    "Played": _object(
        {
            "game": TEXT, "room": TEXT, "variant": VARIANT, "opponent": _ref("Player"), "color": COLOR, "result": TEXT,
            "reason": TEXT, "ended_at": COUNT,
        }
    ),
    "Row": _object({"rank": COUNT, "id": TEXT, "name": TEXT, "rating": NUMBER, "deviation": NUMBER, "games": COUNT}),
    "Game": _object(
        {
            "game": TEXT, "room": TEXT, "settings": _ref("Settings"),
            "players": _object({"blue": _ref("Player"), "red": _ref("Player")}), "status": TEXT, "started_at": COUNT,
            "version": COUNT,
        }
    ),
    "View": _object({"game": TEXT, "version": COUNT, "view": {"type": "object"}}),
    "Record": _object({"format": {"const": "numbridge.record/1"}}),
    "Health": _object({"ok": FLAG}, {"release": TEXT, "failing": _list(TEXT)}),
}  # fmt: skip

_PROBLEMS = {
    "400": "Malformed; the message names what is wrong.",
    "401": "Without a token, or with one that is refused.",
    "403": "Not allowed here.",
    "404": "There is no such thing.",
    "405": "Not with this method.",
    "408": "The body did not come in time.",
    "409": "The game is not over yet (`in_progress`).",
    "413": "The body is too long.",
    "429": "Too often; `Retry-After` says how long to wait.",
    "503": "Something is away; nothing was lost, come back after `Retry-After`.",
}


def _body(schema: Schema) -> Schema:
    return {"application/json": {"schema": schema}}


def _answers(schema: Schema, *problems: int, status: int = 200, says: str = "Done.") -> Schema:
    found: Schema = {str(status): {"description": says, "content": _body(schema)}}
    for problem in (*problems, 429, 503):
        answer: Schema = {"description": _PROBLEMS[str(problem)], "content": _body(_ref("Error"))}
        if problem in (429, 503):
            answer["headers"] = {"Retry-After": {"schema": COUNT, "required": True, "description": "Seconds."}}
        found[str(problem)] = answer
    return found


def _in_path(name: str) -> Schema:
    ids = {"type": "string", "minLength": 1, "maxLength": wire.MAX_ID_CHARS}
    return {"name": name, "in": "path", "required": True, "schema": VARIANT if name == "variant" else ids}


def _query(name: str, schema: Schema) -> Schema:
    return {"name": name, "in": "query", "required": False, "schema": schema}


LIMIT = _query("limit", {"type": "integer", "minimum": 1, "maximum": 999_999_999})
ROOM = _query("room", {"type": "string", "maxLength": wire.MAX_ID_CHARS})
BEFORE = _query("before", {"type": "string", "maxLength": 256})


def _get(name: str, says: str, answers: Schema, *parameters: Schema) -> Schema:
    return {"get": {"operationId": name, "summary": says, "parameters": list(parameters), "responses": answers}}


PATHS: dict[str, Schema] = {
    "/api/guests": {
        "post": {
            "operationId": "makeGuest",
            "summary": "A new guest and his token.",
            "requestBody": {
                "required": False,
                "content": _body(
                    _object({}, {"name": {"type": ["string", "null"], "maxLength": MAX_NAME_CHARS}})
                ),
            },
            "responses": _answers(_ref("Guest"), 400, 403, 408, 413, status=201, says="Made."),
        }
    },
    "/api/rooms": _get("rooms", "Rooms with what goes on in them.", _answers(_object({"rooms": _list(_ref("Room"))}))),
    "/api/seeks": _get(
        "seeks", "Open seeks.", _answers(_object({"seeks": _list(_ref("Seek"))}), 400, 404), ROOM
    ),
    "/api/players/{player}": _get(
        "player", "A player's profile.", _answers(_ref("Profile"), 404), _in_path("player")
    ),
    "/api/players/{player}/games": _get(
        "playerGames",
        "A player's finished games, newest first; `next` is the cursor of the next page.",
        _answers(_object({"games": _list(_ref("Played"))}, {"next": TEXT}), 400, 404),
        _in_path("player"), BEFORE, LIMIT,
    ),
    "/api/leaderboard/{variant}": _get(
        "leaderboard",
        "A variant's best players.",
        _answers(_object({"players": _list(_ref("Row"))}), 400, 404),
        _in_path("variant"), LIMIT,
    ),
    "/api/games": _get(
        "games", "Games being played now.", _answers(_object({"games": _list(_ref("Game"))}), 400, 404), ROOM, LIMIT
    ),
    "/api/games/{game}": _get(
        "game", "A game as a spectator sees it, or its end.", _answers(_ref("View"), 404), _in_path("game")
    ),
    "/api/games/{game}/record": _get(
        "record", "A finished game's record.", _answers(_ref("Record"), 404, 409), _in_path("game")
    ),
    PATH: _get("describe", "This description.", _answers({"type": "object"})),
    "/healthz": _get(
        "healthz",
        "Whether the process turns.",
        {"200": {"description": "It does.", "content": _body(_ref("Health"))}},
    ),
    "/readyz": _get(
        "readyz",
        "Whether it can reach what it needs.",
        {
            status: {"description": says, "content": _body(_ref("Health"))}
            for status, says in (("200", "It can."), ("503", "It can't; `failing` says what fails."))
        },
    ),
}  # fmt: skip

WHY: Schema = {"type": "string", "maxLength": 200}


def _deed(
    name: str,
    summary: str,
    *params: Schema,
    needs: dict[str, Schema] | None = None,
    more: dict[str, Schema] | None = None,
) -> Schema:
    """An operator's call that does something."""
    said: dict[str, Schema] = {} if name == "announce" else {"why": WHY}
    call: Schema = {
        "operationId": name,
        "summary": summary,
        "security": OPERATOR,
        "requestBody": {"required": bool(needs), "content": _body(_object(needs or {}, said))},
        "responses": _answers(_object({"audit": TEXT, **(more or {})}), 400, 401, 403, 404, 408, 413),
    }
    if params:
        call["parameters"] = list(params)
    return {"post": call}


def _of_operators(call: Schema) -> Schema:
    return {method: {**of, "security": OPERATOR} for method, of in call.items()}


OPERATOR: list[Schema] = [{"operator": []}]
MUTED = _object({"player": TEXT, "until": COUNT})
DEED = _object({"audit": TEXT, "at": COUNT, "by": TEXT, "action": TEXT, "subject": TEXT, "detail": TEXT})
AUDIT_LIMIT = _query("limit", {"type": "integer", "minimum": 1, "maximum": 1_000_000_000})
AUDIT_BEFORE = _query("before", {"type": "integer", "minimum": 1, "maximum": (1 << 53) - 1})
PATHS |= {
    "/api/admin/rooms/{room}/close": _deed("closeRoom", "Takes no new seeks in a room.", _in_path("room")),
    "/api/admin/rooms/{room}/open": _deed("openRoom", "Takes seeks again.", _in_path("room")),
    "/api/admin/games/{game}/end": _deed(
        "endGame", "Ends a running game with result `none`.", _in_path("game"), more={"was_over": FLAG}
    ),
    "/api/admin/players/{player}/mute": _deed(
        "mute", "Bars a player from seeking until a time, in ms.", _in_path("player"), needs={"until": COUNT}
    ),
    "/api/admin/players/{player}/unmute": _deed("unmute", "Lets the player seek again.", _in_path("player")),
    "/api/admin/announcements": _deed(
        "announce",
        "Says something to everybody who is connected.",
        needs={"text": {"type": "string", "minLength": 1, "maxLength": 500}},
    ),
    "/api/admin/restrictions": _of_operators(
        _get(
            "restrictions",
            "What stands now.",
            _answers(_object({"closed_rooms": _list(TEXT), "muted": _list(MUTED)}), 401, 403),
        )
    ),
    "/api/admin/audit": _of_operators(
        _get(
            "audit",
            "What operators did, newest first; `next` is the cursor of the next page.",
            _answers(_object({"deeds": _list(DEED)}, {"next": TEXT}), 400, 401, 403),
            AUDIT_BEFORE, AUDIT_LIMIT,
        )
    ),
}  # fmt: skip

DESCRIPTION = wire.encode(
    {
        "openapi": "3.1.0",
        "info": {
            "title": "Numbridge",
            "version": RELEASE,
            "description": "Reading, guests, operators. Games: over the WebSocket at /ws, subprotocol numbridge.v1.",
        },
        "paths": PATHS,
        "components": {
            "schemas": SCHEMAS,
            "securitySchemes": {"operator": {"type": "http", "scheme": "bearer", "bearerFormat": "JWT"}},
        },
    }
)
