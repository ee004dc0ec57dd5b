"""Counting parameters."""

from __future__ import annotations

from dataclasses import replace
from timeit import timeit

from tonnage.model.arch import Arch, Layer, Tower
from tonnage.model.ffn.dense import Dense
from tonnage.model.ffn.moe import Moe
from tonnage.model.mixer.gqa import Gqa
from tonnage.model.params import count_params
from tonnage.model.tensor import Tensor, vector

NORMS = (vector("input_layernorm", 4096), vector("post_attention_layernorm", 4096))
LLAMA_LAYER = Layer((Gqa(32, 8, 128, 128),), (Dense(14336),), NORMS)
LLAMA = Arch(
    "llama",
    ("LlamaForCausalLM",),
    hidden=4096,
    vocab=128256,
    tied=False,
    max_context=131072,
    dtype="bfloat16",
    layers=(LLAMA_LAYER,) * 32,
    norms=(vector("model.norm", 4096),),
)
MOE_LAYER = Layer((Gqa(8, 2, 16, 16),), (Moe(8, 32, 2, shared_width=64),))
SMALL = Arch("moe", (), hidden=128, vocab=100, tied=False, max_context=64, dtype="bfloat16", layers=(MOE_LAYER,) * 3)


def test_llama_3_1_8b() -> None:
    params = count_params(LLAMA)
    # 32 x (41,943,040 + 3 x 4096 x 14336 + 2 x 4096) + 2 x 128256 x 4096 + 4096
    assert params.text == 8_030_261_248
    assert params.active == params.text
    assert params.active_without_embedding == params.text - 128256 * 4096
    assert params.checkpoint == params.text


def test_parts_add_up() -> None:
    parts = count_params(LLAMA).parts
    assert parts.attention == 32 * 41_943_040
    assert parts.dense == 32 * 3 * 4096 * 14336
    assert parts.embedding == parts.head == 128256 * 4096
    assert parts.other == 32 * 2 * 4096 + 4096
    assert (parts.routed_experts, parts.shared_and_router) == (0, 0)


def test_experts_not_chosen_are_idle() -> None:
    params = count_params(SMALL)
    # One expert 3 x 128 x 32 = 12,288; of 8 in each of 3 layers, 2 work.
    assert params.parts.routed_experts == 3 * 8 * 12_288
    assert params.text - params.active == 3 * 6 * 12_288
    # Shared 3 x 128 x 64, router 128 x 8
    assert params.parts.shared_and_router == 3 * (24_576 + 1024)


def test_identity_experts_take_their_share_of_choices() -> None:
    layer = Layer((), (Moe(8, 32, 6, identity_experts=4),))
    params = count_params(replace(SMALL, layers=(layer,)))
    # 6 choices among 12, 8 of them real: 4 work.
    assert params.text - params.active == 4 * 12_288


def test_a_tied_table_is_counted_once_and_always_read() -> None:
    params = count_params(replace(LLAMA, tied=True))
    assert params.text == 8_030_261_248 - 128256 * 4096
    assert params.active_without_embedding == params.active
    assert params.parts.head == 0


def test_what_comes_on_top() -> None:
    tower = Tower("vision", 2, 32, (Tensor("visual.proj", 32, 32),))
    params = count_params(replace(LLAMA, towers=(tower,), draft=(LLAMA_LAYER,), duplicates=7))
    layer = 41_943_040 + 3 * 4096 * 14336 + 2 * 4096
    assert (params.towers, params.draft, params.duplicates) == (1024, layer, 7)
    assert params.checkpoint == params.text + 1024 + layer + 7


def test_lookup_tables_are_not_active() -> None:
    table = Tensor("ngrams", 1000, 64, kind="embedding")
    hashed = Layer((), (Moe(8, 32, 2, hash_rows=100),))
    params = count_params(replace(SMALL, outer=(table,), layers=(hashed,)))
    # 6 idle experts, the table of 64,000, the routing table of 100 x 2
    assert params.text - params.active == 6 * 12_288 + 64_000 + 200
    inside = count_params(replace(SMALL, layers=(Layer((), (), (table,)),)))
    assert inside.text - inside.active == 64_000


def test_a_hundred_layers_take_less_than_a_millisecond() -> None:
    arch = replace(LLAMA, layers=(LLAMA_LAYER,) * 100)
    best = min(timeit(lambda: count_params(arch), number=10) for _ in range(5))
    # Ten runs; ten times the promise leaves room for a loaded machine.
    assert best < 0.1
