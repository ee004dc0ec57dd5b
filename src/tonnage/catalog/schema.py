"""What a catalogue row may hold: one table of key rules per kind of row."""

from __future__ import annotations

from tonnage.value import value

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, Literal

    Row = dict[str, Any]
    Kind = Literal["accelerators", "nodes", "links", "prices"]

KINDS: tuple[Kind, ...] = ("accelerators", "nodes", "links", "prices")
BASES = ("measured", "datasheet", "derived", "assumed")
DTYPES = ("fp32", "tf32", "fp16", "bf16", "fp8", "int8", "fp6", "fp4")
VENDORS = ("nvidia", "amd", "intel", "huawei", "host")
SEGMENTS = ("datacenter", "workstation", "consumer", "laptop", "edge", "modified", "announced", "host")
FORMS = ("sxm", "pcie", "oam", "superchip", "module", "socket", "apu", "laptop", "rack")
TOPOLOGIES = ("switch", "mesh", "pairs", "bus", "point")
# One file for all dated figures of money and wear: they age and are replaced by the user in the same way.
PRICE_KINDS = (
    "purchase",
    "rent",
    "server",
    "ownership",
    "electricity",
    "colocation",
    "pue",
    "lifetime",
    "residual",
    "failure",
)
QUALITIES = ("list", "average", "secondary", "weak", "article", "own")
UNITS = (
    "USD/card",
    "USD/server",
    "USD/card-hour",
    "USD/GB",
    "USD/kWh",
    "USD/kW-month",
    "ratio",
    "years",
    "days",
    "hours",
    "events",
    "1/card-year",
)

_GB = 10**9
_TERA = 10**12


@value
class Rule:
    """What one key may hold: its type, whether it must be there, its range or its choices."""

    type: Literal["text", "texts", "int", "number", "flag", "sizes", "date", "sources"]
    is_required: bool = False
    low: float | None = None
    high: float | None = None
    choices: tuple[str, ...] = ()


# Ranges are wide on purpose: they catch a wrong unit (GB for bytes, Tflop/s for flop/s), not a wrong card.
_MEMORY = Rule("int", low=2 * _GB, high=2_000 * _GB)
_RATE = Rule("int", low=_GB, high=100_000 * _GB)
_PEAK = Rule("int", low=_TERA // 8, high=200_000 * _TERA)
_WATTS = Rule("int", low=5, high=5_000)
_COUNT = Rule("int", low=1, high=1_024)
_ORIGIN = {
    "basis": Rule("text", is_required=True, choices=BASES),
    "source": Rule("sources", is_required=True),
    "seen": Rule("date", is_required=True),
    "note": Rule("text"),
}
_NAMED = {"id": Rule("text", is_required=True), "name": Rule("text", is_required=True), "aliases": Rule("texts")}

RULES: dict[Kind, dict[str, Rule]] = {
    "accelerators": {
        **_NAMED,
        "assumed_aliases": Rule("texts"),
        "vendor": Rule("text", is_required=True, choices=VENDORS),
        "architecture": Rule("text"),
        "target": Rule("text"),
        "segment": Rule("text", is_required=True, choices=SEGMENTS),
        "form": Rule("text", choices=FORMS),
        "memory_type": Rule("text"),
        "memory_bytes": _MEMORY,
        "memory_basis": Rule("text", choices=BASES),
        "memory_note": Rule("text"),
        "memory_nominal_bytes": _MEMORY,
        "memory_usable_bytes": _MEMORY,
        "bandwidth_bytes_per_s": Rule("int", low=10 * _GB, high=100_000 * _GB),
        **{f"peak_{dtype}_flops_per_s": _PEAK for dtype in DTYPES},
        "peak_basis": Rule("text", choices=BASES),
        "unsupported": Rule("texts", choices=DTYPES),
        "fp8_format": Rule("text", choices=("ocp", "fnuz", "mx")),
        "tdp_watts": _WATTS,
        "cards_per_node": _COUNT,
        "link": Rule("text"),
        "host_link": Rule("text"),
        "is_unified_memory": Rule("flag"),
        "partitions": Rule("sizes", low=_GB, high=1_000 * _GB),
        "released": Rule("date"),
        **_ORIGIN,
    },
    "nodes": {
        **_NAMED,
        "accelerator": Rule("text", is_required=True),
        "cards": Rule("int", is_required=True, low=1, high=1_024),
        "cards_per_host": Rule("int", is_required=True, low=1, high=64),
        "scale_up_domain": Rule("int", is_required=True, low=1, high=1_024),
        "host_memory_bytes": Rule("int", low=8 * _GB, high=100_000 * _GB),
        "power_watts": Rule("int", low=50, high=500_000),
        "card_power_watts": Rule("int", low=50, high=500_000),
        "scale_out_bytes_per_s_per_card": _RATE,
        "nic": Rule("text"),
        **_ORIGIN,
    },
    "links": {
        **_NAMED,
        "bytes_per_s_per_direction": Rule("int", is_required=True, low=_GB, high=100_000 * _GB),
        "pair_bytes_per_s_per_direction": _RATE,
        "topology": Rule("text", is_required=True, choices=TOPOLOGIES),
        "max_cards": Rule("int", is_required=True, low=1, high=1_024),
        **_ORIGIN,
    },
    "prices": {
        "id": Rule("text", is_required=True),
        "kind": Rule("text", is_required=True, choices=PRICE_KINDS),
        "item": Rule("text", is_required=True),
        "value": Rule("number", low=0.0001, high=100_000_000),
        "value_low": Rule("number", low=0.0001, high=100_000_000),
        "value_high": Rule("number", low=0.0001, high=100_000_000),
        "unit": Rule("text", is_required=True, choices=UNITS),
        "currency": Rule("text", choices=("USD",)),
        "from": Rule("date"),
        "provider": Rule("text"),
        "tier": Rule("text"),
        "quality": Rule("text", choices=QUALITIES),
        **_ORIGIN,
    },
}
