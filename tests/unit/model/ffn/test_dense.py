"""Tensors of a dense feed-forward part."""

from __future__ import annotations

from tonnage.model.ffn.dense import Dense, dense_tensors


def test_gated_part() -> None:
    gate, up, down = dense_tensors(Dense(14336), 4096)
    assert (gate.name, gate.rows, gate.cols, gate.split, gate.fused) == (
        "mlp.gate_proj",
        14336,
        4096,
        "rows",
        "gate_up_proj",
    )
    assert up.fused == "gate_up_proj"
    assert (down.rows, down.cols, down.split) == (4096, 14336, "cols")
    # 3 h f
    assert gate.params + up.params + down.params == 3 * 4096 * 14336


def test_part_without_gate_and_with_biases() -> None:
    tensors = dense_tensors(Dense(3072, gated=False, bias=True), 768)
    # 2 h f + f + h
    assert sum(tensor.params for tensor in tensors) == 2 * 768 * 3072 + 3072 + 768
    assert [tensor.name for tensor in tensors] == [
        "mlp.up_proj",
        "mlp.down_proj",
        "mlp.up_proj.bias",
        "mlp.down_proj.bias",
    ]
    assert tensors[0].fused is None


def test_biases_of_a_gated_part() -> None:
    tensors = dense_tensors(Dense(16, bias=True, name="feed_forward"), 8)
    # gate and up 16 each, down 8
    assert sum(tensor.params for tensor in tensors if tensor.name.endswith(".bias")) == 40
    assert all(tensor.name.startswith("feed_forward.") for tensor in tensors)
