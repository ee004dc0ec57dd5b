"""How a model is divided over cards."""

from __future__ import annotations

from tonnage.errors import UsageError
from tonnage.value import value

MAX_WORLD = 4096  # above the largest published single-engine deployments; a typing error otherwise


@value
class Layout:
    """Parallel sizes as the engines' flags name them.

    `tp` tensor, `pp` pipeline, `dp` data (replicas of attention), `dcp` decode-context parallel sizes.
    `ep`: routed experts are distributed whole over tp x dp ranks instead of being cut.
    `dp_inside_tp`: data-parallel attention divides the tensor-parallel group (SGLang) instead of multiplying it (vLLM).
    """

    tp: int = 1
    pp: int = 1
    dp: int = 1
    ep: bool = False
    dcp: int = 1
    dp_inside_tp: bool = False
    redundant_experts: int = 0

    def __post_init__(self) -> None:
        for name in ("tp", "pp", "dp", "dcp"):
            size = getattr(self, name)
            if not 1 <= size <= MAX_WORLD:
                raise UsageError(name, size, f"a size from 1 to {MAX_WORLD}")
        if self.redundant_experts < 0:
            raise UsageError("redundant experts", self.redundant_experts, "0 or more")

    @property
    def world(self) -> int:
        """Number of ranks, one card each."""
        return self.tp * self.pp * (1 if self.dp_inside_tp else self.dp)

    @property
    def ranks_per_stage(self) -> int:
        """Ranks that hold the same layers."""
        return self.world // self.pp

    @property
    def words(self) -> str:
        """Short name for people: `TP8`, `TP8 x PP2`, `DP8 x EP`."""
        sizes = [("TP", self.tp), ("PP", self.pp), ("DP", self.dp), ("DCP", self.dcp)]
        parts = [f"{name}{size}" for name, size in sizes if size > 1] or ["TP1"]
        return " x ".join([*parts, *(["EP"] if self.ep else [])])
