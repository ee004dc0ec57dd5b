"""Regular expressions and globs of configuration files, admitted only when they cannot run away.

A checkpoint is downloaded data: its `re:` entries are run on every tensor name, so a pattern whose running time
explodes must be refused before it is compiled.
"""

from __future__ import annotations

import re
from fnmatch import translate

from tonnage.errors import UnreadableError
from tonnage.value import value

PATTERN_MAX = 2000
# Ways to match that one name may be tried in, over all patterns of a scheme: about 10 ms in the worst case.
# A repeat that can stand for many characters offers as many ways as a long name has characters.
WORK_MAX, WIDE_WORK = 300_000, 64
COUNT_MAX = 64
# Words of one group that are compared with one another; a list of layers has about a hundred.
WORDS_MAX = 256
WIDE_ESCAPES = frozenset("wWDSs")
ANCHORS = frozenset("AbBZ")
ATOMIC_STEP = "?>.*?"


@value
class Pattern:
    """A regular expression fit for use and the ways a name may be tried against it, at most."""

    regex: str
    work: int


class _Group:
    """An open bracket: where it began, whether it repeats or chooses, and the ways to match what it holds.

    `work` counts the alternative being read, `earlier` the ones before it.
    """

    __slots__ = ("earlier", "is_loose", "start", "work")

    def __init__(self, start: int, is_loose: bool = False) -> None:
        self.start, self.is_loose, self.work, self.earlier = start, is_loose, 1, 0


class _Scan:
    """Position in a pattern and the brackets open there, the whole pattern being the first."""

    __slots__ = ("at", "groups", "original", "text")

    def __init__(self, text: str, original: str) -> None:
        self.text, self.original = text, original
        self.at, self.groups = 0, [_Group(0)]

    def refuse(self, accepted: str) -> UnreadableError:
        return _refusal(self.original, accepted)


def safe_regex(pattern: str) -> Pattern:
    """`pattern` with its `.*literal` steps made atomic, which changes no result; refused when it could run away.

    Refused are patterns over 2000 characters, repeats of groups that hold repeats or alternatives, back references,
    counts over 64, more than 300,000 ways to try one name, and what `re` itself does not compile.
    """
    if len(pattern) > PATTERN_MAX:
        raise _refusal(pattern, f"a regular expression of at most {PATTERN_MAX} characters")
    rewritten = _atomic(pattern)
    work = _work(_Scan(rewritten, pattern))
    try:
        re.compile(rewritten)
    except (re.error, OverflowError, RecursionError) as error:
        raise _refusal(pattern, f"a regular expression ({error})") from error
    return Pattern(rewritten, work)


def glob_pattern(glob: str) -> Pattern:
    """The regular expression of a shell pattern (`*.gate`); the translation of the standard library is linear."""
    if len(glob) > PATTERN_MAX:
        raise _refusal(glob, f"a pattern of at most {PATTERN_MAX} characters")
    return Pattern(translate(glob), WIDE_WORK)


def word_pattern(word: str) -> Pattern:
    """A pattern for names in which `word` begins anywhere but inside routed experts."""
    outside = r"(?<!\.experts\.)"
    return Pattern(f"(?:{outside}.)*{outside}{re.escape(word)}", WIDE_WORK)


def is_floating(regex: str) -> bool:
    """Whether a pattern may begin anywhere, so that what stands before a module's name is of no importance."""
    return re.match(r"\^?(?:\(\?s:)?(?:\(\?>|\(\?=\(\?P<g0>)?\.\*", regex) is not None


def is_digit_blind(regex: str) -> bool:
    """Whether the value of a digit in a name cannot change the result, only how many digits stand there."""
    # the group names of translated globs (`<g0>`) are no digits of the pattern
    return re.search(r"[0-9\[{]", re.sub(r"\(\?P[<=]g\d+[>)]", "", regex)) is None


def _refusal(pattern: str, accepted: str) -> UnreadableError:
    return UnreadableError("pattern in quantization_config", repr(pattern[:80]), f"expected {accepted}")


def _atomic(pattern: str) -> str:
    # `.*LIT.*` may take the first LIT for good: whatever a later one could reach, the next `.*` reaches as well.
    # A last `.*` is without effect because a match need not reach the end.
    if re.search(r"\[[^\]]*\*", pattern):
        return pattern
    pattern = re.sub(r"(?<!\\)\.\*$", "", pattern) or ".*"
    return re.sub(r"(?<!\\)\.\*((?:[A-Za-z0-9_./-]|\\[._/-])+)(?=\.\*)", r"(?>.*?\1)", pattern)


def _work(scan: _Scan) -> int:
    while scan.at < len(scan.text):
        kind = _element(scan)
        repeat = _repeat(scan)
        if repeat:
            _weigh_repeat(scan, kind, repeat)
        if scan.groups[-1].work > WORK_MAX:
            raise scan.refuse("fewer repeats and alternatives")
    work = _ways(scan.text, scan.groups[0])
    if work > WORK_MAX:
        raise scan.refuse("fewer alternatives")
    return work


def _element(scan: _Scan) -> str:
    """Step over one element; `loose` is a group with choices or repeats inside."""
    char = scan.text[scan.at]
    scan.at += 1
    if char == "(":
        return _open(scan)
    if char == ")":
        return _close(scan)
    if char == "[":
        return _set(scan)
    if char == "\\":
        return _escape(scan)
    if char == "|":
        group = scan.groups[-1]
        group.is_loose, group.work, group.earlier = True, 1, group.earlier + group.work
        return "none"
    return "wide" if char == "." else "narrow"


def _open(scan: _Scan) -> str:
    flags = re.compile(r"\?[is]+\)").match(scan.text, scan.at)
    if flags:
        scan.at = flags.end()
        return "none"
    head = re.compile(r"\?(?:>\.\*\?|[:=!>]|<[=!]|P<\w+>)").match(scan.text, scan.at)
    if head is None and scan.text.startswith("?", scan.at):
        raise scan.refuse("no back references, conditions or scoped flags")
    if head:
        scan.at = head.end()
    scan.groups.append(_Group(scan.at, is_loose=head is not None and head.group() == ATOMIC_STEP))
    return "none"


def _close(scan: _Scan) -> str:
    if len(scan.groups) == 1:
        return "none"
    inner = scan.groups.pop()
    scan.groups[-1].work *= _ways(scan.text[inner.start : scan.at - 1], inner)
    scan.groups[-1].is_loose |= inner.is_loose
    return "loose" if inner.is_loose else "wide"


def _ways(body: str, group: _Group) -> int:
    """Ways to match a group at one place; of plain words few can hold: one of `up|down`, two of `gate|gate_up`."""
    names = body.split("|")
    if len(names) > WORDS_MAX or not re.fullmatch(r"(?:\w|\\[._-]|\|)*", body):
        return group.earlier + group.work
    return max(sum(name.startswith(other) for other in names) for name in names)


def _set(scan: _Scan) -> str:
    end = re.compile(r"\^?\]?(?:[^\]\\]|\\.)*\]", re.DOTALL).match(scan.text, scan.at)
    # what later versions of `re` may read as set operations, and warn about today
    if end is None or re.search(r"\[|--|&&|~~|\|\|", end.group()):
        raise scan.refuse("plain character sets")
    scan.at = end.end()
    return "narrow" if end.group() in ("0-9]", "\\d]") else "wide"


def _escape(scan: _Scan) -> str:
    char = scan.text[scan.at : scan.at + 1]
    scan.at += 1
    if char.isdigit():
        raise scan.refuse("no back references")
    if char in ANCHORS:
        return "none"
    return "wide" if char in WIDE_ESCAPES else "narrow"


def _repeat(scan: _Scan) -> str:
    """The quantifier at the position, without its lazy or possessive mark; empty when there is none."""
    found = re.compile(r"([*+?]|\{(\d*)(?:,(\d*))?\})[?+]?").match(scan.text, scan.at)
    if found is None:
        return ""
    scan.at = found.end()
    if any(len(count) > 4 or int(count) > COUNT_MAX for count in found.groups()[1:] if count):
        raise scan.refuse(f"counts of at most {COUNT_MAX}")
    return found.group(1)


def _weigh_repeat(scan: _Scan, kind: str, repeat: str) -> None:
    if kind == "loose" and repeat != "?":
        raise scan.refuse("no repeat of a group that itself repeats or chooses")
    scan.groups[-1].is_loose = True
    if repeat == "?":
        scan.groups[-1].work *= 2
    elif kind != "narrow":
        scan.groups[-1].work *= WIDE_WORK
