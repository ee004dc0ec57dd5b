"""Values that several methods write alike."""

from __future__ import annotations

from typing import Any

import pytest

from tonnage.errors import UnknownKeyError, UnreadableError
from tonnage.model.config.keys import Config
from tonnage.model.quantization.method.settings import Settings, group_size, kv_dtype, objects


@pytest.mark.parametrize(
    ("value", "expected"), [(128, 128), (1, 1), (-1, None), (None, 64)], ids=["128", "1", "whole row", "default"]
)
def test_group_sizes(value: int | None, expected: int | None) -> None:
    assert group_size(Config({"group_size": value}), "group_size", default=64) == expected


@pytest.mark.parametrize("value", [0, -2, 1 << 21, "128", 1.5, True])
def test_bad_group_sizes(value: Any) -> None:
    with pytest.raises(UnreadableError):
        group_size(Config({"group_size": value}), "group_size")


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (None, None),
        ("auto", None),
        ("FP8", "fp8"),
        ("fp8_e4m3", "fp8"),
        ("static", "fp8"),
        ("INT8", "int8"),
        ("NVFP4", "nvfp4"),
        ({"type": "float", "num_bits": 8}, "fp8"),
        ({"type": "float", "num_bits": 4}, "nvfp4"),
        ({"type": "int", "num_bits": 8}, "int8"),
    ],
)
def test_kv_types(value: Any, expected: str | None) -> None:
    assert kv_dtype(value) == expected


@pytest.mark.parametrize("value", ["fp3", 8, [], {"type": "int", "num_bits": 3}, {}])
def test_unknown_kv_types(value: Any) -> None:
    with pytest.raises(UnknownKeyError, match="kv_cache_scheme"):
        kv_dtype(value)


def test_objects_pass_over_null_and_refuse_the_rest() -> None:
    assert [key for key, _ in objects(Config({"a": {}, "b": None, "c": {"x": 1}}))] == ["a", "c"]
    assert list(objects(None)) == []
    with pytest.raises(UnreadableError):
        list(objects(Config({"a": 7})))


def test_the_first_list_that_is_not_empty() -> None:
    settings = Settings(Config({"a": [], "b": ["x"], "c": ["y"]}), Config({}))
    assert settings.skipped("a", "b", "c") == ("x",)
    assert settings.skipped("a") == ()
