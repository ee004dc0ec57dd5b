"""Which part of a model a tensor belongs to, by the names that publishers use."""

from __future__ import annotations

import re
from functools import cache, lru_cache

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable
    from typing import Literal

    # mlp     dense and shared feed-forward parts and routers; experts are the routed ones only
    # scales  whatever belongs to a quantised matrix beside its weights: scales, zero points, permutations
    # other   hyper-connections, per-layer projections and whatever has an unknown name
    Part = Literal["experts", "mlp", "attention", "embedding", "head", "norms", "vision", "draft", "scales", "other"]


# Searched in this order in the lower-case name: a vision tower has norms and attention of its own.
_PATTERNS: tuple[tuple[Part, str], ...] = (
    ("vision", r"visual|vision|image|img_|audio|patch_embed|multi_modal|mm_projector|^(?:v|a|mm)\."),
    ("draft", r"(?:^|[._])mtp(?:[._]|$)|nextn"),
    ("head", r"lm_head|embed_out|^output\.|^head\."),
    ("embedding", r"embed_tokens|embed_positions|embeddings?\.|wte|wpe|token_embd|position_embd|^embed\."),
    ("experts", r"(?<!shared_)experts\.|(?<!shared_)experts$|_exps"),
    ("norms", r"norm|(?:^|\.)ln_|(?:^|\.)ln\d"),
    ("mlp", r"mlp|ffn|feed_forward|shared_expert|_shexp|sparse_moe|router|(?:up|down|gate)_proj|\.gate\.|fc\d"),
    ("attention", r"attn|attention|mixer|mamba|ssm|indexer|[qkvo]_proj|qkv|\.wq|\.wk|\.wv|\.wo"),
)

# A learned scale (`logit_scale`, `layer_scalar`) is no quantisation scale: the word before decides.
_SCALE = (
    r"(?:.*(?:weight|input|output|activation|proj)|[qkv]|kv)_"
    r"(?:scales?|scale_inv|scale_2|global_scale|scale_ub|zero_point|shape|g_idx)"
    r"|scales|qzeros|g_idx|(?:nested_)?absmax|(?:nested_)?quant_map|scb|weight_format|bitsandbytes__\w+"
)
_LAYER = r".*?(?:layers|blk|blocks|h)\.\d+\."
_DRAFT_MARK = ".eh_proj"
MAX_PATTERNS = 4096  # remembered names, numbers left out; a model has a few hundred


def classify(names: Iterable[str]) -> dict[str, Part]:
    """The part of every tensor in `names`, which must be all of the checkpoint.

    A layer that holds the joint projection of a multi-token-prediction block (`eh_proj`) is draft as a whole,
    wherever its number puts it.
    """
    known = frozenset(names)
    drafts = {_layer(name) for name in known if _DRAFT_MARK in name}
    return {name: _part(name, known, drafts) for name in known}


def is_scale(name: str, known: frozenset[str]) -> bool:
    """Whether `name` is a scale or the like of another tensor; `known` are all names of the checkpoint."""
    stem, _, last = name.rpartition(".")
    if last == "scale":  # also the name of a norm's weight, which has no matrix beside it
        return f"{stem}.weight" in known
    return _is_scale_word(last)


def _part(name: str, known: frozenset[str], drafts: set[str | None]) -> Part:
    if is_scale(name, known):
        return "scales"
    if drafts and _layer(name) in drafts:
        return "draft"
    # Half a million names of experts differ in their numbers only.
    return _part_of_pattern(_compiled(r"\d+").sub("0", name.lower()))


def _layer(name: str) -> str | None:
    match = _compiled(_LAYER).match(name)
    return match[0] if match else None


@lru_cache(MAX_PATTERNS)
def _part_of_pattern(name: str) -> Part:
    return next((part for part, pattern in _PATTERNS if _compiled(pattern).search(name)), "other")


@lru_cache(MAX_PATTERNS)
def _is_scale_word(word: str) -> bool:
    return _compiled(_SCALE).fullmatch(word.lower()) is not None


@cache
def _compiled(pattern: str) -> re.Pattern[str]:
    return re.compile(pattern)
