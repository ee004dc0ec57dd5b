"""Where tensors lie in the data part of a file."""

from __future__ import annotations

from tonnage.errors import UnreadableError
from tonnage.model.headers.quote import quote
from tonnage.value import value

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable


@value
class Extent:
    """Bytes `begin` to `end` (exclusive) of the data part belong to tensor `name`."""

    begin: int
    end: int
    name: str

    def place(self) -> tuple[int, int]:
        """Sort key: by begin; an empty tensor stands before the one that starts at the same byte."""
        return self.begin, self.end


def check_extents(extents: Iterable[Extent], data_bytes: int, file: str) -> None:
    """Refuse tensors that overlap or reach beyond the `data_bytes` of the data part of `file`."""
    position = 0
    for extent in sorted(extents, key=Extent.place):
        if extent.begin < position:
            raise UnreadableError(f"{file}: tensor {quote(extent.name)}", f"starts at {extent.begin}", _after(position))
        position = max(position, extent.end)
        if position > data_bytes:
            raise UnreadableError(f"{file}: tensor {quote(extent.name)}", f"ends at {position}", _within(data_bytes))


def check_gapless(extents: Iterable[Extent], data_bytes: int, file: str) -> None:
    """Refuse unless the extents cover the data part of `file` exactly, as safetensors demands."""
    position = 0
    for extent in sorted(extents, key=Extent.place):
        if extent.begin != position:
            raise UnreadableError(f"{file}: tensor {quote(extent.name)}", f"starts at {extent.begin}", _after(position))
        position = extent.end
    if position != data_bytes:
        raise UnreadableError(file, f"tensors end at byte {position} of the data", f"{data_bytes}, where the file ends")


def _after(position: int) -> str:
    return f"byte {position}, where the tensor before it ends"


def _within(data_bytes: int) -> str:
    return f"an end within the {data_bytes} bytes of tensor data"
