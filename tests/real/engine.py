"""A real vLLM as a yardstick: where it is installed, how it is started, and that it is always stopped."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import time
import urllib.error
import urllib.request
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

HERE = Path(__file__).parent
VERSION = "0.32.0"
START_LIMIT_S = 180
MEASURE_LIMIT_S = 600
STOP_LIMIT_S = 20
POLL_S = 0.5
KV_LINE = re.compile(
    r"CPU KV cache size: (?P<tokens>[\d,]+) tokens, "
    r"Maximum concurrency for (?P<context>[\d,]+) tokens per request: (?P<concurrency>[\d.]+)x"
)


def environment() -> Path:
    """Return the folder that install_vllm.sh fills unless told otherwise."""
    cache = Path(os.environ.get("XDG_CACHE_HOME", Path.home() / ".cache"))
    return Path(os.environ.get("TONNAGE_VLLM_ENV", cache / "tonnage-ci" / "vllm"))


def interpreter() -> Path | None:
    """Return the engine's interpreter, or None where the engine is not completely installed."""
    python = environment() / "bin" / "python"
    return python if python.exists() and (environment() / "complete.txt").exists() else None


def run(script: str, *arguments: str) -> str:
    """Run one of this folder's scripts inside the engine's environment and return its standard output."""
    python = interpreter()
    assert python is not None, "the engine is not installed"
    command = [str(python), str(HERE / script), *arguments]
    settings = {**os.environ, "HF_HUB_OFFLINE": "1"}
    with process_group(command, settings, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL) as process:
        output, _ = process.communicate(timeout=MEASURE_LIMIT_S)
    assert process.returncode == 0, f"{script} ended with {process.returncode}"
    return str(output)


def measure(folders: Sequence[Path], *options: str) -> dict[str, dict[str, Any]]:
    """Start the engine's core on each folder in turn and return what it planned, by folder name."""
    lines = run("measure.py", *map(str, folders), *options).splitlines()
    return {row["name"]: row for row in map(json.loads, lines)}


@dataclass(frozen=True, slots=True)
class KvLine:
    """The two numbers of the engine's own line about its cache."""

    tokens: int
    context: int
    concurrency: float

    @classmethod
    def find(cls, log: str) -> KvLine | None:
        """Return the last such line of a start-up log, if there is one."""
        found = list(KV_LINE.finditer(log))
        if not found:
            return None
        tokens, context = (int(found[-1][name].replace(",", "")) for name in ("tokens", "context"))
        return cls(tokens, context, float(found[-1]["concurrency"]))


@dataclass(frozen=True, slots=True)
class Server:
    """A server that answers."""

    url: str
    log: Path

    def get(self, path: str) -> str:
        """Return the body of a GET request."""
        with urllib.request.urlopen(self.url + path, timeout=START_LIMIT_S) as answer:
            return str(answer.read().decode())

    def post(self, path: str, body: dict[str, Any]) -> Any:
        """Return the JSON body of a POST request."""
        request = urllib.request.Request(
            self.url + path, json.dumps(body).encode(), {"Content-Type": "application/json"}
        )
        with urllib.request.urlopen(request, timeout=START_LIMIT_S) as answer:
            return json.loads(answer.read())


@contextmanager
def process_group(command: list[str], settings: dict[str, str], **pipes: Any) -> Iterator[subprocess.Popen[str]]:
    """Run a command in a group of its own and end the whole group on the way out, whatever happened."""
    process = subprocess.Popen(command, env=settings, text=True, start_new_session=True, **pipes)
    try:
        yield process
    finally:
        end_group(process)


def end_group(process: subprocess.Popen[str]) -> None:
    """Ask the group to stop, wait, then kill what is left of it."""
    for sign, limit_s in ((signal.SIGTERM, STOP_LIMIT_S), (signal.SIGKILL, STOP_LIMIT_S)):
        try:
            os.killpg(process.pid, sign)
        except ProcessLookupError:
            break
        wait_for_end(process, limit_s)
    process.wait()


def wait_for_end(process: subprocess.Popen[str], limit_s: float) -> None:
    """Wait until no member of the group is left, at most `limit_s`."""
    end = time.monotonic() + limit_s
    while time.monotonic() < end and group_lives(process):
        time.sleep(POLL_S)


def group_lives(process: subprocess.Popen[str]) -> bool:
    """Tell whether the group still has a member; reaps the leader if it is done."""
    process.poll()
    try:
        os.killpg(process.pid, 0)
    except ProcessLookupError:
        return False
    return True


def is_healthy(url: str) -> bool:
    """Tell whether the server answers its health check."""
    try:
        with urllib.request.urlopen(url + "/health", timeout=POLL_S * 2) as answer:
            return int(answer.status) == 200
    except (urllib.error.URLError, OSError):
        return False


def wait_for_health(process: subprocess.Popen[str], url: str, log: Path) -> None:
    """Return when the server answers; fail with its log when it ends or takes too long."""
    end = time.monotonic() + START_LIMIT_S
    while not is_healthy(url):
        assert process.poll() is None, f"the engine ended with {process.returncode}:\n{log.read_text()}"
        assert time.monotonic() < end, f"the engine was not ready after {START_LIMIT_S} s:\n{log.read_text()}"
        time.sleep(POLL_S)


@contextmanager
def serve(model: Path, port: int, log: Path, *flags: str) -> Iterator[Server]:
    """Serve a model folder over the OpenAI API with a cache of 1 GiB; the server is gone on the way out."""
    command = [str(interpreter()), "-m", "vllm.entrypoints.openai.api_server", "--model", str(model), "--host"]
    command += ["127.0.0.1", "--port", str(port), "--dtype", "bfloat16", "--enforce-eager", *flags]
    settings = {
        **os.environ,
        "HF_HUB_OFFLINE": "1",
        "VLLM_CPU_KVCACHE_SPACE": "1",
        "VLLM_CPU_OMP_THREADS_BIND": "nobind",
        "VLLM_NO_USAGE_STATS": "1",
    }
    url = f"http://127.0.0.1:{port}"
    with log.open("w") as output, process_group(command, settings, stdout=output, stderr=output) as process:
        wait_for_health(process, url, log)
        yield Server(url, log)
