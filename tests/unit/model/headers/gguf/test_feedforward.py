"""Feed-forward parts of one block."""

from __future__ import annotations

from collections.abc import Callable

from tonnage.model.ffn.dense import Dense
from tonnage.model.ffn.moe import Moe
from tonnage.model.headers.gguf.block import Block
from tonnage.model.headers.gguf.facts import Facts
from tonnage.model.headers.gguf.feedforward import read_ffns

Build = Callable[..., Block]
FACTS = Facts("m", {"m.expert_used_count": 2})
EXPERTS = {
    "ffn_gate_inp": (8, 32),
    "ffn_up_exps": (8, 16, 32),
    "ffn_gate_exps": (8, 16, 32),
    "ffn_down_exps": (8, 32, 16),
}


def test_dense_parts(block: Build) -> None:
    plain = {"ffn_up": (64, 32), "ffn_down": (32, 64)}
    assert read_ffns(FACTS, block(plain)) == (Dense(64, gated=False),)
    assert read_ffns(FACTS, block({**plain, "ffn_gate": (64, 32)})) == (Dense(64),)
    assert read_ffns(FACTS, block({**plain, "ffn_up": (128, 32)})) == (Dense(64),)  # Phi: gate and up in one
    assert read_ffns(FACTS, block({**plain, "ffn_up.bias": (64,)})) == (Dense(64, gated=False, bias=True),)


def test_no_part_at_all(block: Build) -> None:
    assert read_ffns(FACTS, block({"ffn_norm": (32,)})) == ()


def test_experts(block: Build) -> None:
    assert read_ffns(FACTS, block(EXPERTS)) == (Moe(8, 16, 2),)
    fused = {"ffn_gate_up_exps": (8, 32, 32), "ffn_down_exps": (8, 32, 16)}
    assert read_ffns(FACTS, block(fused)) == (Moe(8, 16, 2),)
    ungated = {name: shape for name, shape in EXPERTS.items() if name != "ffn_gate_exps"}
    assert read_ffns(FACTS, block(ungated)) == (Moe(8, 16, 2, gated=False),)


def test_experts_of_old_files(block: Build) -> None:
    shapes = {
        f"ffn_{part}.{n}": (32, 16) if part == "down" else (16, 32) for n in range(8) for part in ("up", "gate", "down")
    }
    assert read_ffns(FACTS, block(shapes)) == (Moe(8, 16, 2),)


def test_what_surrounds_experts(block: Build) -> None:
    shapes = {
        **EXPERTS,
        "ffn_down_shexp": (32, 24),
        "ffn_up_shexp": (24, 32),
        "ffn_gate_shexp": (24, 32),
        "ffn_gate_inp_shexp": (32,),
        "exp_probs_b.bias": (8,),
        "ffn_gate_inp.bias": (8,),
        "ffn_up_exps.bias": (8, 16),
    }
    assert read_ffns(FACTS, block(shapes)) == (
        Moe(8, 16, 2, shared_width=24, shared_gate=True, router_bias=True, router_linear_bias=True, expert_bias=True),
    )


def test_experts_in_a_latent_width(block: Build) -> None:
    shapes = {**EXPERTS, "ffn_latent_down": (20, 32), "ffn_latent_up": (32, 20), "ffn_norm_exps": (20,)}
    assert read_ffns(FACTS, block(shapes)) == (Moe(8, 16, 2, latent=20, latent_norm=True),)


def test_routing_by_a_table(block: Build) -> None:
    assert read_ffns(FACTS, block({**EXPERTS, "ffn_gate_tid2eid": (1000, 2)})) == (Moe(8, 16, 2, hash_rows=1000),)


def test_a_dense_part_beside_experts(block: Build) -> None:
    shapes = {**EXPERTS, "ffn_up": (64, 32), "ffn_gate": (64, 32), "ffn_down": (32, 64)}
    assert read_ffns(FACTS, block(shapes)) == (Dense(64), Moe(8, 16, 2))
