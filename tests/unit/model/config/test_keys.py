"""Typed getters: names, defaults, and what each refuses."""

from __future__ import annotations

import pytest

from tonnage.errors import UnknownKeyError, UnreadableError
from tonnage.model.config.keys import (
    ITEMS_MAX,
    LAYERS_MAX,
    SIZE_MAX,
    Config,
    hidden_size,
    num_layers,
    text_config,
    vocab_size,
)


def test_the_first_name_that_is_not_null_wins() -> None:
    cfg = Config({"n_layer": 12, "num_hidden_layers": None, "n_layers": 24})
    assert cfg.int("num_hidden_layers", "n_layer", "n_layers") == 12
    assert cfg.opt_int("absent") is None
    assert cfg.count("absent") == 0
    assert cfg.has("n_layer")
    assert not cfg.has("num_hidden_layers")
    assert list(cfg.names()) == ["n_layer", "num_hidden_layers", "n_layers"]


@pytest.mark.parametrize("value", [True, False, 1.5, 12.0, "12", [12], {"a": 12}, 0, -1, SIZE_MAX + 1, 10**18])
def test_what_is_no_sane_integer_is_refused(value: object) -> None:
    with pytest.raises(UnreadableError, match="hidden_size") as caught:
        Config({"hidden_size": value}, "text_config.").int("hidden_size")
    assert "text_config.hidden_size" in caught.value.line
    assert "an integer from 1 to 268435456" in caught.value.line


def test_an_absent_integer_names_every_accepted_key() -> None:
    with pytest.raises(UnreadableError, match="num_hidden_layers or n_layer"):
        Config({}).int("num_hidden_layers", "n_layer")


def test_bounds_of_integers_can_be_set() -> None:
    assert Config({"count": 0}).opt_int("count", least=0) == 0
    assert Config({"layers": LAYERS_MAX}).int("layers", most=LAYERS_MAX) == LAYERS_MAX
    with pytest.raises(UnreadableError):
        Config({"layers": LAYERS_MAX + 1}).int("layers", most=LAYERS_MAX)


@pytest.mark.parametrize("value", ["true", 1, 0, [], {}])
def test_what_is_no_boolean_is_refused(value: object) -> None:
    with pytest.raises(UnreadableError, match="true or false"):
        Config({"attention_bias": value}).bool("attention_bias")


def test_booleans_have_defaults_and_can_be_absent() -> None:
    cfg = Config({"yes": True, "no": False, "null": None})
    assert cfg.bool("yes")
    assert not cfg.bool("no", default=True)
    assert cfg.bool("null", default=True)
    assert cfg.opt_bool("null") is None


@pytest.mark.parametrize("value", [True, "2", 0, 0.0, -1.0, float("nan"), float("inf"), [1.0]])
def test_what_is_no_positive_number_is_refused(value: object) -> None:
    with pytest.raises(UnreadableError, match="a number above 0"):
        Config({"factor": value}).opt_float("factor")


def test_numbers_may_be_written_whole() -> None:
    assert Config({"factor": 40}).opt_float("factor") == 40.0
    assert Config({}).opt_float("factor") is None


def test_strings_lists_and_mappings_are_checked() -> None:
    cfg = Config({"name": "llama", "kinds": ["a", "b"], "flags": [0, 1, 1], "inner": {"x": 1}})
    assert cfg.str("name") == "llama"
    assert cfg.str("absent", default="other") == "other"
    assert cfg.strs("kinds") == ("a", "b")
    assert cfg.ints("flags", most=1) == (0, 1, 1)
    assert cfg.list("absent") == ()
    assert cfg.opt_list("absent") is None
    assert cfg.ints("absent") is None
    assert cfg.strs("absent") is None
    inner = cfg.sub("absent", "inner")
    assert inner is not None
    assert inner.path == "inner."
    assert inner.int("x") == 1
    assert cfg.sub("absent") is None


@pytest.mark.parametrize(
    ("getter", "value"),
    [
        ("opt_str", 3),
        ("opt_list", "abc"),
        ("opt_list", {"a": 1}),
        ("opt_list", [0] * (ITEMS_MAX + 1)),
        ("ints", [1, "2"]),
        ("ints", [1, True]),
        ("ints", [1, -2]),
        ("strs", ["a", 1]),
        ("sub", ["a"]),
        ("sub", "text"),
    ],
)
def test_wrong_kinds_are_refused(getter: str, value: object) -> None:
    with pytest.raises(UnreadableError, match="the_key"):
        getattr(Config({"the_key": value}), getter)("the_key")


def test_unknown_makes_an_error_that_names_key_value_and_remedy() -> None:
    error = Config({}, "text_config.").unknown("layer_types", "spiral", "full_attention")
    assert isinstance(error, UnknownKeyError)
    assert error.line == "text_config.layer_types: 'spiral': full_attention"


def test_the_language_part_is_found_where_it_nests() -> None:
    nested = {"model_type": "kimi_k25", "text_config": {"hidden_size": 7168, "model_type": "kimi_k2"}}
    cfg = text_config(nested)
    assert (hidden_size(cfg), cfg.path, cfg.str("model_type")) == (7168, "text_config.", "kimi_k2")
    deep = text_config({"thinker_config": {"text_config": {"hidden_size": 1024}}})
    assert hidden_size(deep) == 1024
    flat = text_config({"hidden_size": 64})
    assert flat.path == ""


def test_a_nested_text_without_type_takes_the_outer_one() -> None:
    cfg = text_config({"model_type": "minimax_m3_vl", "text_config": {"hidden_size": 6144}})
    assert cfg.str("model_type") == "minimax_m3_vl"


def test_parts_are_merged_and_the_outer_value_wins() -> None:
    # DBRX keeps attention and feed-forward keys in sub-objects, each with an empty model type.
    cfg = text_config(
        {
            "model_type": "dbrx",
            "d_model": 6144,
            "attn_config": {"kv_n_heads": 8, "model_type": ""},
            "ffn_config": {"moe_num_experts": 16, "model_type": ""},
        }
    )
    assert cfg.int("kv_n_heads") == 8
    assert cfg.int("moe_num_experts") == 16
    assert cfg.str("model_type") == "dbrx"
    assert hidden_size(cfg) == 6144


def test_sizes_under_their_many_names() -> None:
    assert num_layers(Config({"n_layer": 12})) == 12
    assert num_layers(Config({"num_layers": 28})) == 28
    assert hidden_size(Config({"n_embd": 768})) == 768
    assert vocab_size(Config({"vocab_size": 50257})) == 50257
    with pytest.raises(UnreadableError, match="1 to 1024"):
        num_layers(Config({"num_hidden_layers": 10**9}))


def test_an_integer_too_long_to_print_is_refused_too() -> None:
    with pytest.raises(UnreadableError, match="an enormous integer"):
        Config({"hidden_size": 10**5000}).int("hidden_size")
