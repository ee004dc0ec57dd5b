from __future__ import annotations

from tonnage.engines.llamacpp.stored import make_store, stored_piece
from tonnage.layout.parts import Piece
from tonnage.layout.shard import Shard
from tonnage.model.quantization.ggml import ggml_format
from tonnage.model.tensor import Tensor, vector

Q8 = ggml_format("Q8_0", 32, 34)


def test_matrices_follow_their_format_or_the_model() -> None:
    tensor = Tensor("self_attn.q_proj", 512, 512)
    assert stored_piece(Piece(tensor, Q8, "attention"), Shard(512, 512, 1), "float16") == 512 * 16 * 34
    assert stored_piece(Piece(tensor, None, "attention"), Shard(512, 512, 2), "float16") == 2 * 512 * 512 * 2


def test_vectors_and_routers_are_32_bits_wide() -> None:
    assert stored_piece(Piece(vector("norm", 512), None, "plain"), Shard(512, 1, 1), "bfloat16") == 2048
    router = Tensor("mlp.gate", 8, 512, kind="plain")
    assert stored_piece(Piece(router, None, "dense"), Shard(8, 512, 1), "bfloat16") == 8 * 512 * 4


def test_the_vocabulary_is_not_padded() -> None:
    head = Tensor("lm_head", 1000, 512, "vocab", "embedding")
    assert stored_piece(Piece(head, None, "head"), Shard(1024, 512, 1), "float16") == 1000 * 512 * 2


def test_encoders_have_a_file_of_their_own() -> None:
    assert stored_piece(Piece(Tensor("visual.patch", 8, 8), None, "tower"), Shard(8, 8, 1), "float16") == 0


def test_stores_are_shared() -> None:
    assert make_store("float16") is make_store("float16")
    assert make_store("float16")(Piece(vector("norm", 512), None, "plain"), Shard(512, 1, 1)) == 2048
