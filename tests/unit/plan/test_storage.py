"""How a model is stored, in words."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from tonnage.layout.parts import Parts, gather_parts
from tonnage.model.arch import Arch, Layer
from tonnage.model.ffn.dense import Dense
from tonnage.model.ffn.moe import Moe
from tonnage.model.mixer.gqa import Gqa
from tonnage.model.quantization.formats import FP8_TENSOR, MXFP4
from tonnage.model.quantization.scheme import Rule, Scheme
from tonnage.plan.storage import storage_words, stored_bits

MakeArch = Callable[..., Arch]

# Elements: q 128 x 64, k and v 64 x 64 each, o 64 x 128 = 24,576; three matrices of 128 x 64 = 24,576.
DENSE = Layer((Gqa(8, 4, 16, 16),), (Dense(128),))
MIXTURE = Layer((Gqa(8, 4, 16, 16),), (Moe(8, 32, 2),))
EXPERTS, ATTENTION = Rule("", MXFP4, ("**.experts",)), Rule("", FP8_TENSOR, ("**.self_attn",))


def parts(arch: MakeArch, layer: Layer, *rules: Rule) -> Parts:
    """The parts of two such layers."""
    scheme = Scheme("test", (*rules, Rule("", None))) if rules else None
    return gather_parts(arch(layer, layer, scheme=scheme))


@pytest.mark.parametrize(
    ("layer", "rules", "words", "bits"),
    [
        (DENSE, (), "in 16 bits", [16]),
        (DENSE, (Rule("", FP8_TENSOR),), "in 8 bits", [8]),
        # attention is half of the elements
        (DENSE, (ATTENTION,), "in 8 bits (50 %) and 16 bits (50 %)", [8, 16]),
        (MIXTURE, (EXPERTS,), "in 4 bits (experts) and 16 bits (all else)", [4, 16]),
        (MIXTURE, (EXPERTS, ATTENTION), "in 4 bits (experts) and 8 bits (all else)", [4, 8]),
    ],
)
def test_words(layer: Layer, rules: tuple[Rule, ...], words: str, bits: list[int], make_arch: MakeArch) -> None:
    found = parts(make_arch, layer, *rules)
    assert storage_words(found) == words
    assert stored_bits(found) == bits


def test_three_kinds(make_arch: MakeArch) -> None:
    # experts 49,152, q, k and v 16,384, o 8,192
    both = Layer((Gqa(8, 4, 16, 16),), (Moe(8, 32, 2),))
    rules = (EXPERTS, Rule("", FP8_TENSOR, ("**.self_attn.o_proj",)))
    assert storage_words(parts(make_arch, both, *rules)) == "in 4 bits (67 %), 8 bits (11 %) and 16 bits (22 %)"


def test_other_dtypes(make_arch: MakeArch) -> None:
    assert storage_words(gather_parts(make_arch(DENSE, dtype="float32"))) == "in 32 bits"


def test_no_matrices(make_arch: MakeArch) -> None:
    assert storage_words(gather_parts(make_arch(Layer((), ())))) == "in no matrices"
