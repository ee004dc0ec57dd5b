"""A size as a log prints it: bytes, and the range that its last digit leaves open."""

from __future__ import annotations

from tonnage.figure import Line
from tonnage.units import parse_bytes
from tonnage.value import value

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

    from tonnage.figure import LineName

_BASE = 10  # of the digits in a log


@value
class Amount:
    """Bytes between `low` and `high`, all of which the log would have printed alike."""

    bytes: int
    low: int
    high: int

    def plus(self, other: Amount) -> Amount:
        """The sum; ranges add."""
        return Amount(self.bytes + other.bytes, self.low + other.low, self.high + other.high)

    def minus(self, other: Amount) -> Amount:
        """The difference; ranges add here too."""
        return Amount(self.bytes - other.bytes, self.low - other.high, self.high - other.low)

    def line(self, name: LineName, trace: str) -> Line:
        """The measured ledger line `name`; a negative rest of rounded figures counts as nothing."""
        return Line(name, max(0, self.bytes), max(0, self.low), max(0, self.high), "measured", trace)


def add_up(amounts: Iterable[Amount]) -> Amount | None:
    """The sum of amounts; None where there are none."""
    total: Amount | None = None
    for amount in amounts:
        total = amount if total is None else total.plus(amount)
    return total


def read_amount(number: str, unit: str) -> Amount:
    """The amount behind a printed number such as `14.98` and its unit, `GiB` or `MiB`.

    The engines write GB and mean 2^30 bytes; the caller names the unit that is meant. ValueError for no number.
    """
    size = parse_bytes(f"{number} {unit}")
    decimals = len(number.partition(".")[2])
    half = parse_bytes(f"1 {unit}") // (2 * _BASE**decimals)
    return Amount(size, size - half, size + half)
