"""Lists of a configuration file (modules to skip, modules to quantise) as rules."""

from __future__ import annotations

import re

from tonnage.errors import UnreadableError
from tonnage.model.quantization.names import compact
from tonnage.model.quantization.scheme import Rule

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

    from tonnage.model.quantization.scheme import Format

REGEX_MARK, WORD_MARK = "re:", "word:"
# One numbered component may be a star: gpt-oss writes `model.layers.*.self_attn`.
PLAIN = r"[A-Za-z0-9_.-]*(?:(?<=\blayers\.)\*\.[A-Za-z0-9_.-]+)?"
PATTERNS_MAX = 512


def list_rules(entries: Iterable[str], form: Format | None) -> tuple[Rule, ...]:
    """Rules that give the listed modules, and all below them, `form`.

    An entry is a path or the tail of one (`model.layers.0.mlp.gate`, `lm_head`), a path followed by `*`
    (that module and what is in it: how modelopt writes whole modules, vLLM modelopt.py apply_vllm_mapper),
    a shell pattern (`*router.layer`), or `re:` and a regular expression matched from the start
    (vLLM compressed_tensors/utils.py). Too many or too costly patterns are an UnreadableError.
    """
    paths, patterns = set(), []
    for entry in entries:
        module = entry.removesuffix("*").removesuffix(".")
        if not entry.startswith(REGEX_MARK) and is_plain(module) and (module or not entry):
            paths.add(module)
        else:
            patterns.append(entry)
    names = compact(paths)
    return (*((Rule("", form, names),) if names else ()), *_pattern_rules(patterns, form))


def is_plain(entry: str) -> bool:
    """Whether an entry is a module's name rather than a pattern."""
    return re.fullmatch(PLAIN, entry) is not None


def substring_rules(entries: Iterable[str], form: Format | None) -> tuple[Rule, ...]:
    """Rules for entries that hold wherever they occur in a name (AutoAWQ; vLLM auto_awq.py, match_mode substring).

    Inside routed experts they do not: the engine asks about the module that holds them all.
    """
    words = [entry.strip(".") for entry in dict.fromkeys(entries) if entry.strip(".")]
    return _pattern_rules([f"{WORD_MARK}{word}" for word in words], form)


def search_rules(entries: Iterable[str], form: Format | None) -> tuple[Rule, ...]:
    """Rules for bare regular expressions that hold wherever they match in a name."""
    return _pattern_rules([f"{REGEX_MARK}.*(?:{entry})" for entry in entries], form)


def _pattern_rules(entries: list[str], form: Format | None) -> tuple[Rule, ...]:
    """Rules of shell patterns and, where marked, regular expressions and words."""
    if not entries:
        return ()
    # most checkpoints have no patterns and should not pay for the checks
    from tonnage.model.quantization.pattern import WORK_MAX, glob_pattern, safe_regex, word_pattern

    makers = {REGEX_MARK: safe_regex, WORD_MARK: word_pattern}
    patterns = []
    for entry in entries[: PATTERNS_MAX + 1]:
        mark = next((mark for mark in makers if entry.startswith(mark)), "")
        patterns.append(makers.get(mark, glob_pattern)(entry.removeprefix(mark)))
    if len(patterns) > PATTERNS_MAX or sum(pattern.work for pattern in patterns) > WORK_MAX:
        raise UnreadableError(
            "quantization_config", f"{len(entries)} patterns", f"at most {PATTERNS_MAX} patterns of moderate cost"
        )
    return tuple(Rule(pattern.regex, form) for pattern in patterns)
