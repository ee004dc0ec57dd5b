"""Which layers of a GGUF model attend to a window only."""

from __future__ import annotations

from tonnage.value import value

TYPE_CHECKING = False
if TYPE_CHECKING:
    from tonnage.model.headers.gguf.facts import Facts

SIZE_KEY = "attention.sliding_window"
PATTERN_KEY = "attention.sliding_window_pattern"


@value
class Pattern:
    """One layer in `period` attends to everything: the last of each group, or the first."""

    period: int
    is_full_first: bool = False

    def is_windowed(self, layer: int) -> bool:
        """Whether `layer` is one of the others; period 0 means that every layer is."""
        if self.period == 0:
            return True
        return layer % self.period != (0 if self.is_full_first else self.period - 1)


# Source: the calls of set_swa_pattern in the loaders of llama.cpp (https://github.com/ggml-org/llama.cpp, src/models).
# The file gives a period or one flag per layer; what it leaves out is fixed there. Other architectures ignore a
# window that comes without a pattern.
_PATTERNS = {
    "afmoe": Pattern(4),
    "cohere2": Pattern(4),
    "exaone-moe": Pattern(4),
    "exaone4": Pattern(4),
    "gemma2": Pattern(2),
    "gemma3": Pattern(6),
    "gemma3n": Pattern(5),
    "gpt-oss": Pattern(2),
    "laguna": Pattern(4, is_full_first=True),
    "llama4": Pattern(4),
    "muse-glimmer": Pattern(4),
    "olmo2": Pattern(4),
    "plamo3": Pattern(8),
    "smallthinker": Pattern(4, is_full_first=True),
}
# Sizes that the loaders know and files may leave out.
_SIZES = {"gemma2": 4096, "llama4": 8192}
_CHUNKED = ("llama4",)


def read_window(facts: Facts, layer: int) -> int | None:
    """Tokens that `layer` keeps, None if it keeps all."""
    stated = facts.find(SIZE_KEY, layer)
    size = _SIZES.get(facts.arch) if stated is None else stated
    return size if size and _is_windowed(facts, layer) else None


def is_chunked(facts: Facts) -> bool:
    """Whether windows are chunks that start anew, and do not slide."""
    return facts.arch in _CHUNKED


def _is_windowed(facts: Facts, layer: int) -> bool:
    stated = facts.raw(PATTERN_KEY)
    if isinstance(stated, tuple):
        return layer < len(stated) and bool(stated[layer])
    known = _PATTERNS.get(facts.arch)
    period = facts.find(PATTERN_KEY)
    if period is not None:
        return Pattern(period, known is not None and known.is_full_first).is_windowed(layer)
    return known is not None and known.is_windowed(layer)
