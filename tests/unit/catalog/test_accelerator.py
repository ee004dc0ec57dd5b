"""Tests of the accelerator value and its partitions."""

from __future__ import annotations

import pytest

from tonnage.catalog.accelerator import Accelerator, build_accelerator, resize, take_partition
from tonnage.catalog.load import Catalog
from tonnage.errors import UsageError

GIB = 2**30
MIB = 2**20


@pytest.fixture(scope="module")
def catalog() -> Catalog:
    """The packaged catalogue."""
    return Catalog()


# Expected bytes: engine logs and runtime totals, not the size as sold and not the total of the driver tool.
@pytest.mark.parametrize(
    ("accelerator_id", "memory_bytes", "basis"),
    [
        ("nvidia-h100-sxm-80gb", 85_018_877_624, "measured"),  # 79.18 GiB = 79.18 * 2^30
        ("nvidia-h200-sxm-141gb", 150_110_011_392, "measured"),  # 139.80 GiB
        ("nvidia-b200-sxm-180gb", 191_501_854_310, "measured"),  # 178.35 GiB
        ("nvidia-b300-sxm-288gb", 287_400_000_000, "measured"),  # 267.66 GiB
        ("nvidia-rtx-3090-24gb", 25_318_832_210, "measured"),  # 23.58 GiB
        ("nvidia-rtx-5090-32gb", 33_668_988_928, "measured"),  # 31.36 GiB
        ("nvidia-rtx-pro-6000-96gb", 101_974_081_536, "measured"),  # 94.97 GiB
        ("nvidia-gb10-128gb", 130_662_936_576, "measured"),  # 121.69 GiB
        ("amd-mi300x-192gb", 192 * GIB - 16 * MIB, "measured"),  # 206,141,652,992
        ("amd-mi325x-256gb", 256 * GIB - 16 * MIB, "measured"),  # 262,128 MiB
        ("amd-mi350x-288gb", 288 * GIB - 16 * MIB, "measured"),
        ("amd-mi355x-288gb", 301_973_504 * 1024, "measured"),  # 301,973,504 KiB
        ("amd-mi210-64gb", 64 * GIB - 16 * MIB, "derived"),
        ("nvidia-h100-pcie-80gb", 85_018_877_624, "derived"),
    ],
)
def test_capacity_is_what_the_runtime_reports(
    catalog: Catalog, accelerator_id: str, memory_bytes: int, basis: str
) -> None:
    found = catalog.accelerator(accelerator_id)
    assert found.capacity_bytes == memory_bytes
    assert found.memory_basis == basis


def test_facts_of_one_card(catalog: Catalog) -> None:
    card = catalog.accelerator("amd-mi300x-192gb")
    assert (card.vendor, card.target, card.fp8_format, card.tdp_watts) == ("amd", "gfx942", "fnuz", 750)
    assert card.bandwidth_bytes_per_s == 5_300_000_000_000
    assert card.peak_flops_per_s("bf16") == 1_307_400_000_000_000
    assert card.link is not None
    # 7 links of 64 GB/s one way; a pair shares one of them.
    assert (card.link.bytes_per_s, card.link.pair_bytes_per_s) == (448_000_000_000, 64_000_000_000)
    assert card.host_link is not None
    assert card.host_link.id == "pcie5-x16"
    assert card.cards_per_node == 8


def test_dense_peaks_only(catalog: Catalog) -> None:
    # 1979 and 3958 are the sparse figures of this card.
    assert catalog.accelerator("nvidia-h100-sxm-80gb").peak_flops_per_s("bf16") == 989 * 10**12
    assert catalog.accelerator("amd-mi355x-288gb").peak_flops_per_s("fp8") == 5_000 * 10**12
    # int8 is cut down on Blackwell Ultra: 153.5, not 4500.
    assert catalog.accelerator("nvidia-b300-sxm-288gb").peak_flops_per_s("int8") == 153_500 * 10**9


def test_can_compute_knows_yes_no_and_unknown(catalog: Catalog) -> None:
    a100 = catalog.accelerator("nvidia-a100-sxm-80gb")
    assert a100.can_compute("bf16") is True
    assert a100.can_compute("fp8") is False
    assert catalog.accelerator("amd-mi350p").can_compute("bf16") is None
    assert a100.peak_flops_per_s("fp8") is None


def test_two_die_card_is_counted_by_die(catalog: Catalog) -> None:
    die = catalog.accelerator("amd-mi250x-gcd-64gb")
    assert die.capacity_bytes == 64 * GIB - 16 * MIB
    assert die.bandwidth_bytes_per_s == 1_638_500_000_000  # 3277 GB/s / 2
    assert die.tdp_watts == 250  # 500 W / 2


def test_unknown_capacity_is_refused_when_needed(catalog: Catalog) -> None:
    card = catalog.accelerator("amd-mi350p")
    assert card.memory_bytes is None
    with pytest.raises(UsageError, match="MI350P"):
        _ = card.capacity_bytes


def test_card_kinds(catalog: Catalog) -> None:
    kinds = {card.id for card in catalog.accelerators() if card.is_card_kind}
    assert {"nvidia-h100-sxm-80gb", "amd-mi355x-288gb", "amd-ai-pro-r9700-32gb", "nvidia-l4-24gb"} <= kinds
    # A consumer card, a modified one, an announced one, one with a guessed capacity, one with none, the host.
    assert not kinds & {
        "nvidia-rtx-4090-24gb",
        "nvidia-rtx-4090-48gb",
        "nvidia-rubin-288gb",
        "huawei-ascend-910b",
        "amd-mi350p",
        "cpu",
    }


def test_partition_of_mi300x(catalog: Catalog) -> None:
    part = take_partition(catalog.accelerator("amd-mi300x-192gb"), "cpx")
    assert part.capacity_bytes == 25_767_706_624  # 206,141,652,992 / 8
    assert part.bandwidth_bytes_per_s == 662_500_000_000  # 5300 GB/s / 8
    assert part.peak_flops_per_s("bf16") == 163_425_000_000_000  # 1307.4 / 8 = 163.425
    assert part.tdp_watts == 93  # 750 / 8 = 93.75
    assert part.link is None
    assert part.id == "amd-mi300x-192gb:cpx"
    assert not part.is_card_kind


def test_partition_labels_are_not_sizes(catalog: Catalog) -> None:
    # 1g.18gb of an H200 holds 16.00 GiB.
    part = take_partition(catalog.accelerator("nvidia-h200-sxm-141gb"), "1g.18gb")
    assert part.capacity_bytes == 16 * GIB


def test_unknown_partition_lists_the_known(catalog: Catalog) -> None:
    with pytest.raises(UsageError, match="dpx, qpx, cpx"):
        take_partition(catalog.accelerator("amd-mi300x-192gb"), "9g.999gb")
    with pytest.raises(UsageError, match="known partitions"):
        take_partition(catalog.accelerator("nvidia-l4-24gb"), "1g.5gb")


def test_resize_drops_the_usable_size(catalog: Catalog) -> None:
    spark = catalog.accelerator("nvidia-gb10-128gb")
    assert spark.memory_usable_bytes == 128_526_896_333  # 119.7 GiB
    smaller = resize(spark, 64 * GIB, "assumed")
    assert (smaller.capacity_bytes, smaller.memory_usable_bytes, smaller.memory_basis) == (64 * GIB, None, "assumed")


def test_build_from_a_minimal_row() -> None:
    row = {
        "id": "x",
        "name": "X",
        "vendor": "nvidia",
        "segment": "modified",
        "basis": "assumed",
        "source": ["invoice"],
        "seen": "2026",
    }
    built = build_accelerator(row, {})
    assert built == Accelerator("x", "X", "nvidia", "modified", None, "assumed", "assumed", ("invoice",), "2026")
    assert built.link is None
    assert not built.is_unified_memory


def test_is_frozen(catalog: Catalog) -> None:
    with pytest.raises(AttributeError, match="memory_bytes"):
        catalog.accelerator("cpu").memory_bytes = 1  # type: ignore[misc]


def test_fast_links(catalog: Catalog) -> None:
    assert catalog.accelerator("nvidia-h100-sxm-80gb").has_fast_link
    assert catalog.accelerator("amd-mi300x-192gb").has_fast_link
    assert not catalog.accelerator("nvidia-rtx-4090-24gb").has_fast_link
    assert not catalog.accelerator("cpu").has_fast_link
