"""Which format a tensor of a model has under a scheme.

Layers differ by their number only, so the rules are worked through once for all layers' `self_attn.q_proj`; what is
left to decide for one name is whether its layer number is in a set.
"""

from __future__ import annotations

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
DIGITS_MAX = 8  # of a layer's number
ANY_START = ".*"

_cache: dict[int, _Matcher] = {}


def format_of(scheme: Scheme, name: str) -> Format | None:
    """The format of the tensor `name` (full checkpoint path, with or without wrappers); None: the model's dtype.

    Fused names (`qkv_proj`) and expert indices are understood. About 2 us per name.
    """
    return _matcher_of(scheme).find(name)


def is_numbered(scheme: Scheme, name: str) -> bool:
    """Whether the format of the tensor `name` may be another one where the number of its layer is another."""
    return _matcher_of(scheme).is_numbered(name)


def _matcher_of(scheme: Scheme) -> _Matcher:
    matcher = _cache.get(id(scheme))
    # The matcher keeps its scheme alive, hence an id in the cache is never that of another scheme.
    if matcher is None:
        if len(_cache) >= SCHEMES_MAX:
            _cache.clear()
        matcher = _cache[id(scheme)] = _Matcher(scheme)
    return matcher


class _Matcher:
    """A scheme's rules ready for use, and for each kind of name met so far what they leave to decide."""

    __slots__ = ("_kinds", "_measures", "_scheme", "_tests")

    def __init__(self, scheme: Scheme) -> None:
        self._scheme = scheme
        self._tests = [_Test(rule) for rule in scheme.rules]
        self._kinds: dict[str, list[_Step]] = {}
        # A pattern that is not plain words may count the digits of a number.
        self._measures = any(t.rule.pattern and not t.rule.names and not t.words for t in self._tests)

    def find(self, name: str) -> Format | None:
        kind, index = self._kind_of(name)
        for form, condition in self._steps_of(kind):
            if condition is None or (index in condition if isinstance(condition, frozenset) else condition(name)):
                return form
        return None

    def is_numbered(self, name: str) -> bool:
        steps = self._steps_of(self._kind_of(name)[0])
        return self._measures or any(condition is not None for _, condition in steps)

    def _kind_of(self, name: str) -> tuple[str, int | None]:
        """The name with its first number made zero, and that number."""
        parts = name.split(".")
        for place, part in enumerate(parts):
            if part.isdecimal() and part.isascii() and len(part) <= DIGITS_MAX:
                parts[place] = "0" * len(part) if self._measures else "0"
                return ".".join(parts), int(part)
        return name, None

    def _steps_of(self, kind: str) -> list[_Step]:
        steps = self._kinds.get(kind)
        if steps is None:
            if len(self._kinds) >= KINDS_MAX:
                self._kinds.clear()
            steps = self._kinds[kind] = list(_steps(self._tests, kind))
        return steps


class _Test:
    """One rule: paths from the start and paths at any depth, or a pattern."""

    __slots__ = ("anchored", "floating", "heads", "rule", "words")

    def __init__(self, rule: Rule) -> None:
        self.rule = rule
        self.words = () if rule.names else _words(rule.pattern)
        self.anchored: _Paths = {}
        self.floating: _Paths = {}
        for name in rule.names:
            path, numbers = parse_name(name)
            if path[0] == ANYWHERE:
                self.floating.setdefault(path[1:], []).append(numbers)
            else:
                self.anchored.setdefault(path, []).append(numbers)
        self.heads = {path[0] for path in self.floating}

    def numbers_of(self, path: list[str]) -> _Numbers:
        """Values of the path's first number for which the rule holds: None for all, an empty set for none."""
        found: set[int] = set()
        starts = [start for start, part in enumerate(path) if part in self.heads or part.isdecimal()]
        for start in sorted({0, *starts}) if self.anchored else starts:
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
    texts = list(_texts(kind, SPELLINGS[:1])) if any(test.words for test in tests) else []
    for test in tests:
        condition = test.numbers_of(path) if test.rule.names else _condition(test, kind, texts)
        if condition is None or callable(condition) or condition:
            yield test.rule.format, condition
        if condition is None:
            return


def _condition(test: _Test, kind: str, texts: list[str]) -> frozenset[int] | Callable[[str], bool] | None:
    """What a pattern leaves to decide for a kind of name."""
    if not test.words:
        return _search(test.rule.pattern, kind)
    return None if any(word in text for text in texts for word in test.words) else frozenset()


def _search(pattern: str, kind: str) -> frozenset[int] | Callable[[str], bool] | None:
    """Like `numbers_of`; a function of the whole name when the pattern speaks of digits."""
    if not pattern:
        return None
    import re

    from tonnage.model.quantization.pattern import is_digit_blind, is_floating

    compiled, spellings = re.compile(pattern), SPELLINGS[:1] if is_floating(pattern) else SPELLINGS

    def search(name: str) -> bool:
        return any(compiled.match(text) for text in _texts(name, spellings))

    if not is_digit_blind(pattern):
        return search
    return None if search(kind) else frozenset()


def _words(pattern: str) -> tuple[str, ...]:
    """The words of which a pattern asks for one, anywhere in a name: `.*mlp\\.(gate|up)`; empty for other patterns."""
    head, bracket, rest = pattern.removeprefix(ANY_START).partition("(")
    middle, closing, tail = rest.partition(")")
    parts = [part.replace("\\.", "") for part in (head, tail, *middle.split("|"))]
    is_plain = pattern.startswith(ANY_START) and bool(bracket) == bool(closing) and bool(head)
    if not is_plain or not all(part.replace("_", "a").replace("-", "a").isalpha() for part in parts if part):
        return ()
    return tuple(f"{head}{word}{tail}".replace("\\.", ".") for word in middle.split("|"))


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
