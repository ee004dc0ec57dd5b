"""The tensors of one block of a GGUF model."""

from __future__ import annotations

from tonnage.errors import UnreadableError
from tonnage.model.headers.quote import quote
from tonnage.value import value

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

    from tonnage.model.headers.entry import TensorEntry

PREFIX = "blk."
WEIGHT = ".weight"


@value
class Block:
    """Block `number` of a model: its tensors by their name inside the block, `.weight` left out (`attn_q`)."""

    number: int
    tensors: dict[str, TensorEntry]

    def has(self, *names: str) -> bool:
        """Whether one of the tensors is there."""
        return any(name in self.tensors for name in names)

    def rows(self, name: str) -> int:
        """Outputs of matrix `name`; `UnreadableError` if it is missing or no matrix."""
        return self._shape(name)[-2]

    def cols(self, name: str) -> int:
        """Inputs of matrix `name`; `UnreadableError` if it is missing or no matrix."""
        return self._shape(name)[-1]

    def copies(self, name: str) -> int:
        """Matrices stacked in `name`."""
        shape = self._shape(name)
        return shape[-3] if len(shape) > 2 else 1

    def _shape(self, name: str) -> tuple[int, ...]:
        thing = f"GGUF tensor {quote(f'{PREFIX}{self.number}.{name}')}"
        if name not in self.tensors:
            raise UnreadableError(thing, "absent", "all tensors of the block")
        shape = self.tensors[name].shape
        if len(shape) < 2 or 0 in shape:
            raise UnreadableError(thing, f"shape {quote(shape)}", "a matrix")
        return shape


def split_blocks(entries: Iterable[TensorEntry]) -> tuple[tuple[Block, ...], dict[str, TensorEntry]]:
    """The blocks in order of number, and by full name what stands outside of them.

    `UnreadableError` if numbers are left out.
    """
    blocks: dict[int, dict[str, TensorEntry]] = {}
    outside: dict[str, TensorEntry] = {}
    for entry in entries:
        number, _, name = entry.name.removeprefix(PREFIX).partition(".")
        if entry.name.startswith(PREFIX) and number.isdecimal() and number.isascii() and len(number) < 8:
            blocks.setdefault(int(number), {})[name.removesuffix(WEIGHT)] = entry
        else:
            outside[entry.name] = entry
    missing = set(range(len(blocks))) - blocks.keys()
    if missing:
        raise UnreadableError("GGUF tensors", f"block {min(missing)} missing", "all blocks of the model")
    return tuple(Block(number, blocks[number]) for number in sorted(blocks)), outside
