"""From whole configurations to architectures."""

from __future__ import annotations

import pytest

from tonnage.errors import TonnageError, UnknownKeyError, UnreadableError
from tonnage.model.arch import Arch, Layer, Rope
from tonnage.model.config.arch import merge_equal, read_arch
from tonnage.model.ffn.dense import Dense
from tonnage.model.ffn.moe import Moe
from tonnage.model.mixer.gqa import Gqa
from tonnage.model.mixer.mla import Mla
from tonnage.model.params import count_params
from tonnage.model.quantization.scheme import Scheme

LLAMA: dict[str, object] = {
    "architectures": ["LlamaForCausalLM"],
    "model_type": "llama",
    "hidden_size": 4096,
    "intermediate_size": 14336,
    "num_hidden_layers": 32,
    "num_attention_heads": 32,
    "num_key_value_heads": 8,
    "vocab_size": 128256,
    "max_position_embeddings": 131072,
    "torch_dtype": "bfloat16",
}


def read(**keys: object) -> Arch:
    return read_arch({**LLAMA, **keys})


def test_llama_3_1_8b() -> None:
    arch = read()
    assert (arch.family, arch.architectures) == ("llama", ("LlamaForCausalLM",))
    assert (arch.hidden, arch.vocab, arch.tied, arch.max_context, arch.dtype) == (
        4096,
        128256,
        False,
        131072,
        "bfloat16",
    )
    assert arch.ropes == (Rope(131072, 128),)
    assert arch.layers[0].mixers == (Gqa(32, 8, 128, 128),)
    assert arch.layers[0].ffns == (Dense(14336),)
    assert count_params(arch).text == 8_030_261_248


def test_a_minimal_configuration_of_a_known_type_is_enough() -> None:
    # Qwen3-14B from its published facts.
    arch = read_arch(
        {
            "model_type": "qwen3",
            "hidden_size": 5120,
            "intermediate_size": 17408,
            "num_hidden_layers": 40,
            "num_attention_heads": 40,
            "num_key_value_heads": 8,
            "vocab_size": 151936,
            "max_position_embeddings": 40960,
        }
    )
    assert count_params(arch).text == 14_768_307_200


def test_the_scheme_is_carried_along() -> None:
    scheme = Scheme("fp8", (), kv_dtype="fp8")
    arch = read_arch(LLAMA, scheme)
    assert arch.scheme == scheme
    assert arch.kv_dtype == "fp8"
    assert read().kv_dtype is None


def test_equal_layers_are_one_object() -> None:
    arch = read()
    assert len({id(layer) for layer in arch.layers}) == 1
    one, two = Layer((), (Dense(8),)), Layer((), (Dense(8),))
    merged = merge_equal((one, two, Layer((), (Dense(9),))))
    assert merged[0] is merged[1]
    assert merged[2] is not merged[0]


@pytest.mark.parametrize(
    ("keys", "tied"),
    [
        ({}, False),
        ({"tie_word_embeddings": True}, True),
        ({"model_type": "gemma2", "head_dim": 128}, True),
        ({"model_type": "gemma2", "head_dim": 128, "tie_word_embeddings": False}, False),
    ],
)
def test_tying(keys: dict[str, object], tied: bool) -> None:
    assert read(**keys).tied is tied


def test_tying_may_be_stated_outside_the_text() -> None:
    text = {key: value for key, value in LLAMA.items() if key != "architectures"}
    assert read_arch({"tie_word_embeddings": True, "model_type": "x", "text_config": text}).tied


@pytest.mark.parametrize(
    ("keys", "dtype"),
    [
        ({}, "bfloat16"),
        ({"torch_dtype": None}, "bfloat16"),
        ({"torch_dtype": None, "dtype": "float16"}, "float16"),
        ({"torch_dtype": "torch.float32"}, "float32"),
        ({"torch_dtype": "auto"}, "bfloat16"),
    ],
)
def test_dtype(keys: dict[str, object], dtype: str) -> None:
    assert read(**keys).dtype == dtype


def test_deepseek_layers() -> None:
    arch = read(
        model_type="deepseek_v3",
        hidden_size=7168,
        num_hidden_layers=4,
        num_attention_heads=128,
        q_lora_rank=1536,
        kv_lora_rank=512,
        qk_nope_head_dim=128,
        qk_rope_head_dim=64,
        v_head_dim=128,
        n_routed_experts=256,
        n_shared_experts=1,
        num_experts_per_tok=8,
        moe_intermediate_size=2048,
        first_k_dense_replace=3,
        topk_method="noaux_tc",
    )
    assert arch.layers[0].mixers == (Mla(128, 1536, 512, 128, 64, 128),)
    assert arch.layers[2].ffns == (Dense(14336),)
    assert arch.layers[3].ffns == (Moe(256, 2048, 8, shared_width=2048, router_bias=True),)


@pytest.mark.parametrize(
    ("keys", "named"),
    [
        ({"layer_types": ["spiral_attention"] * 32}, "layer_types"),
        ({"x_lora_rank": 64}, "x_lora_rank"),
        ({"moe_mystery_size": 512}, "moe_mystery_size"),
        ({"num_experts_of_shadow": 4}, "num_experts_of_shadow"),
    ],
)
def test_keys_that_matter_and_are_not_understood(keys: dict[str, object], named: str) -> None:
    with pytest.raises(UnknownKeyError, match=named):
        read(**keys)


def test_keys_that_do_not_matter_are_ignored() -> None:
    assert read(use_cache=True, hidden_dropout=0.1, task_specific_params={"a": 1}, moe_mystery=None) == read()


@pytest.mark.parametrize("key", ["hidden_size", "num_hidden_layers", "num_attention_heads", "vocab_size"])
@pytest.mark.parametrize("value", [None, 0, -4, 10**9, "32", 4.5, True, [], {}])
def test_bad_sizes_are_refused_by_name(key: str, value: object) -> None:
    with pytest.raises(UnreadableError) as caught:
        read(**{key: value})
    assert key in caught.value.line


@pytest.mark.parametrize(
    "config",
    [
        {},
        {"text_config": []},
        {"text_config": {}},
        {"architectures": "LlamaForCausalLM"},
        {**LLAMA, "torch_dtype": "int8"},
        {**LLAMA, "rope_scaling": "yarn"},
        {**LLAMA, "rope_scaling": {"type": "yarn", "factor": "forty"}},
        {**LLAMA, "tie_word_embeddings": "yes"},
    ],
)
def test_what_is_no_configuration_is_refused(config: dict[str, object]) -> None:
    with pytest.raises(TonnageError):
        read_arch(config)
