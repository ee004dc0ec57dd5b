"""The account of one device of llama.cpp."""

from __future__ import annotations

import pytest

from tonnage.engines.llamacpp.log_device import DeviceLog, is_host
from tonnage.memory.amount import Amount


def amount(size: int) -> Amount:
    """An exact size."""
    return Amount(size, size, size)


@pytest.mark.parametrize("name", ["CPU", "CPU_Mapped", "CPU_REPACK", "CUDA_Host", "ROCm_Host", "Vulkan_Host", "Host"])
def test_hosts(name: str) -> None:
    assert is_host(name)


@pytest.mark.parametrize("name", ["CUDA0", "ROCm1", "Vulkan0", "Metal", "CUDA_Split", "RPC[127.0.0.1:50053]", "SYCL0"])
def test_cards(name: str) -> None:
    assert not is_host(name)


def test_lines() -> None:
    log = DeviceLog(rest=amount(3), card_total_bytes=99)
    for kind, size in (("model", 10), ("model", 1), ("KV", 5), ("KV", 2), ("RS", 4), ("compute", 8), ("compute", 6)):
        log.add(kind, amount(size), is_draft=False)
    log.add("output", amount(1), is_draft=False)
    log.add("KV", amount(2), is_draft=True)
    report = log.report("CUDA0")
    assert {line.name: line.bytes for line in report.lines} == {
        "weights": 11,
        "activations": 7,  # the last scratch of 6, and the output of 1
        "context": 3,
        "draft": 2,
        "kv_cache": 11,  # 5 + 2 + 4
    }
    assert report.card_total_bytes == 99
    assert log.total_bytes() == 31  # 11 + 7 + 4 + 7 + 2: lines without the rest


def test_nothing() -> None:
    assert DeviceLog().report("x").lines == ()
