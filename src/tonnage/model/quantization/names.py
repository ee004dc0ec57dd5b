"""Module paths in one spelling, so that a configuration's lists and an architecture's tensors meet.

Wrappers before the layers (`model.`, `language_model.`) are dropped, the index of an expert is dropped because the
engines hold all experts of a layer in one matrix, and the few synonyms of the feed-forward parts are unified.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

# What vLLM's weight mappers and transformers wrap around a decoder (`model.language_model.layers`,
# `language_model.model.layers`, `backbone.layers`).
WRAPPERS = frozenset(
    ("model", "language_model", "backbone", "transformer", "text_model", "llm", "thinker", "gpt_neox", "lm")
)
STACKS = frozenset(("layers", "blocks", "h"))
# Mixtral and DeepSeek V4 call the three matrices w1, w3, w2; the block is mlp, ffn or block_sparse_moe.
SYNONYMS = {
    "block_sparse_moe": "mlp",
    "ffn": "mlp",
    "attn": "self_attn",
    "w1": "gate_proj",
    "w3": "up_proj",
    "w2": "down_proj",
}
# vLLM models' packed_modules_mapping: a fused matrix and the checkpoint's parts of it.
FUSED = {
    "qkv_proj": ("q_proj", "k_proj", "v_proj"),
    "gate_up_proj": ("gate_proj", "up_proj"),
    "in_proj_qkvz": ("in_proj_qkv", "in_proj_z"),
    "in_proj_ba": ("in_proj_b", "in_proj_a"),
    "fused_qkv_a_proj": ("q_a_proj", "kv_a_proj_with_mqa"),
}
PART_OF = {part: whole for whole, parts in FUSED.items() for part in parts}
EXPERTS = "experts"
ANYWHERE = "**"
ANY = "*"


def split_path(name: str) -> list[str]:
    """The components of a module path in the common spelling; wrappers and expert indices are gone."""
    kept: list[str] = []
    for part in unwrap(name.split(".")):
        if kept and kept[-1] == EXPERTS and (part == ANY or part.isdecimal()):
            continue
        kept.append(SYNONYMS.get(part, part))
    return kept


def unwrap(parts: list[str]) -> list[str]:
    """The components after the wrappers; at least one is left."""
    start = 0
    while start < len(parts) - 1 and parts[start] in WRAPPERS:
        start += 1
    return parts[start:]


def tensor_path(name: str) -> list[str]:
    """Like `split_path` for a tensor: a `.weight` ending is dropped, a fused matrix stands for its first part."""
    parts = split_path(name.removesuffix(".weight"))
    parts[-1] = FUSED.get(parts[-1], (parts[-1],))[0]
    return parts


def entry_paths(entry: str) -> list[list[str]]:
    """The paths an exact entry of a list stands for, `**` first where it may stand at any depth.

    `model.layers.0.mlp.gate` is anchored; `gate`, `lm_head` or `self_attn.qkv_proj` are not, and the last
    stands for its three parts as well.
    """
    parts = [part for part in split_path(entry.strip(".")) if part]
    if not parts:
        return []
    is_anchored = parts[0] in STACKS or entry.split(".", 1)[0] in WRAPPERS
    lead = [] if is_anchored else [ANYWHERE]
    ends = (parts[-1], *FUSED.get(parts[-1], ()))
    return [[*lead, *parts[:-1], end] for end in ends]


def compact(entries: Iterable[str]) -> tuple[str, ...]:
    """Exact entries as few name templates: 92 modules that differ by the layer become `layers.{0-91}.mlp.gate`."""
    groups: dict[tuple[str, ...], set[int]] = {}
    for entry in entries:
        for path in entry_paths(entry):
            key, index = template(path)
            groups.setdefault(key, set()).update(() if index is None else (index,))
    return tuple(sorted(".".join(_filled(key, indices)) for key, indices in groups.items()))


def template(path: list[str]) -> tuple[tuple[str, ...], int | None]:
    """A path with its first numeric component replaced by `#`, and that number if there is one."""
    for place, part in enumerate(path):
        # isdecimal alone admits digits of other scripts, which no checkpoint uses
        if part.isascii() and part.isdecimal() and len(part) <= 8:
            return (*path[:place], "#", *path[place + 1 :]), int(part)
    return tuple(path), None


def _filled(key: tuple[str, ...], indices: set[int]) -> tuple[str, ...]:
    if not indices:
        return key
    place = key.index("#")
    runs = _runs(sorted(indices))
    text = runs if runs.isdecimal() else "{" + runs + "}"
    return (*key[:place], text, *key[place + 1 :])


def _runs(numbers: list[int]) -> str:
    runs: list[list[int]] = []
    for number in numbers:
        if runs and number == runs[-1][1] + 1:
            runs[-1][1] = number
        else:
            runs.append([number, number])
    return ",".join(str(a) if a == b else f"{a}-{b}" for a, b in runs)


def parse_name(name: str) -> tuple[tuple[str, ...], frozenset[int] | None]:
    """Inverse of `compact` for one entry: the path with `#`, and the numbers that may stand there (None: any)."""
    path = name.split(".")
    for place, part in enumerate(path):
        if part.startswith("{") or part == ANY or part.isdecimal():
            return (*path[:place], "#", *path[place + 1 :]), _numbers(part)
    return tuple(path), None


def _numbers(text: str) -> frozenset[int] | None:
    if text == ANY:
        return None
    found: set[int] = set()
    for run in text.strip("{}").split(","):
        first, _, last = run.partition("-")
        found.update(range(int(first), int(last or first) + 1))
    return frozenset(found)
