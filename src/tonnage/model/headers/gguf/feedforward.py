"""Feed-forward parts of one block of a GGUF model, sizes from its tensors."""

from __future__ import annotations

from tonnage.model.ffn.dense import Dense
from tonnage.model.ffn.moe import Moe

TYPE_CHECKING = False
if TYPE_CHECKING:
    from tonnage.model.headers.gguf.block import Block
    from tonnage.model.headers.gguf.facts import Facts

FUSED = "ffn_gate_up_exps"
# Experts of files from before 2024-04, one matrix each: `ffn_up.0`, `ffn_up.1` ...
FIRST_OF_MANY = "ffn_down.0"


def read_ffns(facts: Facts, block: Block) -> tuple[Dense | Moe, ...]:
    """The feed-forward parts of `block`: none, one, or a dense part beside experts (Gemma 4, Arctic)."""
    dense = (_read_dense(block),) if block.has("ffn_down") else ()
    return (*dense, _read_moe(facts, block)) if block.has("ffn_down_exps", FIRST_OF_MANY) else dense


def _read_dense(block: Block) -> Dense:
    width = block.cols("ffn_down")
    # Phi keeps gate and up in one matrix under the name of up.
    is_gated = block.has("ffn_gate") or block.rows("ffn_up") == 2 * width
    return Dense(width, is_gated, bias=block.has("ffn_up.bias", "ffn_down.bias"))


def _read_moe(facts: Facts, block: Block) -> Moe:
    has_latent = block.has("ffn_latent_down")
    return Moe(
        experts=_num_experts(block),
        width=block.cols("ffn_down_exps" if block.has("ffn_down_exps") else FIRST_OF_MANY),
        top_k=facts.number("expert_used_count", block.number),
        gated=block.has("ffn_gate_exps", FUSED, "ffn_gate.0"),
        shared_width=block.cols("ffn_down_shexp") if block.has("ffn_down_shexp") else 0,
        shared_gate=block.has("ffn_gate_inp_shexp"),
        shared_gated=block.has("ffn_gate_shexp") or not block.has("ffn_up_shexp"),
        latent=block.rows("ffn_latent_down") if has_latent else None,
        latent_norm=has_latent and block.has("ffn_norm_exps"),
        router_bias=block.has("exp_probs_b.bias", "exp_probs_b"),
        router_linear_bias=block.has("ffn_gate_inp.bias"),
        expert_bias=block.has("ffn_up_exps.bias", f"{FUSED}.bias"),
        hash_rows=block.rows("ffn_gate_tid2eid") if block.has("ffn_gate_tid2eid") else None,
    )


def _num_experts(block: Block) -> int:
    if block.has("ffn_down_exps"):
        return block.copies("ffn_down_exps")
    return sum(name.startswith("ffn_down.") and name.removeprefix("ffn_down.").isdecimal() for name in block.tensors)
