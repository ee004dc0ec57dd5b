"""Tensors of selectors."""

from __future__ import annotations

from tonnage.model.mixer.indexer import Indexer, block_indexer_tensors, token_indexer_tensors


def test_token_selector_is_whole_on_each_rank() -> None:
    tensors = token_indexer_tensors(Indexer(32, 128, 2048), 6144, 2048, "self_attn")
    # GLM-5: 32 x 128 x 2048 + 128 x 6144 + 32 x 6144 + 2 x 128
    assert sum(tensor.params for tensor in tensors) == 8_388_608 + 786_432 + 196_608 + 256
    assert {tensor.split for tensor in tensors} == {"none"}


def test_token_selector_types() -> None:
    tensors = {t.name: t for t in token_indexer_tensors(Indexer(32, 128, 2048), 6144, 2048, "self_attn")}
    assert tensors["self_attn.indexer.k_norm"].dtype == "float32"
    assert tensors["self_attn.indexer.wq_b"].kind == "linear"
    # Merged by engines into one matrix of the model's dtype, so no quantisation rule applies.
    assert tensors["self_attn.indexer.wk"].kind == "plain"
    assert tensors["self_attn.indexer.wk"].fused == tensors["self_attn.indexer.weights_proj"].fused


def test_block_selector() -> None:
    tensors = block_indexer_tensors(Indexer(4, 128, 16), 6144, "self_attn")
    # MiniMax M3: 4 x 128 x 6144 + 128 x 6144 + 2 x 128
    assert sum(tensor.params for tensor in tensors) == 3_932_416
