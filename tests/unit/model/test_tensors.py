"""Tensors of whole layers and of what stands outside them."""

from __future__ import annotations

from dataclasses import replace

import pytest

from tonnage.model.arch import Arch, Layer
from tonnage.model.ffn.dense import Dense
from tonnage.model.ffn.moe import Moe
from tonnage.model.mixer.compressed import Compressed
from tonnage.model.mixer.deltanet import DeltaNet
from tonnage.model.mixer.gqa import Gqa
from tonnage.model.mixer.kda import Kda
from tonnage.model.mixer.mamba import Mamba1, Mamba2
from tonnage.model.mixer.mla import Mla
from tonnage.model.tensor import Tensor, vector
from tonnage.model.tensors import head_tensors, layer_tensors, mixer_tensors, outer_tensors

TYPE_CHECKING = False
if TYPE_CHECKING:
    from tonnage.model.arch import Mixer

ARCH = Arch("llama", (), 64, 1000, False, 2048, "bfloat16", (), norms=(vector("model.norm", 64),))


@pytest.mark.parametrize(
    "mixer",
    [
        Gqa(4, 2, 16, 16),
        Mla(4, None, 16, 16, 8, 16),
        Compressed(4, 32, 8, 32, 16, 2, 4, 128),
        DeltaNet(2, 4, 16, 16, 4),
        Kda(4, 16, 4),
        Mamba1(128, 16, 4, 4),
        Mamba2(4, 16, 1, 16, 4),
    ],
)
def test_every_mixer_has_tensors_of_its_own_name(mixer: Mixer) -> None:
    tensors = mixer_tensors(mixer, 64)
    assert tensors
    assert all(tensor.params > 0 for tensor in tensors)
    assert all(tensor.name.startswith(f"{mixer.name}.") for tensor in tensors)


def test_a_layer_is_its_parts_and_extras() -> None:
    layer = Layer((Gqa(4, 2, 16, 16),), (Dense(256), Moe(4, 32, 2, name="moe")), (vector("input_layernorm", 64),))
    names = [tensor.name for tensor in layer_tensors(layer, 64)]
    assert names[0] == "self_attn.q_proj"
    assert "mlp.gate_proj" in names
    assert "moe.experts.down_proj" in names
    assert names[-1] == "input_layernorm"


def test_outside_the_layers() -> None:
    embedding, head, norm = outer_tensors(ARCH)
    assert embedding == Tensor("model.embed_tokens", 1000, 64, "vocab", "embedding")
    assert head == Tensor("lm_head", 1000, 64, "vocab", "embedding")
    assert norm.name == "model.norm"


def test_a_tied_head_holds_nothing() -> None:
    assert head_tensors(replace(ARCH, tied=True)) == ()


def test_head_bias_and_nested_head() -> None:
    weight, bias = head_tensors(replace(ARCH, head_bias=True, prefix="language_model.model."))
    assert weight.name == "language_model.lm_head"
    assert (bias.name, bias.params, bias.split) == ("language_model.lm_head.bias", 1000, "vocab")


def test_tables_outside_are_kept() -> None:
    table = Tensor("wpe", 2048, 64, kind="embedding")
    assert outer_tensors(replace(ARCH, outer=(table,)))[-1] == table
