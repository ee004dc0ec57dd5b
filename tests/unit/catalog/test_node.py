"""Tests of nodes."""

from __future__ import annotations

from tonnage.catalog.load import Catalog

TIB = 2**40


def test_facts_of_a_board_server() -> None:
    node = {node.id: node for node in Catalog().nodes()}["dgx-b200"]
    assert (node.cards, node.cards_per_host, node.scale_up_domain) == (8, 8, 8)
    assert node.host_memory_bytes == 2 * TIB  # 32 modules of 64 GiB
    assert node.power_watts == 14_300
    assert node.scale_out_bytes_per_s_per_card == 50_000_000_000  # one 400 Gb/s adapter a card
    assert all(source.startswith("https://") for source in node.sources)


def test_rack_counts_cards_of_the_domain_and_of_a_tray() -> None:
    node = {node.id: node for node in Catalog().nodes()}["gb200-nvl72"]
    assert (node.cards, node.cards_per_host, node.scale_up_domain) == (72, 4, 72)
    assert node.power_watts == 120_000


def test_cards_without_links_of_their_own_form_no_domain() -> None:
    node = {node.id: node for node in Catalog().nodes()}["pcie-8x-l40s"]
    assert (node.cards, node.scale_up_domain) == (8, 1)
    assert node.power_watts is None
    assert node.card_power_watts == 2_800  # 8 * 350 W
