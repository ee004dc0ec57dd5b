"""Which format a tensor of a model has under a scheme.

Layers differ by their number only, so the rules are worked through once for all layers' `self_attn.q_proj`; what is
left to decide for one name is whether its layer number is in a set.
"""

from __future__ import annotations

import re

from tonnage.model.quantization.names import ANYWHERE, EXPERTS, PART_OF, parse_name, template, tensor_path, unwrap

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from tonnage.model.quantization.scheme import Format, Rule, Scheme

    _Numbers = frozenset[int] | None
    _Paths = dict[tuple[str, ...], list[_Numbers]]
    # A rule that can hold for a kind of name: always, for some numbers, or when a pattern matches.
    _Step = tuple[Format | None, frozenset[int] | Callable[[str], bool] | None]

# Wrappers a pattern may spell out before the layers; a floating pattern needs only one.
SPELLINGS = ("model.", "", "model.language_model.", "language_model.model.", "language_model.", "backbone.")
SCHEMES_MAX, KINDS_MAX = 64, 1 << 14
NUMBER = r"(?<![^.])[0-9]{1,8}(?![^.])"

_cache: dict[int, _Matcher] = {}


def format_of(scheme: Scheme, name: str) -> Format | None:
    """The format of the tensor `name` (full checkpoint path, with or without wrappers); None: the model's dtype.

    Fused names (`qkv_proj`) and expert indices are understood. About 2 us per name.
    """
    matcher = _cache.get(id(scheme))
    # The matcher keeps its scheme alive, hence an id in the cache is never that of another scheme.
    if matcher is None:
        if len(_cache) >= SCHEMES_MAX:
            _cache.clear()
        matcher = _cache[id(scheme)] = _Matcher(scheme)
    return matcher.find(name)


class _Matcher:
    """A scheme's rules ready for use, and for each kind of name met so far what they leave to decide."""

    __slots__ = ("_kinds", "_number", "_scheme", "_tests")

    def __init__(self, scheme: Scheme) -> None:
        self._scheme = scheme
        self._tests = [_Test(rule) for rule in scheme.rules]
        self._kinds: dict[str, list[_Step]] = {}
        self._number = re.compile(NUMBER)

    def find(self, name: str) -> Format | None:
        found = self._number.search(name)
        index = int(found.group()) if found else None
        kind = f"{name[: found.start()]}{'0' * len(found.group())}{name[found.end() :]}" if found else name
        for form, condition in self._steps_of(kind):
            if condition is None or (index in condition if isinstance(condition, frozenset) else condition(name)):
                return form
        return None

    def _steps_of(self, kind: str) -> list[_Step]:
        steps = self._kinds.get(kind)
        if steps is None:
            if len(self._kinds) >= KINDS_MAX:
                self._kinds.clear()
            steps = self._kinds[kind] = list(_steps(self._tests, kind))
        return steps


class _Test:
    """One rule: paths from the start and paths at any depth, or a pattern."""

    __slots__ = ("anchored", "floating", "rule")

    def __init__(self, rule: Rule) -> None:
        self.rule = rule
        self.anchored: _Paths = {}
        self.floating: _Paths = {}
        for name in rule.names:
            path, numbers = parse_name(name)
            if path[0] == ANYWHERE:
                self.floating.setdefault(path[1:], []).append(numbers)
            else:
                self.anchored.setdefault(path, []).append(numbers)

    def numbers_of(self, path: list[str]) -> _Numbers:
        """Values of the path's first number for which the rule holds: None for all, an empty set for none."""
        found: set[int] = set()
        for start in range(len(path) if self.floating else 1):
            tables = (self.anchored, self.floating) if start == 0 else (self.floating,)
            is_open = template(path[:start])[1] is None
            for end in range(start + 1, len(path) + 1):
                key, index = template(path[start:end])
                for numbers in (numbers for table in tables for numbers in table.get(key, ())):
                    # A number after the first one belongs to the kind, so it is decided here.
                    if numbers is None or (not is_open and index in numbers):
                        return None
                    found |= numbers if is_open else frozenset()
        return frozenset(found)


def _steps(tests: list[_Test], kind: str) -> Iterator[_Step]:
    """The rules that can hold for names of this kind, up to the first that always does."""
    path = tensor_path(kind)
    for test in tests:
        rule = test.rule
        condition = test.numbers_of(path) if rule.names else _search(rule.pattern, kind)
        if condition is None or callable(condition) or condition:
            yield rule.format, condition
        if condition is None:
            return


def _search(pattern: str, kind: str) -> frozenset[int] | Callable[[str], bool] | None:
    """Like `numbers_of`; a function of the whole name when the pattern speaks of digits."""
    if not pattern:
        return None
    from tonnage.model.quantization.pattern import is_digit_blind, is_floating

    compiled, spellings = re.compile(pattern), SPELLINGS[:1] if is_floating(pattern) else SPELLINGS

    def search(name: str) -> bool:
        return any(compiled.match(text) for text in _texts(name, spellings))

    if not is_digit_blind(pattern):
        return search
    return None if search(kind) else frozenset()


def _texts(name: str, spellings: tuple[str, ...]) -> Iterator[str]:
    """Ways a configuration may write the tensor's module: wrapped, fused, and with the index of an expert."""
    full = name.removesuffix(".weight").split(".")
    yield ".".join(full)
    bodies = [unwrap(full)]
    whole = PART_OF.get(full[-1])
    bodies += [[*bodies[0][:-1], whole]] if whole else []
    bodies += [_indexed(body) for body in bodies if EXPERTS in body[:-1]]
    for body in bodies:
        for spelling in spellings:
            yield spelling + ".".join(body)


def _indexed(body: list[str]) -> list[str]:
    at = body.index(EXPERTS) + 1
    return body if body[at].isdecimal() else [*body[:at], "0", *body[at:]]
