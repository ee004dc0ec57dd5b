"""Which layers a pipeline stage holds."""

from __future__ import annotations

from tonnage.errors import LayoutError


def split_layers(num_layers: int, pp: int, spares_last: bool = True) -> tuple[range, ...]:
    """Layer indices of each stage.

    The remainder of an uneven division goes one layer each to the stages before the last
    (`spares_last`, vLLM since 0.8 `distributed/utils.py` get_pp_indices), or all to the last stage (vLLM 0.6).
    Raises LayoutError when a stage would hold no layer.
    """
    if pp > num_layers:
        raise LayoutError("pp", pp, f"at most {num_layers} stages, one per layer")
    base, rest = divmod(num_layers, pp)
    sizes = [base] * pp
    if not spares_last:
        sizes[-1] += rest
    else:
        for back in range(2, rest + 2):
            sizes[-back] += 1
    starts = [sum(sizes[:stage]) for stage in range(pp)]
    return tuple(range(start, start + size) for start, size in zip(starts, sizes, strict=True))


def experts_on_rank(experts: int, ep: int, ep_rank: int) -> int:
    """Routed experts of one layer on rank `ep_rank`: the first `experts % ep` ranks hold one more."""
    return experts // ep + (1 if ep_rank < experts % ep else 0)
