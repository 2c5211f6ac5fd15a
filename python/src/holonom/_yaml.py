# SPDX-License-Identifier: MIT
"""Model documents as YAML: a line for each thing, words without quotes where that is safe."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Any

_SAFE = re.compile(r"[A-Za-z_][A-Za-z0-9_.]*(-[A-Za-z0-9_.]+)*")
_TAKEN = {"true", "false", "null", "yes", "no", "on", "off", "y", "n", "inf", "nan"}
_WHOLE_MAX = 1e6  # below it whole numbers are written without a point


def _word(value: str) -> str:
    plain = _SAFE.fullmatch(value) and value.lower() not in _TAKEN and len(value) < 100
    return value if plain else json.dumps(value, ensure_ascii=False)


def line(value: Any) -> str:
    """A value on one line."""
    if isinstance(value, Mapping):
        return "{" + ", ".join(f"{_word(str(k))}: {line(v)}" for k, v in value.items()) + "}"
    if isinstance(value, (list, tuple)):
        return "[" + ", ".join(line(v) for v in value) + "]"
    if isinstance(value, str):
        return _word(value)
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, float) and value.is_integer() and abs(value) < _WHOLE_MAX:
        return str(int(value))
    return repr(value)


def emit(document: Mapping[str, Any]) -> str:
    """A model file; groups that are empty are left out."""
    lines = []
    for key, value in document.items():
        if isinstance(value, Mapping) and key != "run":
            if value:
                lines.append(f"{key}:")
                lines += [f"  {_word(str(name))}: {line(entry)}" for name, entry in value.items()]
        elif not isinstance(value, Mapping) or value:
            lines.append(f"{key}: {line(value)}")
    return "\n".join(lines) + "\n"
