"""Tensors of a mixture of experts."""

from __future__ import annotations

from tonnage.model.ffn.moe import Moe, moe_tensors
from tonnage.model.tensor import Tensor


def by_name(part: Moe, hidden: int) -> dict[str, Tensor]:
    return {tensor.name: tensor for tensor in moe_tensors(part, hidden)}


def total(part: Moe, hidden: int) -> int:
    return sum(tensor.params for tensor in moe_tensors(part, hidden))


def test_routed_experts() -> None:
    # Qwen3-30B-A3B, one layer: E 3 h m + h E = 128 x 3 x 2048 x 768 + 2048 x 128
    part = Moe(experts=128, width=768, top_k=8)
    assert total(part, 2048) == 604_241_920
    gate = by_name(part, 2048)["mlp.experts.gate_proj"]
    assert gate == Tensor("mlp.experts.gate_proj", 768, 2048, "rows", copies=128, is_expert=True, fused="gate_up_proj")
    assert by_name(part, 2048)["mlp.experts.down_proj"].split == "cols"


def test_the_router_is_whole_and_never_quantised() -> None:
    router = by_name(Moe(256, 1536, 8, router_dtype="float32", router_bias=True), 3072)
    assert (router["mlp.gate"].kind, router["mlp.gate"].split, router["mlp.gate"].dtype) == ("plain", "none", "float32")
    assert router["mlp.gate.e_score_correction_bias"].dtype == "float32"
    assert router["mlp.gate.e_score_correction_bias"].params == 256


def test_shared_expert_and_its_gate() -> None:
    plain = Moe(60, 1408, 4)
    shared = Moe(60, 1408, 4, shared_width=5632, shared_gate=True, shared="shared_expert")
    # 3 h s + h
    assert total(shared, 2048) - total(plain, 2048) == 3 * 2048 * 5632 + 2048
    assert by_name(shared, 2048)["mlp.shared_expert.gate_proj"].is_expert is False


def test_biases_inside_experts() -> None:
    # gpt-oss-20b: 32 experts x (2 m + h), router 32 + its matrix
    part = Moe(32, 2880, 4, expert_bias=True, router_linear_bias=True, router="router")
    bare = Moe(32, 2880, 4, router="router")
    assert total(part, 2880) - total(bare, 2880) == 32 * 3 * 2880 + 32
    biases = {name: tensor.split for name, tensor in by_name(part, 2880).items() if name.endswith("_proj.bias")}
    assert biases["mlp.experts.gate_proj.bias"] == "rows"
    assert biases["mlp.experts.down_proj.bias"] == "none"


def test_experts_without_gate_in_a_latent_width() -> None:
    # Nemotron 3: two matrices per expert between latent and width, plus projections in and out.
    part = Moe(512, 2688, 22, gated=False, shared_gated=False, latent=1024)
    assert total(part, 4096) == 512 * 2 * 1024 * 2688 + 4096 * 512 + 2 * 4096 * 1024
    with_norm = Moe(512, 2688, 22, gated=False, latent=1024, latent_norm=True)
    assert total(with_norm, 4096) - total(part, 4096) == 1024


def test_identity_experts_are_routed_to_and_hold_nothing() -> None:
    part = Moe(512, 2048, 12, identity_experts=256)
    assert by_name(part, 6144)["mlp.gate"].rows == 768
    assert by_name(part, 6144)["mlp.experts.up_proj"].copies == 512


def test_routing_by_table() -> None:
    table = by_name(Moe(256, 2048, 6, hash_rows=129280), 4096)["mlp.gate.tid2eid"]
    assert (table.params, table.dtype) == (129280 * 6, "int32")


def test_gemma_4_scales() -> None:
    tensors = by_name(Moe(128, 704, 8, has_extra_scales=True, router="router", name="experts"), 2816)
    assert tensors["experts.router.scale"].params == 2816
    assert tensors["experts.router.per_expert_scale"].params == 128
