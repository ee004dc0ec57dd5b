"""What one rank holds of one tensor."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tonnage.errors import LayoutError
from tonnage.layout.shard import Shard, cut, pad_expert
from tonnage.model.tensor import Tensor, vector


def test_rows_are_divided_by_heads() -> None:
    # Llama 3.1 405B: 128 heads x 128 = 16384 rows; TP8 leaves 16 heads = 2048 rows.
    query = Tensor("self_attn.q_proj", 16384, 16384, "rows", units=128)
    assert cut(query, 8) == Shard(2048, 16384, 1)


def test_key_heads_are_replicated_past_their_number() -> None:
    # 8 KV heads of 128 over 16 ranks: one head each, every head twice.
    key = Tensor("self_attn.k_proj", 1024, 16384, "kv", units=8)
    assert cut(key, 8) == Shard(128, 16384, 1)
    assert cut(key, 16) == Shard(128, 16384, 1)


def test_vocabulary_is_padded_even_on_one_rank() -> None:
    # 151,669 tokens -> 151,680 = 64 x 2370.
    table = Tensor("embed_tokens", 151_669, 1024, "vocab", "embedding")
    assert cut(table, 1) == Shard(151_680, 1024, 1)
    assert cut(table, 2) == Shard(75_840, 1024, 1)


def test_experts_keep_their_count_when_told() -> None:
    expert = Tensor("mlp.experts.up_proj", 3072, 7168, "rows", copies=896, is_expert=True)
    assert cut(expert, 1, copies=112) == Shard(3072, 7168, 112)
    assert cut(expert, 8) == Shard(384, 7168, 896)


def test_replicated_tensors_stay_whole() -> None:
    assert cut(vector("input_layernorm", 4096), 8) == Shard(4096, 1, 1)


@pytest.mark.parametrize(
    ("tensor", "width", "words"),
    [
        (Tensor("self_attn.q_proj", 896, 896, "rows", units=14), 8, "14 pieces over 8 ranks"),
        (Tensor("mlp.down_proj", 896, 4864, "cols"), 3, "4864 pieces over 3 ranks"),
        (Tensor("self_attn.k_proj", 1280, 5120, "kv", units=10), 8, "10 KV heads over 8 ranks"),
    ],
)
def test_uneven_division_names_the_tensor(tensor: Tensor, width: int, words: str) -> None:
    with pytest.raises(LayoutError) as refusal:
        cut(tensor, width)
    assert tensor.name in refusal.value.line
    assert words in refusal.value.line


@given(st.integers(1, 64), st.sampled_from([1, 2, 4, 8, 16]), st.sampled_from(["none", "rows", "cols"]))
def test_shards_add_up_to_at_least_the_tensor(blocks: int, width: int, split: str) -> None:
    tensor = Tensor("x", blocks * 16, blocks * 16, split)  # type: ignore[arg-type]
    assert cut(tensor, width).params * width >= tensor.params


def test_a_tower_may_stay_whole_where_heads_do_not_divide() -> None:
    # Kimi K3's encoder has 12 heads: vLLM leaves it whole on each of 8 ranks and divides it among 4.
    tensor = Tensor("wqkv", 4608, 1024, "rows", units=12, whole_if_uneven=True)
    assert cut(tensor, 8) == Shard(4608, 1024, 1)
    assert cut(tensor, 4) == Shard(1152, 1024, 1)


def test_the_divided_axis_of_an_expert_is_its_inner_one() -> None:
    up, down = Tensor("up", 360, 300, "rows", is_expert=True), Tensor("down", 300, 360, "cols", is_expert=True)
    assert pad_expert(up, Shard(180, 300, 4), 128, 256) == Shard(256, 512, 4)
    assert pad_expert(down, Shard(300, 180, 4), 128, 256) == Shard(512, 256, 4)
