"""Lay out a stored configuration as the folder of files that the engine reads."""

import json
from pathlib import Path
from typing import Any

# Model types under which the stored files are not known to the engine, and the type it knows them by.
KNOWN_AS = {"deepseek_ref": "deepseek_v4", "minimax_m3": "minimax_m3_text"}


def lay_out(config: Path, into: Path) -> tuple[Path, bool]:
    """Write config.json and hf_quant_config.json for one stored file; say whether the content was adapted."""
    folder = into / config.stem
    folder.mkdir(exist_ok=True)
    body: dict[str, Any] = json.loads(config.read_text())
    body.pop("auto_map", None)  # the code it names is not here; the engine has its own
    adapted = rename(body)
    beside = config.with_name(config.stem + ".hf_quant_config.json")
    if beside.exists():
        adapted |= add_quantization(body, json.loads(beside.read_text()), folder)
    (folder / "config.json").write_text(json.dumps(body))
    return folder, adapted


def rename(body: dict[str, Any]) -> bool:
    """Give the model type and class the names the engine uses; say whether anything changed."""
    known = KNOWN_AS.get(body.get("model_type", ""))
    if known is None:
        return False
    body["model_type"] = known
    if known == "minimax_m3_text":
        body["architectures"] = ["MiniMaxM3SparseForCausalLM"]
    return True


def add_quantization(body: dict[str, Any], quant: dict[str, Any], folder: Path) -> bool:
    """Write the quantization file, completed where the stored copy lacks what the engine needs."""
    inner = quant.get("quantization", {})
    if body.get("quantization_config") is not None:
        (folder / "hf_quant_config.json").write_text(json.dumps(quant))
        return False
    if inner.get("quant_algo") == "MIXED_PRECISION":
        body["quantization_config"] = {**inner, "quant_method": "modelopt"}
        return True
    adapted = "producer" not in quant
    quant.setdefault("producer", {"name": "modelopt"})
    if "NVFP4" in str(inner.get("quant_algo")):
        inner.setdefault("group_size", 16)
    inner.setdefault("exclude_modules", [])
    (folder / "hf_quant_config.json").write_text(json.dumps(quant))
    return adapted
