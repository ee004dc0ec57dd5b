"""Architectures as records and back."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tonnage.errors import UnreadableError
from tonnage.model.arch import Arch, Layer, Rope, Tower
from tonnage.model.config.arch import read_arch
from tonnage.model.ffn.dense import Dense
from tonnage.model.ffn.moe import Moe
from tonnage.model.mixer.gqa import Gqa
from tonnage.model.mixer.indexer import Indexer
from tonnage.model.mixer.kda import Kda
from tonnage.model.mixer.mamba import Mamba1, Mamba2
from tonnage.model.mixer.mla import Mla
from tonnage.model.quantization.formats import FP8_BLOCK_128, W4A16
from tonnage.model.quantization.read import read_scheme
from tonnage.model.quantization.scheme import Rule, Scheme
from tonnage.model.record import from_record, to_record
from tonnage.model.tensor import Tensor, vector

FULL = Layer((Gqa(32, 8, 128, 128),), (Dense(14336),), (vector("input_layernorm", 4096),))
LOCAL = Layer((Gqa(32, 8, 128, 128, window=1024),), (Dense(14336),), (vector("input_layernorm", 4096),))
SPARSE = Layer((Mla(64, 1536, 512, 128, 64, 128, Indexer(32, 128, 2048), is_sparse=True),), (Moe(256, 2048, 8),))
LINEAR = Layer((Kda(32, 128, 4),), ())
STATE = Layer((Mamba1(8192, 16, 4, 256), Mamba2(128, 64, 8, 128, 4, state_dtype="float32")), ())


def arch(layers: tuple[Layer, ...], **rest: Any) -> Arch:
    """A small architecture of these layers."""
    return Arch("llama", ("LlamaForCausalLM",), 4096, 128256, False, 8192, "bfloat16", layers, **rest)


RICH = arch(
    (FULL, LOCAL, LOCAL, FULL, SPARSE, LINEAR, STATE),
    prefix="model.language_model.",
    norms=(vector("model.norm", 4096),),
    outer=(Tensor("model.wpe", 2048, 4096, kind="embedding"),),
    towers=(
        Tower("vision", 27, 1152, (Tensor("visual.fc", 4304, 1152, "rows", copies=27, whole_if_uneven=True),), 256),
    ),
    draft=(FULL,),
    ropes=(Rope(8192, 128), Rope(8192, 64, "float32")),
    scheme=Scheme("fp8", (Rule("", None, ("**.lm_head",)), Rule("re:.*mlp", W4A16), Rule("", FP8_BLOCK_128)), "fp8"),
    kv_dtype="fp8",
    duplicates=7,
    head_bias=True,
    notes=("one",),
)


@pytest.mark.parametrize("model", [arch((FULL,)), arch((FULL,) * 32), RICH])
def test_records_come_back_exactly(model: Arch) -> None:
    assert from_record(json.loads(json.dumps(to_record(model)))) == model


def test_equal_layers_stand_once_with_their_order_as_runs() -> None:
    record = to_record(arch((LOCAL, LOCAL, FULL) * 2))
    assert len(record["layers"]) == 2
    # twice: 2 x layer 0, then 1 x layer 1
    assert record["pattern"] == [0, 2, 1, 1, 0, 2, 1, 1]


def test_equal_layers_are_one_object_again() -> None:
    layers = from_record(to_record(arch((FULL,) * 3))).layers
    assert layers[0] is layers[1] is layers[2]


def test_only_what_differs_from_the_defaults_is_kept() -> None:
    record = to_record(arch((FULL,)))
    assert record["layers"][0]["mixers"] == [
        {"kind": "gqa", "heads": 32, "kv_heads": 8, "head_dim": 128, "v_head_dim": 128}
    ]
    assert record["layers"][0]["extras"] == [["input_layernorm", 4096, 1, "none", "plain"]]
    assert not {"prefix", "towers", "scheme", "notes"} & record.keys()


def _changed(**changes: Any) -> dict[str, Any]:
    return {**to_record(arch((FULL,))), **changes}


@pytest.mark.parametrize(
    "record",
    [
        {},
        {"layers": [], "pattern": []},
        _changed(hidden="4096"),
        _changed(hidden=True),
        _changed(hidden=-1),
        _changed(hidden=None),
        _changed(tied=1),
        _changed(colour="red"),
        _changed(pattern=[0]),
        _changed(pattern=[1, 1]),
        _changed(pattern=[0, 10**12]),
        _changed(pattern=[0, -1]),
        _changed(layers=[{"mixers": [{"kind": "mystery"}], "ffns": []}]),
        _changed(layers=[{"mixers": [{"heads": 1}], "ffns": []}]),
        _changed(layers="none"),
        _changed(norms=[["a"]]),
        _changed(norms=[["a", 1, 1, "none", "plain", None, 1, False, None, None, True, False, 9]]),
        _changed(scheme={"method": "fp8"}),
        _changed(scheme=5),
    ],
)
def test_anything_else_is_refused_in_one_line(record: dict[str, Any]) -> None:
    with pytest.raises(UnreadableError, match="model record"):
        from_record(record)


def test_reading_leaves_the_record_as_it_was() -> None:
    record = to_record(RICH)
    before = json.dumps(record)
    from_record(record)
    assert json.dumps(record) == before


def test_every_known_configuration_comes_back(shared: Path) -> None:
    paths = [path for path in sorted((shared / "models").glob("*.json")) if "hf_quant_config" not in path.name]
    assert len(paths) >= 140
    for path in paths:
        config = json.loads(path.read_text(encoding="utf-8"))
        quant = path.with_name(f"{path.stem}.hf_quant_config.json")
        separate = json.loads(quant.read_text(encoding="utf-8")) if quant.exists() else None
        model = read_arch(config, read_scheme(config, separate))
        assert from_record(json.loads(json.dumps(to_record(model)))) == model, path.name
