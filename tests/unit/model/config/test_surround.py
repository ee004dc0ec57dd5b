"""Norms, scalars and tables around the parts of a model."""

from __future__ import annotations

import pytest

from tonnage.errors import UnreadableError
from tonnage.model.config.keys import Config, text_config
from tonnage.model.config.surround import (
    final_norms,
    layer_extras,
    max_context,
    norms,
    outer_tables,
    read_prefix,
)


def names(cfg: dict[str, object]) -> list[str]:
    return [tensor.name for tensor in layer_extras(Config({"hidden_size": 64, **cfg}))]


def test_two_norms_in_most_models() -> None:
    assert names({"model_type": "llama"}) == ["input_layernorm", "post_attention_layernorm"]
    assert len(names({"model_type": "gemma2"})) == 4
    assert names({"model_type": "cohere"}) == ["input_layernorm"]


def test_layer_norms_have_biases_in_old_models() -> None:
    assert names({"model_type": "gpt2"}) == ["ln_1", "ln_2", "ln_1.bias", "ln_2.bias"]
    assert names({"model_type": "falcon", "new_decoder_architecture": True})[:2] == ["ln_attn", "ln_mlp"]


def test_gemma_4_extras() -> None:
    # A scalar per layer; with per-layer inputs also a gate, a projection and a norm; with experts three more norms.
    assert names({"model_type": "gemma4_text", "hidden_size_per_layer_input": 0})[-1] == "layer_scalar"
    small = layer_extras(Config({"model_type": "gemma4_text", "hidden_size": 64, "hidden_size_per_layer_input": 8}))
    # 4 norms of 64, 1 scalar, gate 8 x 64, projection 64 x 8, norm 64
    assert sum(tensor.params for tensor in small) == 4 * 64 + 1 + 512 + 512 + 64
    both = {"model_type": "gemma4_text", "hidden_size_per_layer_input": 0, "enable_moe_block": True}
    assert len(names(both)) == 4 + 3 + 1


def test_norms_are_vectors() -> None:
    (only,) = norms(("norm",), 4096)
    assert (only.params, only.kind, only.split) == (4096, "plain", "none")


def test_final_norms() -> None:
    assert [t.name for t in final_norms(Config({"hidden_size": 8}), "model.")] == ["model.norm"]
    bloom = final_norms(Config({"hidden_size": 8, "model_type": "bloom"}), "transformer.")
    # Two LayerNorms of weight and bias: 4 x 8
    assert sum(tensor.params for tensor in bloom) == 32


def test_learned_positions() -> None:
    (gpt2,) = outer_tables(Config({"model_type": "gpt2", "n_embd": 768, "n_positions": 1024}), "transformer.")
    assert gpt2.params == 1024 * 768
    (opt,) = outer_tables(Config({"model_type": "opt", "hidden_size": 768, "max_position_embeddings": 2048}), "")
    assert opt.rows == 2050
    assert outer_tables(Config({"model_type": "llama", "hidden_size": 768}), "model.") == ()


def test_embeddings_per_layer() -> None:
    keys = {"hidden_size": 2048, "num_hidden_layers": 30, "hidden_size_per_layer_input": 256}
    tables = outer_tables(Config({**keys, "vocab_size_per_layer_input": 262144}), "model.")
    # One row holds 256 values for each of 30 layers.
    assert tables[0].params == 262144 * 256 * 30
    assert tables[1].params == 256 * 30 * 2048
    assert tables[2].params == 256
    fallback = outer_tables(Config({**keys, "vocab_size": 1000}), "model.")
    assert fallback[0].rows == 1000


@pytest.mark.parametrize(
    ("config", "context"),
    [
        ({"max_position_embeddings": 131072}, 131072),
        ({"n_positions": 1024}, 1024),
        ({"max_seq_len": 32768}, 32768),
        ({"model_type": "bloom"}, 2048),
        ({"model_type": "gemma3_text"}, 131072),
    ],
)
def test_context(config: dict[str, object], context: int) -> None:
    assert max_context(Config(config)) == context


def test_a_context_that_nothing_states_is_refused() -> None:
    with pytest.raises(UnreadableError, match="max_position_embeddings"):
        max_context(Config({"model_type": "llama"}))


@pytest.mark.parametrize(
    ("config", "prefix"),
    [
        ({"model_type": "llama"}, "model."),
        ({"model_type": "nemotron_h"}, "backbone."),
        ({"model_type": "gpt2"}, "transformer."),
        ({"model_type": "qwen3_vl", "text_config": {"model_type": "qwen3_vl_text"}}, "model.language_model."),
        ({"model_type": "kimi_k25", "text_config": {"model_type": "kimi_k2"}}, "language_model.model."),
    ],
)
def test_prefixes_of_checkpoint_names(config: dict[str, object], prefix: str) -> None:
    assert read_prefix(Config(config), text_config(config)) == prefix
