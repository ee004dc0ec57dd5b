#!/usr/bin/env bash
# All checks, cheapest first; ends red at the first that fails. Arguments go to pytest.
set -euo pipefail
cd "$(dirname "$0")/.."
python="${PYTHON:-.venv/bin/python}"
[ -x "$python" ] || python="$(command -v "$python")" || { echo "no Python at $python: see README, set-up" >&2; exit 2; }

"$python" -m ruff check .
"$python" -m ruff format --check .
"$python" -m mypy
"$python" -m pytest -n "${TEST_WORKERS:-auto}" "$@"
