"""Whole models from GGUF headers; totals are those that the publishers' checkpoints have."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import pytest

from tonnage.errors import UnreadableError
from tonnage.model.arch import Arch
from tonnage.model.headers.entry import TensorEntry
from tonnage.model.headers.gguf.arch import gguf_arch
from tonnage.model.headers.gguf.value import Value
from tonnage.model.mixer.gqa import Gqa
from tonnage.model.mixer.mla import Mla
from tonnage.model.params import count_params
from tonnage.model.tensor import Tensor

Entries = Callable[..., list[TensorEntry]]
Shapes = dict[str, tuple[int, ...]]


def metadata(arch: str, blocks: int, hidden: int, context: int, **keys: Value) -> dict[str, Value]:
    base: dict[str, Value] = {"block_count": blocks, "embedding_length": hidden, "context_length": context}
    named = {key.replace("__", "."): value for key, value in keys.items()}
    return {"general.architecture": arch, **{f"{arch}.{key}": value for key, value in {**base, **named}.items()}}


def model(entries: Entries, outside: Shapes, blocks: Mapping[int, Shapes]) -> list[TensorEntry]:
    return entries(outside) + [
        entry for number, shapes in blocks.items() for entry in entries(shapes, f"blk.{number}.")
    ]


def smollm2(entries: Entries) -> tuple[dict[str, Value], list[TensorEntry]]:
    """SmolLM2-135M: 30 blocks of width 576, 9 heads of 64, 3 KV heads, tied table of 49,152."""
    shapes: Shapes = {
        "attn_norm": (576,), "attn_q": (576, 576), "attn_k": (192, 576), "attn_v": (192, 576),
        "attn_output": (576, 576), "ffn_norm": (576,), "ffn_up": (1536, 576), "ffn_gate": (1536, 576),
        "ffn_down": (576, 1536),
    }  # fmt: skip
    outside: Shapes = {"token_embd": (49152, 576), "output_norm": (576,)}
    keys = metadata("llama", 30, 576, 8192, attention__head_count=9, attention__head_count_kv=3)
    return keys, model(entries, outside, dict.fromkeys(range(30), shapes))


def test_smollm2(entries: Entries) -> None:
    arch = gguf_arch(*smollm2(entries))
    assert (arch.family, arch.architectures, arch.dtype) == ("llama", ("llama",), "float16")
    assert (arch.hidden, arch.vocab, arch.tied, arch.max_context) == (576, 49152, True, 8192)
    assert len(arch.layers) == 30
    assert len({id(layer) for layer in arch.layers}) == 1  # equal layers are one object
    assert arch.layers[0].mixers == (Gqa(9, 3, 64, 64),)
    assert arch.norms == (Tensor("output_norm", 576, kind="plain"),)
    # 49,152 x 576 + 30 x (2 x 576 x 576 + 2 x 192 x 576 + 3 x 1536 x 576 + 2 x 576) + 576
    assert count_params(arch).text == 134_515_008
    assert arch.notes == ()


def test_gpt_oss_20b(entries: Entries) -> None:
    shapes: Shapes = {
        "attn_norm": (2880,), "post_attention_norm": (2880,), "attn_sinks": (64,),
        "attn_q": (4096, 2880), "attn_q.bias": (4096,), "attn_k": (512, 2880), "attn_k.bias": (512,),
        "attn_v": (512, 2880), "attn_v.bias": (512,), "attn_output": (2880, 4096), "attn_output.bias": (2880,),
        "ffn_gate_inp": (32, 2880), "ffn_gate_inp.bias": (32,),
        "ffn_gate_exps": (32, 2880, 2880), "ffn_gate_exps.bias": (32, 2880),
        "ffn_up_exps": (32, 2880, 2880), "ffn_up_exps.bias": (32, 2880),
        "ffn_down_exps": (32, 2880, 2880), "ffn_down_exps.bias": (32, 2880),
    }  # fmt: skip
    outside: Shapes = {"token_embd": (201088, 2880), "output": (201088, 2880), "output_norm": (2880,)}
    keys = metadata(
        "gpt-oss", 24, 2880, 131072, attention__head_count=64, attention__head_count_kv=8, attention__key_length=64,
        attention__sliding_window=128, expert_used_count=4,
    )  # fmt: skip
    arch = gguf_arch(keys, model(entries, outside, dict.fromkeys(range(24), shapes)))
    assert count_params(arch).text == 20_914_757_184  # openai/gpt-oss-20b
    assert [mixer.window for layer in arch.layers[:3] for mixer in layer.mixers if isinstance(mixer, Gqa)] == [
        128,
        None,
        128,
    ]
    assert len({id(layer) for layer in arch.layers}) == 2
    assert not arch.tied
    assert arch.notes == ()


def test_qwen3_30b_a3b(entries: Entries) -> None:
    shapes: Shapes = {
        "attn_norm": (2048,), "ffn_norm": (2048,), "attn_q": (4096, 2048), "attn_k": (512, 2048),
        "attn_v": (512, 2048), "attn_output": (2048, 4096), "attn_q_norm": (128,), "attn_k_norm": (128,),
        "ffn_gate_inp": (128, 2048), "ffn_gate_exps": (128, 768, 2048), "ffn_up_exps": (128, 768, 2048),
        "ffn_down_exps": (128, 2048, 768),
    }  # fmt: skip
    outside: Shapes = {"token_embd": (151936, 2048), "output": (151936, 2048), "output_norm": (2048,)}
    keys = metadata(
        "qwen3moe", 48, 2048, 40960, attention__head_count=32, attention__head_count_kv=4, expert_used_count=8
    )
    arch = gguf_arch(keys, model(entries, outside, dict.fromkeys(range(48), shapes)))
    assert count_params(arch).text == 30_532_122_624  # Qwen/Qwen3-30B-A3B
    assert arch.notes == ()


@pytest.mark.parametrize("is_split", [False, True])
def test_deepseek_v3(entries: Entries, is_split: bool) -> None:
    mla: Shapes = {
        "attn_norm": (7168,), "ffn_norm": (7168,), "attn_q_a": (1536, 7168), "attn_q_a_norm": (1536,),
        "attn_q_b": (128 * 192, 1536), "attn_kv_a_mqa": (576, 7168), "attn_kv_a_norm": (512,),
        "attn_output": (7168, 128 * 128),
    }  # fmt: skip
    if is_split:
        mla |= {"attn_k_b": (128, 512, 128), "attn_v_b": (128, 128, 512)}
    else:
        mla |= {"attn_kv_b": (128 * 256, 512)}
    dense = {"ffn_up": (18432, 7168), "ffn_gate": (18432, 7168), "ffn_down": (7168, 18432)}
    moe = {
        "ffn_gate_inp": (256, 7168), "exp_probs_b.bias": (256,), "ffn_gate_exps": (256, 2048, 7168),
        "ffn_up_exps": (256, 2048, 7168), "ffn_down_exps": (256, 7168, 2048), "ffn_gate_shexp": (2048, 7168),
        "ffn_up_shexp": (2048, 7168), "ffn_down_shexp": (7168, 2048),
    }  # fmt: skip
    outside: Shapes = {"token_embd": (129280, 7168), "output": (129280, 7168), "output_norm": (7168,)}
    keys = metadata(
        "deepseek2", 61, 7168, 163840, attention__head_count=128, attention__kv_lora_rank=512, expert_used_count=8
    )
    blocks = {number: {**mla, **(dense if number < 3 else moe)} for number in range(61)}
    arch = gguf_arch(keys, model(entries, outside, blocks))
    assert count_params(arch).text == 671_026_419_200  # deepseek-ai/DeepSeek-V3 without its draft layer
    assert arch.layers[0].mixers == (Mla(128, 1536, 512, 128, 64, 128),)
    assert arch.notes == ()


def with_draft(entries: Entries, drafts: int) -> tuple[dict[str, Value], list[TensorEntry]]:
    keys, listed = smollm2(entries)
    keys |= {"llama.block_count": 31, "llama.nextn_predict_layers": 1}
    shapes: Shapes = {"attn_norm": (576,), "nextn.eh_proj": (576, 1152), "nextn.enorm": (576,)}
    attention: Shapes = {"attn_q": (576, 576), "attn_k": (192, 576), "attn_v": (192, 576), "attn_output": (576, 576)}
    return keys, listed + (entries({**shapes, **attention}, "blk.30.") if drafts else [])


def test_draft_blocks_stand_apart(entries: Entries) -> None:
    arch = gguf_arch(*with_draft(entries, 1))
    assert (len(arch.layers), len(arch.draft)) == (30, 1)
    params = count_params(arch)
    # 2 x 576 norms + 576 x 1152 + 2 x 576 x 576 + 2 x 192 x 576
    assert (params.text, params.draft) == (134_515_008, 1_549_440)
    assert arch.notes == ()


def test_draft_blocks_may_be_left_out_of_the_file(entries: Entries) -> None:
    arch = gguf_arch(*with_draft(entries, 0))
    assert (len(arch.layers), len(arch.draft)) == (30, 0)


def test_tables_and_factors_outside_the_blocks_count(entries: Entries) -> None:
    keys, listed = smollm2(entries)
    outside: Shapes = {
        "rope_freqs": (32,),
        "position_embd": (8192, 576),
        "token_embd_norm": (576,),
        "output.bias": (49152,),
    }
    arch = gguf_arch(keys, listed + entries(outside))
    assert arch.outer == (Tensor("position_embd", 8192, 576, kind="embedding"), Tensor("rope_freqs", 32, kind="plain"))
    assert [norm.name for norm in arch.norms] == ["output_norm", "token_embd_norm"]
    assert arch.head_bias
    assert arch.notes == ()


def test_a_difference_is_noted(entries: Entries) -> None:
    keys, listed = smollm2(entries)
    # one more row of the key projection than 3 heads of 64 make
    odd = [
        entry if entry.name != "blk.0.attn_k.weight" else TensorEntry(entry.name, "F16", (193, 576), 0)
        for entry in listed
    ]
    assert gguf_arch(keys, odd).notes == ("the file stores 134515584 elements, its architecture as read has 134515008",)


def without(listed: list[TensorEntry], start: str) -> list[TensorEntry]:
    return [entry for entry in listed if not entry.name.startswith(start)]


def test_what_is_missing_is_named(entries: Entries) -> None:
    keys, listed = smollm2(entries)
    with pytest.raises(UnreadableError, match=r"token_embd\.weight: absent: a table"):
        gguf_arch(keys, without(listed, "token_embd"))
    with pytest.raises(UnreadableError, match="block 7 missing"):
        gguf_arch(keys, without(listed, "blk.7."))
    with pytest.raises(UnreadableError, match=r"29 blocks: 30, as llama\.block_count says"):
        gguf_arch(keys, without(listed, "blk.29."))
    with pytest.raises(UnreadableError, match=r"llama\.context_length': absent"):
        gguf_arch({key: value for key, value in keys.items() if "context" not in key}, listed)


def test_arch_is_the_shared_type(entries: Entries) -> None:
    assert isinstance(gguf_arch(*smollm2(entries)), Arch)
