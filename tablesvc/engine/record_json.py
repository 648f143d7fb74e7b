"""Bytes to JSON values, with the limits that the record format sets."""

import json
from typing import NoReturn

from tablesvc.engine.errors import Malformed

MAX_DEPTH = 64
"""Objects and lists inside one another, the record itself included."""


def load(raw: bytes) -> object:
    """The JSON value in `raw`. A name that an object bears twice has its last value.

    Raises Malformed: not UTF-8, a byte order mark, not JSON, NaN or Infinity, nested too deep.
    """
    try:
        text = raw.decode("utf-8")
    except UnicodeDecodeError as error:
        raise Malformed(f"not UTF-8: byte {error.start}") from None
    if text.startswith("\ufeff"):
        raise Malformed("a byte order mark")
    try:
        value = json.loads(text, parse_constant=_no_constant)
    except json.JSONDecodeError as error:
        raise Malformed(f"not JSON: {error.msg}, line {error.lineno} column {error.colno}") from None
    except RecursionError:
        raise Malformed(f"nested over {MAX_DEPTH} deep") from None
    except ValueError:
        # json leaves the limit on an integer's digits to int()
        raise Malformed("a number with too many digits") from None
    _check_depth(value)
    return value


def _no_constant(name: str) -> NoReturn:
    raise Malformed(f"not JSON: {name}")


def _check_depth(value: object) -> None:
    depth = 0
    level: list[object] = [value] if isinstance(value, dict | list) else []
    while level:
        depth += 1
        if depth > MAX_DEPTH:
            raise Malformed(f"nested over {MAX_DEPTH} deep")
        below: list[object] = []
        for outer in level:
            inner = outer.values() if isinstance(outer, dict) else outer if isinstance(outer, list) else ()
            below.extend([part for part in inner if isinstance(part, dict | list)])
        level = below
