"""The pieces of a model: groups, formats, classes of equal layers."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable

import pytest

from tonnage.layout.parts import Parts, Piece, gather_parts
from tonnage.model.arch import Arch, Layer, Tower
from tonnage.model.quantization.formats import FP8_BLOCK_128
from tonnage.model.quantization.scheme import Rule, Scheme
from tonnage.model.tensor import Tensor, vector

MakeArch = Callable[..., Arch]


def params_by_group(pieces: Iterable[Piece]) -> Counter[str]:
    """Elements of the pieces, whole, by group."""
    counts: Counter[str] = Counter()
    for piece in pieces:
        counts[piece.group] += piece.tensor.params
    return counts


def formats(parts: Parts, layer: int) -> dict[str, str | None]:
    """Format names of one layer's tensors."""
    pieces = parts.classes[parts.class_of[layer]]
    return {piece.tensor.name: piece.format.name if piece.format else None for piece in pieces}


def test_equal_layers_are_one_class(make_arch: MakeArch, dense_layer: Layer, mixture_layer: Layer) -> None:
    parts = gather_parts(make_arch(dense_layer, mixture_layer, mixture_layer, dense_layer))
    assert parts.class_of == (0, 1, 1, 0)
    assert len(parts.classes) == 2


def test_groups_of_a_dense_layer(make_arch: MakeArch) -> None:
    # q 8,192, k 4,096, v 4,096, o 8,192; three matrices of 8,192; two norms of 64.
    parts = gather_parts(make_arch())
    assert params_by_group(parts.classes[0]) == {"attention": 24_576, "dense": 24_576, "plain": 128}


def test_groups_of_a_mixture(make_arch: MakeArch, mixture_layer: Layer) -> None:
    # Router 8 x 64; experts 8 x 6,144; the shared expert 6,144.
    parts = gather_parts(make_arch(mixture_layer))
    assert params_by_group(parts.classes[0]) == {
        "attention": 24_576, "dense": 512, "experts": 49_152, "shared": 6_144, "plain": 128,
    }  # fmt: skip


def test_what_surrounds_the_layers(make_arch: MakeArch) -> None:
    tower = Tower("vision", 1, 32, (Tensor("visual.qkv", 96, 32, "rows", units=4),))
    parts = gather_parts(make_arch(outer=(vector("model.wpe", 256),), towers=(tower,)))
    assert [(p.tensor.name, p.group) for p in parts.first] == [("model.wpe", "plain")]
    assert [(p.tensor.name, p.group) for p in parts.towers] == [("visual.qkv", "tower")]
    assert [(p.tensor.name, p.group) for p in parts.last] == [("model.norm", "plain"), ("lm_head", "head")]
    assert [(p.tensor.rows, p.tensor.cols) for p in parts.embedding] == [(1000, 64)]


def test_a_tied_head_is_no_piece_of_its_own(make_arch: MakeArch) -> None:
    parts = gather_parts(make_arch(tied=True))
    assert [piece.tensor.name for piece in parts.last] == ["model.norm"]
    assert len(parts.embedding) == 1


def test_formats_follow_the_rules_of_the_scheme(make_arch: MakeArch, mixture_layer: Layer) -> None:
    rules = (Rule("", None, ("lm_head", "layers.*.mlp.gate")), Rule("", FP8_BLOCK_128))
    parts = gather_parts(make_arch(mixture_layer, scheme=Scheme("fp8", rules)))
    found = formats(parts, 0)
    assert found["self_attn.q_proj"] == "fp8-block-128x128"
    assert found["mlp.experts.down_proj"] == "fp8-block-128x128"
    # Routers and norms are plain, whatever the rules say.
    assert found["mlp.gate"] is None
    assert found["input_layernorm"] is None
    assert [piece.format for piece in parts.last] == [None, None]


def test_a_rule_for_one_layer_makes_a_class_of_its_own(make_arch: MakeArch) -> None:
    rules = (Rule("", None, ("layers.2",)), Rule("", FP8_BLOCK_128))
    parts = gather_parts(make_arch(scheme=Scheme("fp8", rules)))
    assert parts.class_of == (0, 0, 1, 0)
    assert formats(parts, 2)["mlp.down_proj"] is None
    assert formats(parts, 3)["mlp.down_proj"] == "fp8-block-128x128"


def test_a_tensor_with_its_own_type_is_not_quantised(make_arch: MakeArch, dense_layer: Layer) -> None:
    odd = Layer(dense_layer.mixers, dense_layer.ffns, (Tensor("hc.base", 4, 64, dtype="float32"),))
    parts = gather_parts(make_arch(odd, scheme=Scheme("fp8", (Rule("", FP8_BLOCK_128),))))
    assert formats(parts, 0)["hc.base"] is None


def test_draft_layers_are_counted_after_the_last(make_arch: MakeArch, dense_layer: Layer) -> None:
    # Four layers 0 to 3, hence the draft is layer 4 for the rules.
    rules = (Rule("", None, ("layers.4",)), Rule("", FP8_BLOCK_128))
    parts = gather_parts(make_arch(draft=(dense_layer,), scheme=Scheme("fp8", rules)))
    assert {piece.format for piece in parts.draft} == {None}
    assert params_by_group(parts.draft) == {"attention": 24_576, "dense": 24_576, "plain": 128}
    assert list(gather_parts(make_arch()).draft) == []


@pytest.mark.parametrize("prefix", ["model.", "model.language_model.", "language_model.model."])
def test_rules_hold_under_any_prefix(make_arch: MakeArch, prefix: str) -> None:
    rules = (Rule("", None, ("layers.*.self_attn.o_proj",)), Rule("", FP8_BLOCK_128))
    found = formats(gather_parts(make_arch(prefix=prefix, scheme=Scheme("fp8", rules))), 0)
    assert (found["self_attn.o_proj"], found["self_attn.q_proj"]) == (None, "fp8-block-128x128")
