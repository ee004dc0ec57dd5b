"""The fleet a question names."""

from __future__ import annotations

from pathlib import Path

import pytest

from tonnage.errors import UsageError
from tonnage.plan.fleets import card_kinds, find_card, find_fleet, node_memory_bytes, price_usd, sized
from tonnage.plan.question import Question

MODEL = "Qwen/Qwen3-8B"
H100, MI300X = "nvidia-h100-sxm-80gb", "amd-mi300x-192gb"


def ask(gpu: str, total: int | None = None, nodes: int | None = None) -> tuple[int, int, str]:
    """Nodes, cards a node and the card."""
    fleet = find_fleet(Question(MODEL, gpu, gpu_count=total, nodes=nodes))
    return fleet.nodes, fleet.count, fleet.accelerator.id


@pytest.mark.parametrize(
    ("gpu", "total", "nodes", "expected"),
    [
        ("H100", None, None, (1, 1, H100)),
        ("8xH100", None, None, (1, 8, H100)),
        ("2x8xMI300X", None, None, (2, 8, MI300X)),
        ("H100 80GB", 4, None, (1, 4, H100)),
        ("H100", 4, 1, (1, 4, H100)),
        ("H100", 4, 2, (2, 2, H100)),
        # Eight a node, when the total fills whole nodes.
        ("H100", 16, None, (2, 8, H100)),
        ("H100", 24, None, (3, 8, H100)),
        ("H100", 12, None, (1, 12, H100)),
        # Said twice, without contradiction.
        ("8xH100", 8, None, (1, 8, H100)),
        ("8xH100", 8, 2, (2, 4, H100)),
        ("4x4xH100", 16, None, (4, 4, H100)),
        ("2x8xH100", 16, 2, (2, 8, H100)),
        ("2x8xH100", None, 2, (2, 8, H100)),
    ],
)
def test_counts(gpu: str, total: int | None, nodes: int | None, expected: tuple[int, int, str]) -> None:
    assert ask(gpu, total, nodes) == expected


@pytest.mark.parametrize(
    ("gpu", "total", "nodes", "text"),
    [
        ("8xH100", 16, None, "gpu_count: 16: 8, as 8xH100 says"),
        ("H100", 8, 3, "gpu_count: 8: a multiple of the 3 nodes"),
        ("8xH100", None, 2, "nodes: 2: gpu_count beside it, or NODESxCOUNTxNAME"),
        ("H100", None, 4, "nodes: 4: gpu_count beside it, or NODESxCOUNTxNAME"),
        ("H100", 2**40, None, f"fleet: {2**37} nodes: 1 to 100000 nodes"),
    ],
)
def test_contradictions(gpu: str, total: int | None, nodes: int | None, text: str) -> None:
    with pytest.raises(UsageError) as refusal:
        ask(gpu, total, nodes)
    assert refusal.value.line == text


def test_unknown_cards_are_refused() -> None:
    with pytest.raises(UsageError, match="H1000"):
        ask("8xH1000")


def test_a_card_nobody_knows_will_do_for_cache_arithmetic() -> None:
    fleet = find_fleet(Question(MODEL, "Zephyr 9", kv_cache_memory_bytes=10**9))
    assert (fleet.num_cards, fleet.accelerator.name, fleet.accelerator.memory_bytes) == (1, "Zephyr 9", 10**9)
    assert "capacity is not known" in (fleet.accelerator.note or "")


def test_the_host_is_a_card(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tonnage.plan.fleets.host_memory_bytes", lambda: 64 * 2**30)
    # In a spelling of its own, since fleets are kept by their text.
    fleet = find_fleet(Question(MODEL, " 1xcpu "))
    assert fleet.accelerator.capacity_bytes == 64 * 2**30
    assert node_memory_bytes(fleet) == 64 * 2**30


def test_own_hardware_from_a_file(tmp_path: Path) -> None:
    path = tmp_path / "mine.toml"
    path.write_text('accelerator = "H100"\ncount = 4\nnodes = 2\n', "utf-8")
    assert ask(str(path)) == (2, 4, H100)
    with pytest.raises(UsageError, match=r"as .*mine\.toml says"):
        ask(str(path), 16)


def test_sizes_are_checked() -> None:
    fleet = find_fleet(Question(MODEL, "H100"))
    assert (sized(fleet, 2, 8).num_cards, sized(fleet, 2, 8).accelerator) == (16, fleet.accelerator)
    with pytest.raises(UsageError, match="0 cards a node"):
        sized(fleet, 1, 0)


def test_kinds_of_card_to_buy() -> None:
    kinds = card_kinds()
    ids = {card.id for card in kinds}
    assert {H100, MI300X, "nvidia-l40s-48gb", "amd-mi355x-288gb"} <= ids
    assert all(card.memory_bytes for card in kinds)
    # Gaming cards, the host and partitions are not for sale here.
    assert {card.segment for card in kinds} == {"datacenter", "workstation"}


def test_prices_are_for_all_cards() -> None:
    card = find_card("MI300X")
    one = price_usd(card, 1)
    assert one is not None
    assert price_usd(card, 8) == 8 * one


def test_no_price_is_none() -> None:
    assert price_usd(find_card("Gaudi 3"), 8) is None


def test_a_node_of_unknown_memory() -> None:
    fleet = find_fleet(Question(MODEL, "1xT4"))
    assert node_memory_bytes(fleet) is None or node_memory_bytes(fleet) > 2**30
