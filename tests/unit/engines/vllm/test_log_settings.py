"""Settings in vLLM's argument list and configuration."""

from __future__ import annotations

from tonnage.engines.vllm.log_settings import read_pairs, read_settings


def test_both_forms() -> None:
    assert read_pairs("{'model':'a/b','tensor_parallel_size':2,'trust_remote_code':True}") == {
        "model": "a/b",
        "tp": "2",
    }
    assert read_pairs("model='a/b',dtype=torch.bfloat16,quantization=None,seed=0,") == {
        "model": "a/b",
        "dtype": "torch.bfloat16",
    }


def test_a_value_that_is_cut_off_is_not_read() -> None:
    assert read_pairs("max_seq_len=1310") == {}  # the wrapped rest may bring more digits
    assert read_pairs("max_seq_len=131072,") == {"max_model_len": "131072"}


def test_names_that_only_end_alike_are_others() -> None:
    assert read_pairs("served_model='x',max_num_seqs_total=3,hf_overrides={'dtype':1},") == {"dtype": "1"}


def test_what_was_asked_goes_before_what_was_made_of_it() -> None:
    settings = read_settings(
        {"model": "asked", "kv_cache_dtype": "fp8", "quantization": "fp8"},
        {"model": "made", "tp": "4", "pp": "2", "quantization": "compressed-tensors", "max_model_len": "4096"},
        {"max_model_len": 1, "gpu": "H100", "gpu_memory_utilization": 0.9},
    )
    assert settings.record() == {
        "model": "asked",
        "gpu": "H100",
        "gpu_count": 8,
        "tp": 4,
        "pp": 2,
        "quantization": "fp8",
        "stored_quantization": "compressed-tensors",
        "kv_cache_dtype": "fp8",
        "max_model_len": 4096,
        "gpu_memory_utilization": 0.9,
    }


def test_words_in_the_place_of_numbers() -> None:
    settings = read_settings({"max_model_len": "auto", "gpu_memory_utilization": "x", "ep": "True"}, {}, {})
    assert settings.record() == {"ep": True}
