"""Cards known only by their size: ``80GB-class card``, ``16GB NVIDIA card``, ``79.3 GiB card``."""

from __future__ import annotations

from tonnage.catalog.accelerator import Accelerator

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Collection

    from tonnage.catalog.schema import Row

_GB = 10**9
_GIB = 2**30
# Any other word could be the name of a card, which then is unknown rather than nameless.
_WORDS = frozenset(("card", "cards", "class", "gpu", "nvidia", "amd", "intel", "laptop", "hopper", "ampere", "ada"))
_NAMED_VENDORS = ("nvidia", "amd", "intel")
_LARGEST_GB = 2_000


def describe_size(text: str, rows: Collection[Row]) -> Accelerator | None:
    """A card of the size a text gives, or None when the text is not a plain size.

    GiB are taken as stated. GB, and any size with ``class``, mean the size as sold: the capacity is then the middle of
    the known cards of that size and vendor (NVIDIA when unnamed), or that size times the middle share of all of them.
    The basis is ``assumed``.
    """
    words = "".join(char if char.isalnum() or char == "." else " " for char in text.lower()).split()
    size, unit, rest = _split_size([word for word in words if word != "about"])
    is_signed = text.strip().startswith(("-", "+"))
    if size is None or is_signed or not rest or not set(rest) <= _WORDS or not 1 <= size <= _LARGEST_GB:
        return None
    vendor = next((word for word in rest if word in _NAMED_VENDORS), "nvidia")
    is_stated = unit == "gib" and "class" not in rest
    memory = round(size * _GIB) if is_stated else _middle_bytes(round(size), vendor, rows)
    return Accelerator(
        id=f"anonymous-{vendor}-{size:g}{unit}",
        name=f"{size:g} {'GiB' if unit == 'gib' else 'GB'} card",
        vendor=vendor,
        segment="anonymous",
        memory_bytes=memory,
        memory_basis="assumed",
        basis="assumed",
        sources=(),
        seen=None,
        assumptions=(f"{text.strip()}: capacity from the size alone; name the card for bandwidth and peaks",),
    )


def _split_size(words: list[str]) -> tuple[float | None, str, list[str]]:
    if len(words) > 1 and words[1] in ("gb", "gib"):
        number, unit, rest = words[0], words[1], words[2:]
    elif words:
        unit = "gib" if words[0].endswith("gib") else "gb"
        number, rest = words[0].removesuffix(unit), words[1:]
        if number == words[0]:
            return None, unit, rest
    else:
        return None, "", []
    is_number = number.count(".") < 2 and number.replace(".", "").isdecimal()
    return (float(number) if is_number else None), unit, rest


def _middle_bytes(size_gb: int, vendor: str, rows: Collection[Row]) -> int:
    known = [row for row in rows if row["vendor"] == vendor and "memory_bytes" in row and _is_own_memory(row)]
    same = sorted(row["memory_bytes"] for row in known if row["memory_nominal_bytes"] == size_gb * _GB)
    if same:
        return int(same[len(same) // 2])
    # Bytes for one GB as sold: about 2^30 less what the runtime keeps.
    parts = sorted(row["memory_bytes"] * _GB // row["memory_nominal_bytes"] for row in known)
    return size_gb * int(parts[len(parts) // 2])


def _is_own_memory(row: Row) -> bool:
    return not row.get("is_unified_memory", False) and "memory_nominal_bytes" in row
