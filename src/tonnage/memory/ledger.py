"""The ledger of one rank: lines of bytes that add up to what the card must hold."""

from __future__ import annotations

from tonnage.value import value

TYPE_CHECKING = False
if TYPE_CHECKING:
    from tonnage.figure import Line, LineName


@value
class Ledger:
    """Lines of one rank against its card.

    `budget_bytes` is what the engine allows itself; `load_peak_bytes` the largest moment while loading.
    """

    rank: int
    card_bytes: int
    budget_bytes: int
    lines: tuple[Line, ...]
    load_peak_bytes: int

    def bytes_of(self, name: LineName) -> int:
        """Sum of the lines called `name`."""
        return sum(line.bytes for line in self.lines if line.name == name)

    @property
    def used_bytes(self) -> int:
        """Sum of all lines."""
        return sum(line.bytes for line in self.lines)

    @property
    def free_bytes(self) -> int:
        """Card minus all lines; negative when they do not fit."""
        return self.card_bytes - self.used_bytes
