"""Names of models taken apart: remarks, tunings and dates that leave a model's shape as it is.

Only endings from closed lists are taken off, none of which holds a size, so that a name never leads to a model of
another size.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

# Tunings share the shape of their base: `Qwen2.5-7B-Instruct` has the tensors of `Qwen2.5-7B`.
TUNINGS = (
    "-instruct", "-it", "-chat", "-base", "-thinking", "-reasoning", "-qat", "-hf", "-sft", "-dpo", "-rl", "-preview",
    "-128k", "-original", "-ct", "-unsloth", "-dspark", "-text-only", "-turbo", "-abliterated", "-pt", "-ud",
)  # fmt: skip
# Builds that stand in front: `Meta-Llama-3.1-8B` is `Llama-3.1-8B`.
LEADS = ("meta-", "nvidia-")
# Words in front of and behind a name in people's own descriptions.
REMARKS = ("class", "family", "model", "draft", "gguf", "fine-tune")
DATE_LENGTHS = (4, 6, 8)  # -0528, -2507, -202407, -20240716
VERSION_DIGITS = 2


def bare_name(text: str) -> str:
    """A name without remarks in parentheses and drafts after a plus sign."""
    before, _, rest = text.partition("(")
    after = rest.partition(")")[2]
    return " ".join(f"{before} {after}".partition(" + ")[0].split())


def remark_of(text: str) -> str | None:
    """What stands in parentheses behind a name, None if nothing does."""
    return text.partition("(")[2].partition(")")[0].strip() or None


def list_bases(name: str) -> Iterator[str]:
    """`name` and the shorter names of the same shape, nearest first: endings taken off one after another."""
    seen: dict[str, None] = {}
    pending = [name]
    while pending:
        current = pending.pop(0)
        if current in seen:
            continue
        seen[current] = None
        yield current
        pending += [shorter for shorter in (_without_ending(current), _without_lead(current)) if shorter]


def _without_ending(name: str) -> str | None:
    low = name.lower()
    for ending in TUNINGS:
        if low.endswith(ending) and len(low) > len(ending):
            return name[: -len(ending)]
    head, dash, tail = name.rpartition("-")
    if dash and head and (_is_date(tail) or (_is_version(tail) and _names_size(head))):
        return head
    words = name.rsplit(" ", 1)
    return words[0] if len(words) > 1 and not _has_size(words[1]) else None


def _is_date(text: str) -> bool:
    return text.isascii() and text.isdecimal() and len(text) in DATE_LENGTHS


def _is_version(text: str) -> bool:
    """Whether a tail is a build's version: `v1`, `v0.3`."""
    digits = text[1:].replace(".", "", 1)
    return text[:1] in "vV" and digits.isdecimal() and len(digits) <= VERSION_DIGITS


def _names_size(name: str) -> bool:
    """Whether a name has a size, so that a version behind it is one of the same model (`Mixtral-8x7B-v0.1`)."""
    return any(_has_size(word) for word in name.split("-"))


def _has_size(word: str) -> bool:
    """Whether a word of a description may be a size: `30B`, `A3B`, `8x7B`."""
    return any(letter.isdecimal() for letter in word) and word[-1:] in "bBtTmM"


def _without_lead(name: str) -> str | None:
    owner, slash, rest = name.rpartition("/")
    low = rest.lower()
    lead = next((lead for lead in LEADS if low.startswith(lead) and len(low) > len(lead)), "")
    return f"{owner}{slash}{rest[len(lead) :]}" if lead else None
