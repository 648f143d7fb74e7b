"""The web client's files: read once at the start, served from memory, so that no path can lead out of their folder."""

import gzip
import hashlib
import mimetypes
import re
from dataclasses import dataclass
from importlib import resources
from pathlib import Path

from aiohttp import web

MAX_BYTES = 64 * 1024 * 1024
_TYPES = {
    ".js": "text/javascript",
    ".mjs": "text/javascript",
    ".css": "text/css",
    ".html": "text/html",
    ".json": "application/json",
    ".svg": "image/svg+xml",
    ".webmanifest": "application/manifest+json",
    ".woff2": "font/woff2",
}
SQUEEZE_FROM = 512  # bytes; below that a compressed body saves nothing
_TEXTUAL = ("text/", "application/json", "application/manifest+json", "image/svg+xml")


@dataclass(frozen=True, slots=True)
class _File:
    body: bytes
    squeezed: bytes | None
    """The body under gzip, where that is shorter."""
    content_type: str
    etag: str


class Static:
    """All files under one folder; `/` is index.html."""

    def __init__(self, folder: str) -> None:
        """`folder`: empty for the one that comes with the package. Raises OSError if there is none, or it is huge."""
        root = Path(folder) if folder else Path(str(resources.files("gateway").joinpath("web")))
        self._files: dict[str, _File] = {}
        total = 0
        for path in sorted(root.rglob("*")):
            if not path.is_file() or any(part.startswith(".") for part in path.relative_to(root).parts):
                continue
            body = path.read_bytes()
            total += len(body)
            if total > MAX_BYTES:
                raise OSError(f"the files in {root} are larger than {MAX_BYTES} bytes")
            etag = hashlib.sha256(body).hexdigest()[:24]
            kind = _type(path)
            squeezed = gzip.compress(body, 9, mtime=0) if len(body) >= SQUEEZE_FROM and _is_text(kind) else None
            self._files[path.relative_to(root).as_posix()] = _File(body, squeezed, kind, etag)
        if "index.html" not in self._files:
            raise OSError(f"there is no index.html in {root}")

    async def serve(self, request: web.Request) -> web.Response:
        """GET or HEAD of one file."""
        file = self._files.get(request.match_info.get("path", "") or "index.html")
        if file is None:
            raise web.HTTPNotFound
        squeezed = file.squeezed if _takes_gzip(request.headers.get("Accept-Encoding", "")) else None
        etag = file.etag if squeezed is None else f"{file.etag}-gzip"
        headers = {"ETag": f'"{etag}"', "Cache-Control": "no-cache"}  # asked again each time, sent only if changed
        if file.squeezed is not None:
            headers["Vary"] = "Accept-Encoding"
        if any(known.value in (etag, "*") for known in request.if_none_match or ()):
            return web.Response(status=304, headers=headers)
        headers["Content-Type"] = file.content_type
        if squeezed is None:
            return web.Response(body=file.body, headers=headers)
        return web.Response(body=squeezed, headers={"Content-Encoding": "gzip", **headers})


def _type(path: Path) -> str:
    kind = _TYPES.get(path.suffix.lower()) or mimetypes.guess_type(path.name)[0] or "application/octet-stream"
    return f"{kind}; charset=utf-8" if _is_text(kind) else kind


def _is_text(kind: str) -> bool:
    return kind.startswith(_TEXTUAL)


def _takes_gzip(accepted: str) -> bool:
    """Whether an Accept-Encoding header names gzip without forbidding it (`q=0`)."""
    for offer in accepted.lower().split(","):
        coding, _, weight = offer.replace(" ", "").partition(";")
        if coding == "gzip":
            return not re.fullmatch(r"q=0(\.0*)?", weight)
    return False
