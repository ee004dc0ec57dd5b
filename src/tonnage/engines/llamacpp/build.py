"""Builds of llama.cpp and of its fork ik_llama.cpp, as users and logs write them."""

from __future__ import annotations

import re

from tonnage.errors import UsageError
from tonnage.value import value

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Literal

    MlaMode = Literal[0, 1, 2, 3]

# llama.cpp counts its builds; llama-cpp-python 0.3.36, whose sources were read, vendors one of autumn 2026.
NEWEST = 9999
# First builds with a rule, from the dates of the pull requests; a few hundred builds either way are possible.
FIRST_WITH_LATENT = 5120  # April 2025: latent attention cached as such (PR 12801)
FIRST_WITH_WINDOWS = 5450  # May 2025: windows cached apart (PR 13194)
FIRST_WITH_SLOTS = 6900  # November 2025: four slots over one cache
FIRST_WITH_FIT = 7400  # December 2025: --fit leaves a margin on every device
MODES: dict[str, MlaMode] = {"0": 0, "1": 1, "2": 2, "3": 3}
DEFAULT_MODE = "3"
NAMES = ("llama", "ggml", "latest", "master", "newest", "xllama")


@value
class Build:
    """`number` of the build; `is_ik` marks the fork, whose `mla_mode` says how latent attention is cached.

    Mode 0 keeps expanded keys and values, 1 the latent and its transposed part, 2 and 3 the latent alone.
    """

    number: int
    is_ik: bool = False
    mla_mode: MlaMode = 3

    def __str__(self) -> str:
        return "ik_llama.cpp" if self.is_ik else "newest" if self.number == NEWEST else f"b{self.number}"

    @property
    def keeps_latent(self) -> bool:
        """Whether latent attention is cached without expanding it."""
        return self.mla_mode > 0 if self.is_ik else self.number >= FIRST_WITH_LATENT

    @property
    def keeps_transposed(self) -> bool:
        """Whether the latent's value part is cached a second time, transposed."""
        return self.is_ik and self.mla_mode == 1

    @property
    def trims_windows(self) -> bool:
        """Whether window layers cache their window only."""
        return not self.is_ik and self.number >= FIRST_WITH_WINDOWS

    @property
    def fits(self) -> bool:
        """Whether the program itself leaves a margin on the device."""
        return not self.is_ik and self.number >= FIRST_WITH_FIT


@value
class BuildChoice:
    """The rules to use, and what a reader must know about the choice."""

    build: Build
    notes: tuple[str, ...] = ()


def choose_build(text: str | None) -> BuildChoice:
    """The build in `b6900`, `llama.cpp b5450`, `ik_llama.cpp mla=2`; None is the newest known.

    Texts with the program's name but no build number get the newest rules and a note; anything else is a UsageError.
    """
    if text is None:
        return BuildChoice(Build(NEWEST))
    name = text.strip().lower()
    if name.startswith("ik"):
        mode = re.search(r"mla\D?([0-3])", name)
        return BuildChoice(Build(NEWEST, True, MODES[mode.group(1) if mode else DEFAULT_MODE]))
    found = re.search(r"\bb?(\d{3,5})\b", name)
    if found is not None:
        return BuildChoice(Build(min(int(found.group(1)), NEWEST)))
    if name[:1].isdigit() or any(part in name for part in NAMES):
        return BuildChoice(Build(NEWEST), (f"llama.cpp {text}: no build number, rules of the newest build",))
    raise UsageError("llama.cpp build", text, "a build such as b6900, or ik_llama.cpp with mla=0..3")
