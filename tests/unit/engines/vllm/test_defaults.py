"""Defaults of tokens and requests per step."""

from __future__ import annotations

import pytest

from tonnage.engines.vllm.defaults import Asked, BatchLimits, Device, batch_limits, concurrent_batches
from tonnage.engines.vllm.version import Version

GIB = 2**30
H100 = Device("cuda", 79 * GIB, "NVIDIA H100 80GB HBM3")
A100 = Device("cuda", 79 * GIB, "NVIDIA A100-SXM4-80GB")
H200 = Device("cuda", 139 * GIB, "NVIDIA H200")
B200 = Device("cuda", 178 * GIB, "NVIDIA B200")
MI300X = Device("rocm", 191 * GIB, "AMD Instinct MI300X")
RTX4090 = Device("cuda", 23 * GIB, "NVIDIA GeForce RTX 4090")
GB10 = Device("cuda", 121 * GIB, "NVIDIA GB10")
CPU = Device("cpu", 24 * GIB, "cpu")
LONG = Asked(131_072)


@pytest.mark.parametrize(
    ("version", "device", "tokens", "seqs"),
    [
        ((0, 8, 5), H100, 8192, 1024),
        ((0, 8, 5), A100, 8192, 1024),
        ((0, 10), A100, 2048, 256),
        ((0, 8, 5), RTX4090, 2048, 256),
        ((0, 8, 3), RTX4090, 2048, 1024),
        ((0, 27), B200, 8192, 1024),
        ((0, 28), B200, 16384, 1024),
        ((0, 28), MI300X, 16384, 1024),
        ((0, 28), H200, 8192, 1024),
        ((0, 32), RTX4090, 2048, 256),
        # its driver does not tell the size of unified memory
        ((0, 12), GB10, 2048, 256),
        ((0, 33), GB10, 2048, 256),
        ((0, 32), CPU, 2048, 128),
        # 0.6: no chunks up to 32K, then whole prompts in one step
        ((0, 6, 6), H100, 2048, 256),
    ],
)
def test_server_defaults(version: tuple[int, ...], device: Device, tokens: int, seqs: int) -> None:
    assert batch_limits(Version(*version), device, LONG) == BatchLimits(tokens, seqs)


@pytest.mark.parametrize(
    ("device", "tokens", "seqs"), [(H100, 16384, 1024), (RTX4090, 8192, 256), (B200, 16384, 1024), (CPU, 8192, 512)]
)
def test_offline_defaults(device: Device, tokens: int, seqs: int) -> None:
    asked = Asked(131_072, usage="offline", world=2)
    assert batch_limits(Version(0, 30), device, asked) == BatchLimits(tokens, seqs)


def test_first_generation_runs_short_prompts_whole() -> None:
    assert batch_limits(Version(0, 6), H100, Asked(20_000)).max_num_batched_tokens == 20_000
    assert batch_limits(Version(0, 6), H100, Asked(1024)).max_num_batched_tokens == 2048
    assert batch_limits(Version(0, 6), H100, Asked(1024, 4096, 8)) == BatchLimits(4096, 8)


def test_films_of_gemma_4_come_whole() -> None:
    # 32 frames x (70 + 2 + 6) tokens, as the log of a small card says: raised from 2048 to 2496.
    asked = Asked(131_072, media_tokens=2496)
    assert batch_limits(Version(0, 22), RTX4090, asked).max_num_batched_tokens == 2496
    assert batch_limits(Version(0, 21), RTX4090, asked).max_num_batched_tokens == 2048
    assert batch_limits(Version(0, 22), H100, asked).max_num_batched_tokens == 8192
    assert batch_limits(Version(0, 22), RTX4090, Asked(1024, media_tokens=2496, max_num_seqs=2)) == BatchLimits(2048, 2)
    assert batch_limits(Version(0, 22), RTX4090, Asked(131_072, 512, media_tokens=2496)).max_num_batched_tokens == 512


def test_what_is_asked_stays() -> None:
    assert batch_limits(Version(0, 30), H100, Asked(4096, 512, 2000)) == BatchLimits(512, 2000)
    # requests follow the tokens only when nobody asked for them
    assert batch_limits(Version(0, 30), H100, Asked(4096, 512)) == BatchLimits(512, 512)
    assert batch_limits(Version(0, 8, 5), H100, Asked(4096, 512)) == BatchLimits(512, 1024)


def test_tokens_never_exceed_what_the_requests_can_hold() -> None:
    # 4 requests x 1,024 tokens
    assert batch_limits(Version(0, 30), H100, Asked(1024, max_num_seqs=4)) == BatchLimits(4096, 4)
    assert batch_limits(Version(0, 10), H100, Asked(1024, max_num_seqs=4)) == BatchLimits(8192, 4)


@pytest.mark.parametrize(
    ("version", "pp", "is_async", "expected"),
    [
        ((0, 11), 1, None, 1),
        ((0, 14), 1, None, 2),
        ((0, 32), 1, None, 2),
        ((0, 32), 1, False, 1),
        ((0, 26), 4, None, 4),
        ((0, 32), 4, None, 5),
        ((0, 32), 4, False, 4),
        ((0, 11), 1, True, 2),
    ],
)
def test_steps_in_flight(version: tuple[int, int], pp: int, is_async: bool | None, expected: int) -> None:
    assert concurrent_batches(Version(*version), pp, is_async) == expected
