#!/usr/bin/env bash
# All checks, cheapest first: lint, types, tests, the accuracy gate among them. Arguments go to pytest.
#
#   tests/run.sh [PYTEST ARGUMENTS]
#   TONNAGE_REAL_ENGINE=1 tests/run.sh      installs vLLM's CPU build too, and compares with it before the other tests
#
# Ends red if anything failed; the last line is pytest's.
set -euo pipefail
cd "$(dirname "$0")/.."
python="${PYTHON:-.venv/bin/python}"
[ -x "$python" ] || python="$(command -v "$python")" || { echo "no Python at $python: see README, set-up" >&2; exit 2; }

"$python" -m ruff check .
"$python" -m ruff format --check .
"$python" -m mypy

status=0
others=()
if [ "${TONNAGE_REAL_ENGINE:-}" = 1 ]; then
  PYTHON="$python" bash tests/real/install_vllm.sh >/dev/null
  # One after the other: an engine takes all cores, and is timed.
  "$python" -m pytest -n 0 tests/real || status=$?
  others=(--ignore=tests/real)
fi
"$python" -m pytest -n "${TEST_WORKERS:-auto}" "${others[@]}" "$@" || status=$?
exit "$status"
