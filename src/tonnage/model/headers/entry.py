"""One tensor as a checkpoint file lists it."""

from __future__ import annotations

from math import prod

from tonnage.value import value


@value
class TensorEntry:
    """A stored tensor: `shape` with the slowest axis first (output x input), `stored_bytes` as the file holds them.

    `dtype` is the format's own word (`BF16`, `F8_E4M3`, `Q4_K`).
    """

    name: str
    dtype: str
    shape: tuple[int, ...]
    stored_bytes: int

    @property
    def elements(self) -> int:
        """Stored elements. Several weights may be packed into one: see `packing.count_values`."""
        return prod(self.shape)
