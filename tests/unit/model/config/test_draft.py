"""Multi-token-prediction layers."""

from __future__ import annotations

from typing import Any

import pytest

from tonnage.errors import UnknownKeyError
from tonnage.model.arch import Layer
from tonnage.model.config.arch import read_arch
from tonnage.model.config.draft import num_draft, read_draft, read_duplicates
from tonnage.model.config.keys import Config
from tonnage.model.ffn.dense import Dense
from tonnage.model.ffn.moe import Moe
from tonnage.model.mixer.compressed import Compressed
from tonnage.model.mixer.deltanet import DeltaNet
from tonnage.model.mixer.gqa import Gqa
from tonnage.model.mixer.mla import Mla
from tonnage.model.params import count_params
from tonnage.model.tensors import layer_tensors

BASE: dict[str, Any] = {
    "hidden_size": 32,
    "vocab_size": 100,
    "max_position_embeddings": 64,
    "num_hidden_layers": 3,
    "num_attention_heads": 4,
    "intermediate_size": 64,
}
DEEPSEEK = {
    **BASE,
    "model_type": "deepseek_v3",
    "q_lora_rank": 8,
    "kv_lora_rank": 16,
    "qk_nope_head_dim": 8,
    "qk_rope_head_dim": 4,
    "v_head_dim": 8,
    "n_routed_experts": 4,
    "n_shared_experts": 1,
    "num_experts_per_tok": 2,
    "moe_intermediate_size": 16,
    "first_k_dense_replace": 1,
    "num_nextn_predict_layers": 1,
}
NEXT = {
    **BASE,
    "model_type": "qwen3_next",
    "num_key_value_heads": 2,
    "head_dim": 8,
    "full_attention_interval": 3,
    "linear_num_key_heads": 2,
    "linear_num_value_heads": 4,
    "linear_key_head_dim": 8,
    "linear_value_head_dim": 8,
    "linear_conv_kernel_dim": 4,
}


def size(layer: Layer) -> int:
    return sum(tensor.params for tensor in layer_tensors(layer, 32))


def test_a_layer_like_the_last_one_with_a_joint() -> None:
    arch = read_arch(DEEPSEEK)
    (draft,) = arch.draft
    assert isinstance(draft.mixers[0], Mla)
    assert isinstance(draft.ffns[0], Moe)
    # the joining matrix 32 x 64, and a norm for each of its inputs and for the output
    assert size(draft) == size(arch.layers[-1]) + 32 * 64 + 3 * 32


def test_deepseek_stores_embedding_and_head_again() -> None:
    assert read_arch(DEEPSEEK).duplicates == 2 * 100 * 32
    assert read_arch({**DEEPSEEK, "num_nextn_predict_layers": 0}).duplicates == 0
    assert read_arch({**DEEPSEEK, "model_type": "glm_moe_dsa"}).duplicates == 0


def test_a_sparse_draft_owns_its_selector() -> None:
    sparse = {
        **DEEPSEEK,
        "index_topk": 16,
        "index_n_heads": 2,
        "index_head_dim": 8,
        "indexer_types": ["full", "shared", "shared"],
    }
    arch = read_arch(sparse)
    last, draft = arch.layers[-1].mixers[0], arch.draft[0].mixers[0]
    assert isinstance(last, Mla)
    assert isinstance(draft, Mla)
    assert (last.indexer, draft.indexer is not None) == (None, True)


def test_qwen_predicts_with_full_attention() -> None:
    arch = read_arch(NEXT)
    assert isinstance(arch.layers[0].mixers[0], DeltaNet)
    (draft,) = arch.draft
    assert isinstance(draft.mixers[0], Gqa)
    joint = next(tensor for tensor in draft.extras if tensor.name == "fc")
    assert (joint.rows, joint.cols, joint.split) == (32, 64, "rows")
    assert (read_arch({**NEXT, "model_type": "qwen3_5", "mtp_num_hidden_layers": 2}).draft) == (draft, draft)


def test_number_of_layers() -> None:
    assert num_draft(Config({"model_type": "qwen3_next"})) == 1
    assert num_draft(Config({"model_type": "qwen3_next", "num_nextn_predict_layers": 0})) == 0
    assert num_draft(Config({"model_type": "mimo_v2_flash"})) == 3
    assert num_draft(Config({"model_type": "llama"})) == 0
    # Declared, but not in the published checkpoint.
    assert num_draft(Config({"model_type": "minimax_m2", "num_mtp_modules": 3, "use_mtp": True})) == 0


def test_mimo_predicts_with_sliding_attention_and_a_dense_part() -> None:
    mimo = {
        **BASE,
        "model_type": "mimo_v2_flash",
        "num_key_value_heads": 2,
        "head_dim": 8,
        "v_head_dim": 4,
        "hybrid_layer_pattern": [0, 1, 0],
        "sliding_window": 16,
        "swa_num_key_value_heads": 4,
        "n_routed_experts": 4,
        "num_experts_per_tok": 2,
        "moe_intermediate_size": 16,
        "moe_layer_freq": [0, 1, 1],
    }
    draft = read_arch(mimo).draft
    assert len(draft) == 3
    mixer = draft[0].mixers[0]
    assert isinstance(mixer, Gqa)
    assert (mixer.window, mixer.kv_heads) == (16, 4)
    assert draft[0].ffns == (Dense(64),)


def test_step_repeats_the_head_in_each_layer() -> None:
    layer = Layer((), ())
    assert read_duplicates(Config({**BASE, "model_type": "step3p7"}), (layer, layer)) == 2 * 100 * 32


def test_longcat_predicts_with_one_attention_and_repeats_the_embedding() -> None:
    longcat = {**DEEPSEEK, "model_type": "longcat_flash", "zero_expert_num": 2, "num_nextn_predict_layers": None}
    arch = read_arch(longcat)
    (draft,) = arch.draft
    assert (len(draft.mixers), draft.mixers[0].name, draft.ffns) == (1, "self_attn", (Dense(64),))
    assert arch.duplicates == 100 * 32


def test_nemotron_spells_a_pattern_of_its_own() -> None:
    nemotron = {
        **BASE,
        "model_type": "nemotron_h",
        "hybrid_override_pattern": "*-*",
        "mtp_hybrid_override_pattern": "*-",
        "num_nextn_predict_layers": 2,
        "num_key_value_heads": 2,
        "mlp_hidden_act": "relu2",
    }
    draft = read_arch(nemotron).draft
    assert [len(layer.mixers) for layer in draft] == [1, 0, 1, 0]
    # attention 32 x 8 (2 x 4 + 2 x 2) and its norm; joint 32 x 64 and two norms
    assert size(draft[0]) == 3072 + 32 + 2048 + 64
    # two matrices and a norm; the norm at the end
    assert size(draft[1]) == 4096 + 32 + 32
    with pytest.raises(UnknownKeyError, match="mtp_hybrid_override_pattern"):
        read_arch({**nemotron, "mtp_hybrid_override_pattern": ""})


V4 = {
    **BASE,
    "model_type": "deepseek_v4",
    "head_dim": 16,
    "qk_rope_head_dim": 4,
    "q_lora_rank": 8,
    "o_lora_rank": 8,
    "o_groups": 2,
    "sliding_window": 16,
    "compress_ratios": [0, 128, 0, 0],
    "n_routed_experts": 4,
    "num_experts_per_tok": 2,
    "moe_intermediate_size": 16,
    "hc_mult": 2,
    "num_nextn_predict_layers": 1,
}


def test_deepseek_v4_joins_with_two_matrices() -> None:
    arch = read_arch(V4)
    (draft,) = arch.draft
    # two matrices 32 x 32, three norms, and the mixing 2 x 64 + 2 + 1 that joins the streams
    assert size(draft) == size(arch.layers[-1]) + 2048 + 96 + 131


def test_deepseek_v4_1_drafts_a_block() -> None:
    spark = {
        **V4,
        "model_type": "deepseek_v41_text",
        "compress_ratios": [0, 2, 0],
        "kv_source_layer_ids": [1],
        "index_source_layer_ids": [],
        "num_nextn_predict_layers": 2,
        "dspark_target_layer_ids": [0, 1, 2],
        "dspark_markov_rank": 4,
        "dspark_n_routed_experts": 2,
        "dspark_num_experts_per_tok": 1,
    }
    arch = read_arch(spark)
    first, last = arch.draft
    # two experts of 3 x 32 x 16 and two routes fewer than the decoder's layers without entries
    layer = size(arch.layers[0]) - 2 * 1536 - 2 * 32
    assert isinstance(first.mixers[0], Compressed)
    # the projection of three layers' states and a norm in front; a norm, two tables and 32 + 4 weights behind
    assert size(first) == layer + 32 * 96 + 32
    assert size(last) == layer + 32 + 2 * 100 * 4 + 36


def test_a_decoder_without_attention_cannot_be_copied() -> None:
    cfg = Config({**NEXT, "num_nextn_predict_layers": 1})
    with pytest.raises(UnknownKeyError, match="num_nextn_predict_layers"):
        read_draft(cfg, (Layer((), ()),))


def test_drafts_stand_apart_from_the_text() -> None:
    with_draft, without = (
        count_params(read_arch({**DEEPSEEK, "num_nextn_predict_layers": number})) for number in (1, 0)
    )
    assert with_draft.text == without.text
    assert with_draft.checkpoint == without.checkpoint + with_draft.draft + 6400
