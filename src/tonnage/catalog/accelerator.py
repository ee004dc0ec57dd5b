"""An accelerator: one device as an engine sees it."""

from __future__ import annotations

from tonnage.errors import UsageError
from tonnage.value import replace, value

TYPE_CHECKING = False
if TYPE_CHECKING:
    from tonnage.catalog.link import Link
    from tonnage.catalog.schema import Row


@value
class Accelerator:
    """One device. Bytes, bytes per second (one way), dense flop per second, watts; None is not known.

    ``memory_bytes`` is the total the CUDA or HIP runtime reports, the base of every engine's budget. It is below the
    nominal size and, on NVIDIA, below the total of the driver tool. ``memory_usable_bytes`` is smaller still on
    devices that share it with the host. ``peaks`` never counts 2:4 sparsity; ``unsupported`` names types without a
    hardware path. Of a card with two dies each die is one device. ``assumptions`` say what was guessed to find it.
    """

    id: str
    name: str
    vendor: str
    segment: str
    memory_bytes: int | None
    memory_basis: str
    basis: str
    sources: tuple[str, ...]
    seen: str | None
    aliases: tuple[str, ...] = ()
    architecture: str | None = None
    target: str | None = None
    form: str | None = None
    memory_type: str | None = None
    memory_nominal_bytes: int | None = None
    memory_usable_bytes: int | None = None
    memory_note: str | None = None
    bandwidth_bytes_per_s: int | None = None
    peaks: tuple[tuple[str, int], ...] = ()
    peak_basis: str | None = None
    unsupported: tuple[str, ...] = ()
    fp8_format: str | None = None
    tdp_watts: int | None = None
    cards_per_node: int | None = None
    link: Link | None = None
    host_link: Link | None = None
    is_unified_memory: bool = False
    partitions: tuple[tuple[str, int], ...] = ()
    released: str | None = None
    note: str | None = None
    assumptions: tuple[str, ...] = ()

    @property
    def capacity_bytes(self) -> int:
        """The total an engine sees; refused with UsageError when no capacity is known."""
        if self.memory_bytes is None:
            raise UsageError(
                "accelerator", f"{self.name} has no known capacity", "a card with one, or own hardware in a TOML file"
            )
        return self.memory_bytes

    @property
    def has_fast_link(self) -> bool:
        """Whether cards reach each other without the host: over a switch, or each over a link of its own."""
        return self.link is not None and self.link.topology in ("switch", "mesh")

    @property
    def is_card_kind(self) -> bool:
        """Whether it belongs in a table over all cards to buy: data-centre or workstation, capacity not guessed."""
        is_sold = self.segment in ("datacenter", "workstation")
        return is_sold and self.memory_bytes is not None and self.memory_basis != "assumed"

    def peak_flops_per_s(self, dtype: str) -> int | None:
        """Dense peak of a type (fp32 tf32 fp16 bf16 fp8 int8 fp6 fp4); None when unknown or unsupported."""
        return dict(self.peaks).get(dtype)

    def can_compute(self, dtype: str) -> bool | None:
        """Whether the hardware multiplies this type; None when no source says so."""
        if dtype in self.unsupported:
            return False
        return True if dtype in dict(self.peaks) else None


def take_partition(whole: Accelerator, profile: str) -> Accelerator:
    """One partition (MIG profile, CPX ...) of a card as a device of its own.

    Capacity is the one the partition shows; bandwidth, peaks and watts are taken in proportion to it and thus
    derived. Partitions have no card-to-card link of their own. Unknown profiles are a UsageError.
    """
    sizes = dict(whole.partitions)
    if profile not in sizes:
        raise UsageError("partition", f"{profile} of {whole.name}", ", ".join(sizes) or "a card with known partitions")
    # Profile names are rounded labels (1g.18gb holds 16.00 GiB), so the size comes from the row.
    part, total = sizes[profile], whole.capacity_bytes
    return replace(
        whole,
        id=f"{whole.id}:{profile}",
        name=f"{whole.name} {profile}",
        aliases=(),
        segment="partition",
        memory_bytes=part,
        memory_nominal_bytes=None,
        # MIG and CPX sizes were read from tools; DPX and QPX are even shares by the rule seen for CPX.
        memory_basis="measured" if "g." in profile or profile == "cpx" else "derived",
        bandwidth_bytes_per_s=_share(whole.bandwidth_bytes_per_s, part, total),
        peaks=tuple((dtype, rate * part // total) for dtype, rate in whole.peaks),
        peak_basis="derived",
        tdp_watts=_share(whole.tdp_watts, part, total),
        link=None,
        partitions=(),
    )


def resize(accelerator: Accelerator, memory_bytes: int, basis: str) -> Accelerator:
    """The same device with another capacity: a pool set by the owner, or the host memory for ``CPU``."""
    return replace(accelerator, memory_bytes=memory_bytes, memory_basis=basis, memory_usable_bytes=None)


def build_accelerator(row: Row, links: dict[str, Link]) -> Accelerator:
    """The accelerator of a checked row; ``links`` holds the links it may name."""
    plain: Row = {key: row[key] for key in _PLAIN if key in row}
    return Accelerator(
        **plain,
        memory_bytes=row.get("memory_bytes"),
        memory_basis=str(row.get("memory_basis", row["basis"])),
        sources=tuple(row["source"]),
        seen=row.get("seen"),
        aliases=(*row.get("aliases", ()), *row.get("assumed_aliases", ())),
        peaks=_peaks(row),
        unsupported=tuple(row.get("unsupported", ())),
        link=links.get(row.get("link", "")),
        host_link=links.get(row.get("host_link", "")),
        partitions=tuple(row.get("partitions", {}).items()),
    )


_PLAIN = (
    *("id", "name", "vendor", "segment", "basis", "architecture", "target", "form", "memory_type"),
    *("memory_nominal_bytes", "memory_usable_bytes", "memory_note", "bandwidth_bytes_per_s", "peak_basis"),
    *("fp8_format", "tdp_watts", "cards_per_node", "is_unified_memory", "released", "note"),
)


def _peaks(row: Row) -> tuple[tuple[str, int], ...]:
    found = [(key, rate) for key, rate in row.items() if key.startswith("peak_") and key.endswith("_flops_per_s")]
    return tuple((key.removeprefix("peak_").removesuffix("_flops_per_s"), rate) for key, rate in found)


def _share(amount: int | None, part: int, total: int) -> int | None:
    return None if amount is None else amount * part // total
