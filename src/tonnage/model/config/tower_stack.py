"""Builders of an encoder's tensors: equal blocks are written once, with their number as copies."""

from __future__ import annotations

from tonnage.model.tensor import Tensor
from tonnage.value import value

TYPE_CHECKING = False
if TYPE_CHECKING:
    from tonnage.model.tensor import Kind, Split

    Tensors = tuple[Tensor, ...]

QKV = 3  # queries, keys and values, one beside the other in a single matrix


@value
class Stack:
    """Names under `prefix`, each tensor `copies` times (the encoder's blocks). Matrices are output x input.

    With `fallback_heads` the engine leaves the whole tower on each rank where the ranks do not divide these heads.
    """

    prefix: str
    copies: int = 1
    fallback_heads: int | None = None

    def column(self, name: str, rows: int, cols: int, heads: int | None = None, has_bias: bool = True) -> Tensors:
        """A matrix whose output divides among ranks, in whole heads if `heads` is given; so does its bias."""
        weight = self._tensor(name, rows, cols, "rows", heads)
        return (weight, self._vector(f"{name}.bias", rows, "rows", heads)) if has_bias else (weight,)

    def row(self, name: str, rows: int, cols: int, heads: int | None = None, has_bias: bool = True) -> Tensors:
        """A matrix whose input divides among ranks; its bias stands on all of them."""
        weight = self._tensor(name, rows, cols, "cols", heads)
        return (weight, self._vector(f"{name}.bias", rows)) if has_bias else (weight,)

    def qkv(self, name: str, width: int, hidden: int, heads: int, has_bias: bool = True) -> Tensors:
        """Queries, keys and values of `width` each in one matrix."""
        return self.column(name, QKV * width, hidden, heads, has_bias)

    def apart(self, path: str, hidden: int, heads: int, has_bias: bool = True) -> Tensors:
        """Queries, keys and values of width `hidden` in three matrices below `path`."""
        parts = (self.column(f"{path}.{part}_proj", hidden, hidden, heads, has_bias) for part in "qkv")
        return tuple(tensor for tensors in parts for tensor in tensors)

    def whole(self, name: str, rows: int, cols: int, has_bias: bool = True) -> Tensors:
        """A matrix that stands whole on every rank."""
        weight = self._tensor(name, rows, cols, "none", None)
        return (weight, self._vector(f"{name}.bias", rows)) if has_bias else (weight,)

    def norm(self, name: str, size: int, has_bias: bool = True) -> Tensors:
        """A LayerNorm, or an RMS norm without bias."""
        weight = self._vector(name, size)
        return (weight, self._vector(f"{name}.bias", size)) if has_bias else (weight,)

    def table(self, name: str, rows: int, cols: int) -> Tensors:
        """Positions, patch kernels: kept in the model's dtype, whole on every rank."""
        return (Tensor(f"{self.prefix}{name}", rows, cols, kind="plain", copies=self.copies),)

    def patches(self, name: str, hidden: int, pixels: int, has_bias: bool = True) -> Tensors:
        """The embedding of a patch of `pixels` values."""
        kernel = self.table(name, hidden, pixels)
        return (*kernel, self._vector(f"{name}.bias", hidden)) if has_bias else kernel

    def _tensor(self, name: str, rows: int, cols: int, split: Split, units: int | None) -> Tensor:
        return self._build(name, (rows, cols), split, "linear", units)

    def _vector(self, name: str, size: int, split: Split = "none", units: int | None = None) -> Tensor:
        return self._build(name, (size, 1), split, "plain", units)

    def _build(self, name: str, shape: tuple[int, int], split: Split, kind: Kind, units: int | None) -> Tensor:
        falls_back = self.fallback_heads is not None and split != "none"
        pieces = self.fallback_heads if falls_back else units
        return Tensor(f"{self.prefix}{name}", *shape, split, kind, pieces, self.copies, whole_if_uneven=falls_back)
