"""Tensors of latent attention."""

from __future__ import annotations

from tonnage.model.mixer.indexer import Indexer
from tonnage.model.mixer.mla import Mla, mla_tensors
from tonnage.model.tensor import Tensor

DEEPSEEK = Mla(heads=128, q_lora_rank=1536, kv_lora_rank=512, nope_dim=128, rope_dim=64, v_dim=128)
LITE = Mla(heads=16, q_lora_rank=None, kv_lora_rank=512, nope_dim=128, rope_dim=64, v_dim=128)


def by_name(mixer: Mla, hidden: int = 7168) -> dict[str, Tensor]:
    return {tensor.name: tensor for tensor in mla_tensors(mixer, hidden)}


def test_parameters_of_deepseek_v3() -> None:
    # h q + q + q n (nope + rope) + h (r + rope) + r + r n (nope + v) + n v h
    # = 11,010,048 + 1,536 + 37,748,736 + 4,128,768 + 512 + 16,777,216 + 117,440,512
    assert sum(tensor.params for tensor in mla_tensors(DEEPSEEK, 7168)) == 187_107_328


def test_down_projections_stay_whole_and_are_merged() -> None:
    tensors = by_name(DEEPSEEK)
    for name in ("self_attn.q_a_proj", "self_attn.kv_a_proj_with_mqa"):
        assert (tensors[name].split, tensors[name].fused) == ("none", "fused_qkv_a_proj")
    for name in ("self_attn.q_b_proj", "self_attn.kv_b_proj"):
        assert (tensors[name].split, tensors[name].units) == ("rows", 128)
    assert tensors["self_attn.o_proj"].split == "cols"
    assert tensors["self_attn.kv_a_proj_with_mqa"].rows == 512 + 64


def test_queries_without_low_rank() -> None:
    tensors = by_name(LITE, 2048)
    assert tensors["self_attn.q_proj"].params == 2048 * 16 * 192
    assert tensors["self_attn.kv_a_proj_with_mqa"].fused is None
    assert "self_attn.q_a_proj" not in tensors


def test_selector_on_layers_that_own_one() -> None:
    owner = Mla(128, 1536, 512, 128, 64, 128, indexer=Indexer(64, 128, 2048), is_sparse=True)
    reader = Mla(128, 1536, 512, 128, 64, 128, is_sparse=True)
    # q in id + h id + 2 id + h in = 1536 x 64 x 128 + 7168 x 128 + 256 + 7168 x 64
    extra = sum(tensor.params for tensor in mla_tensors(owner, 7168)) - 187_107_328
    assert extra == 13_959_424
    assert len(mla_tensors(reader, 7168)) == len(mla_tensors(DEEPSEEK, 7168))


def test_output_gate() -> None:
    gated = Mla(96, 1536, 512, 128, 64, 128, out_gate=True)
    assert by_name(gated)["self_attn.g_proj"].params == 7168 * 96 * 128
