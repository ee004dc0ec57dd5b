"""Schemes are values: frozen, comparable and fit for JSON."""

from __future__ import annotations

import json
from dataclasses import asdict

import pytest

from tonnage.model.quantization.formats import MXFP4
from tonnage.model.quantization.scheme import Format, Rule, Scheme


def rebuilt(data: dict[str, object]) -> Scheme:
    rules = tuple(
        Rule(rule["pattern"], Format(**rule["format"]) if rule["format"] else None, tuple(rule["names"]))
        for rule in data["rules"]  # type: ignore[attr-defined]
    )
    return Scheme(str(data["method"]), rules, data["kv_dtype"], bool(data["is_online"]))  # type: ignore[arg-type]


def test_a_scheme_survives_json() -> None:
    scheme = Scheme("mxfp4", (Rule("", MXFP4, ("**.experts",)), Rule("", None)), "fp8")
    assert rebuilt(json.loads(json.dumps(asdict(scheme)))) == scheme


def test_a_scheme_cannot_be_changed() -> None:
    scheme = Scheme("fp8", ())
    with pytest.raises(AttributeError, match="method"):
        scheme.method = "awq"  # type: ignore[misc]


def test_defaults_say_unknown_with_none() -> None:
    scheme = Scheme("fp8", ())
    assert (scheme.kv_dtype, scheme.is_online, scheme.source) == (None, False, None)
    form = Format("bf16", 16)
    assert (form.tile_rows, form.tile_cols, form.scale_bytes, form.zero_bits, form.tensor_bytes) == (0, 0, 0, 0, 0)
