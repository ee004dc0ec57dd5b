"""E23: yes, no and wrong use have different exit codes."""

from __future__ import annotations

import pytest

from tonnage.ui.cli.main import main


@pytest.mark.parametrize(
    ("words", "code"),
    [
        (["fit", "Qwen/Qwen3-8B", "--on", "1xH100"], 0),
        (["fit", "meta-llama/Meta-Llama-3.1-405B", "--on", "8xH100"], 1),
        (["fit", "Qwen/Qwen3-8B", "--on", "3xH100", "--tp", "3"], 1),
        (["fit", "Qwen/Qwen3-8B", "--on", "1xH100", "--concurrency", "1000", "--context", "32768"], 1),
        (["fit", "nobody/has-this", "--on", "1xH100"], 2),
        (["fit", "Qwen/Qwen3-8B", "--on", "1xNoSuchCard"], 2),
    ],
)
def test_codes(words: list[str], code: int) -> None:
    assert main(words) == code
