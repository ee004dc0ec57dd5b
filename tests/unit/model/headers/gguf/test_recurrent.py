"""State-space and linear mixers of one block."""

from __future__ import annotations

from collections.abc import Callable

from tonnage.model.headers.gguf.block import Block
from tonnage.model.headers.gguf.facts import Facts
from tonnage.model.headers.gguf.recurrent import read_deltanet, read_kda, read_mamba1, read_mamba2
from tonnage.model.mixer.deltanet import DeltaNet
from tonnage.model.mixer.kda import Kda
from tonnage.model.mixer.mamba import Mamba1, Mamba2

Build = Callable[..., Block]
SSM = {"inner_size": 64, "state_size": 16, "conv_kernel": 4, "time_step_rank": 8, "group_count": 2}
FACTS = Facts("m", {f"m.ssm.{key}": value for key, value in SSM.items()})


def test_first_generation(block: Build) -> None:
    shapes = {"ssm_in": (128, 32), "ssm_x": (40, 64), "ssm_dt_norm": (8,), "ssm_conv1d.bias": (64,)}
    assert read_mamba1(FACTS, block(shapes)) == Mamba1(64, 16, 4, 8, inner_norms=True, conv_bias=True)


def test_second_generation(block: Build) -> None:
    # the rank is the number of heads: 64 / 8 = 8 channels each
    assert read_mamba2(FACTS, block({"ssm_in": (1, 32)})) == Mamba2(8, 8, 2, 16, 4, conv_bias=False, gated_norm=False)
    with_norm = read_mamba2(FACTS, block({"ssm_norm": (2, 32), "ssm_conv1d.bias": (96,)}))
    assert (with_norm.gated_norm, with_norm.conv_bias) == (True, True)


def test_delta_nets(block: Build) -> None:
    shapes = {"ssm_out": (32, 128), "ssm_conv1d": (192, 4)}
    assert read_deltanet(FACTS, block(shapes)) == DeltaNet(2, 8, 16, 16, 4)
    assert read_deltanet(FACTS, block({**shapes, "ssm_ba": (16, 32)})).merged


def test_kimi_delta_attention(block: Build) -> None:
    facts = Facts("m", {"m.attention.head_count": 4, "m.kda.head_dim": 8})
    shapes: dict[str, tuple[int, ...]] = {"ssm_conv1d_q": (1, 32, 1, 4)}
    assert read_kda(facts, block(shapes)) == Kda(4, 8, 4)
    assert read_kda(facts, block({**shapes, "attn_gate": (32, 32)})).full_rank_gate
