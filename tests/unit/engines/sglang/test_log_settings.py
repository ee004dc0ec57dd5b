"""Settings in SGLang's argument list."""

from __future__ import annotations

from tonnage.engines.sglang.log_settings import read_pairs, read_settings


def test_both_forms() -> None:
    assert read_pairs("ServerArgs(model_path='a/b',tp_size=8,revision=None)") == {"model": "a/b", "tp": "8"}
    assert read_pairs('{"model_path":"a/b","mem_fraction_static":0.7,"tp_size":null}') == {
        "model": "a/b",
        "mem_fraction_static": "0.7",
    }


def test_longer_names_are_others() -> None:
    assert read_pairs("moe_dp_size=3,dp_size=2,draft_tp_size=9,attn_tp_size=1,") == {"dp": "2"}


def test_sizes_that_mean_off() -> None:
    settings = read_settings({"max_num_batched_tokens": "-1", "ep": "1", "cpu_offload_gb": "0", "tp": "1"}, {})
    assert settings.record() == {"tp": 1, "gpu_count": 1, "ep": False, "cpu_offload_gb": 0.0}


def test_single_lines_fill_what_is_open() -> None:
    settings = read_settings({"max_model_len": "4096"}, {"max_model_len": 1, "gpu": "H200"})
    assert settings.record() == {"max_model_len": 4096, "gpu": "H200"}
    assert read_settings({"dp_attention": "True", "tp": "x"}, {}).record() == {"dp_attention": True}
