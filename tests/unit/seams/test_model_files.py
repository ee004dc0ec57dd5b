"""Which files make up a model."""

from tonnage.seams.model_files import ModelFiles, pick_files


def test_everything_that_matters_is_found() -> None:
    names = [
        "model.safetensors.index.json",
        "README.md",
        "model-00002-of-00002.safetensors",
        "model-00001-of-00002.safetensors",
        "hf_quant_config.json",
        "config.json",
        "adapter_model.safetensors",
        "original/consolidated.00.pth",
        "onnx/model.safetensors",
    ]
    shards = ("model-00001-of-00002.safetensors", "model-00002-of-00002.safetensors")
    expected = ModelFiles("config.json", "hf_quant_config.json", "model.safetensors.index.json", shards, ())
    assert pick_files(names) == expected


def test_the_single_file_stands_for_the_model() -> None:
    assert pick_files(["model.safetensors", "other.safetensors"]).shards == ("model.safetensors",)


def test_the_publishers_own_layout_is_a_second_copy() -> None:
    both = ["consolidated.safetensors", "model-00001-of-00001.safetensors"]
    assert pick_files(both).shards == ("model-00001-of-00001.safetensors",)
    assert pick_files(["consolidated.safetensors"]).shards == ("consolidated.safetensors",)


def test_vision_parts_of_a_gguf_model_are_no_models() -> None:
    assert pick_files(["m-Q4_0.gguf", "mmproj-F16.gguf", "m.MMPROJ-f16.gguf"]).ggufs == ("m-Q4_0.gguf",)


def test_nothing_is_none() -> None:
    assert pick_files([]) == ModelFiles(None, None, None, (), ())
