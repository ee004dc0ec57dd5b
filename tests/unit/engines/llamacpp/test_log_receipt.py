"""The receipt of one start of llama.cpp."""

from __future__ import annotations

from tonnage.engines.llamacpp.log_receipt import LlamaStart, build_receipt
from tonnage.memory.amount import Amount


def start_of(**sizes: int) -> LlamaStart:
    """A start with model buffers by device."""
    start = LlamaStart()
    for name, size in sizes.items():
        start.device(name).add("model", Amount(size, size, size), is_draft=False)
    return start


def test_cards_go_before_the_host() -> None:
    receipt = build_receipt(start_of(CPU=100, CUDA0=3, CUDA1=7), ())
    assert [line.bytes for line in receipt.lines] == [7]
    assert receipt.settings.gpu_count == 2
    assert [rank.name for rank in receipt.ranks] == ["CPU", "CUDA0", "CUDA1"]


def test_the_host_where_there_is_no_card() -> None:
    receipt = build_receipt(start_of(CPU=100, CPU_Mapped=3), ())
    assert [line.bytes for line in receipt.lines] == [100]
    assert receipt.settings.gpu_count is None
    assert receipt.notes == ("the lines are those of CPU",)


def test_an_empty_start() -> None:
    receipt = build_receipt(LlamaStart(), ("note",))
    assert LlamaStart().is_empty
    assert (receipt.lines, receipt.notes, receipt.outcome) == ((), ("note",), "unknown")


def test_devices_do_not_grow_without_end() -> None:
    start = LlamaStart()
    for number in range(1000):
        start.device(str(number))
    assert len(start.devices) == 256
