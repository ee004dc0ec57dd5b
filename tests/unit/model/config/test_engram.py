"""Keys of n-gram tables."""

from __future__ import annotations

import pytest

from tonnage.errors import TonnageError, UnknownKeyError
from tonnage.layout.shard import cut
from tonnage.model.config.engram import engram_tensors
from tonnage.model.config.keys import Config

TINY: dict[str, object] = {
    "hidden_size": 32,
    "engram_layer_ids": [1, 3],
    "engram_num_embeddings": [1000, 1005],
    "engram_max_ngram_size": 4,
    "engram_n_heads": 2,
    "engram_head_dim": 64,
}


def test_only_listed_layers_have_a_table() -> None:
    assert engram_tensors(Config(TINY), 0, 4) == ()
    assert engram_tensors(Config({"hidden_size": 32}), 1, 4) == ()


def test_parameters_of_a_table_and_its_projection() -> None:
    # 3 orders x 2 heads; table 1000 x 64, projection 32 (4 + 1) x 6 x 64, two vectors of 4 streams x 32
    tensors = engram_tensors(Config(TINY), 1, 4)
    assert sum(tensor.params for tensor in tensors) == 64_000 + 160 * 384 + 2 * 128


def test_heads_divide_and_the_rest_stands_on_every_rank() -> None:
    # 1005 rows = 6 heads x 167 + 3
    table, rest, scales, *_ = engram_tensors(Config(TINY), 3, 4)
    assert (table.params, rest.params, scales.params) == (1002 * 64, 3 * 64, 0)
    assert cut(table, 2).params == 501 * 64
    assert cut(rest, 2).params == 3 * 64
    # one scale byte per 32 values
    assert cut(scales, 2).params == 501 * 2
    assert (table.dtype, scales.dtype) == ("float8_e4m3fn", "uint8")


def test_a_table_without_a_size_is_refused() -> None:
    with pytest.raises(UnknownKeyError, match="engram_num_embeddings"):
        engram_tensors(Config({**TINY, "engram_num_embeddings": [1000]}), 3, 4)


def test_ngrams_have_at_least_two_tokens() -> None:
    with pytest.raises(TonnageError, match="engram_max_ngram_size"):
        engram_tensors(Config({**TINY, "engram_max_ngram_size": 1}), 1, 4)
