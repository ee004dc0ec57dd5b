"""The limits of one engine instance."""

from __future__ import annotations

import pytest

from tonnage.memory.serving import Serving


def test_what_is_not_asked_is_unknown_or_off() -> None:
    serving = Serving(4096, 256, 2048, 0.9, "bfloat16")
    assert (serving.block_size, serving.kv_bytes, serving.concurrency) == (None, None, None)
    assert serving.eager is False
    assert serving.offload_bytes == 0


def test_an_engine_without_a_fraction_has_none() -> None:
    assert Serving(4096, 4, 512, None, "f16").fraction is None


def test_limits_are_values() -> None:
    assert Serving(4096, 256, 2048, 0.9, "fp8") == Serving(4096, 256, 2048, 0.9, "fp8")
    assert len({Serving(4096, 256, 2048, 0.9, "fp8"), Serving(4096, 256, 2048, 0.9, "fp8")}) == 1
    with pytest.raises(AttributeError):
        Serving(4096, 256, 2048, 0.9, "fp8").eager = True  # type: ignore[misc]
