"""Results kept for the next call with the same arguments.

Like `functools.lru_cache`, whose import takes longer than all it would save in the answer to one question.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any, ParamSpec, TypeVar

    P = ParamSpec("P")
    T = TypeVar("T")
MISSING = object()


def kept(limit: int) -> Callable[[Callable[P, T]], Callable[P, T]]:
    """Keeps the results of a function of hashable positional arguments; all are dropped when there are `limit`."""

    def decorate(function: Callable[P, T]) -> Callable[P, T]:
        results: dict[tuple[Any, ...], Any] = {}

        def call(*arguments: P.args, **named: P.kwargs) -> T:
            found: T | object = results.get(arguments, MISSING)
            if found is MISSING:
                found = function(*arguments, **named)
                if len(results) >= limit:
                    results.clear()
                results[arguments] = found
            return found  # type: ignore[return-value]

        call.__doc__, call.__name__ = function.__doc__, function.__name__
        call.cache_clear = results.clear  # type: ignore[attr-defined]
        return call

    return decorate
