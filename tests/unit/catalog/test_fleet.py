"""Tests of reading a fleet from a text."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tonnage.catalog.fleet import MAX_CARDS_PER_NODE, MAX_NODES, Fleet, check_counts, parse_fleet
from tonnage.catalog.load import Catalog
from tonnage.errors import TonnageError, UsageError

GIB = 2**30


@pytest.fixture(scope="module")
def catalog() -> Catalog:
    """The packaged catalogue."""
    return Catalog()


@pytest.mark.parametrize(
    ("text", "nodes", "count", "accelerator_id"),
    [
        ("8xMI300X", 1, 8, "amd-mi300x-192gb"),
        ("2x8xH100", 2, 8, "nvidia-h100-sxm-80gb"),
        ("4xRTX4090", 1, 4, "nvidia-rtx-4090-24gb"),
        ("1xH100-PCIe", 1, 1, "nvidia-h100-pcie-80gb"),
        ("H100", 1, 1, "nvidia-h100-sxm-80gb"),
        ("8XMI300X", 1, 8, "amd-mi300x-192gb"),
        ("8×MI300X", 1, 8, "amd-mi300x-192gb"),
        (" 2 x 8 x H100 80GB ", 2, 8, "nvidia-h100-sxm-80gb"),
        ("7900 XTX", 1, 1, "amd-rx-7900-xtx-24gb"),  # a name that looks like a count
        ("4x7900 XTX", 1, 4, "amd-rx-7900-xtx-24gb"),
        ("8x4090", 1, 8, "nvidia-rtx-4090-24gb"),
        ("18x4xGB200", 18, 4, "nvidia-gb200-186gb"),
        ("8xMI300X CPX", 1, 8, "amd-mi300x-192gb:cpx"),
        ("1x RTX 5090 32GB", 1, 1, "nvidia-rtx-5090-32gb"),
        ("2xRadeon AI PRO R9700", 1, 2, "amd-ai-pro-r9700-32gb"),
        ("1024xL4", 1, 1024, "nvidia-l4-24gb"),
    ],
)
def test_texts(catalog: Catalog, text: str, nodes: int, count: int, accelerator_id: str) -> None:
    fleet = parse_fleet(text, catalog)
    assert (fleet.nodes, fleet.count, fleet.accelerator.id) == (nodes, count, accelerator_id)
    assert fleet.num_cards == nodes * count


@pytest.mark.parametrize(
    "text",
    [
        *("0xH100", "-1xH100", "-1x8xH100", "8x-8xH100", "0x8xH100", "8x0xH100", "+8xH100", "1.5xH100", "1e3xH100"),
        *("1025xH100", "100001x8xH100", "99999999999999999999xH100", "2x2x8xH100", "8x", "x", "", "   ", "8"),
        *("8xH1000", "8x card (name not visible)", "xH100", "8*H100", "8xx H100", "²xH100", "٠xH100", "٣xH100"),
    ],
)
def test_refused(catalog: Catalog, text: str) -> None:
    with pytest.raises(UsageError) as caught:
        parse_fleet(text, catalog)
    assert caught.value.code == 2
    assert "\n" not in caught.value.line


def test_refusals_say_what_is_accepted(catalog: Catalog) -> None:
    with pytest.raises(UsageError, match=r"0 in '0xH100'.*whole number"):
        parse_fleet("0xH100", catalog)
    with pytest.raises(UsageError, match=r"-1 in '-1x8xH100'"):
        parse_fleet("-1x8xH100", catalog)
    with pytest.raises(UsageError, match=r"2000 cards a node.*1024"):
        parse_fleet("2000xH100", catalog)
    with pytest.raises(UsageError, match=r"nearest.*H100"):
        parse_fleet("8xH10O", catalog)


def test_labels_and_notes(catalog: Catalog) -> None:
    fleet = parse_fleet("2x8xH100", catalog)
    assert fleet.label == "2 x 8 x H100 SXM5 80GB"
    assert fleet.notes == ("H100 taken as H100 SXM5 80GB",)
    assert parse_fleet("MI300X", catalog).label == "1 x Instinct MI300X"
    assert parse_fleet("MI300X", catalog).notes == ()


def test_host_memory_is_the_capacity_of_cpu_only(catalog: Catalog) -> None:
    fleet = parse_fleet("2xCPU", catalog, host_memory_bytes=512 * GIB)
    assert (fleet.count, fleet.accelerator.capacity_bytes) == (2, 512 * GIB)
    cards = parse_fleet("8xMI300X", catalog, host_memory_bytes=512 * GIB)
    assert cards.accelerator.capacity_bytes == 206_141_652_992
    assert cards.host_memory_bytes == 512 * GIB
    with pytest.raises(TonnageError, match="no known capacity"):
        _ = parse_fleet("CPU", catalog).accelerator.capacity_bytes


SHARED = Catalog()
PIECES = st.one_of(
    st.text(max_size=12),
    st.sampled_from(["8x", "2x8x", "H100", " MIG ", "1g.5gb", "(", ")", "80 GB ", "card", " GiB pool", ".toml", "\0"]),
)


@settings(derandomize=True, max_examples=300, deadline=None)
@given(st.lists(PIECES, max_size=6).map("".join))
def test_any_text_gives_a_fleet_or_one_line(text: str) -> None:
    try:
        outcome = parse_fleet(text, SHARED).label
    except TonnageError as error:
        outcome = error.line
    assert outcome
    assert "\n" not in outcome


def test_count_limits() -> None:
    check_counts(1, 1)
    check_counts(MAX_NODES, MAX_CARDS_PER_NODE)
    for nodes, count in ((0, 1), (1, 0), (MAX_NODES + 1, 1), (1, MAX_CARDS_PER_NODE + 1), (-1, 8)):
        with pytest.raises(UsageError, match="fleet"):
            check_counts(nodes, count)


def test_fleet_is_a_value(catalog: Catalog) -> None:
    card = catalog.accelerator("nvidia-l4-24gb")
    assert Fleet(1, 2, card) == Fleet(1, 2, card)
    assert Fleet(1, 2, card) != Fleet(2, 1, card)
