"""An answer of `fit` that comes back from a file: somebody may have edited it, or given another file."""

from __future__ import annotations

from tonnage.errors import UnreadableError
from tonnage.memory.log_number import BEYOND

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

_ACCEPTED = "an answer of `tonnage fit --json`"
# Fields that are read and what they hold; all may be absent or null but those marked with `!`.
_LINE = {"name": "text!", "bytes": "whole!"}
_RANK = {"rank": "whole!", "budget_bytes": "whole", "lines": [_LINE]}
_SHAPE: Mapping[str, Any] = {
    "ranks": [_RANK],
    "lines": [_LINE],
    "busiest_rank": "whole",
    "model": {"id": "text", "family": "text"},
    "fleet": {"accelerator": "text", "name": "text", "nodes": "whole", "count": "whole"},
    "layout": {"words": "text", "tp": "whole", "pp": "whole", "dp": "whole", "dcp": "whole", "ep": "flag"},
    "engine": "text",
    "engine_version": "text",
    "fits": "flag",
    "reason": "text",
    "kv_cache_tokens": "whole",
    "max_concurrency_x": "number",
    "kv_needed_bytes": "whole",
    "max_context": "whole",
    "weights_bytes_per_rank": "whole",
    "kv_cache_bytes_per_rank": "whole",
    "kv_bytes_per_token_per_rank": "whole",
}
_TYPES: Mapping[str, Any] = {"text": str, "whole": int, "number": (int, float), "flag": bool}


def check_answer(answer: Mapping[str, Any]) -> None:
    """UnreadableError naming the first field that is not what `fit` writes; unknown fields do not matter."""
    _check("answer", answer, _SHAPE)


def _check(place: str, found: Any, shape: Any) -> None:
    if isinstance(shape, list):
        _expect(place, found, isinstance(found, list))
        for number, item in enumerate(found):
            _check(f"{place}[{number}]", item, shape[0])
    elif isinstance(shape, str):
        _expect(place, found, _is_of(found, shape.removesuffix("!")))
    else:
        _expect(place, found, isinstance(found, dict))
        _check_fields(place, found, shape)


def _check_fields(place: str, found: Mapping[str, Any], shape: Mapping[str, Any]) -> None:
    for name, inner in shape.items():
        if found.get(name) is not None:
            _check(f"{place}.{name}", found[name], inner)
        elif str(inner).endswith("!"):
            raise UnreadableError(f"{place}.{name}", "absent", _ACCEPTED)


def _is_of(found: Any, kind: str) -> bool:
    is_right = isinstance(found, _TYPES[kind]) and isinstance(found, bool) == (kind == "flag")
    return is_right and (kind in ("text", "flag") or abs(found) < BEYOND)


def _expect(place: str, found: Any, is_right: bool) -> None:
    if not is_right:
        raise UnreadableError(place, repr(found), _ACCEPTED)
