"""Which layers stand on which device (`-sm layer`)."""

from __future__ import annotations

from tonnage.errors import LayoutError
from tonnage.units import ceil_div


def split_layers(num_layers: int, devices: int) -> tuple[range, ...]:
    """Layers of each of `devices` equal cards: the output counts as one more layer, on the last card.

    llama.cpp `src/llama-model.cpp` (load_tensors): layer i of L + 1 goes to the card whose share of the devices' free
    memory holds i / (L + 1). LayoutError when a card would hold no layer.
    """
    if devices > num_layers:
        raise LayoutError("devices", devices, f"at most {num_layers}, one per layer")
    starts = [min(num_layers, ceil_div(device * (num_layers + 1), devices)) for device in range(devices)]
    return tuple(range(start, end) for start, end in zip(starts, [*starts[1:], num_layers], strict=True))
